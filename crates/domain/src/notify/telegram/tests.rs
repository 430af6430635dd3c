//! Messages to Telegram as sent, for each kind of event.

use insta::assert_snapshot;
use rules::ProviderType;
use rules::notification::Telegram;

use super::TEXT_MAX;
use crate::notify::tests::asserts::{assert_html, assert_text, json, text};
use crate::notify::tests::fixtures::{a_digest, a_reminder, an_event, wire};
use crate::notify::{EventBatch, EventKind, Message};

const KIND: ProviderType = ProviderType::Telegram;

/// A typical channel.
pub(crate) fn channel() -> Telegram {
    Telegram { chat_id: "-1001234567890".to_owned() }
}

/// Checks form and limits of a message.
pub(crate) fn assert_fits(message: &Message) {
    let body = &json(message).body;
    assert_text(body, "/text", 1, TEXT_MAX);
    assert_html(text(body, "/text"), &["b", "code", "a"]);
}

#[test]
fn error_is_composed() {
    assert_snapshot!(wire(KIND, EventBatch::One(&an_event(EventKind::Error))), @r#"
    POST https://api.telegram.org/bot123:bot/sendMessage
    content-type: application/json

    {
      "chat_id": "-1001234567890",
      "text": "🔴 <b>Down: API &amp; &lt;shop&gt;</b>\nthe status is 503, which is not 200\nTarget: <code>GET https://api.example.com/health?full=1&amp;x_y=2</code>\nSince: 2026-11-21 16:48:55 UTC\nRegions: 2 of 3 failing\nWorkspace: Example Inc.\n• Amsterdam (fly-ams): failing, status 503, 120 ms: the status is 503, which is not 200\n• Ashburn (fly-iad): failing, status 503, 120 ms: the status is 503, which is not 200\n• Singapore (fly-sin): ok, status 200, 240 ms\n<a href=\"https://status.example.com/incidents/inc_0000000000005\">Open in Aloft</a>",
      "parse_mode": "HTML",
      "link_preview_options": {"is_disabled":true}
    }
    "#);
}

#[test]
fn degradation_is_composed() {
    assert_snapshot!(wire(KIND, EventBatch::One(&an_event(EventKind::Degraded))), @r#"
    POST https://api.telegram.org/bot123:bot/sendMessage
    content-type: application/json

    {
      "chat_id": "-1001234567890",
      "text": "🟠 <b>Degraded: API &amp; &lt;shop&gt;</b>\nthe status is 503, which is not 200\nTarget: <code>GET https://api.example.com/health?full=1&amp;x_y=2</code>\nSince: 2026-11-21 16:47:55 UTC\nRegions: 1 of 2 failing\nWorkspace: Example Inc.\n• Amsterdam (fly-ams): failing, status 503, 120 ms: the status is 503, which is not 200\n• Singapore (fly-sin): ok, status 200, 240 ms\n<a href=\"https://status.example.com/incidents/inc_0000000000005\">Open in Aloft</a>",
      "parse_mode": "HTML",
      "link_preview_options": {"is_disabled":true}
    }
    "#);
}

#[test]
fn recovery_is_composed() {
    assert_snapshot!(wire(KIND, EventBatch::One(&an_event(EventKind::Recovered))), @r#"
    POST https://api.telegram.org/bot123:bot/sendMessage
    content-type: application/json

    {
      "chat_id": "-1001234567890",
      "text": "🟢 <b>Recovered after 12 min: API &amp; &lt;shop&gt;</b>\nTarget: <code>GET https://api.example.com/health?full=1&amp;x_y=2</code>\nStarted: 2026-11-21 16:36:55 UTC\nDuration: 12 min\nWorkspace: Example Inc.\n<a href=\"https://status.example.com/incidents/inc_0000000000005\">Open in Aloft</a>",
      "parse_mode": "HTML",
      "link_preview_options": {"is_disabled":true}
    }
    "#);
}

#[test]
fn test_is_composed() {
    assert_snapshot!(wire(KIND, EventBatch::One(&an_event(EventKind::Test))), @r#"
    POST https://api.telegram.org/bot123:bot/sendMessage
    content-type: application/json

    {
      "chat_id": "-1001234567890",
      "text": "🔵 <b>Test: this channel works</b>\nThis is a test of the channel &quot;On call&quot;. Nothing is wrong.\nWorkspace: Example Inc.\n<a href=\"https://status.example.com/incidents/inc_0000000000005\">Open in Aloft</a>",
      "parse_mode": "HTML",
      "link_preview_options": {"is_disabled":true}
    }
    "#);
}

#[test]
fn reminder_is_composed() {
    assert_snapshot!(wire(KIND, EventBatch::One(&a_reminder())), @r#"
    POST https://api.telegram.org/bot123:bot/sendMessage
    content-type: application/json

    {
      "chat_id": "-1001234567890",
      "text": "🔴 <b>Still down after 2 h 5 min: API &amp; &lt;shop&gt;</b>\nthe status is 503, which is not 200\nTarget: <code>GET https://api.example.com/health?full=1&amp;x_y=2</code>\nSince: 2026-11-21 14:43:55 UTC\nDuration: 2 h 5 min\nReminder: 2\nRegions: 2 of 3 failing\nWorkspace: Example Inc.\n• Amsterdam (fly-ams): failing, status 503, 120 ms: the status is 503, which is not 200\n• Ashburn (fly-iad): failing, status 503, 120 ms: the status is 503, which is not 200\n• Singapore (fly-sin): ok, status 200, 240 ms\n<a href=\"https://status.example.com/incidents/inc_0000000000005\">Open in Aloft</a>",
      "parse_mode": "HTML",
      "link_preview_options": {"is_disabled":true}
    }
    "#);
}

#[test]
fn digest_is_composed() {
    assert_snapshot!(wire(KIND, EventBatch::Digest(&a_digest())), @r#"
    POST https://api.telegram.org/bot123:bot/sendMessage
    content-type: application/json

    {
      "chat_id": "-1001234567890",
      "text": "🔴 <b>3 events: 1 down, 1 degraded, 1 recovered</b>\nWorkspace: Example Inc.\n• Down: API &amp; &lt;shop&gt;: the status is 503, which is not 200\n• Degraded: API &amp; &lt;shop&gt;: the status is 503, which is not 200\n• Recovered after 12 min: API &amp; &lt;shop&gt;\n<a href=\"https://status.example.com/incidents/inc_0000000000005\">Open in Aloft</a>",
      "parse_mode": "HTML",
      "link_preview_options": {"is_disabled":true}
    }
    "#);
}
