//! Telegram: sends a message from the server's bot, in Telegram's HTML. Format:
//! <https://core.telegram.org/bots/api#sendmessage>

use rules::notification::Telegram;
use serde_json::{Value, json};

use super::alert_text::{AlertText, LINK_TEXT};
use super::kinds::{Kind, OutgoingAlert};
use super::message::{Disposition, HttpMessage, Message, VendorResponse};
use super::response::{classify_status, json as body_of, rejected, retry_later, seconds, text_at};
use super::truncate::{List, Unit, escaped, html, truncate};
use super::vendors::setting;

/// Maximum length of a text, <https://core.telegram.org/bots/api#sendmessage>. Telegram does not
/// count markup, but we do, so we never exceed it.
const TEXT_MAX: usize = 4_096;
/// Maximum lengths of the parts (our choice), including escapes; with markup and a link they stay
/// below the limit. A link that does not fit is omitted.
const TITLE_MAX: usize = 600;
const WHY_MAX: usize = 600;
const TARGET_MAX: usize = 600;
const FACT_MAX: usize = 200;
const LINES: List = List { escape: html, unit: Unit::Utf16, around: ("\n• ", ""), max: 900 };
pub(super) const KIND: Kind<Telegram> = Kind::new(compose, classify)
    .with_account(setting::TELEGRAM, |config| {
        config.telegram.is_none().then_some(setting::TELEGRAM)
    });

fn compose(telegram: &Telegram, alert: &OutgoingAlert<'_>) -> Message {
    let OutgoingAlert { text: alert_text, config, .. } = alert;
    let bot = config.telegram.as_ref().expect("no setting is missing");
    let url = format!("{}/bot{}/sendMessage", bot.base, bot.token.expose());
    let body = json!({
        "chat_id": telegram.chat_id,
        "text": text(alert_text),
        "parse_mode": "HTML",
        "link_preview_options": { "is_disabled": true },
    });
    HttpMessage::json(&url, &body).into()
}

/// Classifies a response; the body has the time to wait, and the new ID of a moved chat.
fn classify(response: &VendorResponse) -> Disposition {
    let body = body_of(response);
    let detail = text_at(&body, "/description");
    let moved = body.pointer("/parameters/migrate_to_chat_id").and_then(Value::as_i64);
    if let Some(chat) = moved {
        let way_out = format!("the group became a supergroup: enter chat id {chat} in the channel");
        return rejected(response, detail.unwrap_or_default(), Some(&way_out));
    }
    if response.status == 429 {
        let after = seconds(body.pointer("/parameters/retry_after")).or(response.retry_after);
        return retry_later(response, after, detail.unwrap_or("too many messages"));
    }
    if body.get("ok") == Some(&Value::Bool(false)) && (200..300).contains(&response.status) {
        return rejected(response, detail.unwrap_or_default(), None);
    }
    let way_out = match response.status {
        400 => Some("enter the chat's id in the channel and add the bot to the chat"),
        401 | 404 => Some("the server's bot token is invalid: ask the operator to correct it"),
        403 => Some("the bot is blocked or not a member of the chat: add it again"),
        _ => None,
    };
    classify_status(response, detail, way_out)
}

fn text(alert_text: &AlertText) -> String {
    let title = truncate(&alert_text.title, html, Unit::Utf16, TITLE_MAX);
    let mut text = format!("{} <b>{title}</b>", alert_text.severity.sign());
    if let Some(why) = &alert_text.why {
        text = text + "\n" + &truncate(why, html, Unit::Utf16, WHY_MAX);
    }
    for (label, value) in alert_text.all_facts() {
        let value = if label == "Target" {
            // In code, an `@` in a URL does not become a mention.
            format!("<code>{}</code>", truncate(value, html, Unit::Utf16, TARGET_MAX))
        } else {
            truncate(value, html, Unit::Utf16, FACT_MAX)
        };
        text = text + "\n" + label + ": " + &value;
    }
    text.push_str(&LINES.format(&alert_text.lines));
    let Some(link) = &alert_text.link else { return text };
    let link = format!("\n<a href=\"{}\">{LINK_TEXT}</a>", escaped(link, html));
    let fits = Unit::Utf16.length(&text) + Unit::Utf16.length(&link) <= TEXT_MAX;
    if fits { text + &link } else { text }
}

#[cfg(test)]
pub(super) mod tests;
