//! whole: the layer behind the gate that takes in a request, whole and within its bounds of size and
//! time, before anybody works on it, and sees to it that every error says its reason: also those
//! that the RPC library answers before the call comes to a method.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::Response;
use contract::rpc::{self, Answered, Error};
use http::header::{ALLOW, CONTENT_TYPE, HeaderName};
use http::{HeaderMap, Method};
use http_body_util::{BodyExt as _, LengthLimitError, Limited};
use rules::limits::MESSAGE_BYTES_MAX;

use crate::edge::{self, Protocol, RequestId};
use crate::observe::Metrics;

/// Longest time until a request has come to its end: at less than 150 KiB/s the largest one.
const WITHIN: Duration = Duration::from_secs(30);
/// What stands before the message in gRPC: a byte of flags and the length.
const ENVELOPE_BYTES: usize = 5;
/// What the library says beside an error, and is kept.
const KEPT: [HeaderName; 2] = [ALLOW, HeaderName::from_static("accept-post")];

/// How far a call came, in the extensions of its request. The interceptor around the methods marks it.
#[derive(Clone, Debug, Default)]
pub(super) struct Course(Arc<AtomicU8>);

impl Course {
    const CAME: u8 = 1;
    const SUCCEEDED: u8 = 2;

    /// The call came to who answers it, counts it, and gives its error a reason.
    pub(super) fn came(&self) {
        self.0.store(Self::CAME, Ordering::Release);
    }

    /// Its method succeeded, which in gRPC the status of HTTP does not say.
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

/// The whole body of a request, in its extensions: for those who only look at it. It may hold secrets,
/// and shows none of what it holds.
#[derive(Clone)]
pub(super) struct Message(pub(super) Bytes);

impl fmt::Debug for Message {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a message of {} bytes", self.0.len())
    }
}

/// What of a request an error's form depends on.
struct Asked {
    verb: Method,
    content_type: HeaderMap,
    id: Option<RequestId>,
    method: &'static str,
}

/// The layer.
pub(crate) async fn whole(
    State(metrics): State<Metrics>,
    request: Request,
    next: Next,
) -> Response {
    let path = request.uri().path();
    let method = rpc::method(path.strip_prefix("/rpc").unwrap_or(path));
    // Health and reflection may be streams, which have no whole.
    let Some(method) = method.filter(|method| !method.streams) else {
        return next.run(request).await;
    };
    let content_type = request.headers().get(CONTENT_TYPE).cloned();
    let asked = Asked {
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
    let course = Course::default();
    parts.extensions.insert(course.clone());
    parts.extensions.insert(Message(message.clone()));
    let response = next.run(Request::from_parts(parts, Body::from(message))).await;
    if course.has_come() { response } else { asked.explain(response, &metrics).await }
}

/// All of a body that comes to its end within this time, or why it was not taken in.
async fn take_in(body: Body, within: Duration) -> Result<Bytes, Error> {
    let most = MESSAGE_BYTES_MAX + ENVELOPE_BYTES;
    match tokio::time::timeout(within, Limited::new(body, most).collect()).await {
        Ok(Ok(whole)) => Ok(whole.to_bytes()),
        Ok(Err(error)) if error.is::<LengthLimitError>() => Err(rpc::too_large(MESSAGE_BYTES_MAX)),
        Ok(Err(error)) => Err(edge::broken_off(&*error)),
        Err(_) => Err(rpc::too_slow(within)),
    }
}

impl Asked {
    /// Answers an error in the caller's protocol, and counts the call.
    fn answer(&self, error: Error, metrics: &Metrics) -> Response {
        metrics.called(self.method, error.code.as_str());
        let error = match &self.id {
            Some(id) => rpc::with_request_id(error, id.as_str()),
            None => error,
        };
        Protocol::Rpc.answer(error, &self.content_type)
    }

    /// The answer to a call that came to no method, with the reason.
    async fn explain(&self, response: Response, metrics: &Metrics) -> Response {
        let (parts, body) = response.into_parts();
        // What the library answers is in memory already.
        let Ok(whole) = body.collect().await else {
            return self.answer(rpc::internal(), metrics);
        };
        let trailers = whole.trailers().cloned();
        let body = whole.to_bytes();
        let answered = Answered {
            status: parts.status,
            headers: &parts.headers,
            trailers: trailers.as_ref(),
            body: &body,
        };
        let error = rpc::refused(&self.verb, answered).unwrap_or_else(rpc::internal);
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
        assert_eq!(rpc::reason(&error).as_deref(), Some("TOO_SLOW"));
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
        let course = Course::default();
        assert!(!course.has_come() && !course.has_succeeded());
        course.came();
        assert!(course.has_come() && !course.has_succeeded());
        course.succeeded();
        assert!(course.has_come() && course.has_succeeded());
    }
}
