//! PagerDuty's rules for events of the Events API v2.
//! Reference: <https://developer.pagerduty.com/docs/events-api-v2/trigger-events/>, sizes and
//! answers: <https://developer.pagerduty.com/docs/events-api-v2/overview/>, schema:
//! <https://github.com/PagerDuty/api-schema/blob/main/reference/events-v2/openapiv3.json>

use serde_json::{Value, json};

use super::validation::{
    Rejection, Validation, is_instant, is_url, json as answer, length, list, object, path, refuse,
    text, text_response,
};
use crate::target::Received;

/// Key of the only valid integration.
pub(super) const KEY: &str = "e93facc04764012d7bfb002500d5d1a6";

const KEY_LENGTH: usize = 32;
const DEDUP_KEY_MAX: usize = 255;
const SUMMARY_MAX: usize = 1_024;
const BYTES_MAX: usize = 512 * 1_024;

pub(super) fn validate(request: &Received) -> Validation {
    if path(request) != ["v2", "enqueue"] {
        return Err(refuse("unknown path", text_response(404, "Not Found")));
    }
    if request.body.len() > BYTES_MAX {
        return Err(refuse(
            "the event is too large",
            text_response(413, "Request Entity Too Large"),
        ));
    }
    let Some(event) = object(request) else {
        let body = json!({
            "status": "Unrecognized object",
            "message": "Event object format is unrecognized",
            "errors": ["JSON parse error"],
        });
        return Err(refuse("the body is not JSON", answer(400, &body)));
    };
    let wrong = wrong(&event);
    if !wrong.is_empty() {
        return Err(invalid(&wrong));
    }
    let dedup_key = text(&event, "/dedup_key").unwrap_or("5f3c0a1b9d2e4f60");
    let body = json!({
        "status": "success", "message": "Event processed", "dedup_key": dedup_key,
    });
    Ok(answer(202, &body))
}

fn invalid(errors: &[String]) -> Box<Rejection> {
    let body = json!({
        "status": "invalid event", "message": "Event object is invalid", "errors": errors,
    });
    refuse(errors.join("; "), answer(400, &body))
}

fn wrong(event: &Value) -> Vec<String> {
    let mut wrong = Vec::new();
    let mut must = |holds: bool, message: &str| {
        if !holds {
            wrong.push(message.to_owned());
        }
    };
    let key = text(event, "/routing_key").unwrap_or_default();
    must(!key.is_empty(), "'routing_key' is missing or blank");
    must(key.len() == KEY_LENGTH, "Length of 'routing_key' is incorrect (should be 32 characters)");
    must(key == KEY, "Invalid routing key");
    let action = text(event, "/event_action").unwrap_or_default();
    must(
        matches!(action, "trigger" | "acknowledge" | "resolve"),
        "'event_action' must be one of: trigger, acknowledge, resolve",
    );
    match event.get("dedup_key") {
        Some(Value::String(key)) => {
            let long = length(key);
            must((1..=DEDUP_KEY_MAX).contains(&long), "'dedup_key' has 1 to 255 characters");
        }
        Some(_) => must(false, "'dedup_key' is not text"),
        None => must(action == "trigger", "'dedup_key' is missing or blank"),
    }
    if action == "trigger" {
        payload(event, &mut must);
    }
    for link in list(event, "/links") {
        must(text(link, "/href").is_some_and(is_url), "'links' need an 'href' that is a URL");
        must(link.get("text").is_none_or(Value::is_string), "'text' of 'links' is not text");
    }
    let client_url = event.get("client_url");
    must(
        client_url.is_none_or(|url| url.as_str().is_some_and(is_url)),
        "'client_url' is not a URL",
    );
    wrong
}

fn payload(event: &Value, must: &mut impl FnMut(bool, &str)) {
    let summary = text(event, "/payload/summary").unwrap_or_default();
    must(!summary.trim().is_empty(), "'payload.summary' is missing or blank");
    must(length(summary) <= SUMMARY_MAX, "'payload.summary' has at most 1024 characters");
    let source = text(event, "/payload/source").unwrap_or_default();
    must(!source.trim().is_empty(), "'payload.source' is missing or blank");
    let severity = text(event, "/payload/severity").unwrap_or_default();
    must(
        matches!(severity, "critical" | "error" | "warning" | "info"),
        "'payload.severity' must be one of: critical, error, warning, info",
    );
    if let Some(at) = event.pointer("/payload/timestamp") {
        must(at.as_str().is_some_and(is_instant), "'payload.timestamp' is not ISO 8601");
    }
    if let Some(details) = event.pointer("/payload/custom_details") {
        must(details.is_object(), "'payload.custom_details' is not an object");
    }
    for name in ["component", "group", "class"] {
        let field = event.pointer(&format!("/payload/{name}"));
        must(field.is_none_or(Value::is_string), "a field of 'payload' is not text");
    }
}
