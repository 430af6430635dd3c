//! Explains why a call failed, and how to fix it. The effect on the plan or the state belongs to the
//! resources.

use std::error::Error as StdError;
use std::fmt;
use std::time::Duration;

use contract::rpc::{self, Code, Error, FieldViolation, Reason};
use thiserror::Error as ThisError;

use super::RetrySafety;
use super::retry::{RETRY_AFTER_MAX, is_rate_limited_by_proxy, is_rejected_by_proxy, is_taken};
use crate::settings::Settings;

/// Longest excerpt of a response in a message, in characters.
const MESSAGE_CHARS_MAX: usize = 1_000;
/// Longest excerpt of a response that is not the service's, in characters: often a page of HTML.
const FOREIGN_CHARS_MAX: usize = 120;

/// The way out if two resources wait for each other.
const SWAP_HINT: &str = "; two resources cannot trade values that must be unique in one apply: take one \
                        of them out of the configuration, apply, and put it back";

/// Why a call failed.
#[derive(Clone, Debug, PartialEq, Eq, ThisError)]
pub enum Failure {
    /// The service has no such resource.
    #[error("{0}")]
    NotFound(String),
    /// The service rejects fields. Paths begin at the request, such as `monitor.headers[2].key`.
    #[error("{message}")]
    Rejected {
        /// The whole in one sentence.
        message: String,
        fields: Vec<FieldViolation>,
        /// Whether the values are valid, but another resource has them.
        taken: bool,
    },
    /// Any other failure, with the way out.
    #[error("{0}")]
    Failed(String),
}

impl Failure {
    /// Returns the failure of an update, which names the way out if two resources meant to swap values.
    #[must_use]
    pub fn with_swap_hint(mut self) -> Self {
        if let Self::Rejected { fields, taken: true, .. } = &mut self {
            for field in fields {
                field.description.push_str(SWAP_HINT);
            }
        }
        self
    }

    /// Creates the failure of a response that the service does not send.
    pub fn invalid_response(why: impl fmt::Display) -> Self {
        Self::Failed(format!("The service sent an invalid response: {why}."))
    }
}

/// Context of a failed call.
pub(super) struct CallContext<'a> {
    pub(super) settings: &'a Settings,
    /// Number of attempts.
    pub(super) attempts: u32,
    /// Time that the service asked to wait.
    pub(super) requested_wait: Option<Duration>,
    pub(super) repeat: RetrySafety,
    /// Time limit of each attempt.
    pub(super) time: Duration,
    /// Whether an attempt may have had its effect although it failed.
    pub(super) unclear: bool,
}

/// Explains an error.
pub(super) fn explain(error: &Error, circumstances: &CallContext<'_>) -> Failure {
    match rpc::reason(error) {
        Some(reason) => explain_service_error(error, &reason, circumstances),
        None => Failure::Failed(explain_transport_error(error, circumstances)),
    }
}

/// Explains an error of the service, which has a reason.
fn explain_service_error(error: &Error, reason: &str, circumstances: &CallContext<'_>) -> Failure {
    let message = excerpt(error.message.as_deref().unwrap_or_default(), MESSAGE_CHARS_MAX);
    let is = |named: Reason| reason == named.as_str();
    if is(Reason::NotFound) {
        return Failure::NotFound(message);
    }
    let fields = rpc::field_violations(error);
    if !fields.is_empty() {
        return Failure::Rejected { message, fields, taken: is_taken(error) };
    }
    let keys = [Reason::KeyMissing, Reason::KeyUnknown, Reason::KeyExpired, Reason::KeyRevoked];
    Failure::Failed(if keys.into_iter().any(is) {
        format!(
            "The service does not accept the key: {message}. Set `api_token` of the provider, or \
             SERVICE_API_TOKEN, to a valid key of this service."
        )
    } else if is(Reason::KeyReadOnly) {
        format!(
            "The service rejected a change: {message}. A plan needs a key with the scope read, an \
             apply a key with the scope write."
        )
    } else if is(Reason::RateLimited) {
        format!(
            "{}{}",
            explain_rate_limit(&message, circumstances),
            describe_attempts(circumstances)
        )
    } else {
        format!(
            "The service returned: {message}.{}{}",
            explain_excessive_wait(circumstances),
            describe_attempts(circumstances)
        )
    })
}

fn explain_rate_limit(message: &str, circumstances: &CallContext<'_>) -> String {
    let wait = circumstances.requested_wait.unwrap_or_default();
    let long = explain_excessive_wait(circumstances);
    let retry =
        if long.is_empty() { format!(" Retry after {} s.", whole_seconds(wait)) } else { long };
    format!("The service rejected the call: {message}.{retry}")
}

/// Returns the reason why a call is not retried if the response asks for too long a pause.
fn explain_excessive_wait(circumstances: &CallContext<'_>) -> String {
    let most = RETRY_AFTER_MAX.as_secs();
    match circumstances.requested_wait {
        Some(wait) if wait > RETRY_AFTER_MAX => {
            let wait = whole_seconds(wait);
            format!(
                " Retry after {wait} s, which is longer than the {most} s that this provider waits."
            )
        }
        _ => String::new(),
    }
}

/// Returns the seconds of a wait, rounded up: after fewer, the service would still refuse.
const fn whole_seconds(wait: Duration) -> u64 {
    wait.as_millis().div_ceil(1_000) as u64
}

/// Explains an error that arose between here and the service.
fn explain_transport_error(error: &Error, circumstances: &CallContext<'_>) -> String {
    let base_url = &circumstances.settings.base_url;
    let message = foreign_text(error);
    let after =
        format!("{}{}", explain_excessive_wait(circumstances), describe_attempts(circumstances));
    if let Some(failure) = rpc::proxy_failure(error) {
        let variable = failure.variable;
        return format!(
            "{base_url} cannot be reached: {failure}. Correct {variable}, or add the host to \
             NO_PROXY.{after}"
        );
    }
    match error.code {
        Code::DeadlineExceeded => {
            let (seconds, limit) = (circumstances.time.as_secs(), name_of_limit(circumstances));
            format!("{base_url} did not respond within {seconds} s, {limit}.{after}")
        }
        Code::Unavailable if rpc::is_self_signed(error) => format!(
            "{base_url} has a self-signed certificate that is not trusted. If the address is right, \
             set SSL_CERT_FILE to a file with this certificate.{after}"
        ),
        Code::Unavailable if is_certificate_error(error) => format!(
            "{base_url} has a certificate that is not trusted: {message}. If the address is right, set \
             SSL_CERT_FILE to a file with the certificates to trust.{after}"
        ),
        Code::Unavailable if is_rate_limited_by_proxy(error) => format!(
            "{base_url}, or a proxy in front of it, rejects calls because there are too many: \
             {message}. Apply with a lower -parallelism, or later.{after}"
        ),
        Code::Unavailable if is_proxy_error(&message) => format!(
            "Something in front of {base_url} answered in place of the service: {message}. The service \
             may be down or starting.{after}"
        ),
        Code::Unavailable => format!(
            "{base_url} cannot be reached: {message}. Check `base_url` of the provider (or \
             SERVICE_API_URL), and that the service runs.{after}"
        ),
        Code::Unauthenticated | Code::PermissionDenied => format!(
            "{base_url} does not accept the key: {message}. Set `api_token` of the provider, or \
             SERVICE_API_TOKEN, to a valid key of this service."
        ),
        Code::ResourceExhausted => {
            format!(
                "The response of {base_url} is larger than any response of the service: {message}."
            )
        }
        Code::Unknown if message.contains("error 407") => format!(
            "The proxy on the way to {base_url} requires credentials: {message}. Set HTTP_PROXY to \
             http://USER:PASSWORD@HOST:PORT."
        ),
        Code::Internal | Code::DataLoss if !is_rejected_by_proxy(error) => {
            format!("The response of {base_url} was invalid: {message}.{after}")
        }
        Code::Canceled
        | Code::Unknown
        | Code::InvalidArgument
        | Code::NotFound
        | Code::AlreadyExists
        | Code::FailedPrecondition
        | Code::Aborted
        | Code::OutOfRange
        | Code::Unimplemented
        | Code::Internal
        | Code::DataLoss
        | _ => format!(
            "{base_url} does not respond like the service: {message}. Check `base_url` of the provider (or \
             SERVICE_API_URL); it usually ends in /rpc."
        ),
    }
}

/// Returns the name of the time limit that a call has.
const fn name_of_limit(circumstances: &CallContext<'_>) -> &'static str {
    match circumstances.repeat {
        RetrySafety::Safe | RetrySafety::Creates => "the `request_timeout` of the provider",
        RetrySafety::WhenRefused => "the limit of such a call",
    }
}

/// Returns the number of attempts, and whether the call may have had its effect.
fn describe_attempts(circumstances: &CallContext<'_>) -> String {
    let tried = match circumstances.attempts {
        0 | 1 => String::new(),
        tries => format!(" It was attempted {tries} times."),
    };
    let done = match (circumstances.repeat, circumstances.unclear) {
        (RetrySafety::Safe, _) => "",
        (RetrySafety::WhenRefused, true) => " It may have taken effect.",
        (RetrySafety::Creates, true) => " It may have been created: if so, import it.",
        (RetrySafety::WhenRefused, false) => " It had no effect.",
        (RetrySafety::Creates, false) => " Nothing was created.",
    };
    format!("{tried}{done}")
}

/// Returns whether a proxy answered in place of the service: 502, 503 or 504.
fn is_proxy_error(message: &str) -> bool {
    ["error 502", "error 503", "error 504"].iter().any(|status| message.contains(status))
}

/// Returns whether the certificate of the server was rejected.
fn is_certificate_error(error: &Error) -> bool {
    rpc::is_unsent(error) && foreign_text(error).contains("certificate")
}

/// Returns the text of an error that is not the service's. The deepest cause says most; HTML says nothing.
fn foreign_text(error: &Error) -> String {
    let mut cause = error.source();
    while let Some(deeper) = cause.and_then(StdError::source) {
        cause = Some(deeper);
    }
    let message = match cause {
        Some(cause) => cause.to_string(),
        None => error.message.clone().unwrap_or_default(),
    };
    let before_html = message.split('<').next().unwrap_or_default();
    excerpt(before_html, FOREIGN_CHARS_MAX).trim_end_matches([':', ' ']).to_owned()
}

/// Returns the beginning of a text on one line, without control characters.
fn excerpt(text: &str, most: usize) -> String {
    let words = text.split(|character: char| character.is_whitespace() || character.is_control());
    let line = words.filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line.trim_end_matches('.').to_owned(),
    }
}
