//! Microsoft Teams: sends an Adaptive Card to a workflow with the trigger "When a Teams webhook
//! request is received". Recoveries are separate messages, because a workflow cannot reply to its
//! own posts. Format:
//! <https://learn.microsoft.com/en-us/connectors/teams/#microsoft-teams-webhook>, cards:
//! <https://adaptivecards.io/explorer/AdaptiveCard.html>

use rules::notification::IncomingWebhook;
use serde_json::{Value, json};

use super::alert_text::{AlertText, LINK_TEXT, Severity, format_time};
use super::kinds::{Kind, OutgoingAlert};
use super::message::{Disposition, HttpMessage, Message, VendorResponse};
use super::response::{classify_status, json as body_of, text_at};
use super::truncate::{Unit, plain, truncate};

/// Maximum size of a message in bytes,
/// <https://learn.microsoft.com/en-us/connectors/teams/#known-issues-and-limitations-with-actions>.
#[cfg(test)]
const MESSAGE_BYTES_MAX: usize = 28 * 1_024;
/// Maximum sizes of the parts (our choice), in bytes as JSON: together below the limit of a
/// message.
const TITLE_MAX: usize = 500;
const WHY_MAX: usize = 2_000;
const VALUE_MAX: usize = 1_500;
const LINK_MAX: usize = 2_700;
/// Regions or events: maximum size of one, and of all with the markup of their blocks.
const LINE_MAX: usize = 300;
const LINES_MAX: usize = 12_000;
const LINE_MARKUP: usize = 90;

pub(super) const KIND: Kind<IncomingWebhook> = Kind::new(compose, classify);

fn compose(hook: &IncomingWebhook, alert: &OutgoingAlert<'_>) -> Message {
    let alert_text = &alert.text;
    let title = truncate(&alert_text.signed_title(), plain, Unit::Json, TITLE_MAX);
    let mut card = json!({
        "$schema": "http://adaptivecards.io/schemas/adaptive-card.json",
        "type": "AdaptiveCard",
        "version": "1.4",
        "msteams": { "width": "Full" },
        "fallbackText": title,
        "body": blocks(&title, alert_text),
    });
    let fits = |link: &&String| Unit::Json.length(link) <= LINK_MAX;
    if let Some(link) = alert_text.link.as_ref().filter(fits) {
        card["actions"] = json!([{ "type": "Action.OpenUrl", "title": LINK_TEXT, "url": link }]);
    }
    let body = json!({
        "type": "message",
        "attachments": [{
            "contentType": "application/vnd.microsoft.card.adaptive",
            "contentUrl": null,
            "content": card,
        }],
    });
    HttpMessage::json(hook.webhook_url.expose(), &body).into()
}

/// Classifies a response: 202 is success. The workflow posts the card afterwards, so its own
/// failures show only in its run history.
fn classify(response: &VendorResponse) -> Disposition {
    let body = body_of(response);
    let way_out = match response.status {
        400 => Some(
            "the workflow does not accept webhook requests of Teams: copy the URL of one that does",
        ),
        401 | 403 => Some("the URL is wrong, or the workflow does not let anyone trigger it"),
        404 | 410 => Some("the workflow was deleted or turned off: create or enable it in Teams"),
        _ => None,
    };
    classify_status(response, text_at(&body, "/error/message"), way_out)
}

/// Builds the card's blocks of text runs, which have no markup, so that names need no escaping.
fn blocks(title: &str, alert_text: &AlertText) -> Vec<Value> {
    let heading = json!({
        "type": "TextRun", "text": title, "size": "Large", "weight": "Bolder",
        "color": colour(alert_text.severity),
    });
    let subtitle = truncate(&subtitle(alert_text), plain, Unit::Json, TITLE_MAX);
    let mut blocks = vec![
        block("Default", &[heading]),
        block("None", &[json!({ "type": "TextRun", "text": subtitle, "isSubtle": true })]),
    ];
    if let Some(why) = alert_text.why.as_deref().filter(|why| !why.is_empty()) {
        blocks.push(block("Default", &[run(&truncate(why, plain, Unit::Json, WHY_MAX))]));
    }
    for (label, value) in alert_text.all_facts().filter(|(label, _)| *label != "Workspace") {
        let label = json!({ "type": "TextRun", "text": format!("{label}: "), "weight": "Bolder" });
        let value = run(&truncate(value, plain, Unit::Json, VALUE_MAX));
        blocks.push(block("Small", &[label, value]));
    }
    blocks.extend(lines(alert_text));
    blocks
}

/// Builds a block per line, as many as fit, and the number of omitted ones.
fn lines(alert_text: &AlertText) -> Vec<Value> {
    let (mut blocks, mut room) = (Vec::new(), LINES_MAX);
    for (at, line) in alert_text.lines.iter().enumerate() {
        let line = truncate(&format!("• {line}"), plain, Unit::Json, LINE_MAX);
        let Some(rest) = room.checked_sub(Unit::Json.length(&line) + LINE_MARKUP) else {
            let more = alert_text.lines.len() - at;
            blocks.push(block("Small", &[run(&format!("• … and {more} more"))]));
            break;
        };
        room = rest;
        blocks.push(block("Small", &[run(&line)]));
    }
    blocks
}

fn subtitle(alert_text: &AlertText) -> String {
    let time = format_time(alert_text.at);
    if alert_text.workspace.is_empty() {
        time
    } else {
        format!("{} · {time}", alert_text.workspace)
    }
}

fn block(spacing: &str, inlines: &[Value]) -> Value {
    json!({ "type": "RichTextBlock", "spacing": spacing, "inlines": inlines })
}

fn run(text: &str) -> Value {
    json!({ "type": "TextRun", "text": text })
}

const fn colour(severity: Severity) -> &'static str {
    match severity {
        Severity::Down => "Attention",
        Severity::Degraded => "Warning",
        Severity::Fine => "Good",
        Severity::Test => "Accent",
    }
}

#[cfg(test)]
pub(super) mod tests;
