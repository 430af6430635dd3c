//! Refusals of what probes ask, with a status code of HTTP and a short text that a probe logs.

use axum::response::{IntoResponse, Response};
use http::header::RETRY_AFTER;
use http::{HeaderValue, StatusCode};

/// Refusal of a request.
#[derive(Debug)]
pub(super) struct RefusedProbe(pub(super) StatusCode, pub(super) String);

impl RefusedProbe {
    /// Returns the refusal of a body that no probe sends.
    pub(super) fn malformed() -> Self {
        Self(StatusCode::BAD_REQUEST, "the body is not a message of a probe".to_owned())
    }

    /// Returns the reason for metrics; `None` if the same request may succeed later.
    pub(super) fn reason(&self) -> Option<&'static str> {
        match self.0 {
            StatusCode::UNAUTHORIZED => Some("token"),
            StatusCode::TOO_MANY_REQUESTS => Some("too_many_tokens"),
            StatusCode::FORBIDDEN => Some("other_probe"),
            StatusCode::PRECONDITION_FAILED => Some("version"),
            StatusCode::BAD_REQUEST => Some("malformed"),
            StatusCode::PAYLOAD_TOO_LARGE => Some("too_large"),
            _ => None,
        }
    }
}

impl IntoResponse for RefusedProbe {
    fn into_response(self) -> Response {
        let Self(status, mut reason) = self;
        reason.push('\n');
        let mut response = (status, reason).into_response();
        if status == StatusCode::TOO_MANY_REQUESTS || status == StatusCode::SERVICE_UNAVAILABLE {
            response.headers_mut().insert(RETRY_AFTER, HeaderValue::from_static("5"));
        }
        response
    }
}
