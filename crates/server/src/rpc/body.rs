//! whole: layer behind the gate that buffers a request within limits of size and time, before a
//! method runs. It also adds a reason to errors that the RPC library returns before the call
//! reaches a method.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::Response;
use contract::rpc::{self, Error, RawResponse};
use http::header::{ALLOW, CONTENT_TYPE, HeaderName};
use http::{HeaderMap, Method};
use http_body_util::{BodyExt as _, LengthLimitError, Limited};
use rules::limits::MESSAGE_BYTES_MAX;

use crate::edge::{self, Protocol, RequestId};
use crate::observe::Metrics;

/// Timeout for receiving a request. The largest one needs a rate of 150 KiB/s.
const WITHIN: Duration = Duration::from_secs(30);
/// Bytes before the message in gRPC: flags and length.
const ENVELOPE_BYTES: usize = 5;
/// Headers of the library's errors that are preserved.
const KEPT: [HeaderName; 2] = [ALLOW, HeaderName::from_static("accept-post")];

/// Progress of a call, in the extensions of its request. The interceptor around the methods updates
/// it.
#[derive(Clone, Debug, Default)]
pub(super) struct CallStage(Arc<AtomicU8>);

impl CallStage {
    const CAME: u8 = 1;
    const SUCCEEDED: u8 = 2;

    /// Marks that the call reached its method, which counts it and adds reasons to errors.
    pub(super) fn came(&self) {
        self.0.store(Self::CAME, Ordering::Release);
    }

    /// Marks that the method succeeded. In gRPC the HTTP status does not show it.
    pub(super) fn succeeded(&self) {
        self.0.store(Self::SUCCEEDED, Ordering::Release);
    }

    fn has_come(&self) -> bool {
        self.0.load(Ordering::Acquire) >= Self::CAME
    }

    pub(super) fn has_succeeded(&self) -> bool {
        self.0.load(Ordering::Acquire) == Self::SUCCEEDED
    }
}

/// Buffered body of a request, in its extensions. It may contain secrets, so `Debug` hides its
/// content.
#[derive(Clone)]
pub(super) struct BufferedBody(pub(super) Bytes);

impl fmt::Debug for BufferedBody {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a message of {} bytes", self.0.len())
    }
}

/// Parts of a request that determine the format of an error.
struct ErrorContext {
    verb: Method,
    content_type: HeaderMap,
    id: Option<RequestId>,
    method: &'static str,
}

/// Buffers a request and adds reasons to errors of the RPC library.
pub(crate) async fn whole(
    State(metrics): State<Metrics>,
    request: Request,
    next: Next,
) -> Response {
    let path = request.uri().path();
    let method = rpc::method(path.strip_prefix("/rpc").unwrap_or(path));
    // Health and reflection may be streams, which cannot be buffered.
    let Some(method) = method.filter(|method| !method.streams) else {
        return next.run(request).await;
    };
    let content_type = request.headers().get(CONTENT_TYPE).cloned();
    let asked = ErrorContext {
        verb: request.method().clone(),
        content_type: content_type.map(|it| (CONTENT_TYPE, it)).into_iter().collect(),
        id: request.extensions().get().cloned(),
        method: &method.name,
    };
    let (mut parts, body) = request.into_parts();
    let message = match take_in(body, WITHIN).await {
        Ok(message) => message,
        Err(error) => return asked.answer(error, &metrics),
    };
    let course = CallStage::default();
    parts.extensions.insert(course.clone());
    parts.extensions.insert(BufferedBody(message.clone()));
    let response = next.run(Request::from_parts(parts, Body::from(message))).await;
    if course.has_come() { response } else { asked.explain(response, &metrics).await }
}

/// Reads a whole body. Fails if it is too large, incomplete, or not received within this time.
async fn take_in(body: Body, within: Duration) -> Result<Bytes, Error> {
    let most = MESSAGE_BYTES_MAX + ENVELOPE_BYTES;
    match tokio::time::timeout(within, Limited::new(body, most).collect()).await {
        Ok(Ok(whole)) => Ok(whole.to_bytes()),
        Ok(Err(error)) if error.is::<LengthLimitError>() => Err(rpc::too_large(MESSAGE_BYTES_MAX)),
        Ok(Err(error)) => Err(edge::broken_off(&*error)),
        Err(_) => Err(rpc::too_slow(within)),
    }
}

impl ErrorContext {
    /// Returns an error in the caller's protocol, and counts the call.
    fn answer(&self, error: Error, metrics: &Metrics) -> Response {
        metrics.called(self.method, error.code.as_str());
        let error = match &self.id {
            Some(id) => rpc::with_request_id(error, id.as_str()),
            None => error,
        };
        Protocol::Rpc.answer(error, &self.content_type)
    }

    /// Adds the reason to the error of a call that did not reach a method.
    async fn explain(&self, response: Response, metrics: &Metrics) -> Response {
        let (parts, body) = response.into_parts();
        // The library's errors are in memory already.
        let Ok(whole) = body.collect().await else {
            return self.answer(rpc::internal(), metrics);
        };
        let trailers = whole.trailers().cloned();
        let body = whole.to_bytes();
        let answered = RawResponse {
            status: parts.status,
            headers: &parts.headers,
            trailers: trailers.as_ref(),
            body: &body,
        };
        let error = rpc::library_error(&self.verb, answered).unwrap_or_else(rpc::internal);
        let mut response = self.answer(error, metrics);
        for name in KEPT {
            let value = parts.headers.get(&name).cloned();
            response.headers_mut().extend(value.map(|value| (name, value)));
        }
        response
    }
}

#[cfg(test)]
mod tests {
    use futures_util::stream;

    use super::*;

    #[tokio::test]
    async fn a_request_that_comes_drop_by_drop_is_ended() {
        let never = Body::from_stream(stream::pending::<Result<Bytes, axum::Error>>());
        let error = take_in(never, Duration::ZERO).await.unwrap_err();
        assert_eq!(error.http_status(), 408);
        assert_eq!(rpc::reason(&error).as_deref(), Some("REQUEST_TIMEOUT"));
    }

    #[tokio::test]
    async fn a_request_at_its_bound_is_taken_in_and_one_past_it_is_not() {
        let most = MESSAGE_BYTES_MAX + ENVELOPE_BYTES;
        assert_eq!(take_in(Body::from(vec![0; most]), WITHIN).await.unwrap().len(), most);
        let error = take_in(Body::from(vec![0; most + 1]), WITHIN).await.unwrap_err();
        assert_eq!(error.http_status(), 413);
    }

    #[test]
    fn a_course_says_how_far_a_call_came() {
        let course = CallStage::default();
        assert!(!course.has_come() && !course.has_succeeded());
        course.came();
        assert!(course.has_come() && !course.has_succeeded());
        course.succeeded();
        assert!(course.has_come() && course.has_succeeded());
    }
}
