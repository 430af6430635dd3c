//! Opsgenie: alerts by alias, which it groups by itself: a recovery closes what its opening created.
//! Format: <https://docs.opsgenie.com/docs/alert-api>

use http::header::AUTHORIZATION;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use rules::OpsgenieRegion;
use rules::notification::Opsgenie;
use serde_json::{Value, json};

use super::answer::{by_status, json as body_of, text_at};
use super::fit::{Unit, fit, plain};
use super::message::{Answer, Delivered, Envelope, HttpMessage};
use super::servers::Servers;
use super::story::{Phase, SENDER, Story, Tone};

/// Longest message, alias, description and entity: <https://docs.opsgenie.com/docs/alert-api#create-alert>.
pub(super) const MESSAGE_MAX: usize = 130;
pub(super) const ALIAS_MAX: usize = 512;
pub(super) const DESCRIPTION_MAX: usize = 15_000;
pub(super) const ENTITY_MAX: usize = 512;
/// All details together, of the same page.
#[cfg(test)]
pub(super) const DETAILS_MAX: usize = 8_000;
/// Longest detail (ours): target and workspace at their longest stay below what all may have.
const DETAIL_MAX: usize = 2_048;
/// What is encoded in the path of a URL.
const IN_PATH: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_');
/// Longest note of a closed alert, of the same page.
const NOTE_MAX: usize = 25_000;

pub(super) fn compose(
    opsgenie: &Opsgenie,
    servers: &Servers,
    story: &Story,
    envelope: &Envelope<'_>,
) -> HttpMessage {
    let host = match opsgenie.region {
        OpsgenieRegion::Us => &servers.opsgenie_us,
        OpsgenieRegion::Eu => &servers.opsgenie_eu,
    };
    let alias = text(envelope.thread, ALIAS_MAX);
    let message = match story.phase {
        Phase::Open => HttpMessage::json(&format!("{host}/v2/alerts"), &alert(&alias, story)),
        Phase::Over => {
            // Without `identifierType` the alias would be taken for the id of an alert.
            let alias = utf8_percent_encode(&alias, IN_PATH);
            let url = format!("{host}/v2/alerts/{alias}/close?identifierType=alias");
            let note = text(&format!("{}\n\n{}", story.title, story.text()), NOTE_MAX);
            let body = json!({ "source": SENDER, "user": SENDER, "note": note });
            HttpMessage::json(&url, &body)
        }
    };
    message.with(AUTHORIZATION, format!("GenieKey {}", opsgenie.api_key.expose()))
}

/// 202 is taken; what is wrong stands in `message`.
pub(super) fn read(answer: &Answer) -> Delivered {
    let body = body_of(answer);
    let way_out = matches!(answer.status, 401 | 403 | 422)
        .then_some("enter the key of an API integration and its region in the channel");
    by_status(answer, text_at(&body, "/message"), way_out)
}

fn alert(alias: &str, story: &Story) -> Value {
    let mut description = story.text();
    if let Some(link) = &story.link {
        description = link.clone() + "\n\n" + &description;
    }
    let details: serde_json::Map<String, Value> = story
        .all_facts()
        .map(|(label, value)| (label.to_owned(), json!(text(value, DETAIL_MAX))))
        .collect();
    json!({
        "message": text(&story.title, MESSAGE_MAX),
        "alias": alias,
        "description": text(&description, DESCRIPTION_MAX),
        "details": details,
        "entity": text(story.target.as_deref().unwrap_or_default(), ENTITY_MAX),
        "source": SENDER,
        "tags": [tag(story.tone)],
        "priority": priority(story.tone),
    })
}

const fn tag(tone: Tone) -> &'static str {
    match tone {
        Tone::Down => "down",
        Tone::Degraded => "degraded",
        Tone::Fine => "recovered",
        Tone::Test => "test",
    }
}

const fn priority(tone: Tone) -> &'static str {
    match tone {
        Tone::Down => "P1",
        Tone::Degraded => "P3",
        Tone::Fine | Tone::Test => "P5",
    }
}

/// JSON escapes by itself; nothing here is markup.
fn text(text: &str, max: usize) -> String {
    fit(text, plain, Unit::Utf16, max)
}
