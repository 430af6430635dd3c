//! Discord's rules for executing a webhook.
//! Reference: <https://docs.discord.com/developers/resources/webhook#execute-webhook>, limits:
//! <https://docs.discord.com/developers/resources/message#embed-object-embed-limits>, errors:
//! <https://docs.discord.com/developers/reference#error-messages>

use serde_json::{Value, json};

use super::validation::{
    Rejection, Validation, is_instant, is_url, json as answer, length, list, object, parameter,
    path, refuse, text,
};
use crate::target::{Received, ScriptedResponse};

/// Id of the only valid webhook.
pub(super) const WEBHOOK: &str = "1100000000000000001";
/// Its token.
pub(super) const TOKEN: &str = "wH3n-you_see_this-iT-leaked-0123456789-abcdefghijklmnopqrstuvwxyz";

const CONTENT_MAX: usize = 2_000;
const EMBEDS_MAX: usize = 10;
const TITLE_MAX: usize = 256;
const DESCRIPTION_MAX: usize = 4_096;
const FIELDS_MAX: usize = 25;
const NAME_MAX: usize = 256;
const VALUE_MAX: usize = 1_024;
const FOOTER_MAX: usize = 2_048;
const URL_MAX: usize = 2_048;
const COLOUR_MAX: u64 = 0xff_ff_ff;
const TOTAL_MAX: usize = 6_000;

/// A violation: path of the field, error code, and message.
type Fault = (String, &'static str, String);

pub(super) fn validate(request: &Received) -> Validation {
    let (["api", "webhooks", id, token] | ["api", _, "webhooks", id, token]) = path(request)[..]
    else {
        return Err(wrong(404, 0, "404: Not Found"));
    };
    if id != WEBHOOK {
        return Err(wrong(404, 10_015, "Unknown Webhook"));
    }
    if token != TOKEN {
        return Err(wrong(401, 50_027, "Invalid Webhook Token"));
    }
    let Some(body) = object(request) else {
        return Err(wrong(400, 50_109, "The request body contains invalid JSON."));
    };
    let faults = faults(&body);
    if !faults.is_empty() {
        return Err(invalid(&faults));
    }
    if text(&body, "/content").unwrap_or_default().is_empty() && list(&body, "/embeds").is_empty() {
        return Err(wrong(400, 50_006, "Cannot send an empty message"));
    }
    Ok(match parameter(request, "wait").as_deref() {
        Some("true") => answer(200, &json!({ "id": "1200000000000000001", "type": 0 })),
        Some(_) | None => ScriptedResponse::status(204),
    })
}

fn wrong(status: u16, code: u32, message: &str) -> Box<Rejection> {
    refuse(message, answer(status, &json!({ "message": message, "code": code })))
}

/// Returns an error in Discord's form: a tree of the fields.
fn invalid(faults: &[Fault]) -> Box<Rejection> {
    let mut errors = json!({});
    for (at, code, message) in faults {
        let mut node = &mut errors;
        for part in at.split('.') {
            node = &mut node[part];
        }
        node["_errors"] = json!([{ "code": code, "message": message }]);
    }
    let body = json!({ "message": "Invalid Form Body", "code": 50_035, "errors": errors });
    let (at, _, message) = &faults[0];
    refuse(format!("{at}: {message}"), answer(400, &body))
}

fn faults(body: &Value) -> Vec<Fault> {
    let mut faults = Vec::new();
    within(body, "content", "", 0, CONTENT_MAX, &mut faults);
    let embeds = list(body, "/embeds");
    if body.get("embeds").is_some_and(|embeds| !embeds.is_array()) {
        faults.push(("embeds".into(), "BASE_TYPE_BAD_TYPE", "Must be a list.".into()));
    }
    if embeds.len() > EMBEDS_MAX {
        let message = format!("Must be {EMBEDS_MAX} or fewer in length.");
        faults.push(("embeds".into(), "BASE_TYPE_MAX_LENGTH", message));
    }
    for (index, embed) in embeds.iter().enumerate() {
        embed_faults(embed, &format!("embeds.{index}."), &mut faults);
    }
    if embeds.iter().map(size).sum::<usize>() > TOTAL_MAX {
        let message = format!("Embed size exceeds maximum size of {TOTAL_MAX}");
        faults.push(("embeds".into(), "MAX_EMBED_SIZE_EXCEEDED", message));
    }
    for (index, kind) in list(body, "/allowed_mentions/parse").iter().enumerate() {
        if !matches!(kind.as_str(), Some("roles" | "users" | "everyone")) {
            let message = "Value must be one of ('users', 'roles', 'everyone').".into();
            let at = format!("allowed_mentions.parse.{index}");
            faults.push((at, "BASE_TYPE_CHOICES", message));
        }
    }
    faults
}

fn embed_faults(embed: &Value, at: &str, faults: &mut Vec<Fault>) {
    within(embed, "title", at, 0, TITLE_MAX, faults);
    within(embed, "description", at, 0, DESCRIPTION_MAX, faults);
    if let Some(footer) = embed.get("footer") {
        within(footer, "text", &format!("{at}footer."), 1, FOOTER_MAX, faults);
    }
    if let Some(url) = embed.get("url") {
        within(embed, "url", at, 0, URL_MAX, faults);
        if !url.as_str().is_some_and(is_url) {
            let message = format!("Not a well formed URL: {url}");
            faults.push((format!("{at}url"), "URL_TYPE_INVALID_URL", message));
        }
    }
    if embed.get("timestamp").is_some_and(|at| !at.as_str().is_some_and(is_instant)) {
        let message = "Could not parse the value. Should be ISO8601.".into();
        faults.push((format!("{at}timestamp"), "DATE_TIME_TYPE_PARSE", message));
    }
    if embed.get("color").is_some_and(|colour| colour.as_u64().is_none_or(|it| it > COLOUR_MAX)) {
        let message = format!("int value should be between 0 and {COLOUR_MAX}.");
        faults.push((format!("{at}color"), "NUMBER_TYPE_MAX", message));
    }
    let fields = list(embed, "/fields");
    if fields.len() > FIELDS_MAX {
        let message = format!("Must be {FIELDS_MAX} or fewer in length.");
        faults.push((format!("{at}fields"), "BASE_TYPE_MAX_LENGTH", message));
    }
    for (index, field) in fields.iter().enumerate() {
        let at = format!("{at}fields.{index}.");
        within(field, "name", &at, 1, NAME_MAX, faults);
        within(field, "value", &at, 1, VALUE_MAX, faults);
    }
}

/// Checks the number of characters of a text. A minimum above zero makes it required. Surrounding
/// spaces do not count.
fn within(of: &Value, name: &str, at: &str, min: usize, max: usize, faults: &mut Vec<Fault>) {
    let at = format!("{at}{name}");
    match of.get(name) {
        None if min == 0 => {}
        None => faults.push((at, "BASE_TYPE_REQUIRED", "This field is required".into())),
        Some(Value::String(text)) if length(text.trim()) < min => {
            faults.push((at, "BASE_TYPE_REQUIRED", "This field is required".into()));
        }
        Some(Value::String(text)) if length(text) > max => {
            let message = format!("Must be {max} or fewer in length.");
            faults.push((at, "BASE_TYPE_MAX_LENGTH", message));
        }
        Some(Value::String(_)) => {}
        Some(_) => {
            faults.push((at, "STRING_TYPE_CONVERT", "Could not interpret as string.".into()));
        }
    }
}

/// Returns an embed's part of the total size.
fn size(embed: &Value) -> usize {
    let of = |value: &Value, pointer| length(text(value, pointer).unwrap_or_default());
    let fields = list(embed, "/fields");
    let fields: usize = fields.iter().map(|field| of(field, "/name") + of(field, "/value")).sum();
    let own = ["/title", "/description", "/footer/text", "/author/name"];
    fields + own.map(|pointer| of(embed, pointer)).iter().sum::<usize>()
}
