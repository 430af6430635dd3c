//! Grafana OnCall: sends to a formatted webhook, which groups alerts: messages with the same
//! `alert_uid` form one alert group, and `ok` resolves what `alerting` opened. Format:
//! <https://grafana.com/docs/oncall/latest/configure/integrations/references/webhook/>

use rules::notification::IncomingWebhook;
use serde_json::json;

use super::alert_text::AlertState;
use super::kinds::{Kind, OutgoingAlert};
use super::message::{Disposition, HttpMessage, Message, VendorResponse};
use super::response::classify_status;
use super::truncate::{Unit, plain, truncate};

/// Maximum length of title and message (our choice): no limit is documented, and chats show them.
const TITLE_MAX: usize = 256;
const MESSAGE_MAX: usize = 4_096;
/// Maximum length of the group's ID (our choice).
const UID_MAX: usize = 255;
pub(super) const KIND: Kind<IncomingWebhook> = Kind::new(compose, classify).stateful();

fn compose(hook: &IncomingWebhook, alert: &OutgoingAlert<'_>) -> Message {
    let OutgoingAlert { text: alert_text, envelope, .. } = alert;
    let mut body = json!({
        "alert_uid": text(envelope.thread, UID_MAX),
        "title": text(&alert_text.title, TITLE_MAX),
        "message": text(&alert_text.text(), MESSAGE_MAX),
        "state": match alert_text.state {
            AlertState::Open => "alerting",
            AlertState::Resolved => "ok",
        },
    });
    if let Some(link) = &alert_text.link {
        body["link_to_upstream_details"] = json!(link);
    }
    HttpMessage::json(hook.webhook_url.expose(), &body).into()
}

/// Classifies a response by its status; the body is only text for humans.
fn classify(response: &VendorResponse) -> Disposition {
    let way_out = matches!(response.status, 403 | 404).then_some(
        "the integration was deleted: enter the URL of a formatted webhook in the channel",
    );
    classify_status(response, None, way_out)
}

/// Shortens a text without escaping: JSON needs none, and OnCall's templates handle Markdown.
fn text(text: &str, max: usize) -> String {
    truncate(text, plain, Unit::Utf16, max)
}

#[cfg(test)]
pub(super) mod tests;
