//! ntfy's rules for messages published as JSON, on a server without attachments.
//! Reference: <https://docs.ntfy.sh/publish/#publish-as-json>, limits:
//! <https://docs.ntfy.sh/publish/#limitations>, access:
//! <https://docs.ntfy.sh/publish/#access-tokens>, errors and request parsing:
//! <https://github.com/binwiederhier/ntfy/tree/main/server>

use serde_json::{Value, json};

use super::validation::{Rejection, Validation, is_url, json as answer, path, refuse, text};
use crate::target::Received;

/// Only token that may publish.
pub(super) const TOKEN: &str = "tk_AgQdq7mVBoFD37zQVN29RhuMzNIz2";

const MESSAGE_BYTES_MAX: usize = 4_096;
/// A server reads at most twice the longest message.
const REQUEST_BYTES_MAX: usize = 2 * MESSAGE_BYTES_MAX;
const TOPIC_MAX: usize = 64;

pub(super) fn validate(request: &Received) -> Validation {
    if path(request) != [""] || !matches!(request.method.as_str(), "POST" | "PUT") {
        return Err(wrong(404, 40_401, "page not found"));
    }
    match request.header("authorization").map(|it| it.strip_prefix("Bearer ")) {
        None => return Err(wrong(403, 40_301, "forbidden")),
        Some(token) if token != Some(TOKEN) => return Err(wrong(401, 40_101, "unauthorized")),
        Some(_) => {}
    }
    if request.body.len() > REQUEST_BYTES_MAX {
        return Err(wrong(413, 41_303, "JSON body too large"));
    }
    let Ok(message) = serde_json::from_str::<Value>(&request.body) else {
        return Err(wrong(400, 40_024, "invalid request: request body must be valid JSON"));
    };
    if !has_types(&message) {
        return Err(wrong(400, 40_024, "invalid request: request body must be valid JSON"));
    }
    let topic = text(&message, "/topic").unwrap_or_default();
    let is_inner = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    if !(1..=TOPIC_MAX).contains(&topic.len()) || !topic.chars().all(is_inner) {
        return Err(wrong(400, 40_009, "invalid request: topic invalid"));
    }
    if !(0..=5).contains(&message.get("priority").and_then(Value::as_i64).unwrap_or(0)) {
        return Err(wrong(400, 40_007, "invalid request: priority invalid"));
    }
    if text(&message, "/message").unwrap_or_default().len() > MESSAGE_BYTES_MAX {
        // ntfy would turn it into an attachment.
        return Err(wrong(400, 40_014, "invalid request: attachments not allowed"));
    }
    if text(&message, "/click").is_some_and(|click| !is_url(click)) {
        // ntfy accepts it, but no application can open it.
        return Err(wrong(400, 40_000, "click is not a URL"));
    }
    let body =
        json!({ "id": "hwQ2YpKdmg", "time": 1_795_219_200, "event": "message", "topic": topic });
    Ok(answer(200, &body))
}

/// Returns whether every field has the type that the server expects.
fn has_types(message: &Value) -> bool {
    let Some(fields) = message.as_object() else { return false };
    fields.iter().all(|(name, value)| match name.as_str() {
        "topic" | "title" | "message" | "click" | "attach" | "filename" | "icon" | "email"
        | "call" | "delay" => value.is_string(),
        "priority" => value.is_i64(),
        "markdown" => value.is_boolean(),
        "tags" => value.as_array().is_some_and(|tags| tags.iter().all(Value::is_string)),
        "actions" => value.is_array(),
        _ => true,
    })
}

fn wrong(status: u16, code: u32, error: &str) -> Box<Rejection> {
    let link = "https://ntfy.sh/docs/publish/#publish-as-json";
    let body = json!({ "code": code, "http": status, "error": error, "link": link });
    refuse(error, answer(status, &body))
}
