//! Rules of a Microsoft Teams workflow with the trigger "When a Teams webhook request is received".
//! Reference: <https://learn.microsoft.com/en-us/connectors/teams/#microsoft-teams-webhook>, cards:
//! <https://adaptivecards.io/explorer/AdaptiveCard.html>. The workflow itself answers 202 and posts
//! later; this receiver also rejects cards that Teams would not show.

use serde_json::{Value, json};

use super::validation::{
    Rejection, Validation, is_url, json as answer, list, object, parameter, path, refuse, text,
    text_response, unknown,
};
use crate::target::Received;

/// Path of the only workflow.
pub(super) const PATH: &str = "/workflows/0123456789abcdef/triggers/manual/paths/invoke";
/// Signature in its URL.
pub(super) const SIGNATURE: &str = "k3Jd9-sVq0wXyZ1aBcD2eFgH3iJkL4mNoP5qRsT6uVw";

const MESSAGE_BYTES_MAX: usize = 28 * 1_024;
const CARD_FIELDS: [&str; 7] =
    ["$schema", "type", "version", "msteams", "fallbackText", "body", "actions"];

pub(super) fn validate(request: &Received) -> Validation {
    if format!("/{}", path(request).join("/")) != PATH {
        return Err(wrong(404, "WorkflowNotFound", "The workflow could not be found."));
    }
    if parameter(request, "sig").as_deref() != Some(SIGNATURE) {
        let message = "The provided authorization signature is invalid.";
        return Err(wrong(401, "DirectApiAuthorizationRequired", message));
    }
    let Some(message) = object(request) else {
        return Err(wrong(400, "TriggerInputSchemaMismatch", "The body is not JSON."));
    };
    if request.body.len() > MESSAGE_BYTES_MAX {
        return Err(wrong(413, "RequestEntityTooLarge", "Request Entity too large"));
    }
    check_message(&message).map_err(|why| wrong(400, "TriggerInputSchemaMismatch", &why))?;
    Ok(text_response(202, ""))
}

fn check_message(message: &Value) -> Result<(), String> {
    if text(message, "/type") != Some("message") {
        return Err("the type is not `message`".to_owned());
    }
    let [attachment] = list(message, "/attachments") else {
        return Err("not exactly one attachment".to_owned());
    };
    if text(attachment, "/contentType") != Some("application/vnd.microsoft.card.adaptive") {
        return Err("the attachment is not an Adaptive Card".to_owned());
    }
    let card = attachment.get("content").ok_or("the attachment has no content")?;
    if let Some(name) = unknown(card, &CARD_FIELDS) {
        return Err(format!("unknown property `{name}` of the card"));
    }
    if text(card, "/type") != Some("AdaptiveCard") || text(card, "/version") != Some("1.4") {
        return Err("the content is not an Adaptive Card of version 1.4".to_owned());
    }
    let blocks = list(card, "/body");
    if blocks.is_empty() {
        return Err("the card has no body".to_owned());
    }
    blocks.iter().try_for_each(check_block)?;
    list(card, "/actions").iter().try_for_each(|action| {
        let is_link = text(action, "/type") == Some("Action.OpenUrl");
        let is_valid = is_link && text(action, "/url").is_some_and(is_url);
        is_valid.then_some(()).ok_or_else(|| "an action that opens no URL".to_owned())
    })
}

fn check_block(block: &Value) -> Result<(), String> {
    if text(block, "/type") != Some("RichTextBlock") {
        return Err(format!("unexpected element: {block}"));
    }
    let runs = list(block, "/inlines");
    let is_run = |run: &Value| {
        text(run, "/type") == Some("TextRun")
            && text(run, "/text").is_some_and(|text| !text.trim().is_empty())
    };
    let is_valid = !runs.is_empty() && runs.iter().all(is_run);
    is_valid.then_some(()).ok_or_else(|| "a block without text".to_owned())
}

fn wrong(status: u16, code: &str, message: &str) -> Box<Rejection> {
    let body = json!({ "error": { "code": code, "message": message } });
    refuse(message, answer(status, &body))
}
