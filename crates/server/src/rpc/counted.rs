//! Counts the calls that came past the gate: method, code, duration. What the gate refuses, it
//! counts itself.

use connectrpc::interceptor::{StreamRequest, StreamResponse, UnaryRequest, UnaryResponse};
use connectrpc::{Interceptor, Next, NextStream, PayloadStream};
use contract::rpc::{self, Error};
use tokio::time::Instant;

use crate::observe::Metrics;

/// The interceptor around every method.
#[derive(Clone, Debug)]
pub(super) struct Counted(pub(super) Metrics);

#[connectrpc::async_trait]
impl Interceptor for Counted {
    async fn intercept_unary(
        &self,
        request: UnaryRequest,
        next: Next<'_>,
    ) -> Result<UnaryResponse, Error> {
        let method = name(request.ctx.path());
        let began = Instant::now();
        let answer = next.run(request).await;
        self.count(method, began, answer.as_ref().err());
        answer
    }

    async fn intercept_streaming(
        &self,
        request: StreamRequest,
        inbound: PayloadStream,
        next: NextStream<'_>,
    ) -> Result<StreamResponse, Error> {
        let method = name(request.ctx.path());
        let began = Instant::now();
        let answer = next.run(request, inbound).await;
        self.count(method, began, answer.as_ref().err());
        answer
    }
}

impl Counted {
    fn count(&self, method: &'static str, began: Instant, error: Option<&Error>) {
        self.0.call_seconds.observe(began.elapsed().as_secs_f64());
        self.0.called(method, error.map_or("ok", |error| error.code.as_str()));
    }
}

/// The name a method is counted under; those that the contract does not have share one.
fn name(path: Option<&str>) -> &'static str {
    path.and_then(rpc::method).map_or("other", |method| &method.name)
}
