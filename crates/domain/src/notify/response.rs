//! Classifies the responses of most vendors and quotes them for users. A vendor with more detailed
//! errors reads them in its own file first.

use std::time::Duration;

use rules::ProviderType;
use serde_json::Value;

use super::message::{Disposition, Rejection, VendorResponse};
use super::truncate::{Unit, one_line, plain, truncate};

/// Maximum characters of a response shown to users (our choice: one line).
const QUOTE_MAX: usize = 200;
/// Words of at least this length with digits and letters are probably keys and are not shown.
const KEY_CHARS_MIN: usize = 20;
/// Maximum time to wait that a response can request, before the policy limits it further.
const WAIT_MAX: Duration = Duration::from_hours(24 * 365);

/// Classifies the `response` of a channel of this kind.
///
/// The kind's file decides, by the body or the reply code if the vendor documents them. Otherwise 2xx is
/// success; 408, 425, 429 and 5xx are retried; everything else is not. This includes redirects, because
/// a channel's address is a secret that must not be sent elsewhere.
pub fn classify_response(kind: ProviderType, response: &VendorResponse) -> Disposition {
    (super::kinds::vendor(kind).classify)(response)
}

/// Quotes `response` for users: one line without possible keys.
pub fn quote_response(response: &VendorResponse) -> String {
    sentence(response.status, &response.body, None)
}

/// Shortens a text of a third party for users: one line without possible keys.
pub fn in_one_line(text: &str) -> String {
    redact_text(text)
}

/// Classifies a response by its status alone; quotes `text` and adds a way out if known.
pub(super) fn classify_status(
    response: &VendorResponse,
    text: Option<&str>,
    way_out: Option<&str>,
) -> Disposition {
    let text = text.unwrap_or(&response.body);
    match response.status {
        200..=299 => Disposition::Accepted,
        408 | 425 | 429 | 500..=599 => retry_later(response, response.retry_after, text),
        status => rejected(response, text, way_out.or_else(|| common_way_out(status))),
    }
}

/// Returns the classification for a later retry.
pub(super) fn retry_later(
    response: &VendorResponse,
    after: Option<Duration>,
    text: &str,
) -> Disposition {
    Disposition::Again { after, why: sentence(response.status, text, None) }
}

/// Returns the classification for a permanent failure.
pub(super) fn rejected(
    response: &VendorResponse,
    text: &str,
    way_out: Option<&str>,
) -> Disposition {
    Disposition::Rejected(Rejection { why: sentence(response.status, text, way_out) })
}

/// Parses the response as JSON; returns `null` if it is invalid or truncated.
pub(super) fn json(response: &VendorResponse) -> Value {
    serde_json::from_str(&response.body).unwrap_or(Value::Null)
}

/// Returns the text at `pointer`.
pub(super) fn text_at<'v>(value: &'v Value, pointer: &str) -> Option<&'v str> {
    value.pointer(pointer).and_then(Value::as_str)
}

/// Parses a number of seconds, possibly fractional, as a time to wait.
pub(super) fn seconds(value: Option<&Value>) -> Option<Duration> {
    let seconds = value.and_then(Value::as_f64).filter(|seconds| *seconds >= 0.0)?;
    Some(Duration::try_from_secs_f64(seconds).map_or(WAIT_MAX, |wait| wait.min(WAIT_MAX)))
}

fn common_way_out(status: u16) -> Option<&'static str> {
    match status {
        300..=399 => Some("it redirects: enter its final address in the channel"),
        401 | 403 => Some("it rejected the credentials: correct them in the channel"),
        404 | 410 => Some("it no longer exists: enter its new address in the channel"),
        413 => Some("it only accepts shorter messages"),
        _ => None,
    }
}

fn sentence(status: u16, text: &str, way_out: Option<&str>) -> String {
    let mut sentence = format!("answered {status}");
    let text = redact_text(text);
    if !text.is_empty() {
        sentence = sentence + " “" + &text + "”";
    }
    match way_out {
        Some(way_out) => sentence + "; " + way_out,
        None => sentence,
    }
}

/// Shortens a vendor's text and hides possible keys, because it may echo the request.
fn redact_text(text: &str) -> String {
    let line = one_line(text);
    let is_inner = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '+' | '/' | '=' | '.');
    let mut shown = String::with_capacity(line.len());
    let mut rest = line.as_str();
    while !rest.is_empty() {
        let end = rest.find(|c| !is_inner(c)).unwrap_or(rest.len());
        let (word, after) = rest.split_at(end);
        shown.push_str(if may_be_key(word) { "…" } else { word });
        let separator = after.chars().next().map_or(0, char::len_utf8);
        shown.push_str(&after[..separator]);
        rest = &after[separator..];
    }
    truncate(&shown, plain, Unit::Utf16, QUOTE_MAX)
}

fn may_be_key(word: &str) -> bool {
    let has = |is: fn(char) -> bool| word.contains(is);
    word.len() >= KEY_CHARS_MIN && has(|c| c.is_ascii_digit()) && has(char::is_alphabetic)
}
