//! Layer behind the gate that buffers a request within limits of size and time, before a
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
const COPIED_HEADERS: [HeaderName; 2] = [ALLOW, HeaderName::from_static("accept-post")];

/// Progress of a call, in the extensions of its request. The interceptor around the methods updates
/// it.
#[derive(Clone, Debug, Default)]
pub(super) struct CallStage(Arc<AtomicU8>);

impl CallStage {
    const REACHED: u8 = 1;
    const SUCCEEDED: u8 = 2;

    /// Marks that the call reached its method, which counts it and adds reasons to errors.
    pub(super) fn mark_reached(&self) {
        self.0.store(Self::REACHED, Ordering::Release);
    }

    /// Marks that the method succeeded. In gRPC the HTTP status does not show it.
    pub(super) fn mark_succeeded(&self) {
        self.0.store(Self::SUCCEEDED, Ordering::Release);
    }

    fn has_reached(&self) -> bool {
        self.0.load(Ordering::Acquire) >= Self::REACHED
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
pub(crate) async fn buffer_body(
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
    let error_context = ErrorContext {
        verb: request.method().clone(),
        content_type: content_type.map(|it| (CONTENT_TYPE, it)).into_iter().collect(),
        id: request.extensions().get().cloned(),
        method: &method.name,
    };
    let (mut parts, body) = request.into_parts();
    let message = match read_body(body, WITHIN).await {
        Ok(message) => message,
        Err(error) => return error_context.error_response(error, &metrics),
    };
    let stage = CallStage::default();
    parts.extensions.insert(stage.clone());
    parts.extensions.insert(BufferedBody(message.clone()));
    let response = next.run(Request::from_parts(parts, Body::from(message))).await;
    if stage.has_reached() {
        response
    } else {
        error_context.translate_error(response, &metrics).await
    }
}

/// Reads a whole body. Fails if it is too large, incomplete, or not received within this time.
async fn read_body(body: Body, within: Duration) -> Result<Bytes, Error> {
    let most = MESSAGE_BYTES_MAX + ENVELOPE_BYTES;
    match tokio::time::timeout(within, Limited::new(body, most).collect()).await {
        Ok(Ok(whole)) => Ok(whole.to_bytes()),
        Ok(Err(error)) if error.is::<LengthLimitError>() => {
            Err(rpc::payload_too_large(MESSAGE_BYTES_MAX))
        }
        Ok(Err(error)) => Err(edge::cut_off_error(&*error)),
        Err(_) => Err(rpc::request_timeout(within)),
    }
}

impl ErrorContext {
    /// Returns an error in the caller's protocol, and counts the call.
    fn error_response(&self, error: Error, metrics: &Metrics) -> Response {
        metrics.count_call(self.method, error.code.as_str());
        let error = match &self.id {
            Some(id) => rpc::with_request_id(error, id.as_str()),
            None => error,
        };
        Protocol::Rpc.answer(error, &self.content_type)
    }

    /// Adds the reason to the error of a call that did not reach a method.
    async fn translate_error(&self, response: Response, metrics: &Metrics) -> Response {
        let (parts, body) = response.into_parts();
        // The library's errors are in memory already.
        let Ok(whole) = body.collect().await else {
            return self.error_response(rpc::internal(), metrics);
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
        let mut response = self.error_response(error, metrics);
        for name in COPIED_HEADERS {
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
    async fn slow_request_times_out() {
        let never = Body::from_stream(stream::pending::<Result<Bytes, axum::Error>>());
        let error = read_body(never, Duration::ZERO).await.unwrap_err();
        assert_eq!(error.http_status(), 408);
        assert_eq!(rpc::reason(&error).as_deref(), Some("REQUEST_TIMEOUT"));
    }

    #[tokio::test]
    async fn oversized_request_is_rejected() {
        let most = MESSAGE_BYTES_MAX + ENVELOPE_BYTES;
        assert_eq!(read_body(Body::from(vec![0; most]), WITHIN).await.unwrap().len(), most);
        let error = read_body(Body::from(vec![0; most + 1]), WITHIN).await.unwrap_err();
        assert_eq!(error.http_status(), 413);
    }

    #[test]
    fn call_stage_records_progress() {
        let stage = CallStage::default();
        assert!(!stage.has_reached() && !stage.has_succeeded());
        stage.mark_reached();
        assert!(stage.has_reached() && !stage.has_succeeded());
        stage.mark_succeeded();
        assert!(stage.has_reached() && stage.has_succeeded());
    }
}
