//! Google Chat's rules for messages through a webhook. Unknown fields are rejected, as in all
//! Google APIs.
//! Reference:
//! <https://developers.google.com/workspace/chat/api/reference/rest/v1/spaces.messages/create>,
//! cards: <https://developers.google.com/workspace/chat/api/reference/rest/v1/cards>, errors:
//! <https://cloud.google.com/apis/design/errors>

use serde_json::{Value, json};

use super::validation::{
    Rejection, Validation, is_url, json as answer, length, list, object, parameter, path, refuse,
    text, unknown,
};
use crate::target::Received;

/// Id of the only valid space.
pub(super) const SPACE: &str = "AAAAbbbbCCCC";
/// Key of the webhook.
pub(super) const KEY: &str = "AIzaSyD0e1f2a3b4c5d6e7f8091a2b3c4d5e6f7";
/// Its token.
pub(super) const TOKEN: &str = "t0k_en-of=the space";

const MESSAGE_BYTES_MAX: usize = 32_000;
const TEXT_MAX: usize = 4_096;
const THREAD_KEY_MAX: usize = 4_000;
const WIDGETS_MAX: usize = 100;
const CARD_ID_MAX: usize = 64;
const REPLY_OPTIONS: [&str; 3] = [
    "MESSAGE_REPLY_OPTION_UNSPECIFIED",
    "REPLY_MESSAGE_FALLBACK_TO_NEW_THREAD",
    "REPLY_MESSAGE_OR_FAIL",
];

pub(super) fn validate(request: &Received) -> Validation {
    match path(request)[..] {
        ["v1", "spaces", SPACE, "messages"] => {}
        _ => return Err(wrong(404, "NOT_FOUND", "Requested entity was not found.")),
    }
    let shown = |name| parameter(request, name);
    if shown("key").as_deref() != Some(KEY) {
        let detail = "API key not valid. Please pass a valid API key.";
        return Err(wrong(400, "INVALID_ARGUMENT", detail));
    }
    if shown("token").as_deref() != Some(TOKEN) {
        return Err(wrong(401, "UNAUTHENTICATED", "Invalid webhook token."));
    }
    let Some(message) = object(request) else {
        return Err(invalid("Invalid JSON payload received."));
    };
    if request.body.len() > MESSAGE_BYTES_MAX {
        return Err(invalid("Message is too long: at most 32000 bytes"));
    }
    let option = shown("messageReplyOption");
    if option.as_deref().is_some_and(|option| !REPLY_OPTIONS.contains(&option)) {
        return Err(invalid("Invalid value at 'message_reply_option'"));
    }
    if shown("requestId").is_some_and(|id| id.is_empty()) {
        return Err(invalid("Invalid value at 'request_id'"));
    }
    check_message(&message).map_err(|why| invalid(&why))?;
    let thread = text(&message, "/thread/threadKey").unwrap_or_default();
    let body =
        json!({ "name": format!("spaces/{SPACE}/messages/1"), "thread": { "name": thread } });
    Ok(answer(200, &body))
}

fn invalid(message: &str) -> Box<Rejection> {
    wrong(400, "INVALID_ARGUMENT", message)
}

fn wrong(code: u16, status: &str, message: &str) -> Box<Rejection> {
    let error = json!({ "code": code, "message": message, "status": status });
    refuse(message, answer(code, &json!({ "error": error })))
}

fn check_message(message: &Value) -> Result<(), String> {
    only(message, &["text", "cardsV2", "thread", "fallbackText", "accessoryWidgets"])?;
    let says = text(message, "/text").unwrap_or_default();
    let cards = list(message, "/cardsV2");
    if says.trim().is_empty() && cards.is_empty() {
        return Err("Message cannot be empty.".into());
    }
    if length(says) > TEXT_MAX {
        return Err("Message text is too long: at most 4096 characters".into());
    }
    if let Some(thread) = message.get("thread") {
        only(thread, &["name", "threadKey"])?;
        let key = text(thread, "/threadKey").unwrap_or_default();
        if !(1..=THREAD_KEY_MAX).contains(&length(key)) {
            return Err("Invalid thread key: 1 to 4000 characters".into());
        }
    }
    cards.iter().try_for_each(|card| {
        only(card, &["cardId", "card"])?;
        let id = text(card, "/cardId").unwrap_or_default();
        if length(id) > CARD_ID_MAX || id.is_empty() && cards.len() > 1 {
            return Err("Invalid card id".into());
        }
        check_card(card.get("card").unwrap_or(&Value::Null))
    })
}

fn check_card(card: &Value) -> Result<(), String> {
    only(card, &["header", "sections", "name", "cardActions", "sectionDividerStyle"])?;
    if let Some(header) = card.get("header") {
        only(header, &["title", "subtitle", "imageType", "imageUrl", "imageAltText"])?;
        filled(header, "title", "card header")?;
    }
    let sections = list(card, "/sections");
    if sections.is_empty() {
        return Err("Cards must have at least one section".into());
    }
    let count: usize = sections.iter().map(|section| list(section, "/widgets").len()).sum();
    if count > WIDGETS_MAX {
        return Err("Cards have at most 100 widgets".into());
    }
    sections.iter().try_for_each(|section| {
        only(section, &["header", "widgets", "collapsible", "uncollapsibleWidgetsCount"])?;
        let widgets = list(section, "/widgets");
        if widgets.is_empty() {
            return Err("Sections must have at least one widget".into());
        }
        widgets.iter().try_for_each(widget)
    })
}

/// Checks a widget, which must have exactly one field.
fn widget(widget: &Value) -> Result<(), String> {
    let fields = widget.as_object().ok_or("a widget is not an object")?;
    let mut things = fields.iter().filter(|(name, _)| *name != "horizontalAlignment");
    let (Some((name, thing)), None) = (things.next(), things.next()) else {
        return Err("Widgets must have exactly one of their fields".into());
    };
    match name.as_str() {
        "textParagraph" => {
            only(thing, &["text", "maxLines"])?;
            filled(thing, "text", "text paragraph")
        }
        "decoratedText" => {
            only(thing, &["topLabel", "text", "wrapText", "bottomLabel", "startIcon", "button"])?;
            filled(thing, "text", "decorated text")
        }
        "buttonList" => {
            only(thing, &["buttons"])?;
            let buttons = list(thing, "/buttons");
            if buttons.is_empty() {
                return Err("Button lists must have at least one button".into());
            }
            buttons.iter().try_for_each(button)
        }
        "divider" => only(thing, &[]),
        other => Err(format!("Unknown name \"{other}\" at 'widgets': Cannot find field.")),
    }
}

fn button(button: &Value) -> Result<(), String> {
    only(button, &["text", "icon", "color", "onClick", "disabled", "altText"])?;
    filled(button, "text", "button")?;
    only(button.get("onClick").ok_or("Buttons must have an action")?, &["openLink", "action"])?;
    let url = text(button, "/onClick/openLink/url").unwrap_or_default();
    is_url(url).then_some(()).ok_or_else(|| format!("Invalid URL: {url}"))
}

fn filled(value: &Value, name: &str, of: &str) -> Result<(), String> {
    let is_filled = value.get(name).and_then(Value::as_str).is_some_and(|it| !it.trim().is_empty());
    is_filled.then_some(()).ok_or_else(|| format!("{of}: `{name}` is required"))
}

fn only(value: &Value, known: &[&str]) -> Result<(), String> {
    if !value.is_object() {
        return Err(format!("Invalid value: {value}"));
    }
    match unknown(value, known) {
        Some(name) => Err(format!("Unknown name \"{name}\": Cannot find field.")),
        None => Ok(()),
    }
}
