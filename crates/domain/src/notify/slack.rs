//! Slack: sends blocks in a coloured attachment through an incoming webhook. Format:
//! <https://docs.slack.dev/messaging/sending-messages-using-incoming-webhooks>, text:
//! <https://docs.slack.dev/messaging/formatting-message-text>

use rules::notification::IncomingWebhook;
use serde_json::{Value, json};

use super::alert_text::{AlertText, LINK_TEXT, format_time};
use super::kinds::{Kind, OutgoingAlert};
use super::message::{Disposition, HttpMessage, Message, VendorResponse};
use super::response::{classify_status, rejected, retry_later};
use super::truncate::{List, Unit, escaped, truncate};

/// Maximum length of a section's text,
/// <https://docs.slack.dev/reference/block-kit/blocks/section-block>.
const SECTION_MAX: usize = 3_000;
/// Maximum length and number of a section's fields, same page.
const FIELD_MAX: usize = 2_000;
const FIELDS_MAX: usize = 10;
/// Maximum length of a title: that of a header, to be read at a glance,
/// <https://docs.slack.dev/reference/block-kit/blocks/header-block>.
const TITLE_MAX: usize = 150;
/// Maximum length of a link (our choice): leaves room for time and workspace in the same text.
const LINK_MAX: usize = 2_700;
/// Maximum number of blocks in a message, <https://docs.slack.dev/reference/block-kit/blocks>.
#[cfg(test)]
const BLOCKS_MAX: usize = 50;
/// Regions or events in one section.
const LINES: List = List { escape, unit: Unit::Utf16, around: ("\n• ", ""), max: SECTION_MAX };
pub(super) const KIND: Kind<IncomingWebhook> = Kind::new(compose, classify);

fn compose(hook: &IncomingWebhook, alert: &OutgoingAlert<'_>) -> Message {
    let OutgoingAlert { text: alert_text, .. } = alert;
    let title = truncate(&alert_text.signed_title(), escape, Unit::Utf16, TITLE_MAX);
    let why =
        truncate(alert_text.why.as_deref().unwrap_or_default(), escape, Unit::Utf16, SECTION_MAX);
    let lines = LINES.format(&alert_text.lines);
    let mut blocks = Vec::new();
    blocks.extend(section(&why));
    blocks.extend(fields(alert_text));
    blocks.extend(section(lines.trim_start()));
    blocks.push(json!({ "type": "context", "elements": [text(&context(alert_text))] }));
    let colour = format!("#{:06x}", alert_text.severity.colour());
    let attachment = json!({ "color": colour, "fallback": title, "blocks": blocks });
    let body = json!({ "text": title, "mrkdwn": false, "attachments": [attachment] });
    HttpMessage::json(hook.webhook_url.expose(), &body).into()
}

/// Classifies a response; Slack describes a problem in one word:
/// <https://docs.slack.dev/changelog/2016-05-17-changes-to-errors-for-incoming-webhooks>
fn classify(response: &VendorResponse) -> Disposition {
    let word = response.body.trim();
    match word {
        "rollup_error" | "rate_limited" | "ratelimited" => {
            retry_later(response, response.retry_after, word)
        }
        "channel_is_archived" | "channel_not_found" | "user_not_found" => {
            let way_out = "the Slack channel was deleted: create a webhook in another one";
            rejected(response, word, Some(way_out))
        }
        "action_prohibited" | "posting_to_general_channel_denied" | "restricted_action" => {
            rejected(response, word, Some("an administrator of the Slack workspace must allow it"))
        }
        "no_service" | "no_service_id" | "no_active_hooks" | "invalid_token" | "no_team"
        | "team_disabled" | "account_inactive" => {
            rejected(response, word, Some("the webhook is disabled: create a new one in Slack"))
        }
        _ => classify_status(response, None, None),
    }
}

/// Escapes the three control characters of Slack's markup. Replaces back-ticks, because they would
/// end a code span, which has no escape syntax.
fn escape(character: char, out: &mut String) {
    match character {
        '&' => out.push_str("&amp;"),
        '<' => out.push_str("&lt;"),
        '>' => out.push_str("&gt;"),
        '`' => out.push('\''),
        other => out.push(other),
    }
}

fn fields(alert_text: &AlertText) -> Option<Value> {
    let fields: Vec<Value> = alert_text
        .target_and_facts()
        .take(FIELDS_MAX)
        .map(|(label, value)| {
            let room = FIELD_MAX - label.len() - "**\n``".len();
            let value = truncate(value, escape, Unit::Utf16, room);
            let value = if label == "Target" { format!("`{value}`") } else { value };
            text(&format!("*{label}*\n{value}"))
        })
        .collect();
    (!fields.is_empty()).then(|| json!({ "type": "section", "fields": fields }))
}

/// Returns the time in the reader's time zone, the workspace, and the link.
fn context(alert_text: &AlertText) -> String {
    let seconds = alert_text.at.as_millis().div_euclid(1_000);
    let shown = format_time(alert_text.at);
    let mut context = format!("<!date^{seconds}^{{date_short_pretty}} {{time_secs}}|{shown}>");
    if !alert_text.workspace.is_empty() {
        let workspace = truncate(&alert_text.workspace, escape, Unit::Utf16, TITLE_MAX);
        context = context + " · " + &workspace;
    }
    match &alert_text.link {
        Some(link) => {
            // A cut link would not work; escaping can make a long one exceed the limit.
            let link = escaped(link, escape);
            let fits = Unit::Utf16.length(&link) <= LINK_MAX;
            if fits { format!("{context} · <{link}|{LINK_TEXT}>") } else { context }
        }
        None => context,
    }
}

fn section(content: &str) -> Option<Value> {
    (!content.is_empty()).then(|| json!({ "type": "section", "text": text(content) }))
}

/// Creates text in Slack's markup without automatic links and mentions.
fn text(content: &str) -> Value {
    json!({ "type": "mrkdwn", "text": content, "verbatim": true })
}

#[cfg(test)]
pub(super) mod tests;
