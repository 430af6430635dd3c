//! ntfy: publishes to a topic as JSON, so that titles may use any script. Format:
//! <https://docs.ntfy.sh/publish/#publish-as-json>

use http::header::AUTHORIZATION;
use rules::notification::Ntfy;
use serde_json::json;
use url::Url;

use super::alert_text::{AlertText, Severity};
use super::kinds::{Kind, OutgoingAlert};
use super::message::{Disposition, HttpMessage, Message, VendorResponse};
use super::response::{classify_status, json as body_of, text_at};
use super::truncate::{Unit, plain, truncate};

/// Maximum size of a message in bytes; a larger one becomes an attachment:
/// <https://docs.ntfy.sh/publish/#limitations>. Counted as JSON, because a server reads at most
/// twice as many bytes of a request.
const MESSAGE_MAX: usize = 4_096;
/// Maximum length of a title (our choice), in bytes as JSON.
const TITLE_MAX: usize = 512;
/// Maximum size of a request that a server reads: twice the maximum message.
#[cfg(test)]
const REQUEST_MAX: usize = 2 * MESSAGE_MAX;
pub(super) const KIND: Kind<Ntfy> = Kind::new(compose, classify);

fn compose(ntfy: &Ntfy, alert: &OutgoingAlert<'_>) -> Message {
    let OutgoingAlert { text: alert_text, config, .. } = alert;
    let mut body = json!({
        "topic": ntfy.topic,
        "title": truncate(&alert_text.title, plain, Unit::Json, TITLE_MAX),
        "message": message(alert_text),
        "priority": priority(alert_text.severity),
        "tags": [tag(alert_text.severity)],
    });
    if let Some(link) = &alert_text.link {
        body["click"] = json!(link);
    }
    let url = server(ntfy.server_url.as_deref().unwrap_or(&config.ntfy));
    let message = HttpMessage::json(&url, &body);
    let message = match &ntfy.token {
        Some(token) => message.with_header(AUTHORIZATION, format!("Bearer {}", token.expose())),
        None => message,
    };
    message.into()
}

/// Classifies a response; `error` describes the problem. 429 and 507 are temporary.
fn classify(response: &VendorResponse) -> Disposition {
    let body = body_of(response);
    let way_out = match response.status {
        400 => Some("enter a topic of letters, digits, - and _ in the channel"),
        401 | 403 => Some("enter a token with write access to the topic in the channel"),
        _ => None,
    };
    classify_status(response, text_at(&body, "/error"), way_out)
}

/// Returns the text, or the title instead of an empty text, which would show as "triggered".
fn message(alert_text: &AlertText) -> String {
    let text = alert_text.text();
    let text = if text.is_empty() { alert_text.title.clone() } else { text };
    truncate(&text, plain, Unit::Json, MESSAGE_MAX)
}

/// Returns the root URL of a server, to which JSON is published; the body contains the topic.
fn server(written: &str) -> String {
    let Ok(mut url) = Url::parse(written) else { return written.to_owned() };
    url.set_query(None);
    url.set_fragment(None);
    if !url.path().ends_with('/') {
        let path = url.path().to_owned() + "/";
        url.set_path(&path);
    }
    url.into()
}

const fn priority(severity: Severity) -> u8 {
    match severity {
        Severity::Down => 5,
        Severity::Degraded => 4,
        Severity::Fine | Severity::Test => 3,
    }
}

/// Returns the tag that the apps show as an emoji: <https://docs.ntfy.sh/emojis/>
const fn tag(severity: Severity) -> &'static str {
    match severity {
        Severity::Down => "rotating_light",
        Severity::Degraded => "warning",
        Severity::Fine => "white_check_mark",
        Severity::Test => "test_tube",
    }
}

#[cfg(test)]
pub(super) mod tests;
