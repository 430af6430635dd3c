//! Opsgenie: sends alerts by alias. Opsgenie groups by alias, so a recovery closes the alert that
//! its opening created. Format: <https://docs.opsgenie.com/docs/alert-api>

use http::header::AUTHORIZATION;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use rules::OpsgenieRegion;
use rules::notification::Opsgenie;
use serde_json::{Value, json};

use super::alert_text::{AlertState, AlertText, SENDER, Severity};
use super::kinds::{Kind, OutgoingAlert};
use super::message::{Disposition, HttpMessage, Message, VendorResponse};
use super::response::{classify_status, json as body_of, text_at};
use super::truncate::{Unit, plain, truncate};

/// Maximum length of message, alias, description and entity:
/// <https://docs.opsgenie.com/docs/alert-api#create-alert>.
const MESSAGE_MAX: usize = 130;
const ALIAS_MAX: usize = 512;
const DESCRIPTION_MAX: usize = 15_000;
const ENTITY_MAX: usize = 512;
/// Maximum length of all details together, same page.
#[cfg(test)]
const DETAILS_MAX: usize = 8_000;
/// Maximum length of one detail (our choice): the longest target and workspace stay below the limit
/// of all details.
const DETAIL_MAX: usize = 2_048;
/// Characters to encode in a URL path.
const IN_PATH: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_');
/// Maximum length of the note of a closed alert, same page.
const NOTE_MAX: usize = 25_000;
pub(super) const KIND: Kind<Opsgenie> = Kind::new(compose, classify).stateful();

fn compose(opsgenie: &Opsgenie, alert: &OutgoingAlert<'_>) -> Message {
    let OutgoingAlert { text: alert_text, envelope, config, .. } = alert;
    let host = match opsgenie.region {
        OpsgenieRegion::Us => &config.opsgenie_us,
        OpsgenieRegion::Eu => &config.opsgenie_eu,
    };
    let alias = text(envelope.thread, ALIAS_MAX);
    let message = match alert_text.state {
        AlertState::Open => {
            HttpMessage::json(&format!("{host}/v2/alerts"), &alert_body(&alias, alert_text))
        }
        AlertState::Resolved => {
            // Without `identifierType`, Opsgenie would take the alias for an alert ID.
            let alias = utf8_percent_encode(&alias, IN_PATH);
            let url = format!("{host}/v2/alerts/{alias}/close?identifierType=alias");
            let note = text(&format!("{}\n\n{}", alert_text.title, alert_text.text()), NOTE_MAX);
            let body = json!({ "source": SENDER, "user": SENDER, "note": note });
            HttpMessage::json(&url, &body)
        }
    };
    message.with_header(AUTHORIZATION, format!("GenieKey {}", opsgenie.api_key.expose())).into()
}

/// Classifies a response: 202 is success; `message` describes a problem.
fn classify(response: &VendorResponse) -> Disposition {
    let body = body_of(response);
    let way_out = matches!(response.status, 401 | 403 | 422)
        .then_some("enter the key of an API integration and its region in the channel");
    classify_status(response, text_at(&body, "/message"), way_out)
}

fn alert_body(alias: &str, alert_text: &AlertText) -> Value {
    let mut description = alert_text.text();
    if let Some(link) = &alert_text.link {
        description = link.clone() + "\n\n" + &description;
    }
    let details: serde_json::Map<String, Value> = alert_text
        .all_facts()
        .map(|(label, value)| (label.to_owned(), json!(text(value, DETAIL_MAX))))
        .collect();
    json!({
        "message": text(&alert_text.title, MESSAGE_MAX),
        "alias": alias,
        "description": text(&description, DESCRIPTION_MAX),
        "details": details,
        "entity": text(alert_text.target.as_deref().unwrap_or_default(), ENTITY_MAX),
        "source": SENDER,
        "tags": [tag(alert_text.severity)],
        "priority": priority(alert_text.severity),
    })
}

const fn tag(severity: Severity) -> &'static str {
    match severity {
        Severity::Down => "down",
        Severity::Degraded => "degraded",
        Severity::Fine => "recovered",
        Severity::Test => "test",
    }
}

const fn priority(severity: Severity) -> &'static str {
    match severity {
        Severity::Down => "P1",
        Severity::Degraded => "P3",
        Severity::Fine | Severity::Test => "P5",
    }
}

/// Shortens a text without escaping: JSON needs none, and the texts are not markup.
fn text(text: &str, max: usize) -> String {
    truncate(text, plain, Unit::Utf16, max)
}

#[cfg(test)]
pub(super) mod tests;
