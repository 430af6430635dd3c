//! Discord: sends an embed through a webhook. Reminders and recoveries are separate messages,
//! because a webhook cannot open a thread in a text channel. Format:
//! <https://docs.discord.com/developers/resources/webhook#execute-webhook>

use rules::notification::IncomingWebhook;
use serde_json::{Value, json};
use url::Url;

use super::alert_text::{AlertText, format_rfc3339};
use super::kinds::{Kind, OutgoingAlert};
use super::message::{Disposition, HttpMessage, Message, VendorResponse};
use super::response::{classify_status, json as body_of, retry_later, seconds, text_at};
use super::truncate::{List, Unit, truncate};

/// Maximum length of a title,
/// <https://docs.discord.com/developers/resources/message#embed-object-embed-limits>.
const TITLE_MAX: usize = 256;
/// Maximum length of a field value, same page.
const FIELD_MAX: usize = 1_024;
/// Maximum length of a description. The documented limit is 4,096, but all texts together may have
/// 6,000, and the longest title and two longest fields take 2,304.
const DESCRIPTION_MAX: usize = 3_000;
/// Regions or events in the description; leaves room for the reason.
const LINES: List = List { escape, unit: Unit::Utf16, around: ("\n• ", ""), max: 2_000 };
/// Maximum length of all texts together, same page.
#[cfg(test)]
const TOTAL_MAX: usize = 6_000;
pub(super) const KIND: Kind<IncomingWebhook> = Kind::new(compose, classify);

fn compose(hook: &IncomingWebhook, alert: &OutgoingAlert<'_>) -> Message {
    let OutgoingAlert { text: alert_text, .. } = alert;
    let mut embed = json!({
        "title": truncate(&alert_text.signed_title(), escape, Unit::Utf16, TITLE_MAX),
        "color": alert_text.severity.colour(),
        "fields": fields(alert_text),
    });
    let description = description(alert_text);
    if !description.is_empty() {
        embed["description"] = Value::String(description);
    }
    if let Some(link) = &alert_text.link {
        embed["url"] = Value::String(link.clone());
    }
    if let Some(at) = format_rfc3339(alert_text.at) {
        embed["timestamp"] = Value::String(at);
    }
    let body = json!({ "allowed_mentions": { "parse": [] }, "embeds": [embed] });
    HttpMessage::json(&with_wait(hook.webhook_url.expose()), &body).into()
}

/// Rate limits apply per webhook. The header gives seconds, but the body of old API versions gives
/// milliseconds, so the header takes precedence.
fn classify(response: &VendorResponse) -> Disposition {
    let body = body_of(response);
    let detail = text_at(&body, "/message");
    if response.status == 429 {
        let after = response.retry_after.or_else(|| seconds(body.get("retry_after")));
        return retry_later(response, after, detail.unwrap_or("too many messages"));
    }
    let way_out = match body.get("code").and_then(Value::as_i64) {
        Some(10_015 | 50_027) => Some("the webhook was deleted: create a new one in Discord"),
        Some(10_003) => Some("the Discord channel was deleted: create a webhook in another one"),
        Some(220_001) => {
            Some("forum channels do not accept alerts: create a webhook in a text channel")
        }
        Some(_) | None => None,
    };
    classify_status(response, detail, way_out)
}

/// Escapes Discord's Markdown and mentions. `allowed_mentions` disables mentions, too.
fn escape(character: char, out: &mut String) {
    if r"\*_~`|>#[]<@".contains(character) {
        out.push('\\');
    }
    out.push(character);
}

/// Escapes the content of a code span, which has no escape syntax.
fn code(character: char, out: &mut String) {
    out.push(if character == '`' { '\'' } else { character });
}

fn description(alert_text: &AlertText) -> String {
    let lines = LINES.format(&alert_text.lines);
    let room = DESCRIPTION_MAX - Unit::Utf16.length(&lines);
    let why = truncate(alert_text.why.as_deref().unwrap_or_default(), escape, Unit::Utf16, room);
    (why + &lines).trim_start().to_owned()
}

fn fields(alert_text: &AlertText) -> Vec<Value> {
    let target = alert_text.target.iter().map(|target| {
        let room = FIELD_MAX - 2;
        let value = format!("`{}`", truncate(target, code, Unit::Utf16, room));
        json!({ "name": "Target", "value": value })
    });
    let facts =
        alert_text.all_facts().filter(|(label, _)| *label != "Target").map(|(label, value)| {
            let value = truncate(value, escape, Unit::Utf16, FIELD_MAX);
            json!({ "name": label, "value": value, "inline": true })
        });
    target.chain(facts).collect()
}

/// Returns the webhook's URL with `wait`, so that the response confirms delivery.
fn with_wait(url: &str) -> String {
    let Ok(mut parsed) = Url::parse(url) else { return url.to_owned() };
    parsed.query_pairs_mut().append_pair("wait", "true");
    parsed.into()
}

#[cfg(test)]
pub(super) mod tests;
