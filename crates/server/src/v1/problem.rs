//! Errors of `/v1` as `application/problem+json` (RFC 9457), with the reason that programs read.
//! The request's id is in the header `x-request-id` and, put in by `with_request_id`, in the body.

use axum::Json;
use axum::response::{IntoResponse, Response};
use contract::rpc::{self, Code};
use http::header::{CONTENT_TYPE, HeaderMap};
use http::{HeaderValue, StatusCode};
use serde::Serialize;

/// One error.
#[derive(Debug)]
pub(crate) struct Problem {
    status: StatusCode,
    headers: HeaderMap,
    body: Body,
}

#[derive(Debug, Serialize)]
struct Body {
    r#type: &'static str,
    title: &'static str,
    status: u16,
    detail: String,
    reason: String,
}

impl Problem {
    /// An error with this status, stable reason, and words for people.
    pub(crate) fn new(
        status: StatusCode,
        reason: impl Into<String>,
        detail: impl Into<String>,
    ) -> Self {
        let title = status.canonical_reason().unwrap_or("Error");
        Self {
            status,
            headers: HeaderMap::new(),
            body: Body {
                r#type: "about:blank",
                title,
                status: status.as_u16(),
                detail: detail.into(),
                reason: reason.into(),
            },
        }
    }
}

impl From<rpc::Error> for Problem {
    fn from(error: rpc::Error) -> Self {
        let reason = rpc::reason(&error).unwrap_or_else(|| "INTERNAL".to_owned());
        let detail = error.message.clone().unwrap_or_default();
        let status = match error.code {
            // The RPC writes what is not allowed by a precondition as 400 too.
            Code::FailedPrecondition => StatusCode::CONFLICT,
            _ => error.http_status(),
        };
        Self { headers: error.response_headers().clone(), ..Self::new(status, reason, detail) }
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let mut response = (self.status, Json(self.body)).into_response();
        response.headers_mut().extend(self.headers);
        response
            .headers_mut()
            .insert(CONTENT_TYPE, HeaderValue::from_static("application/problem+json"));
        response
    }
}
