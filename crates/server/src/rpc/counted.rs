//! Around every method: counts the calls that came past the gate (method, code, duration), and gives
//! errors the id of their request. Those whom the gate, `whole` and `kept` answer never
//! come here, and are counted there.

use connectrpc::interceptor::{StreamRequest, StreamResponse, UnaryRequest, UnaryResponse};
use connectrpc::{Interceptor, Next, NextStream, PayloadStream};
use contract::rpc::{self, Error};
use tokio::time::Instant;

use super::whole::Course;
use crate::edge::RequestId;
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
        let id = request.ctx.extensions().get::<RequestId>().cloned();
        let course = request.ctx.extensions().get::<Course>().cloned();
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
        let course = request.ctx.extensions().get::<Course>().cloned();
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

/// Notes that a call came here, and whether it succeeded.
fn mark(course: Option<Course>, succeeded: bool) {
    match course {
        Some(course) if succeeded => course.succeeded(),
        Some(course) => course.came(),
        None => {}
    }
}

/// The error with the request's id among its details, as in the header of every answer.
fn named(error: Error, id: Option<&RequestId>) -> Error {
    match id {
        Some(id) => rpc::with_request_id(error, id.as_str()),
        None => error,
    }
}

/// The name a method is counted under; those that the contract does not have share one.
fn name(path: Option<&str>) -> &'static str {
    path.and_then(rpc::method).map_or("other", |method| &method.name)
}
