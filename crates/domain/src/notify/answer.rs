//! What the answers of most receivers mean, and what people are told of them. Where a vendor says
//! more by its words, its own file reads them first.

use std::time::Duration;

use rules::ProviderType;
use serde_json::Value;

use super::fit::{Unit, fit, one_line, plain};
use super::message::{Answer, Delivered, Refusal};

/// Most of an answer that people are shown, in characters (ours: one line).
const SHOWN_MAX: usize = 200;
/// Words that are as long as this and have digits and letters are keys more often than not; people
/// are not shown them.
const KEY_CHARS_MIN: usize = 20;
/// Longest time that an answer can ask to wait for, before policy bounds it further.
const WAIT_MAX: Duration = Duration::from_hours(24 * 365);

/// What `answer` of a channel of this kind means.
///
/// 2xx is taken. 408, 425, 429 and 5xx are tried again, everything else never: a redirect too,
/// because the address of a channel is a secret that goes nowhere else.
pub fn read_answer(kind: ProviderType, answer: &Answer) -> Delivered {
    match kind {
        ProviderType::Discord => super::discord::read(answer),
        ProviderType::Email => super::email::read(answer),
        ProviderType::Slack => super::slack::read(answer),
        ProviderType::Pagerduty => super::pagerduty::read(answer),
        ProviderType::Opsgenie => super::opsgenie::read(answer),
        ProviderType::Webhook => super::webhook::read(answer),
        ProviderType::Telegram => super::telegram::read(answer),
        ProviderType::Sms | ProviderType::Whatsapp => super::telephone::read(answer),
        ProviderType::GoogleChat => super::google_chat::read(answer),
        ProviderType::GrafanaOncall => super::grafana_oncall::read(answer),
        ProviderType::Ntfy => super::ntfy::read(answer),
    }
}

/// What `answer` said, as people are shown it: one line without what may be a key.
pub fn said(answer: &Answer) -> String {
    sentence(answer.status, &answer.body, None)
}

/// The beginning of what somebody else said, as people are shown it: one line without what may be a key.
pub fn in_one_line(text: &str) -> String {
    shown(text)
}

/// An answer whose status alone decides, with what it `said` and the way out where one is known.
pub(super) fn by_status(answer: &Answer, said: Option<&str>, way_out: Option<&str>) -> Delivered {
    let said = said.unwrap_or(&answer.body);
    match answer.status {
        200..=299 => Delivered::Accepted,
        408 | 425 | 429 | 500..=599 => again(answer, answer.retry_after, said),
        status => refused(answer, said, way_out.or_else(|| common_way_out(status))),
    }
}

/// Not now.
pub(super) fn again(answer: &Answer, after: Option<Duration>, said: &str) -> Delivered {
    Delivered::Again { after, why: sentence(answer.status, said, None) }
}

/// Never.
pub(super) fn refused(answer: &Answer, said: &str, way_out: Option<&str>) -> Delivered {
    Delivered::Refused(Refusal { why: sentence(answer.status, said, way_out) })
}

/// The answer as JSON; `null` where it is none, such as when only its beginning is known.
pub(super) fn json(answer: &Answer) -> Value {
    serde_json::from_str(&answer.body).unwrap_or(Value::Null)
}

/// The text at `pointer`.
pub(super) fn text_at<'v>(value: &'v Value, pointer: &str) -> Option<&'v str> {
    value.pointer(pointer).and_then(Value::as_str)
}

/// A number of seconds, whole or not, as a time to wait; `None` for what is no such number.
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

fn sentence(status: u16, said: &str, way_out: Option<&str>) -> String {
    let mut sentence = format!("answered {status}");
    let said = shown(said);
    if !said.is_empty() {
        sentence = sentence + " “" + &said + "”";
    }
    match way_out {
        Some(way_out) => sentence + "; " + way_out,
        None => sentence,
    }
}

/// The beginning of what a receiver said, without what may be a key: it may repeat the request.
fn shown(said: &str) -> String {
    let line = one_line(said);
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
    fit(&shown, plain, Unit::Utf16, SHOWN_MAX)
}

fn may_be_key(word: &str) -> bool {
    let has = |is: fn(char) -> bool| word.contains(is);
    word.len() >= KEY_CHARS_MIN && has(|c| c.is_ascii_digit()) && has(char::is_alphabetic)
}
