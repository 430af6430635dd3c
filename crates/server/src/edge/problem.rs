//! Errors of `/v1` as `application/problem+json` (RFC 9457) with a machine-readable reason. The
//! edge writes the body, because it knows the request ID.

use axum::Json;
use axum::response::{IntoResponse, Response};
use contract::rpc;
use http::header::{CONTENT_LENGTH, CONTENT_TYPE, HeaderMap};
use http::{HeaderValue, StatusCode};
use rules::Reason;
use serde::Serialize;

/// Error of `/v1`.
#[derive(Debug)]
pub(crate) struct Problem {
    status: StatusCode,
    headers: HeaderMap,
    body: ProblemBody,
}

#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct ProblemBody {
    r#type: &'static str,
    title: &'static str,
    status: u16,
    detail: String,
    reason: Reason,
    request_id: String,
}

impl Problem {
    /// Creates an error with a status, a stable reason and a message for people.
    pub(crate) fn new(status: StatusCode, reason: Reason, detail: impl Into<String>) -> Self {
        let title = status.canonical_reason().unwrap_or("Error");
        Self {
            status,
            headers: HeaderMap::new(),
            body: ProblemBody {
                r#type: "about:blank",
                title,
                status: status.as_u16(),
                detail: detail.into(),
                reason,
                request_id: String::new(),
            },
        }
    }

    /// Writes the body of a problem with its request ID. Other responses are returned unchanged.
    pub(crate) fn finish(mut response: Response, request_id: &str) -> Response {
        let Some(mut body) = response.extensions_mut().remove::<ProblemBody>() else {
            return response;
        };
        request_id.clone_into(&mut body.request_id);
        let mut finished = Json(body).into_response();
        *finished.status_mut() = response.status();
        *finished.headers_mut() = std::mem::take(response.headers_mut());
        let headers = finished.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/problem+json"));
        // Belongs to the empty body that is replaced here.
        headers.remove(CONTENT_LENGTH);
        finished
    }
}

impl From<rpc::Error> for Problem {
    fn from(error: rpc::Error) -> Self {
        let reason = rpc::reason(&error).and_then(|word| Reason::parse(&word).ok());
        let reason = reason.unwrap_or(Reason::Internal);
        let detail = error.message.clone().unwrap_or_default();
        let status = error.http_status();
        Self { headers: error.response_headers().clone(), ..Self::new(status, reason, detail) }
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let mut response = self.status.into_response();
        *response.headers_mut() = self.headers;
        response.extensions_mut().insert(self.body);
        response
    }
}
