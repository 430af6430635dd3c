//! Slack's rules for an incoming webhook, with blocks and attachments.
//! Reference: <https://docs.slack.dev/messaging/sending-messages-using-incoming-webhooks>, blocks:
//! <https://docs.slack.dev/reference/block-kit/blocks>, text objects:
//! <https://docs.slack.dev/reference/block-kit/composition-objects/text-object>, attachments:
//! <https://docs.slack.dev/legacy/legacy-messaging/legacy-secondary-message-attachments>

use serde_json::Value;

use super::validation::{
    Rejection, Validation, is_url, length, object, path, refuse, text, text_response, unknown,
};
use crate::target::Received;

/// Path of the only valid webhook.
pub(super) const HOOK: &str = "/services/T00000001/B00000001/0123456789abcdefghijklmn";

const BLOCKS_MAX: usize = 50;
const ATTACHMENTS_MAX: usize = 100;
const TEXT_MAX: usize = 3_000;
const HEADER_MAX: usize = 150;
const FIELDS_MAX: usize = 10;
const FIELD_MAX: usize = 2_000;
const ELEMENTS_MAX: usize = 10;
const BLOCK_ID_MAX: usize = 255;

pub(super) fn validate(request: &Received) -> Validation {
    let path = path(request);
    if path.first() != Some(&"services") || path.len() != 4 {
        return Err(refuse("unknown path", text_response(404, "no_service")));
    }
    if format!("/{}", path.join("/")) != HOOK {
        return Err(refuse("another token", text_response(403, "invalid_token")));
    }
    let Some(body) = object(request) else {
        return Err(wrong("the body is not JSON", "invalid_payload"));
    };
    let attachments = match body.get("attachments") {
        None => &[],
        Some(Value::Array(attachments)) => attachments.as_slice(),
        Some(_) => return Err(wrong("attachments are not a list", "invalid_attachments")),
    };
    let says = text(&body, "/text").is_some_and(|text| !text.trim().is_empty());
    if !says && attachments.is_empty() && body.get("blocks").is_none() {
        return Err(wrong("neither text nor blocks", "no_text"));
    }
    if attachments.len() > ATTACHMENTS_MAX {
        return Err(wrong("too many attachments", "too_many_attachments"));
    }
    let of_attachments = attachments.iter().map(|attachment| attachment.get("blocks"));
    for blocks in of_attachments.chain([body.get("blocks")]).flatten() {
        check_blocks(blocks).map_err(|why| wrong(&why, "invalid_blocks"))?;
    }
    if let Some(bare) = attachments.iter().find(|attachment| is_bare(attachment)) {
        return Err(wrong(&format!("an empty attachment: {bare}"), "invalid_attachments"));
    }
    Ok(text_response(200, "ok"))
}

fn wrong(why: &str, word: &str) -> Box<Rejection> {
    refuse(why, text_response(400, word))
}

/// Returns whether the attachment has no visible content.
fn is_bare(attachment: &Value) -> bool {
    !["blocks", "text", "title", "fields", "fallback", "image_url"]
        .iter()
        .any(|name| attachment.get(name).is_some())
}

fn check_blocks(blocks: &Value) -> Result<(), String> {
    let blocks = blocks.as_array().ok_or("blocks are not a list")?;
    if !(1..=BLOCKS_MAX).contains(&blocks.len()) {
        return Err(format!("{} blocks", blocks.len()));
    }
    blocks.iter().enumerate().try_for_each(|(index, block)| {
        check_block(block).map_err(|why| format!("/blocks/{index}: {why}"))
    })
}

fn check_block(block: &Value) -> Result<(), String> {
    if text(block, "/block_id").is_some_and(|id| length(id) > BLOCK_ID_MAX) {
        return Err("the block_id is too long".into());
    }
    match text(block, "/type").unwrap_or_default() {
        "section" => section(block),
        "header" => {
            only(block, &["type", "block_id", "text"])?;
            let header = block.get("text").ok_or("a header without a text")?;
            if text(header, "/type") != Some("plain_text") {
                return Err("the text of a header is plain_text".into());
            }
            text_object(header, HEADER_MAX)
        }
        "context" => {
            only(block, &["type", "block_id", "elements"])?;
            listed(block, "elements", ELEMENTS_MAX)?.iter().try_for_each(|element| {
                match text(element, "/type") {
                    Some("image") => image(element),
                    Some(_) | None => text_object(element, TEXT_MAX),
                }
            })
        }
        "divider" => only(block, &["type", "block_id"]),
        "image" => image(block),
        other => Err(format!("unknown block `{other}` in messages of webhooks")),
    }
}

fn section(block: &Value) -> Result<(), String> {
    only(block, &["type", "block_id", "text", "fields", "accessory", "expand"])?;
    if block.get("text").is_none() && block.get("fields").is_none() {
        return Err("a section without text and fields".into());
    }
    if let Some(text) = block.get("text") {
        text_object(text, TEXT_MAX)?;
    }
    if block.get("fields").is_some() {
        let fields = listed(block, "fields", FIELDS_MAX)?;
        fields.iter().try_for_each(|field| text_object(field, FIELD_MAX))?;
    }
    Ok(())
}

fn image(block: &Value) -> Result<(), String> {
    let has_url = text(block, "/image_url").is_some_and(is_url);
    let has_words = text(block, "/alt_text").is_some();
    (has_url && has_words).then_some(()).ok_or_else(|| "an image without URL or words".into())
}

fn text_object(object: &Value, max: usize) -> Result<(), String> {
    match text(object, "/type") {
        Some("mrkdwn") => only(object, &["type", "text", "verbatim"])?,
        Some("plain_text") => only(object, &["type", "text", "emoji"])?,
        other => return Err(format!("a text of the type {other:?}")),
    }
    let content = text(object, "/text").ok_or("a text without a text")?;
    let long = length(content);
    if content.trim().is_empty() || long > max {
        return Err(format!("a text of {long} characters, at most {max}"));
    }
    let is_switch = |name| object.get(name).is_none_or(Value::is_boolean);
    (is_switch("verbatim") && is_switch("emoji"))
        .then_some(())
        .ok_or_else(|| "`verbatim` and `emoji` must be booleans".into())
}

fn listed<'v>(block: &'v Value, name: &str, max: usize) -> Result<&'v [Value], String> {
    let items =
        block.get(name).and_then(Value::as_array).ok_or(format!("{name} are not a list"))?;
    let fits = (1..=max).contains(&items.len());
    fits.then_some(items.as_slice()).ok_or(format!("{} {name}", items.len()))
}

fn only(value: &Value, known: &[&str]) -> Result<(), String> {
    match unknown(value, known) {
        Some(name) => Err(format!("invalid additional property: {name}")),
        None => Ok(()),
    }
}
