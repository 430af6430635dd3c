//! Discord: an embed through a webhook. Reminders and recoveries are messages of their own, because a
//! webhook opens no thread in a text channel.
//! Format: <https://docs.discord.com/developers/resources/webhook#execute-webhook>

use rules::notification::Hook;
use serde_json::{Value, json};
use url::Url;

use super::answer::{again, by_status, json as body_of, seconds, text_at};
use super::fit::{List, Unit, fit};
use super::message::{Answer, Delivered, HttpMessage};
use super::story::{Story, written_time};

/// Longest title, <https://docs.discord.com/developers/resources/message#embed-object-embed-limits>.
pub(super) const TITLE_MAX: usize = 256;
/// Longest value of a field, of the same limits.
pub(super) const FIELD_MAX: usize = 1_024;
/// Longest description: the limit is 4,096, but all texts together may have 6,000, and the title
/// and two fields at their longest take 2,304 of them.
pub(super) const DESCRIPTION_MAX: usize = 3_000;
/// Regions or events in the description, which leave room for why.
const LINES: List = List { escape, unit: Unit::Utf16, around: ("\n• ", ""), max: 2_000 };
/// All texts together, of the same limits.
#[cfg(test)]
pub(super) const TOTAL_MAX: usize = 6_000;

pub(super) fn compose(hook: &Hook, story: &Story) -> HttpMessage {
    let mut embed = json!({
        "title": fit(&story.signed_title(), escape, Unit::Utf16, TITLE_MAX),
        "color": story.tone.colour(),
        "fields": fields(story),
    });
    let description = description(story);
    if !description.is_empty() {
        embed["description"] = Value::String(description);
    }
    if let Some(link) = &story.link {
        embed["url"] = Value::String(link.clone());
    }
    if let Some(at) = written_time(story.at) {
        embed["timestamp"] = Value::String(at);
    }
    let body = json!({ "allowed_mentions": { "parse": [] }, "embeds": [embed] });
    HttpMessage::json(&waiting(hook.webhook_url.expose()), &body)
}

/// Too many messages are counted per webhook; the header says it in seconds, the body of old
/// versions of the API in milliseconds, so the header goes first.
pub(super) fn read(answer: &Answer) -> Delivered {
    let body = body_of(answer);
    let said = text_at(&body, "/message");
    if answer.status == 429 {
        let after = answer.retry_after.or_else(|| seconds(body.get("retry_after")));
        return again(answer, after, said.unwrap_or("too many messages"));
    }
    let way_out = match body.get("code").and_then(Value::as_i64) {
        Some(10_015 | 50_027) => Some("the webhook was deleted: create a new one in Discord"),
        Some(10_003) => Some("the Discord channel was deleted: create a webhook in another one"),
        Some(220_001) => {
            Some("forum channels do not accept alerts: create a webhook in a text channel")
        }
        Some(_) | None => None,
    };
    by_status(answer, said, way_out)
}

/// Discord's Markdown, and mentions, which `allowed_mentions` keeps from ringing as well.
fn escape(character: char, out: &mut String) {
    if r"\*_~`|>#[]<@".contains(character) {
        out.push('\\');
    }
    out.push(character);
}

/// The inside of a code span, which nothing can be escaped in.
fn code(character: char, out: &mut String) {
    out.push(if character == '`' { '\'' } else { character });
}

fn description(story: &Story) -> String {
    let lines = LINES.of(&story.lines);
    let room = DESCRIPTION_MAX - Unit::Utf16.length(&lines);
    let why = fit(story.why.as_deref().unwrap_or_default(), escape, Unit::Utf16, room);
    (why + &lines).trim_start().to_owned()
}

fn fields(story: &Story) -> Vec<Value> {
    let target = story.target.iter().map(|target| {
        let room = FIELD_MAX - 2;
        let value = format!("`{}`", fit(target, code, Unit::Utf16, room));
        json!({ "name": "Target", "value": value })
    });
    let facts = story.all_facts().filter(|(label, _)| *label != "Target").map(|(label, value)| {
        let value = fit(value, escape, Unit::Utf16, FIELD_MAX);
        json!({ "name": label, "value": value, "inline": true })
    });
    target.chain(facts).collect()
}

/// The webhook's URL, asking for an answer that tells whether the message was kept.
fn waiting(url: &str) -> String {
    let Ok(mut parsed) = Url::parse(url) else { return url.to_owned() };
    parsed.query_pairs_mut().append_pair("wait", "true");
    parsed.into()
}
