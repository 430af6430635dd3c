//! Telegram's rules for a bot's `sendMessage`. Leaves markup to `telegram/markup.rs`.
//! Reference: <https://core.telegram.org/bots/api#sendmessage>, answers:
//! <https://core.telegram.org/bots/api#making-requests>

mod markup;

use serde_json::{Value, json};

use super::validation::{
    Rejection, Validation, form, json as answer, length, object, path, refuse, text,
};
use crate::target::Received;

/// Token of the only valid bot.
pub const TOKEN: &str = "123456789:AAF0e1d2c3b4a5968778695a4b3c2d1e0f9";

const TEXT_MAX: usize = 4_096;

pub(super) fn validate(request: &Received) -> Validation {
    let token = match path(request)[..] {
        [bot, "sendMessage"] => bot.strip_prefix("bot"),
        _ => return Err(wrong(404, "Not Found")),
    };
    match token {
        Some(TOKEN) => {}
        Some(token) if token.contains(':') => return Err(wrong(401, "Unauthorized")),
        Some(_) | None => return Err(wrong(404, "Not Found")),
    }
    let Some(message) = fields(request) else {
        return Err(wrong(400, "Bad Request: can't parse the request"));
    };
    let chat = match message.get("chat_id") {
        Some(Value::Number(id)) if id.is_i64() => id.to_string(),
        Some(Value::String(chat)) => chat.clone(),
        Some(_) | None => return Err(wrong(400, "Bad Request: chat_id is empty")),
    };
    if !is_chat(&chat) {
        return Err(wrong(400, "Bad Request: chat not found"));
    }
    let written = text(&message, "/text").unwrap_or_default();
    let read = match message.get("parse_mode").map(|mode| mode.as_str().unwrap_or_default()) {
        None | Some("") => Ok(written.to_owned()),
        Some("HTML") => markup::html(written),
        Some("MarkdownV2") => markup::markdown(written),
        Some(_) => return Err(wrong(400, "Bad Request: unsupported parse_mode")),
    };
    let read =
        read.map_err(|why| wrong(400, &format!("Bad Request: can't parse entities: {why}")))?;
    if read.trim().is_empty() {
        return Err(wrong(400, "Bad Request: message text is empty"));
    }
    if length(&read) > TEXT_MAX {
        return Err(wrong(400, "Bad Request: message is too long"));
    }
    let preview = message.get("link_preview_options");
    if preview.is_some_and(|options| !options.is_object()) {
        return Err(wrong(400, "Bad Request: can't parse link preview options JSON object"));
    }
    let result = json!({ "message_id": 1, "date": 1_795_219_200, "text": read });
    Ok(answer(200, &json!({ "ok": true, "result": result })))
}

/// Returns the parameters of a JSON body or a form.
fn fields(request: &Received) -> Option<Value> {
    let content_type = request.header("content-type")?;
    if content_type.starts_with("application/x-www-form-urlencoded") {
        let fields = form(request).into_iter().map(|(name, value)| (name, Value::String(value)));
        return Some(Value::Object(fields.collect()));
    }
    object(request)
}

/// Returns whether the text is the id of a chat or the name of a channel.
fn is_chat(chat: &str) -> bool {
    let is_name = |name: &str| {
        let inner = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        inner
            && (4..=32).contains(&name.len())
            && name.starts_with(|c: char| c.is_ascii_alphabetic())
    };
    chat.parse::<i64>().is_ok_and(|id| id != 0) || chat.strip_prefix('@').is_some_and(is_name)
}

fn wrong(status: u16, description: &str) -> Box<Rejection> {
    let body = json!({ "ok": false, "error_code": status, "description": description });
    refuse(description, answer(status, &body))
}
