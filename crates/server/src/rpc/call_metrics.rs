//! Interceptor that counts calls (method, code, duration) and adds the request ID to errors. Calls
//! that the gate, `whole` or `kept` answers do not get here. Those layers count them.

use connectrpc::interceptor::{StreamRequest, StreamResponse, UnaryRequest, UnaryResponse};
use connectrpc::{Interceptor, Next, NextStream, PayloadStream};
use contract::rpc::{self, Error};
use tokio::time::Instant;

use super::body::CallStage;
use crate::edge::RequestId;
use crate::observe::Metrics;

/// Interceptor around every method.
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
        let id = request.ctx.extensions().get::<RequestId>().cloned();
        let course = request.ctx.extensions().get::<CallStage>().cloned();
        let began = Instant::now();
        let answer = next.run(request).await;
        mark(course, answer.is_ok());
        self.count(method, began, answer.as_ref().err());
        answer.map_err(|error| named(error, id.as_ref()))
    }

    async fn intercept_streaming(
        &self,
        request: StreamRequest,
        inbound: PayloadStream,
        next: NextStream<'_>,
    ) -> Result<StreamResponse, Error> {
        let method = name(request.ctx.path());
        let id = request.ctx.extensions().get::<RequestId>().cloned();
        let course = request.ctx.extensions().get::<CallStage>().cloned();
        let began = Instant::now();
        let answer = next.run(request, inbound).await;
        mark(course, answer.is_ok());
        self.count(method, began, answer.as_ref().err());
        answer.map_err(|error| named(error, id.as_ref()))
    }
}

impl Counted {
    fn count(&self, method: &'static str, began: Instant, error: Option<&Error>) {
        self.0.call_seconds.observe(began.elapsed().as_secs_f64());
        self.0.called(method, error.map_or("ok", |error| error.code.as_str()));
    }
}

/// Marks that the call reached its method, and whether it succeeded.
fn mark(course: Option<CallStage>, succeeded: bool) {
    match course {
        Some(course) if succeeded => course.succeeded(),
        Some(course) => course.came(),
        None => {}
    }
}

/// Adds the request ID to the details of an error, as in the header of every response.
fn named(error: Error, id: Option<&RequestId>) -> Error {
    match id {
        Some(id) => rpc::with_request_id(error, id.as_str()),
        None => error,
    }
}

/// Returns the label of a method. Methods outside of the contract share one.
fn name(path: Option<&str>) -> &'static str {
    path.and_then(rpc::method).map_or("other", |method| &method.name)
}
