//! Messages to Discord as sent, for each kind of event.

use insta::assert_snapshot;
use rules::notification::IncomingWebhook;
use rules::{ProviderType, Secret};

use super::{DESCRIPTION_MAX, FIELD_MAX, TITLE_MAX, TOTAL_MAX};
use crate::notify::tests::asserts::{assert_text, json, length, text};
use crate::notify::tests::fixtures::{a_digest, a_reminder, an_event, wire};
use crate::notify::{EventBatch, EventKind, Message};

const KIND: ProviderType = ProviderType::Discord;

/// A typical channel.
pub(crate) fn channel() -> IncomingWebhook {
    IncomingWebhook {
        webhook_url: Secret::new("https://discord.com/api/webhooks/1/token?thread_id=2".to_owned()),
    }
}

/// Checks form and limits of a message.
pub(crate) fn assert_fits(message: &Message) {
    let body = &json(message).body;
    let embed = &body["embeds"][0];
    assert_eq!(body["allowed_mentions"]["parse"], serde_json::json!([]));
    assert_text(embed, "/title", 1, TITLE_MAX);
    let mut total = length(text(embed, "/title"));
    if embed.get("description").is_some() {
        assert_text(embed, "/description", 1, DESCRIPTION_MAX);
        total += length(text(embed, "/description"));
    }
    let fields = embed["fields"].as_array().expect("fields are a list");
    assert!(fields.len() <= 25);
    for field in fields {
        assert_text(field, "/name", 1, TITLE_MAX);
        assert_text(field, "/value", 1, FIELD_MAX);
        total += length(text(field, "/name")) + length(text(field, "/value"));
    }
    assert!(total <= TOTAL_MAX, "{total} in total");
}

#[test]
fn error_is_composed() {
    assert_snapshot!(wire(KIND, EventBatch::One(&an_event(EventKind::Error))), @r#"
    POST https://discord.com/api/webhooks/1/token?thread_id=2&wait=true
    content-type: application/json

    {
      "allowed_mentions": {"parse":[]},
      "embeds": [
        {
          "title": "🔴 Down: API & \\<shop\\>",
          "color": 14942269,
          "fields": [
            {"name":"Target","value":"`GET https://api.example.com/health?full=1&x_y=2`"},
            {"name":"Since","value":"2026-11-21 16:48:55 UTC","inline":true},
            {"name":"Regions","value":"2 of 3 failing","inline":true},
            {"name":"Workspace","value":"Example Inc.","inline":true}
          ],
          "description": "the status is 503, which is not 200\n• Amsterdam (fly-ams): failing, status 503, 120 ms: the status is 503, which is not 200\n• Ashburn (fly-iad): failing, status 503, 120 ms: the status is 503, which is not 200\n• Singapore (fly-sin): ok, status 200, 240 ms",
          "url": "https://status.example.com/incidents/inc_0000000000005",
          "timestamp": "2026-11-21T16:48:55.250Z"
        }
      ]
    }
    "#);
}

#[test]
fn degradation_is_composed() {
    assert_snapshot!(wire(KIND, EventBatch::One(&an_event(EventKind::Degraded))), @r#"
    POST https://discord.com/api/webhooks/1/token?thread_id=2&wait=true
    content-type: application/json

    {
      "allowed_mentions": {"parse":[]},
      "embeds": [
        {
          "title": "🟠 Degraded: API & \\<shop\\>",
          "color": 16764957,
          "fields": [
            {"name":"Target","value":"`GET https://api.example.com/health?full=1&x_y=2`"},
            {"name":"Since","value":"2026-11-21 16:47:55 UTC","inline":true},
            {"name":"Regions","value":"1 of 2 failing","inline":true},
            {"name":"Workspace","value":"Example Inc.","inline":true}
          ],
          "description": "the status is 503, which is not 200\n• Amsterdam (fly-ams): failing, status 503, 120 ms: the status is 503, which is not 200\n• Singapore (fly-sin): ok, status 200, 240 ms",
          "url": "https://status.example.com/incidents/inc_0000000000005",
          "timestamp": "2026-11-21T16:48:55.250Z"
        }
      ]
    }
    "#);
}

#[test]
fn recovery_is_composed() {
    assert_snapshot!(wire(KIND, EventBatch::One(&an_event(EventKind::Recovered))), @r#"
    POST https://discord.com/api/webhooks/1/token?thread_id=2&wait=true
    content-type: application/json

    {
      "allowed_mentions": {"parse":[]},
      "embeds": [
        {
          "title": "🟢 Recovered after 12 min: API & \\<shop\\>",
          "color": 41097,
          "fields": [
            {"name":"Target","value":"`GET https://api.example.com/health?full=1&x_y=2`"},
            {"name":"Started","value":"2026-11-21 16:36:55 UTC","inline":true},
            {"name":"Duration","value":"12 min","inline":true},
            {"name":"Workspace","value":"Example Inc.","inline":true}
          ],
          "url": "https://status.example.com/incidents/inc_0000000000005",
          "timestamp": "2026-11-21T16:48:55.250Z"
        }
      ]
    }
    "#);
}

#[test]
fn test_is_composed() {
    assert_snapshot!(wire(KIND, EventBatch::One(&an_event(EventKind::Test))), @r#"
    POST https://discord.com/api/webhooks/1/token?thread_id=2&wait=true
    content-type: application/json

    {
      "allowed_mentions": {"parse":[]},
      "embeds": [
        {
          "title": "🔵 Test: this channel works",
          "color": 2647750,
          "fields": [{"name":"Workspace","value":"Example Inc.","inline":true}],
          "description": "This is a test of the channel \"On call\". Nothing is wrong.",
          "url": "https://status.example.com/incidents/inc_0000000000005",
          "timestamp": "2026-11-21T16:48:55.250Z"
        }
      ]
    }
    "#);
}

#[test]
fn reminder_is_composed() {
    assert_snapshot!(wire(KIND, EventBatch::One(&a_reminder())), @r#"
    POST https://discord.com/api/webhooks/1/token?thread_id=2&wait=true
    content-type: application/json

    {
      "allowed_mentions": {"parse":[]},
      "embeds": [
        {
          "title": "🔴 Still down after 2 h 5 min: API & \\<shop\\>",
          "color": 14942269,
          "fields": [
            {"name":"Target","value":"`GET https://api.example.com/health?full=1&x_y=2`"},
            {"name":"Since","value":"2026-11-21 14:43:55 UTC","inline":true},
            {"name":"Duration","value":"2 h 5 min","inline":true},
            {"name":"Reminder","value":"2","inline":true},
            {"name":"Regions","value":"2 of 3 failing","inline":true},
            {"name":"Workspace","value":"Example Inc.","inline":true}
          ],
          "description": "the status is 503, which is not 200\n• Amsterdam (fly-ams): failing, status 503, 120 ms: the status is 503, which is not 200\n• Ashburn (fly-iad): failing, status 503, 120 ms: the status is 503, which is not 200\n• Singapore (fly-sin): ok, status 200, 240 ms",
          "url": "https://status.example.com/incidents/inc_0000000000005",
          "timestamp": "2026-11-21T16:48:55.250Z"
        }
      ]
    }
    "#);
}

#[test]
fn digest_is_composed() {
    assert_snapshot!(wire(KIND, EventBatch::Digest(&a_digest())), @r#"
    POST https://discord.com/api/webhooks/1/token?thread_id=2&wait=true
    content-type: application/json

    {
      "allowed_mentions": {"parse":[]},
      "embeds": [
        {
          "title": "🔴 3 events: 1 down, 1 degraded, 1 recovered",
          "color": 14942269,
          "fields": [{"name":"Workspace","value":"Example Inc.","inline":true}],
          "description": "• Down: API & \\<shop\\>: the status is 503, which is not 200\n• Degraded: API & \\<shop\\>: the status is 503, which is not 200\n• Recovered after 12 min: API & \\<shop\\>",
          "url": "https://status.example.com/incidents/inc_0000000000005",
          "timestamp": "2026-11-21T16:48:55.250Z"
        }
      ]
    }
    "#);
}
