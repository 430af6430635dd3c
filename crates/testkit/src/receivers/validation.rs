//! Types and request parsing that the rules of all vendors share.

use serde_json::Value;

use crate::target::{Received, ScriptedResponse};

/// Response to an accepted message, or a rejection.
pub(super) type Validation = Result<ScriptedResponse, Box<Rejection>>;

/// A rejection of a message.
#[derive(Debug)]
pub(super) struct Rejection {
    /// Violated rule, for the test.
    pub(super) why: String,
    /// Response of the vendor.
    pub(super) response: ScriptedResponse,
}

/// Returns a JSON response.
pub(super) fn json(status: u16, body: &Value) -> ScriptedResponse {
    ScriptedResponse::status(status)
        .header("content-type", "application/json")
        .body(body.to_string())
}

/// Returns a plain-text response.
pub(super) fn text_response(status: u16, text: &str) -> ScriptedResponse {
    ScriptedResponse::status(status).header("content-type", "text/plain").body(text.to_owned())
}

/// Returns a rejection for the reason `why`.
pub(super) fn refuse(why: impl Into<String>, answer: ScriptedResponse) -> Box<Rejection> {
    Box::new(Rejection { why: why.into(), response: answer })
}

/// Returns the length of a text in UTF-16 code units: the strictest meaning of "characters",
/// because it is never less than their number.
pub(super) fn length(text: &str) -> usize {
    text.encode_utf16().count()
}

/// Returns the text at `pointer`.
pub(super) fn text<'v>(value: &'v Value, pointer: &str) -> Option<&'v str> {
    value.pointer(pointer).and_then(Value::as_str)
}

/// Returns the list at `pointer`, or an empty one.
pub(super) fn list<'v>(value: &'v Value, pointer: &str) -> &'v [Value] {
    value.pointer(pointer).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// Returns the segments of the path.
pub(super) fn path(request: &Received) -> Vec<&str> {
    let path = request.target.split('?').next().unwrap_or_default();
    path.split('/').skip(1).collect()
}

/// Returns the last value of a query parameter.
pub(super) fn parameter(request: &Received, name: &str) -> Option<String> {
    let query = request.target.split_once('?')?.1;
    let pairs = url::form_urlencoded::parse(query.as_bytes());
    pairs.filter(|(known, _)| known == name).last().map(|(_, value)| value.into_owned())
}

/// Returns the fields of a form in order.
pub(super) fn form(request: &Received) -> Vec<(String, String)> {
    url::form_urlencoded::parse(request.body.as_bytes()).into_owned().collect()
}

/// Returns the body if its content type is JSON and it is an object.
pub(super) fn object(request: &Received) -> Option<Value> {
    let content_type = request.header("content-type")?;
    if !content_type.starts_with("application/json") {
        return None;
    }
    serde_json::from_str(&request.body).ok().filter(Value::is_object)
}

/// Returns whether the text is an absolute HTTP(S) URL.
pub(super) fn is_url(text: &str) -> bool {
    let is_clean = !text.contains(|c: char| c.is_whitespace() || c.is_control());
    is_clean
        && url::Url::parse(text)
            .is_ok_and(|url| matches!(url.scheme(), "http" | "https") && url.host_str().is_some())
}

/// Returns whether the text is an instant in ISO 8601.
pub(super) fn is_instant(text: &str) -> bool {
    text.parse::<jiff::Timestamp>().is_ok()
}

/// Returns the first name in `value` that is not in `known`.
pub(super) fn unknown<'v>(value: &'v Value, known: &[&str]) -> Option<&'v str> {
    let fields = value.as_object()?;
    fields.keys().map(String::as_str).find(|name| !known.contains(name))
}
