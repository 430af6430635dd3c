//! Why a call came to nothing, in words that a person at a terminal can act on. What becomes of the
//! plan or the state belongs to the resources.

use std::error::Error as StdError;
use std::fmt;
use std::time::Duration;

use contract::rpc::{self, Code, Error, FieldViolation, Reason};
use thiserror::Error as ThisError;

use super::Repeat;
use super::retry::{RETRY_AFTER_MAX, is_taken};
use crate::settings::Settings;

/// Longest part of an answer that a message repeats, in characters.
const SAID_SHOWN: usize = 1_000;
/// Longest part of what stands where the service should, in characters: often a page of HTML.
const FOREIGN_SHOWN: usize = 120;

/// The way out where two resources wait for each other.
const NO_TRADE: &str = "; two resources cannot trade values that must be unique in one apply: take one \
                        of them out of the configuration, apply, and put it back";

/// Why a call failed.
#[derive(Clone, Debug, PartialEq, Eq, ThisError)]
pub enum Failure {
    /// The service says that it has no such thing.
    #[error("{0}")]
    NotFound(String),
    /// The service refuses fields; paths begin at the request, such as `monitor.headers[2].key`.
    #[error("{said}")]
    Refused {
        /// All of it in one sentence.
        said: String,
        /// Field by field.
        fields: Vec<FieldViolation>,
        /// Whether the values would do, but something else has them.
        taken: bool,
    },
    /// Anything else: what happened, and the way out.
    #[error("{0}")]
    Failed(String),
}

impl Failure {
    /// The failure of a change. Who asked for what something else keeps may have meant to trade it.
    #[must_use]
    pub fn of_a_change(mut self) -> Self {
        if let Self::Refused { fields, taken: true, .. } = &mut self {
            for field in fields {
                field.description.push_str(NO_TRADE);
            }
        }
        self
    }

    /// The answer is none that the service sends.
    pub fn broken(why: impl fmt::Display) -> Self {
        Self::Failed(format!("The service sent an invalid response: {why}."))
    }
}

/// Under which circumstances a call failed.
pub(super) struct Circumstances<'a> {
    pub(super) settings: &'a Settings,
    /// How often it was tried.
    pub(super) tries: u32,
    /// How long the service asked to wait.
    pub(super) asked_to_wait: Option<Duration>,
    /// What kind of call it was.
    pub(super) repeat: Repeat,
    /// The time that each try had.
    pub(super) time: Duration,
    /// Whether any try may have been carried out although it failed.
    pub(super) unclear: bool,
}

/// The failure that this error is.
pub(super) fn explained(error: &Error, circumstances: &Circumstances<'_>) -> Failure {
    match rpc::reason(error) {
        Some(reason) => said_by_the_service(error, &reason, circumstances),
        None => Failure::Failed(met_on_the_way(error, circumstances)),
    }
}

/// What the service itself answered: it gives a reason with everything it refuses.
fn said_by_the_service(error: &Error, reason: &str, circumstances: &Circumstances<'_>) -> Failure {
    let said = shown(error.message.as_deref().unwrap_or_default(), SAID_SHOWN);
    let is = |named: Reason| reason == named.as_str();
    if is(Reason::NotFound) {
        return Failure::NotFound(said);
    }
    let fields = rpc::field_violations(error);
    if !fields.is_empty() {
        return Failure::Refused { said, fields, taken: is_taken(error) };
    }
    let keys = [Reason::KeyMissing, Reason::KeyUnknown, Reason::KeyExpired, Reason::KeyRevoked];
    Failure::Failed(if keys.into_iter().any(is) {
        format!(
            "The service does not accept the key: {said}. Set `api_token` of the provider, or \
             SERVICE_API_TOKEN, to a key of this service that holds."
        )
    } else if is(Reason::KeyReadOnly) {
        format!(
            "The service refuses to change anything: {said}. A plan needs a key with the scope \
             read, an apply one with the scope write."
        )
    } else if is(Reason::RateLimited) {
        format!("{}{}", too_many_calls(&said, circumstances), after(circumstances))
    } else {
        format!("The service returned: {said}.{}", after(circumstances))
    })
}

fn too_many_calls(said: &str, circumstances: &Circumstances<'_>) -> String {
    let wait = circumstances.asked_to_wait.unwrap_or_default().as_secs();
    let most = RETRY_AFTER_MAX.as_secs();
    let long = if wait > most {
        format!(", which is longer than the {most} s that this provider waits")
    } else {
        String::new()
    };
    format!("The service rejected the call: {said}. Retry after {wait} s{long}.")
}

/// What came from somewhere between here and the service, or did not come at all.
fn met_on_the_way(error: &Error, circumstances: &Circumstances<'_>) -> String {
    let base_url = &circumstances.settings.base_url;
    let said = foreign(error);
    let after = after(circumstances);
    match error.code {
        Code::DeadlineExceeded => {
            let seconds = circumstances.time.as_secs();
            let whose = match circumstances.repeat {
                Repeat::Safe | Repeat::Creates => "the `request_timeout` of the provider",
                Repeat::WhenRefused => "which is longer than such a call takes",
            };
            format!("{base_url} did not respond within {seconds} s, {whose}.{after}")
        }
        Code::Unavailable if is_of_trust(error) => format!(
            "{base_url} shows a certificate that is not trusted: {said}. Is it the right address? \
             Let SSL_CERT_FILE name a file with the certificates to trust, where it is.{after}"
        ),
        Code::Unavailable if said.contains("error 429") => format!(
            "{base_url}, or a proxy in front of it, rejects calls because there are too many: \
             {said}. Apply with a lower -parallelism, or later.{after}"
        ),
        Code::Unavailable if is_of_a_proxy(&said) => format!(
            "Something in front of {base_url} answered in place of the service: {said}. The service \
             may be down or starting.{after}"
        ),
        Code::Unavailable => format!(
            "{base_url} cannot be reached: {said}. Is `base_url` of the provider (or \
             SERVICE_API_URL) right, and does the service run?{after}"
        ),
        Code::Unauthenticated | Code::PermissionDenied => format!(
            "{base_url} does not accept the key: {said}. Set `api_token` of the provider, or \
             SERVICE_API_TOKEN, to a key of this service that holds."
        ),
        Code::ResourceExhausted => {
            format!(
                "The response of {base_url} is larger than any response of the service: {said}."
            )
        }
        Code::Internal | Code::DataLoss => {
            format!("The response of {base_url} was invalid: {said}.{after}")
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
        | _ => format!(
            "{base_url} does not answer as the service does: {said}. Is `base_url` of the provider \
             (or SERVICE_API_URL) right? It usually ends in /rpc."
        ),
    }
}

/// How often it was tried, and whether it may have been carried out all the same.
fn after(circumstances: &Circumstances<'_>) -> String {
    let tried = match circumstances.tries {
        0 | 1 => String::new(),
        tries => format!(" It was attempted {tries} times."),
    };
    let done = match (circumstances.repeat, circumstances.unclear) {
        (Repeat::Safe, _) => "",
        (Repeat::WhenRefused, true) => " It may have been carried out.",
        (Repeat::Creates, true) => " It may have been created: look for it and import it.",
        (Repeat::WhenRefused, false) => " Nothing was done.",
        (Repeat::Creates, false) => " Nothing was created.",
    };
    format!("{tried}{done}")
}

/// Returns whether a proxy answered in place of the service: 502, 503 or 504.
fn is_of_a_proxy(said: &str) -> bool {
    ["error 502", "error 503", "error 504"].iter().any(|status| said.contains(status))
}

/// Whether somebody answered whose certificate was refused.
fn is_of_trust(error: &Error) -> bool {
    rpc::never_sent(error) && foreign(error).contains("certificate")
}

/// What somebody else said. The last of a chain of causes says most; a page of HTML says nothing.
fn foreign(error: &Error) -> String {
    let mut cause = error.source();
    while let Some(deeper) = cause.and_then(StdError::source) {
        cause = Some(deeper);
    }
    let said = match cause {
        Some(cause) => cause.to_string(),
        None => error.message.clone().unwrap_or_default(),
    };
    let before_html = said.split('<').next().unwrap_or_default();
    shown(before_html, FOREIGN_SHOWN).trim_end_matches([':', ' ']).to_owned()
}

/// The beginning of what was said, on one line and without what would move a terminal's cursor.
fn shown(said: &str, most: usize) -> String {
    let words = said.split(|character: char| character.is_whitespace() || character.is_control());
    let line = words.filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line.trim_end_matches('.').to_owned(),
    }
}
