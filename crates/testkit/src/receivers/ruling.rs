//! What the rules of all vendors are written with: rulings, and reading requests.

use serde_json::Value;

use crate::target::{Answer, Received};

/// What a vendor answers to what it takes, or how it refuses.
pub(super) type Ruling = Result<Answer, Box<Refusal>>;

/// How a vendor refuses.
#[derive(Debug)]
pub(super) struct Refusal {
    /// Which rule was broken, for the test's eyes.
    pub(super) why: String,
    /// What the vendor says.
    pub(super) answer: Answer,
}

/// An answer of JSON.
pub(super) fn json(status: u16, body: &Value) -> Answer {
    Answer::status(status).header("content-type", "application/json").body(body.to_string())
}

/// An answer of a word or a sentence.
pub(super) fn words(status: u16, text: &str) -> Answer {
    Answer::status(status).header("content-type", "text/plain").body(text.to_owned())
}

/// A refusal for `why`.
pub(super) fn refuse(why: impl Into<String>, answer: Answer) -> Box<Refusal> {
    Box::new(Refusal { why: why.into(), answer })
}

/// How long a text is by the strictest reading of "characters": units of UTF-16, of which a text
/// never has fewer than characters.
pub(super) fn length(text: &str) -> usize {
    text.encode_utf16().count()
}

/// The text at `pointer`.
pub(super) fn text<'v>(value: &'v Value, pointer: &str) -> Option<&'v str> {
    value.pointer(pointer).and_then(Value::as_str)
}

/// The list at `pointer`, empty where there is none.
pub(super) fn list<'v>(value: &'v Value, pointer: &str) -> &'v [Value] {
    value.pointer(pointer).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// The parts of the path.
pub(super) fn path(request: &Received) -> Vec<&str> {
    let path = request.target.split('?').next().unwrap_or_default();
    path.split('/').skip(1).collect()
}

/// The last value of a parameter of the query.
pub(super) fn parameter(request: &Received, name: &str) -> Option<String> {
    let query = request.target.split_once('?')?.1;
    let pairs = url::form_urlencoded::parse(query.as_bytes());
    pairs.filter(|(known, _)| known == name).last().map(|(_, value)| value.into_owned())
}

/// The fields of a form, in order.
pub(super) fn form(request: &Received) -> Vec<(String, String)> {
    url::form_urlencoded::parse(request.body.as_bytes()).into_owned().collect()
}

/// The body, where it is said to be JSON and is an object.
pub(super) fn object(request: &Received) -> Option<Value> {
    let content_type = request.header("content-type")?;
    if !content_type.starts_with("application/json") {
        return None;
    }
    serde_json::from_str(&request.body).ok().filter(Value::is_object)
}

/// Whether it is an absolute URL of the web.
pub(super) fn is_url(text: &str) -> bool {
    let is_clean = !text.contains(|c: char| c.is_whitespace() || c.is_control());
    is_clean
        && url::Url::parse(text)
            .is_ok_and(|url| matches!(url.scheme(), "http" | "https") && url.host_str().is_some())
}

/// Whether it is an instant as ISO 8601 writes it.
pub(super) fn is_instant(text: &str) -> bool {
    text.parse::<jiff::Timestamp>().is_ok()
}

/// The names of `value` that are none of `known`.
pub(super) fn unknown<'v>(value: &'v Value, known: &[&str]) -> Option<&'v str> {
    let fields = value.as_object()?;
    fields.keys().map(String::as_str).find(|name| !known.contains(name))
}
