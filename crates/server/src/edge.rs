//! edge: the outermost layer of every request. It admits the request within the limits, bounds its
//! body, and adds a request ID, CORS, and errors in the caller's protocol even after a panic.
//! `admission` decides which limits count for a request, `body` has the limits of request bodies,
//! `budget` their memory, and `holding` counts responses until they are sent. `host` and `paths` read
//! heads.

mod admission;
mod body;
mod budget;
mod grpc_status;
mod holding;
mod host;
mod paths;
mod problem;

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use contract::rpc;
use dashboard::{SessionLookups, known_session};
use futures_util::FutureExt as _;
use http::header::{self, HeaderName};
use http::{HeaderMap, HeaderValue, Method, StatusCode, Version};
use rules::WorkspaceId;
use tracing::Instrument as _;
use web::context::Context;
use web::peer::ShownSession;

use self::admission::{Admission, admit, too_many_requests};
pub(crate) use self::body::{BODY_WITHIN, Intake, cut_off_error};
pub(crate) use self::budget::Budget;
use self::holding::Holding;
pub(crate) use self::holding::hint_with_taken;
use self::paths::is_for_keys;
pub(crate) use self::paths::{is_public, looks_like_a_method};
pub(crate) use self::problem::Problem;
use crate::connection::Connection;
use crate::observe::Traces;

/// Header with the ID of a request, for responses and logs.
const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
/// Maximum length of a caller's request ID, in characters.
const REQUEST_ID_CHARS_MAX: usize = 128;
/// Response headers that scripts of any origin may read.
const EXPOSED: HeaderValue = HeaderValue::from_static(
    "x-request-id, retry-after, ratelimit-limit, ratelimit-remaining, ratelimit-reset, \
     grpc-status, grpc-message, grpc-status-details-bin, connect-content-encoding",
);
/// Value of `WWW-Authenticate`.
const CHALLENGE: HeaderValue = HeaderValue::from_static("Bearer realm=\"aloft\"");
const ANY: HeaderValue = HeaderValue::from_static("*");

/// Dependencies of the layer.
#[derive(Clone, Debug)]
pub(crate) struct Edge {
    pub(crate) ctx: Context,
    /// Memory budgets for request bodies.
    pub(crate) budget: Budget,
    /// Deadline of request bodies.
    pub(crate) body_within: Duration,
    /// Sessions of people who signed in.
    pub(crate) sessions: Arc<SessionLookups>,
    pub(crate) traces: Traces,
}

/// ID of a request, in its extensions.
#[derive(Clone, Debug)]
pub(crate) struct RequestId(HeaderValue);

/// Format of errors, which depends on the path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Protocol {
    /// Connect, gRPC or gRPC-Web, by the request's content type.
    Rpc,
    /// `application/problem+json`.
    V1,
}

impl Protocol {
    /// Returns the protocol of a path.
    pub(crate) fn from_path(path: &str) -> Self {
        if path.starts_with("/v1/") || matches!(path, "/v1" | mcp::PATH) {
            Self::V1
        } else {
            Self::Rpc
        }
    }

    /// Encodes the error for the caller of this request, with the request's ID.
    pub(crate) fn refuse(self, error: rpc::Error, request: &Request) -> Response {
        let error = match request.extensions().get::<RequestId>() {
            Some(id) => rpc::with_request_id(error, id.as_str()),
            None => error,
        };
        self.answer(error, request.headers())
    }

    /// Encodes the error for a caller with these headers.
    pub(crate) fn answer(self, error: rpc::Error, request: &HeaderMap) -> Response {
        match self {
            Self::Rpc => error.into_http_response(request).map(Body::new),
            // The edge layer writes the body.
            Self::V1 => Problem::from(error).into_response(),
        }
    }
}

impl RequestId {
    /// Returns the ID as text.
    pub(crate) fn as_str(&self) -> &str {
        self.0.to_str().unwrap_or_default()
    }

    /// Returns the caller's own ID if it is valid, else a new one.
    fn from_headers(request: &HeaderMap, ctx: &Context) -> Self {
        let given = request.get(&REQUEST_ID).filter(|id| is_sane(id.as_bytes()));
        let id = given.cloned().unwrap_or_else(|| {
            let id = format!("req_{:016x}", ctx.random());
            HeaderValue::try_from(id).expect("digits are a header")
        });
        Self(id)
    }
}

/// Handles a request in the outermost layer.
pub(crate) async fn edge(State(edge): State<Edge>, mut request: Request, next: Next) -> Response {
    let id = RequestId::from_headers(request.headers(), &edge.ctx);
    let trace = edge.traces.begin(&request);
    let (version, expects) = (request.version(), body::expects_continue(&request));
    let takes_key = is_for_keys(request.uri().path());
    let connection = request.extensions().get::<Connection>().cloned();
    // A request without a connection needs no host.
    let is_addressed = connection.is_none() || host::is_named_once(&request);
    let session = known_session(&edge.sessions, request.uri().path(), request.headers());
    let admission = admit(connection.as_ref(), &request, session.is_some());
    if let Ok(Admission::WithoutKey(open)) = &admission
        && let Some(limit) = open.stream_limit()
    {
        request.extensions_mut().insert(limit);
    }
    // The memory of forms is shared by sessions as that of calls is by workspaces.
    let owner = session.map(|session| WorkspaceId::from_bits(session.bits()));
    let intake = Intake::limit(&mut request, &edge, connection.as_ref(), owner);
    let served = connection.as_ref().filter(|_| intake.is_none()).map(Connection::serve);
    request.extensions_mut().insert(id.clone());
    let answered_here = if admission.is_err() {
        Some(too_many_requests(&request))
    } else if !is_addressed {
        Some((StatusCode::BAD_REQUEST, "send exactly one valid Host header\n").into_response())
    } else if is_preflight(&request) {
        Some(preflight(request.headers()))
    } else {
        is_grpc_over_http1(&request).then(grpc_over_http1)
    };
    let mut response = if let Some(response) = answered_here {
        // Drops the body, so that it is discarded.
        drop(request);
        response
    } else {
        // Adds the request ID to every log line until the response.
        let span = tracing::error_span!("request", request.id = id.as_str());
        catch_panic(request, next, &id).instrument(span).await
    };
    if let Some(intake) = intake {
        intake.finish(version, expects, &mut response).await;
    }
    drop(served);
    // A session in the database counts as a key.
    if let Some(connection) = &connection
        && response.extensions().get::<ShownSession>().is_some()
    {
        connection.set_has_key();
    }
    response = Problem::finish(grpc_status::move_trailers_to_headers(response), id.as_str());
    response = match (admission, connection) {
        (Ok(Admission::WithoutKey(open)), _) => Holding::until_it_ends(response, version, open),
        (_, Some(connection)) => Holding::until_it_is_read(response, &connection),
        (_, None) => response,
    };
    let status = response.status();
    edge.traces.end(trace, id.as_str(), &response);
    let headers = response.headers_mut();
    headers.insert(REQUEST_ID, id.0);
    // A visitor's password opens a page, not a key. Its form needs no challenge.
    if status == StatusCode::UNAUTHORIZED && takes_key {
        headers.entry(header::WWW_AUTHENTICATE).or_insert(CHALLENGE);
    }
    headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, ANY);
    headers.insert(header::ACCESS_CONTROL_EXPOSE_HEADERS, EXPOSED);
    response
}

/// Runs the inner layers. If they panic, sends an error to the caller and logs the location.
async fn catch_panic(request: Request, next: Next, id: &RequestId) -> Response {
    let protocol = Protocol::from_path(request.uri().path());
    // The format of an error depends only on this; cloning all headers of every request costs more.
    let content_type = request.headers().get(header::CONTENT_TYPE).cloned();
    if let Ok(response) = AssertUnwindSafe(next.run(request)).catch_unwind().await {
        return response;
    }
    tracing::error!(request.id = id.as_str(), "the answer to `{}` panicked", id.as_str());
    let headers = content_type.map(|it| (header::CONTENT_TYPE, it)).into_iter().collect();
    protocol.answer(rpc::with_request_id(rpc::internal(), id.as_str()), &headers)
}

/// Returns whether this is gRPC over HTTP/1, which lacks the trailers for the status. gRPC-Web does
/// not need them.
fn is_grpc_over_http1(request: &Request) -> bool {
    let content_type = request.headers().get(header::CONTENT_TYPE);
    request.version() < Version::HTTP_2
        && content_type.is_some_and(|it| {
            let essence = it.as_bytes().split(|byte| *byte == b';').next().unwrap_or_default();
            let essence = essence.trim_ascii().to_ascii_lowercase();
            essence == b"application/grpc" || essence.starts_with(b"application/grpc+")
        })
}

/// Rejects gRPC over HTTP/1 before anything is executed.
fn grpc_over_http1() -> Response {
    let why = "gRPC needs HTTP/2; use HTTP/2, gRPC-Web or Connect\n";
    (StatusCode::HTTP_VERSION_NOT_SUPPORTED, why).into_response()
}

fn is_preflight(request: &Request) -> bool {
    request.method() == Method::OPTIONS
        && request.headers().contains_key(header::ORIGIN)
        && request.headers().contains_key(header::ACCESS_CONTROL_REQUEST_METHOD)
}

/// Answers a CORS preflight. Any origin is allowed, because keys are sent in a header and never in
/// a cookie (design §4).
fn preflight(request: &HeaderMap) -> Response {
    let mut response = StatusCode::NO_CONTENT.into_response();
    let headers = response.headers_mut();
    headers.insert(
        header::ACCESS_CONTROL_ALLOW_METHODS,
        HeaderValue::from_static("GET, POST, DELETE"),
    );
    let requested = request.get(header::ACCESS_CONTROL_REQUEST_HEADERS).cloned();
    headers.insert(header::ACCESS_CONTROL_ALLOW_HEADERS, requested.unwrap_or(ANY));
    headers.insert(header::ACCESS_CONTROL_MAX_AGE, HeaderValue::from_static("7200"));
    headers.insert(header::VARY, HeaderValue::from_static("access-control-request-headers"));
    response
}

fn is_sane(id: &[u8]) -> bool {
    let is_sane = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_.".contains(byte);
    (1..=REQUEST_ID_CHARS_MAX).contains(&id.len()) && id.iter().all(is_sane)
}

#[cfg(test)]
mod tests {
    use tower::ServiceExt as _;

    use super::*;

    #[tokio::test]
    async fn panic_returns_protocol_error_without_details() {
        // issue 3: no input makes the server panic; a fault of ours must not take a connection along
        let (ctx, _clock) = Context::manual(rules::Timestamp::from_millis(0));
        let panics = || async { panic!("hunter2") };
        let app = axum::Router::new()
            .fallback(axum::routing::any(move || async move {
                panics().await;
            }))
            .layer(axum::middleware::from_fn_with_state(
                Edge {
                    ctx,
                    budget: Budget::new(0),
                    body_within: BODY_WITHIN,
                    sessions: Arc::default(),
                    traces: Traces::default(),
                },
                edge,
            ));
        let answer = async |path: &str, content_type: &'static str| {
            let request = http::Request::post(path)
                .version(http::Version::HTTP_2)
                .header("content-type", content_type);
            let request = request.body(Body::empty()).unwrap();
            let response = app.clone().oneshot(request).await.unwrap();
            let (parts, body) = response.into_parts();
            let body = axum::body::to_bytes(body, 4096).await.unwrap();
            assert!(!String::from_utf8_lossy(&body).contains("hunter2"));
            (parts.status.as_u16(), parts.headers)
        };
        let (status, headers) = answer("/v1/whoami", "text/plain").await;
        assert_eq!(
            (status, &headers[header::CONTENT_TYPE]),
            (500, &"application/problem+json".parse().unwrap())
        );
        let (status, headers) = answer("/rpc/a.B/C", "application/json").await;
        assert_eq!(
            (status, &headers[header::CONTENT_TYPE]),
            (500, &"application/json".parse().unwrap())
        );
        let (status, headers) = answer("/rpc/a.B/C", "application/grpc").await;
        assert_eq!((status, &headers["grpc-status"]), (200, &"13".parse().unwrap()));
        assert!(headers.contains_key(REQUEST_ID));
    }

    #[test]
    fn only_safe_request_ids_are_accepted() {
        let (ctx, _clock) = Context::manual(rules::Timestamp::from_millis(0));
        let id = |given: &'static str| {
            let headers = HeaderMap::from_iter([(REQUEST_ID, HeaderValue::from_static(given))]);
            RequestId::from_headers(&headers, &ctx).as_str().to_owned()
        };
        assert_eq!(id("a-B_9.c"), "a-B_9.c");
        for bad in ["", "a b", "a\"b", "{}", "a;b"] {
            assert!(id(bad).starts_with("req_"), "{bad}");
        }
        let long = "x".repeat(REQUEST_ID_CHARS_MAX + 1);
        assert!(is_sane(&long.as_bytes()[1..]) && !is_sane(long.as_bytes()));
    }
}
