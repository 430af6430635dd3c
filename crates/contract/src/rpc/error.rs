//! Errors for callers: a code, a stable reason for programs, and a message with the object and the
//! way out. The RPC library encodes them.

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD};
use buffa::Message;
use buffa_types::google::protobuf::Duration as WireDuration;
use connectrpc::ErrorDetail;
use proto::google::rpc::bad_request::FieldViolation as WireViolation;
use proto::google::rpc::{BadRequest, ErrorInfo, RequestInfo, RetryInfo};
use rules::Violations;
use rules::limits::VIOLATIONS_MAX;

/// Error of the protocol. `error.into_http_response(headers)` converts it outside of the RPC.
pub use connectrpc::ConnectError as Error;
/// Code of an error. It determines the HTTP status.
pub use connectrpc::ErrorCode as Code;
/// Stable reason of a failure.
pub use rules::Reason;

/// Domain of the reasons: `google.rpc.ErrorInfo.domain`.
const DOMAIN: &str = "aloft";
/// Suggested delay before a retry of a deferred call: about the duration of a server restart.
const DEFERRED_RETRY_AFTER: Duration = Duration::from_secs(1);
/// Maximum length of a caller's own text in a message, in characters.
const GIVEN_SHOWN: usize = 128;

/// Violation of a field, decoded from an error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldViolation {
    /// Path from the request on, such as `monitor.headers[2].key`.
    pub field: String,
    /// Given and allowed values.
    pub description: String,
}

/// Returns an error for a missing, unknown, expired or revoked key: 401.
pub fn unauthenticated(reason: Reason, message: impl Into<String>) -> Error {
    error(Code::Unauthenticated, reason, message)
}

/// Returns an error for a key without permission: 403.
pub fn permission_denied(message: impl Into<String>) -> Error {
    error(Code::PermissionDenied, Reason::KeyReadOnly, message)
}

/// Returns an error for a caller without the needed right, such as a role: 403.
pub fn right_required(reason: Reason, message: impl Into<String>) -> Error {
    error(Code::PermissionDenied, reason, message)
}

/// Returns an error for a missing object: 404. Objects of other workspaces are missing, too.
pub fn not_found(noun: &str, id: &str) -> Error {
    let message = format!("{noun} `{}` not found in this workspace", shorten(id));
    error(Code::NotFound, Reason::NotFound, message)
}

/// Returns an error for an object that already exists: 409.
pub fn already_exists(message: impl Into<String>) -> Error {
    error(Code::AlreadyExists, Reason::AlreadyExists, message)
}

/// Returns an error for a concurrent modification: 409.
pub fn conflict(message: impl Into<String>) -> Error {
    error(Code::Aborted, Reason::Conflict, message)
}

/// Returns an error for an outdated revision: 409. The same request fails again.
pub fn stale(message: impl Into<String>) -> Error {
    error(Code::Aborted, Reason::RevisionMismatch, message)
}

/// Returns an error for an object in the wrong state: 400. The same request may succeed later.
pub fn failed_precondition(message: impl Into<String>) -> Error {
    error(Code::FailedPrecondition, Reason::FailedPrecondition, message)
}

/// Returns an error for an invalid request: 400. The details and the message contain the first
/// violations. Paths begin at the request, so those of a monitor need [`Violations::under`]
/// `"monitor"`.
pub fn invalid(violations: &Violations) -> Error {
    invalid_because(Reason::InvalidArgument, violations)
}

/// Returns an error for unique values that are in use: 409, with the paths of their fields.
pub fn taken(violations: &Violations) -> Error {
    violating(Code::AlreadyExists, Reason::AlreadyExists, violations)
}

/// Like [`invalid`], with another reason.
pub fn invalid_because(reason: Reason, violations: &Violations) -> Error {
    violating(Code::InvalidArgument, reason, violations)
}

fn violating(code: Code, reason: Reason, violations: &Violations) -> Error {
    let more = violations.0.len().saturating_sub(VIOLATIONS_MAX);
    let shown = Violations(violations.0.iter().take(VIOLATIONS_MAX).cloned().collect());
    let message = match more {
        0 => shown.to_string(),
        more => format!("{shown}; and {more} more"),
    };
    let field_violations = shown
        .0
        .iter()
        .map(|violation| WireViolation {
            field: violation.field.clone(),
            description: match &violation.given {
                Some(given) => format!("{} (given: `{given}`)", violation.allowed),
                None => violation.allowed.clone(),
            },
        })
        .collect();
    let detail = BadRequest { field_violations };
    error(code, reason, message).with_detail(encode_detail("google.rpc.BadRequest", &detail))
}

/// Returns an error for too many calls: 429, with the time to wait.
pub fn resource_exhausted(message: impl Into<String>, retry_after: Duration) -> Error {
    with_wait(error(Code::ResourceExhausted, Reason::RateLimited, message), retry_after)
}

/// Returns an error for a request of more than `most` bytes: 413. A retry does not help.
pub fn payload_too_large(most: usize) -> Error {
    let message = format!("the request is larger than {most} bytes; send less at a time");
    error(Code::ResourceExhausted, Reason::PayloadTooLarge, message)
        .with_http_status(http::StatusCode::PAYLOAD_TOO_LARGE)
}

/// Returns an error for a body that violates HTTP: 400.
pub fn malformed(message: impl Into<String>) -> Error {
    error(Code::InvalidArgument, Reason::MalformedMessage, message)
}

/// Returns an error for a request that was not received within this time: 408.
pub fn request_timeout(within: Duration) -> Error {
    let message = format!("the request was not complete within {} s", within.as_secs());
    error(Code::DeadlineExceeded, Reason::RequestTimeout, message)
        .with_http_status(http::StatusCode::REQUEST_TIMEOUT)
}

/// Returns an error for an unknown method path: 404, with the message of the RPC library.
pub fn unknown_method(path: &str) -> Error {
    let message = format!("method not found: {}", shorten(path.trim_start_matches('/')));
    error(Code::Unimplemented, Reason::UnknownMethod, message)
        .with_http_status(http::StatusCode::NOT_FOUND)
}

/// Returns an error for an unavailable dependency: 503. The outcome of the call is unknown.
pub fn unavailable(message: impl Into<String>) -> Error {
    error(Code::Unavailable, Reason::Unavailable, message)
}

/// Returns an error for a deferred call: 503, with the time to wait. Nothing was done, so a retry
/// is safe.
pub fn deferred(message: impl Into<String>) -> Error {
    with_wait(unavailable(message), DEFERRED_RETRY_AFTER)
}

/// Returns an error for a fault of the service: 500. The cause is logged and never sent.
pub fn internal() -> Error {
    error(Code::Internal, Reason::Internal, "the service failed; its log has the cause")
}

/// Adds the request ID, for a report to the operator.
pub fn with_request_id(error: Error, id: &str) -> Error {
    let detail = RequestInfo { request_id: id.to_owned(), ..RequestInfo::default() };
    error.with_detail(encode_detail("google.rpc.RequestInfo", &detail))
}

/// Returns the reason of an error, or `None` if it came from elsewhere, such as a proxy.
pub fn reason(error: &Error) -> Option<String> {
    detail::<ErrorInfo>(error, "google.rpc.ErrorInfo").map(|info| info.reason)
}

/// Returns the violations of an error.
pub fn field_violations(error: &Error) -> Vec<FieldViolation> {
    detail::<BadRequest>(error, "google.rpc.BadRequest")
        .unwrap_or_default()
        .field_violations
        .into_iter()
        .map(|it| FieldViolation { field: it.field, description: it.description })
        .collect()
}

/// Adds a reason to an error of the RPC library.
pub(super) fn with_reason(error: Error) -> Error {
    if reason(&error).is_some() {
        return error;
    }
    let reason = match error.code {
        Code::InvalidArgument | Code::OutOfRange => Reason::MalformedMessage,
        Code::ResourceExhausted => Reason::PayloadTooLarge,
        Code::Unimplemented => Reason::UnknownMethod,
        Code::Canceled | Code::DeadlineExceeded => Reason::DeadlineExceeded,
        Code::Unavailable => Reason::Unavailable,
        Code::NotFound => Reason::NotFound,
        Code::Unknown
        | Code::AlreadyExists
        | Code::PermissionDenied
        | Code::FailedPrecondition
        | Code::Aborted
        | Code::Internal
        | Code::DataLoss
        | Code::Unauthenticated
        | _ => Reason::Internal,
    };
    let error = error.with_detail(info(reason));
    if reason == Reason::PayloadTooLarge {
        // 429 would suggest that waiting helps.
        return error.with_http_status(http::StatusCode::PAYLOAD_TOO_LARGE);
    }
    error
}

/// Creates an error with a reason in the domain of this service.
pub(super) fn reasoned(code: Code, reason: Reason, message: impl Into<String>) -> Error {
    error(code, reason, message)
}

/// Returns the beginning of a caller's text.
fn shorten(given: &str) -> &str {
    let end = given.char_indices().nth(GIVEN_SHOWN).map_or(given.len(), |(at, _)| at);
    &given[..end]
}

fn error(code: Code, reason: Reason, message: impl Into<String>) -> Error {
    Error::new(code, message).with_detail(info(reason))
}

/// Adds the time to wait, as a detail and as `Retry-After` in whole seconds.
fn with_wait(error: Error, wait: Duration) -> Error {
    let detail = RetryInfo {
        retry_delay: WireDuration {
            seconds: wait.as_secs() as i64,
            nanos: wait.subsec_nanos() as i32,
            ..WireDuration::default()
        }
        .into(),
    };
    let mut error = error.with_detail(encode_detail("google.rpc.RetryInfo", &detail));
    let seconds = wait.as_millis().div_ceil(1000).max(1);
    let value = http::HeaderValue::try_from(seconds.to_string()).expect("digits are a header");
    error.response_headers_mut().insert(http::header::RETRY_AFTER, value);
    error
}

/// Creates a detail, with a JSON form for people who read the response.
fn encode_detail(name: &str, message: &(impl Message + serde::Serialize)) -> ErrorDetail {
    let debug = serde_json::to_value(message).ok();
    ErrorDetail { debug, ..ErrorDetail::from_message(name, message) }
}

fn info(reason: Reason) -> ErrorDetail {
    let info = ErrorInfo {
        reason: reason.as_str().to_owned(),
        domain: DOMAIN.to_owned(),
        ..ErrorInfo::default()
    };
    encode_detail("google.rpc.ErrorInfo", &info)
}

fn detail<M: Message>(error: &Error, name: &str) -> Option<M> {
    let is_named = |detail: &&ErrorDetail| detail.type_url.rsplit('/').next() == Some(name);
    let value = error.details.iter().find(is_named)?.value.as_deref()?;
    let bytes = STANDARD_NO_PAD.decode(value).or_else(|_| STANDARD.decode(value)).ok()?;
    M::decode_from_slice(&bytes).ok()
}

#[cfg(test)]
mod tests {
    use rules::Violation;

    use super::super::library_error::{not_allowed, unsupported_type};
    use super::*;

    #[test]
    fn invalid_request_names_field_and_limit() {
        // design: §4, errors
        let violations = Violations(vec![
            Violation::new("retry", 11, "must be 0 to 10"),
            Violation::without_value("headers[0].value", "is required"),
        ])
        .under("monitor");
        let error = invalid(&violations);
        assert_eq!(error.http_status(), 400);
        assert_eq!(reason(&error).as_deref(), Some("INVALID_ARGUMENT"));
        insta::assert_snapshot!(error.message.as_deref().unwrap(), @"`monitor.retry` must be 0 to 10 (given: `11`); `monitor.headers[0].value` is required");
        insta::assert_debug_snapshot!(field_violations(&error), @r#"
        [
            FieldViolation {
                field: "monitor.retry",
                description: "must be 0 to 10 (given: `11`)",
            },
            FieldViolation {
                field: "monitor.headers[0].value",
                description: "is required",
            },
        ]
        "#);
    }

    #[test]
    fn response_lists_first_violations_and_counts_others() {
        let violations =
            (0..VIOLATIONS_MAX + 7).map(|at| Violation::without_value(format!("f{at}"), "is odd"));
        let error = invalid(&Violations(violations.collect()));
        assert_eq!(field_violations(&error).len(), VIOLATIONS_MAX);
        assert!(error.message.unwrap().ends_with("; and 7 more"));
    }

    #[test]
    fn rate_limit_rounds_wait_up_to_seconds() {
        for (wait, header) in [(0, "1"), (1, "1"), (1_000, "1"), (1_001, "2")] {
            let error = resource_exhausted("too many calls", Duration::from_millis(wait));
            assert_eq!(error.response_headers()["retry-after"], header, "{wait} ms");
        }
    }

    #[test]
    fn only_deferred_calls_have_a_retry_time() {
        // docs/decisions/0037: only this error is retried for every method
        let waits = |error: Error| {
            let wait = detail::<RetryInfo>(&error, "google.rpc.RetryInfo")?;
            let header = error.response_headers().get("retry-after")?.clone();
            Some((wait.retry_delay.seconds, header))
        };
        let second = http::HeaderValue::from_static("1");
        assert_eq!(waits(deferred("stopping")), Some((1, second)));
        assert_eq!(waits(unavailable("stopping")), None);
        assert_eq!(reason(&deferred("stopping")).as_deref(), Some("UNAVAILABLE"));
    }

    #[test]
    fn library_error_gets_a_reason() {
        let theirs = with_reason(Error::invalid_argument("failed to decode"));
        assert_eq!(reason(&theirs).as_deref(), Some("MALFORMED_MESSAGE"));
        let ours = with_reason(unauthenticated(Reason::KeyExpired, "expired"));
        assert_eq!(reason(&ours).as_deref(), Some("KEY_EXPIRED"));
        assert_eq!(ours.details.len(), 1);
    }

    // issue 8, point 3: "errors with every reason"
    #[test]
    fn every_reason_has_its_code_and_status() {
        let odd = Violations(vec![Violation::without_value("id", "is odd")]);
        let of_keys =
            [Reason::KeyMissing, Reason::KeyUnknown, Reason::KeyExpired, Reason::KeyRevoked];
        let mut errors: Vec<Error> = of_keys.map(|reason| unauthenticated(reason, "no")).into();
        errors.extend([
            permission_denied("no"),
            right_required(Reason::RoleRequired, "no"),
            right_required(Reason::OperatorRequired, "no"),
            not_found("monitor", "mon_1"),
            already_exists("taken"),
            taken(&odd),
            conflict("changed"),
            stale("changed"),
            failed_precondition("no dead letter"),
            invalid(&odd),
            invalid_because(Reason::MonitorTypeMismatch, &odd),
            resource_exhausted("slower", Duration::from_secs(1)),
            payload_too_large(1),
            request_timeout(Duration::from_secs(1)),
            unknown_method("/a/B"),
            unavailable("later"),
            deferred("later"),
            internal(),
            with_reason(Error::invalid_argument("no JSON")),
            with_reason(Error::deadline_exceeded("over")),
            unsupported_type(),
            not_allowed(&http::Method::PUT, &http::HeaderMap::new()),
        ]);
        let mut covered = Vec::new();
        for error in errors {
            let word = reason(&error).unwrap();
            let known = Reason::parse(&word).unwrap();
            assert_eq!(error.code.as_str(), known.code(), "{word}");
            assert_eq!(error.http_status().as_u16(), known.status(), "{word}");
            covered.push(known);
        }
        let missing: Vec<_> = Reason::ALL.iter().filter(|known| !covered.contains(known)).collect();
        assert!(missing.is_empty(), "{missing:?} is covered by nothing here");
    }

    #[test]
    fn quoted_input_is_shortened() {
        for error in [not_found("monitor", &"ü".repeat(9_999)), unknown_method(&"ü".repeat(9_999))]
        {
            assert_eq!(error.http_status(), 404);
            assert!(error.message.unwrap().chars().count() < 200);
        }
    }

    #[test]
    fn internal_error_hides_its_cause() {
        assert_eq!(internal().http_status(), 500);
    }
}
