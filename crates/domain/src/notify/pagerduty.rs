//! PagerDuty: sends to Events API v2. PagerDuty groups by `dedup_key`, so a recovery resolves the
//! alert that its opening triggered, and a reminder repeats it. Format:
//! <https://developer.pagerduty.com/docs/events-api-v2/trigger-events/>

use rules::notification::Pagerduty;
use serde_json::{Value, json};

use super::alert_text::{AlertState, AlertText, LINK_TEXT, SENDER, Severity, format_rfc3339};
use super::kinds::{Kind, OutgoingAlert};
use super::message::{Disposition, HttpMessage, Message, VendorResponse};
use super::response::{classify_status, json as body_of, text_at};
use super::truncate::{Unit, plain, truncate};

/// Maximum length of a summary,
/// <https://developer.pagerduty.com/docs/events-api-v2/trigger-events/#parameters>.
const SUMMARY_MAX: usize = 1_024;
/// Maximum length of a dedup key, same page.
const DEDUP_KEY_MAX: usize = 255;
/// Maximum length of texts without a documented limit (our choice).
const TEXT_MAX: usize = 2_048;
/// Maximum number and length of detail lines (our choice): far below the 512 KB of a payload,
/// <https://developer.pagerduty.com/docs/events-api-v2/overview/#size-limits>.
const LINES_MAX: usize = 100;
const LINE_MAX: usize = 300;
/// Documented maximum size of a payload.
#[cfg(test)]
const PAYLOAD_BYTES_MAX: usize = 512 * 1_024;
pub(super) const KIND: Kind<Pagerduty> = Kind::new(compose, classify).stateful();

fn compose(pagerduty: &Pagerduty, alert: &OutgoingAlert<'_>) -> Message {
    let OutgoingAlert { text: alert_text, envelope, config, .. } = alert;
    let url = format!("{}/v2/enqueue", config.pagerduty);
    let routing_key = pagerduty.integration_key.expose();
    let dedup_key = text(envelope.thread, DEDUP_KEY_MAX);
    let body = match alert_text.state {
        AlertState::Open => {
            let mut body = json!({
                "routing_key": routing_key,
                "event_action": "trigger",
                "dedup_key": dedup_key,
                "client": SENDER,
                "payload": payload(alert_text),
            });
            if let Some(link) = &alert_text.link {
                body["client_url"] = json!(link);
                body["links"] = json!([{ "href": link, "text": LINK_TEXT }]);
            }
            body
        }
        AlertState::Resolved => json!({
            "routing_key": routing_key,
            "event_action": "resolve",
            "dedup_key": dedup_key,
        }),
    };
    HttpMessage::json(&url, &body).into()
}

/// Classifies a response: 202 is success; 400 describes the problem in `errors`, usually a wrong
/// key.
fn classify(response: &VendorResponse) -> Disposition {
    let body = body_of(response);
    let detail = text_at(&body, "/errors/0").or_else(|| text_at(&body, "/message"));
    let way_out = "enter the integration key of an Events API v2 integration in the channel";
    classify_status(response, detail, (response.status == 400).then_some(way_out))
}

fn payload(alert_text: &AlertText) -> Value {
    let source = alert_text.target.as_deref().unwrap_or(&alert_text.workspace);
    let mut details = serde_json::Map::new();
    if let Some(why) = &alert_text.why {
        details.insert("Why".to_owned(), json!(text(why, TEXT_MAX)));
    }
    for (label, value) in alert_text.all_facts() {
        details.insert(label.to_owned(), json!(text(value, TEXT_MAX)));
    }
    if !alert_text.lines.is_empty() {
        let lines: Vec<String> =
            alert_text.lines.iter().take(LINES_MAX).map(|line| text(line, LINE_MAX)).collect();
        details.insert("Seen".to_owned(), json!(lines));
    }
    let mut payload = json!({
        "summary": text(&alert_text.title, SUMMARY_MAX),
        // Required and never empty.
        "source": text(if source.is_empty() { SENDER } else { source }, TEXT_MAX),
        "severity": severity(alert_text.severity),
        "group": text(&alert_text.workspace, TEXT_MAX),
        "custom_details": details,
    });
    if let Some(at) = format_rfc3339(alert_text.at) {
        payload["timestamp"] = Value::String(at);
    }
    payload
}

const fn severity(severity: Severity) -> &'static str {
    match severity {
        Severity::Down => "critical",
        Severity::Degraded => "warning",
        Severity::Fine | Severity::Test => "info",
    }
}

/// Shortens a text without escaping: JSON needs none, and the texts are not markup.
fn text(text: &str, max: usize) -> String {
    truncate(text, plain, Unit::Utf16, max)
}

#[cfg(test)]
pub(super) mod tests;
