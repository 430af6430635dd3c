//! Codes for HTTP responses that are not from the service.

use http::StatusCode;

use super::Code;

/// Returns the code for a status without an error of the service.
///
/// Rules: <https://connectrpc.com/docs/protocol#http-to-error-code>
pub(super) const fn code(status: StatusCode) -> Code {
    match status.as_u16() {
        400 => Code::Internal,
        401 => Code::Unauthenticated,
        403 => Code::PermissionDenied,
        404 => Code::Unimplemented,
        408 => Code::DeadlineExceeded,
        429 | 502..=504 => Code::Unavailable,
        _ => Code::Unknown,
    }
}
