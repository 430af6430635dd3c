//! Guarantees of the contract that the library does not provide: JSON matches the schema, and every
//! error has a reason. The interceptor runs inside of the service after decompression, so that it
//! covers Connect POST and GET, gRPC with JSON, and streams.

use connectrpc::interceptor::{StreamRequest, StreamResponse, UnaryRequest, UnaryResponse};
use connectrpc::{CodecFormat, Interceptor, Next, NextStream, Payload, PayloadStream};
use futures_util::StreamExt as _;

use super::error::{Error, invalid, with_reason};
use super::json::check_json;

/// Interceptor that [`super::serve`] puts around every method.
#[derive(Clone, Copy, Debug)]
pub struct Strict;

#[connectrpc::async_trait]
impl Interceptor for Strict {
    async fn intercept_unary(
        &self,
        request: UnaryRequest,
        next: Next<'_>,
    ) -> Result<UnaryResponse, Error> {
        check(request.ctx.path().unwrap_or_default(), &request.payload)?;
        next.run(request).await.map_err(with_reason)
    }

    async fn intercept_streaming(
        &self,
        request: StreamRequest,
        inbound: PayloadStream,
        next: NextStream<'_>,
    ) -> Result<StreamResponse, Error> {
        let path = request.ctx.path().unwrap_or_default().to_owned();
        let checked = inbound.map(move |message| {
            let message = message?;
            check(&path, &message)?;
            Ok(message)
        });
        next.run(request, Box::pin(checked)).await.map_err(with_reason)
    }
}

fn check(path: &str, message: &Payload) -> Result<(), Error> {
    if message.format() != CodecFormat::Json {
        return Ok(());
    }
    check_json(path, message.bytes()).map_err(|violations| invalid(&violations))
}
