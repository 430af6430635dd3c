//! Opsgenie's rules for creating alerts and closing them by alias.
//! Reference: <https://docs.opsgenie.com/docs/alert-api#create-alert> and `#close-alert`, keys:
//! <https://docs.opsgenie.com/docs/authentication>, answers:
//! <https://docs.opsgenie.com/docs/response>

use serde_json::{Value, json};

use super::validation::{
    Rejection, Validation, json as answer, length, list, object, parameter, path, refuse, text,
};
use crate::target::Received;

/// Key of the only valid integration.
pub(super) const KEY: &str = "eb243592-faa2-4ba2-a551-1afdf565c889";

/// Maximum lengths of texts.
const MAXIMA: [(&str, usize); 7] = [
    ("message", 130),
    ("alias", 512),
    ("description", 15_000),
    ("entity", 512),
    ("source", 100),
    ("user", 100),
    ("note", 25_000),
];
const TAGS_MAX: usize = 20;
const TAG_MAX: usize = 50;
const ACTIONS_MAX: usize = 10;
const DETAILS_MAX: usize = 8_000;

pub(super) fn validate(request: &Received) -> Validation {
    let identified = request.header("authorization").and_then(|it| it.strip_prefix("GenieKey "));
    match identified {
        None => return Err(wrong(401, "Could not authenticate", &json!({}))),
        Some(key) if key != KEY => {
            return Err(wrong(422, "Key format is not valid!", &json!({})));
        }
        Some(_) => {}
    }
    let Some(body) = object(request) else {
        return Err(wrong(400, "Could not parse the JSON body", &json!({})));
    };
    let closes = match path(request)[..] {
        ["v2", "alerts"] => false,
        ["v2", "alerts", alias, "close"] => {
            let by = parameter(request, "identifierType");
            if by.as_deref() != Some("alias") {
                // Without the identifier type, Opsgenie expects an id with the form of a UUID.
                return Err(wrong(422, "Identifier is not an id", &json!({ "id": alias })));
            }
            true
        }
        _ => return Err(wrong(404, "Not Found", &json!({}))),
    };
    let faults = faults(&body, closes);
    if faults.as_object().is_some_and(|faults| !faults.is_empty()) {
        let message = "Request body is not processable. Please check the errors.";
        return Err(wrong(422, message, &faults));
    }
    let body = json!({
        "result": "Request will be processed",
        "took": 0.302,
        "requestId": "43a29c5c-3dbf-4fa4-9c26-f4f71023e120",
    });
    Ok(answer(202, &body))
}

fn wrong(status: u16, message: &str, errors: &Value) -> Box<Rejection> {
    let body = json!({
        "message": message,
        "errors": errors,
        "took": 0.001,
        "requestId": "513085b8-caf3-4f91-aa23-be5fdefc3570",
    });
    refuse(format!("{message} {errors}"), answer(status, &body))
}

fn faults(body: &Value, closes: bool) -> Value {
    let mut faults = json!({});
    if !closes && text(body, "/message").is_none_or(|message| message.trim().is_empty()) {
        faults["message"] = json!("Message can not be empty.");
    }
    for (name, max) in MAXIMA {
        match body.get(name) {
            None => {}
            Some(Value::String(text)) if length(text) <= max => {}
            Some(_) => faults[name] = json!(format!("is a text of at most {max} characters.")),
        }
    }
    let tags = list(body, "/tags");
    let is_tag = |tag: &Value| tag.as_str().is_some_and(|tag| length(tag) <= TAG_MAX);
    if tags.len() > TAGS_MAX || !tags.iter().all(is_tag) {
        faults["tags"] = json!("are at most 20 texts of at most 50 characters.");
    }
    if list(body, "/actions").len() > ACTIONS_MAX {
        faults["actions"] = json!("are at most 10.");
    }
    if body.get("details").is_some_and(details_are_wrong) {
        faults["details"] = json!("are texts of at most 8000 characters together.");
    }
    let priority = body.get("priority").map(|priority| priority.as_str().unwrap_or_default());
    if priority.is_some_and(|it| !["P1", "P2", "P3", "P4", "P5"].contains(&it)) {
        faults["priority"] = json!("should be one of [ P1, P2, P3, P4, P5 ].");
    }
    faults
}

fn details_are_wrong(details: &Value) -> bool {
    let Some(details) = details.as_object() else { return true };
    let texts = details.values().all(Value::is_string);
    let lengths = details
        .iter()
        .map(|(name, value)| length(name) + length(value.as_str().unwrap_or_default()));
    !texts || lengths.sum::<usize>() > DETAILS_MAX
}
