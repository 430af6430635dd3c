//! Grafana OnCall: a formatted webhook, which groups by itself: what has one `alert_uid` is one alert
//! group, and `ok` resolves what `alerting` opened.
//! Format: <https://grafana.com/docs/oncall/latest/configure/integrations/references/webhook/>

use rules::notification::Hook;
use serde_json::json;

use super::answer::by_status;
use super::fit::{Unit, fit, plain};
use super::message::{Answer, Delivered, Envelope, HttpMessage};
use super::story::{Phase, Story};

/// Longest title and message (ours): no limit is documented, and what comes in is shown in chats.
pub(super) const TITLE_MAX: usize = 256;
pub(super) const MESSAGE_MAX: usize = 4_096;
/// Longest identity (ours).
const UID_MAX: usize = 255;

pub(super) fn compose(hook: &Hook, story: &Story, envelope: &Envelope<'_>) -> HttpMessage {
    let mut body = json!({
        "alert_uid": text(envelope.thread, UID_MAX),
        "title": text(&story.title, TITLE_MAX),
        "message": text(&story.text(), MESSAGE_MAX),
        "state": match story.phase {
            Phase::Open => "alerting",
            Phase::Over => "ok",
        },
    });
    if let Some(link) = &story.link {
        body["link_to_upstream_details"] = json!(link);
    }
    HttpMessage::json(hook.webhook_url.expose(), &body)
}

/// The status alone decides; bodies are words for people.
pub(super) fn read(answer: &Answer) -> Delivered {
    let way_out = matches!(answer.status, 403 | 404).then_some(
        "the integration was deleted: enter the URL of a formatted webhook in the channel",
    );
    by_status(answer, None, way_out)
}

/// JSON escapes by itself. Chats that OnCall writes to read Markdown, by templates of its own.
fn text(text: &str, max: usize) -> String {
    fit(text, plain, Unit::Utf16, max)
}
