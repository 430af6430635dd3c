//! The route `/mcp`: streamable HTTP without sessions, with one JSON message per request and per response.
//! The library implements the transport; the layers before it refuse foreign origins, and name the mistake in
//! malformed bodies.

use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::any_service;
use http::header::CONTENT_TYPE;
use http::{HeaderValue, Method, StatusCode};
use http_body_util::{BodyExt as _, LengthLimitError, Limited};
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use serde_json::{Value, json};
use tokio::sync::Semaphore;

use crate::handler::Handler;
use crate::origin::Origins;

/// Path of the endpoint.
pub const PATH: &str = "/mcp";

/// Maximum size of a message in bytes: more than the largest monitor.
const BYTES_MAX: usize = 1 << 20;
/// Requests that are answered at once. A parsed message takes many times its bytes.
const AT_ONCE: usize = 32;
/// Maximum length of a text that identifies a request, in characters.
const ID_CHARS_MAX: usize = 128;

/// Codes of JSON-RPC (<https://www.jsonrpc.org/specification>).
const PARSE_ERROR: i32 = -32_700;
const INVALID_REQUEST: i32 = -32_600;

/// Returns the route of the protocol. Each request needs a [`crate::RequestBackend`] in its extensions.
/// Its responses end by themselves, so a stopping server waits for them.
pub fn routes(public_url: Option<&str>) -> Router {
    let config = StreamableHttpServerConfig::default()
        .with_legacy_session_mode(false)
        .with_json_response(true)
        // `origin` has the reason.
        .disable_allowed_hosts()
        .with_max_request_body_bytes(BYTES_MAX);
    let sessions = Arc::new(NeverSessionManager::default());
    let service = StreamableHttpService::new(|| Ok(Handler), sessions, config);
    Router::new()
        .route(PATH, any_service(service))
        .layer(from_fn_with_state(Arc::new(Semaphore::new(AT_ONCE)), check_message))
        .layer(from_fn_with_state(Origins::new(public_url), check_origin))
}

/// Refuses browsers on pages of other sites.
async fn check_origin(State(origins): State<Origins>, request: Request, next: Next) -> Response {
    let Some(origin) = origins.refused(request.headers()) else { return next.run(request).await };
    let origin = String::from_utf8_lossy(origin.as_bytes()).into_owned();
    let message = format!(
        "pages of `{origin}` may not send requests to this server; the operator's setting `public_url` names its own origin"
    );
    refuse(StatusCode::FORBIDDEN, INVALID_REQUEST, &message)
}

/// Refuses malformed bodies, and names the mistake. The library would answer them in plain text, outside
/// of the protocol.
async fn check_message(
    State(permits): State<Arc<Semaphore>>,
    request: Request,
    next: Next,
) -> Response {
    if request.method() != Method::POST {
        return next.run(request).await;
    }
    let (parts, body) = request.into_parts();
    let message = match Limited::new(body, BYTES_MAX).collect().await {
        Ok(whole) => whole.to_bytes(),
        Err(error) if error.is::<LengthLimitError>() => {
            let message =
                format!("the message is larger than {BYTES_MAX} bytes; send less at a time");
            return refuse(StatusCode::PAYLOAD_TOO_LARGE, INVALID_REQUEST, &message);
        }
        // The edge replaces the status if the body was too slow, or if no memory was left for it.
        Err(error) => {
            let message = format!("the message is not complete: {error}");
            return refuse(StatusCode::BAD_REQUEST, INVALID_REQUEST, &message);
        }
    };
    // A slow body holds no permit.
    let Ok(_permit) = permits.try_acquire() else {
        let message = "too many requests are answered at once; try again in a moment";
        return refuse(StatusCode::TOO_MANY_REQUESTS, INVALID_REQUEST, message);
    };
    match mistake(&message) {
        Some((code, mistake)) => refuse(StatusCode::BAD_REQUEST, code, &mistake),
        None => next.run(Request::from_parts(parts, Body::from(message))).await,
    }
}

/// Returns the reason that a body is no message of JSON-RPC 2.0, with its code.
fn mistake(body: &[u8]) -> Option<(i32, String)> {
    let message: Value = match serde_json::from_slice(body) {
        Ok(message) => message,
        Err(error) => return Some((PARSE_ERROR, format!("the body is not JSON: {error}"))),
    };
    let mistake = match &message {
        Value::Array(_) => "batches are not supported; send one message per request",
        Value::Object(fields) if fields.get("jsonrpc") != Some(&json!("2.0")) => {
            "`jsonrpc` must be \"2.0\""
        }
        Value::Object(fields) if fields.contains_key("result") || fields.contains_key("error") => {
            return None;
        }
        Value::Object(fields) if !fields.get("method").is_some_and(Value::is_string) => {
            "`method` must be the name of a method, such as \"tools/list\""
        }
        Value::Object(fields) => match fields.get("id") {
            Some(Value::String(id)) if id.chars().count() > ID_CHARS_MAX => {
                "a text as `id` must have at most 128 characters"
            }
            Some(Value::String(id)) if id.contains(char::is_control) => {
                "`id` must not contain control characters"
            }
            None | Some(Value::String(_) | Value::Number(_)) => return None,
            Some(Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_)) => {
                "`id` must be a text or a number"
            }
        },
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {
            "the body must be a JSON object"
        }
    };
    Some((INVALID_REQUEST, mistake.to_owned()))
}

/// Returns an error of JSON-RPC for a message without a known ID.
fn refuse(status: StatusCode, code: i32, message: &str) -> Response {
    let error =
        json!({ "jsonrpc": "2.0", "id": null, "error": { "code": code, "message": message } });
    let mut response = (status, error.to_string()).into_response();
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}
