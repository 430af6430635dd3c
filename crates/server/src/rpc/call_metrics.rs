//! Interceptor that counts calls (method, code, duration) and adds the request ID to errors. Calls
//! that the gate, `body` or `cache` answers do not get here. Those layers count them.

use connectrpc::interceptor::{StreamRequest, StreamResponse, UnaryRequest, UnaryResponse};
use connectrpc::{Interceptor, Next, NextStream, PayloadStream};
use contract::rpc::{self, Error};
use tokio::time::Instant;

use super::body::CallStage;
use crate::edge::RequestId;
use crate::observe::Metrics;

/// Interceptor around every method.
#[derive(Clone, Debug)]
pub(super) struct CallMetrics(pub(super) Metrics);

#[connectrpc::async_trait]
impl Interceptor for CallMetrics {
    async fn intercept_unary(
        &self,
        request: UnaryRequest,
        next: Next<'_>,
    ) -> Result<UnaryResponse, Error> {
        let method = name(request.ctx.path());
        let id = request.ctx.extensions().get::<RequestId>().cloned();
        let stage = request.ctx.extensions().get::<CallStage>().cloned();
        let began = Instant::now();
        let answer = next.run(request).await;
        record_stage(stage, answer.is_ok());
        self.count(method, began, answer.as_ref().err());
        answer.map_err(|error| with_request_id(error, id.as_ref()))
    }

    async fn intercept_streaming(
        &self,
        request: StreamRequest,
        inbound: PayloadStream,
        next: NextStream<'_>,
    ) -> Result<StreamResponse, Error> {
        let method = name(request.ctx.path());
        let id = request.ctx.extensions().get::<RequestId>().cloned();
        let stage = request.ctx.extensions().get::<CallStage>().cloned();
        let began = Instant::now();
        let answer = next.run(request, inbound).await;
        record_stage(stage, answer.is_ok());
        self.count(method, began, answer.as_ref().err());
        answer.map_err(|error| with_request_id(error, id.as_ref()))
    }
}

impl CallMetrics {
    fn count(&self, method: &'static str, began: Instant, error: Option<&Error>) {
        self.0.call_seconds.observe(began.elapsed().as_secs_f64());
        self.0.count_call(method, error.map_or("ok", |error| error.code.as_str()));
    }
}

/// Marks that the call reached its method, and whether it succeeded.
fn record_stage(stage: Option<CallStage>, succeeded: bool) {
    match stage {
        Some(stage) if succeeded => stage.mark_succeeded(),
        Some(stage) => stage.mark_reached(),
        None => {}
    }
}

/// Adds the request ID to the details of an error, as in the header of every response.
fn with_request_id(error: Error, id: Option<&RequestId>) -> Error {
    match id {
        Some(id) => rpc::with_request_id(error, id.as_str()),
        None => error,
    }
}

/// Returns the label of a method. Methods outside of the contract share one.
fn name(path: Option<&str>) -> &'static str {
    path.and_then(rpc::method).map_or("other", |method| &method.name)
}
