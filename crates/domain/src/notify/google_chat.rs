//! Google Chat: sends a card through a webhook of a space, with one thread per incident. Format:
//! <https://developers.google.com/workspace/chat/api/reference/rest/v1/spaces.messages/create>

use rules::notification::IncomingWebhook;
use serde_json::{Value, json};
use url::Url;

use super::alert_text::{AlertText, LINK_TEXT, format_time};
use super::kinds::{Kind, OutgoingAlert};
use super::message::{Disposition, HttpMessage, Message, VendorResponse};
use super::response::{classify_status, json as body_of, text_at};
use super::truncate::{List, Unit, html, plain, truncate};

/// Maximum size of a message in bytes, same page.
#[cfg(test)]
const MESSAGE_BYTES_MAX: usize = 32_000;
/// Maximum length of a thread key,
/// <https://developers.google.com/workspace/chat/api/reference/rest/v1/spaces.messages#thread>.
const THREAD_KEY_MAX: usize = 4_000;
/// Maximum sizes of the parts (our choice), in bytes as JSON: together well below the limit of a
/// message.
const TITLE_MAX: usize = 500;
const WHY_MAX: usize = 3_000;
const VALUE_MAX: usize = 3_000;
const LINES: List = List { escape: html, unit: Unit::Json, around: ("• ", "<br>"), max: 6_000 };

pub(super) const KIND: Kind<IncomingWebhook> = Kind::new(compose, classify);

/// Composes the message. `requestId` makes Google return the first message again if it is sent
/// twice.
fn compose(hook: &IncomingWebhook, alert: &OutgoingAlert<'_>) -> Message {
    let OutgoingAlert { text: alert_text, envelope, .. } = alert;
    let title = truncate(&alert_text.signed_title(), plain, Unit::Json, TITLE_MAX);
    let subtitle = truncate(&subtitle(alert_text), plain, Unit::Json, TITLE_MAX);
    let card = json!({
        "header": { "title": title, "subtitle": subtitle },
        "sections": [{ "widgets": widgets(alert_text) }],
    });
    let body = json!({
        "fallbackText": title,
        "thread": { "threadKey": truncate(envelope.thread, plain, Unit::Utf16, THREAD_KEY_MAX) },
        "cardsV2": [{ "cardId": "event", "card": card }],
    });
    HttpMessage::json(&in_thread(hook.webhook_url.expose(), envelope.key), &body).into()
}

/// Classifies errors of Google APIs: <https://cloud.google.com/apis/design/errors>.
fn classify(response: &VendorResponse) -> Disposition {
    let body = body_of(response);
    let way_out = matches!(response.status, 400 | 401 | 403 | 404)
        .then_some("the webhook or its space was deleted: create a new one in Google Chat");
    classify_status(response, text_at(&body, "/error/message"), way_out)
}

fn subtitle(alert_text: &AlertText) -> String {
    let time = format_time(alert_text.at);
    if alert_text.workspace.is_empty() {
        time
    } else {
        format!("{} · {time}", alert_text.workspace)
    }
}

/// Builds the widgets. Their texts are a subset of HTML; labels and titles are plain.
fn widgets(alert_text: &AlertText) -> Vec<Value> {
    let mut widgets = Vec::new();
    if let Some(why) = &alert_text.why {
        widgets.push(paragraph(&truncate(why, html, Unit::Json, WHY_MAX)));
    }
    for (label, value) in alert_text.all_facts().filter(|(label, _)| *label != "Workspace") {
        let text = truncate(value, html, Unit::Json, VALUE_MAX);
        let shown = json!({ "topLabel": label, "text": text, "wrapText": true });
        widgets.push(json!({ "decoratedText": shown }));
    }
    let lines = LINES.format(&alert_text.lines);
    if let Some(lines) = lines.strip_suffix("<br>") {
        widgets.push(paragraph(lines));
    }
    if let Some(link) = &alert_text.link {
        let button = json!({ "text": LINK_TEXT, "onClick": { "openLink": { "url": link } } });
        widgets.push(json!({ "buttonList": { "buttons": [button] } }));
    }
    if widgets.is_empty() {
        // Google rejects a section without a widget.
        widgets.push(paragraph(&truncate(&alert_text.title, html, Unit::Json, TITLE_MAX)));
    }
    widgets
}

fn paragraph(text: &str) -> Value {
    json!({ "textParagraph": { "text": text } })
}

/// Returns the webhook's URL with parameters that reply in the thread of the message, or start it.
fn in_thread(url: &str, key: &str) -> String {
    let Ok(mut parsed) = Url::parse(url) else { return url.to_owned() };
    parsed
        .query_pairs_mut()
        .append_pair("messageReplyOption", "REPLY_MESSAGE_FALLBACK_TO_NEW_THREAD")
        .append_pair("requestId", key);
    parsed.into()
}

#[cfg(test)]
pub(super) mod tests;
