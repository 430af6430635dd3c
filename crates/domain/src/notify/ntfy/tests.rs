//! Messages to ntfy as sent, for each kind of event.

use insta::assert_snapshot;
use rules::notification::Ntfy;
use rules::{ProviderType, Secret};

use super::{MESSAGE_MAX, REQUEST_MAX, TITLE_MAX};
use crate::notify::tests::asserts::{JsonMessage, json, text};
use crate::notify::tests::fixtures::{a_digest, a_reminder, an_event, wire};
use crate::notify::{EventBatch, EventKind, Message};

const KIND: ProviderType = ProviderType::Ntfy;

/// A typical channel.
pub(crate) fn channel() -> Ntfy {
    Ntfy {
        topic: "alerts".to_owned(),
        server_url: Some("https://ntfy.example.com/base".to_owned()),
        token: Some(Secret::new("tk_secret".to_owned())),
    }
}

/// Checks form and limits of a message.
pub(crate) fn assert_fits(message: &Message) {
    let JsonMessage { body, bytes } = &json(message);
    assert!(*bytes <= REQUEST_MAX, "{bytes} bytes");
    assert!(text(body, "/message").len() <= MESSAGE_MAX);
    assert!(!text(body, "/message").is_empty());
    assert!(text(body, "/title").len() <= TITLE_MAX);
}

#[test]
fn error_is_composed() {
    assert_snapshot!(wire(KIND, EventBatch::One(&an_event(EventKind::Error))), @r#"
    POST https://ntfy.example.com/base/
    content-type: application/json
    authorization: Bearer tk_secret

    {
      "topic": "alerts",
      "title": "Down: API & <shop>",
      "message": "the status is 503, which is not 200\nTarget: GET https://api.example.com/health?full=1&x_y=2\nSince: 2026-11-21 16:48:55 UTC\nRegions: 2 of 3 failing\nWorkspace: Example Inc.\n• Amsterdam (fly-ams): failing, status 503, 120 ms: the status is 503, which is not 200\n• Ashburn (fly-iad): failing, status 503, 120 ms: the status is 503, which is not 200\n• Singapore (fly-sin): ok, status 200, 240 ms",
      "priority": 5,
      "tags": ["rotating_light"],
      "click": "https://status.example.com/incidents/inc_0000000000005"
    }
    "#);
}

#[test]
fn degradation_is_composed() {
    assert_snapshot!(wire(KIND, EventBatch::One(&an_event(EventKind::Degraded))), @r#"
    POST https://ntfy.example.com/base/
    content-type: application/json
    authorization: Bearer tk_secret

    {
      "topic": "alerts",
      "title": "Degraded: API & <shop>",
      "message": "the status is 503, which is not 200\nTarget: GET https://api.example.com/health?full=1&x_y=2\nSince: 2026-11-21 16:47:55 UTC\nRegions: 1 of 2 failing\nWorkspace: Example Inc.\n• Amsterdam (fly-ams): failing, status 503, 120 ms: the status is 503, which is not 200\n• Singapore (fly-sin): ok, status 200, 240 ms",
      "priority": 4,
      "tags": ["warning"],
      "click": "https://status.example.com/incidents/inc_0000000000005"
    }
    "#);
}

#[test]
fn recovery_is_composed() {
    assert_snapshot!(wire(KIND, EventBatch::One(&an_event(EventKind::Recovered))), @r#"
    POST https://ntfy.example.com/base/
    content-type: application/json
    authorization: Bearer tk_secret

    {
      "topic": "alerts",
      "title": "Recovered after 12 min: API & <shop>",
      "message": "Target: GET https://api.example.com/health?full=1&x_y=2\nStarted: 2026-11-21 16:36:55 UTC\nDuration: 12 min\nWorkspace: Example Inc.",
      "priority": 3,
      "tags": ["white_check_mark"],
      "click": "https://status.example.com/incidents/inc_0000000000005"
    }
    "#);
}

#[test]
fn test_is_composed() {
    assert_snapshot!(wire(KIND, EventBatch::One(&an_event(EventKind::Test))), @r#"
    POST https://ntfy.example.com/base/
    content-type: application/json
    authorization: Bearer tk_secret

    {
      "topic": "alerts",
      "title": "Test: this channel works",
      "message": "This is a test of the channel \"On call\". Nothing is wrong.\nWorkspace: Example Inc.",
      "priority": 3,
      "tags": ["test_tube"],
      "click": "https://status.example.com/incidents/inc_0000000000005"
    }
    "#);
}

#[test]
fn reminder_is_composed() {
    assert_snapshot!(wire(KIND, EventBatch::One(&a_reminder())), @r#"
    POST https://ntfy.example.com/base/
    content-type: application/json
    authorization: Bearer tk_secret

    {
      "topic": "alerts",
      "title": "Still down after 2 h 5 min: API & <shop>",
      "message": "the status is 503, which is not 200\nTarget: GET https://api.example.com/health?full=1&x_y=2\nSince: 2026-11-21 14:43:55 UTC\nDuration: 2 h 5 min\nReminder: 2\nRegions: 2 of 3 failing\nWorkspace: Example Inc.\n• Amsterdam (fly-ams): failing, status 503, 120 ms: the status is 503, which is not 200\n• Ashburn (fly-iad): failing, status 503, 120 ms: the status is 503, which is not 200\n• Singapore (fly-sin): ok, status 200, 240 ms",
      "priority": 5,
      "tags": ["rotating_light"],
      "click": "https://status.example.com/incidents/inc_0000000000005"
    }
    "#);
}

#[test]
fn digest_is_composed() {
    assert_snapshot!(wire(KIND, EventBatch::Digest(&a_digest())), @r#"
    POST https://ntfy.example.com/base/
    content-type: application/json
    authorization: Bearer tk_secret

    {
      "topic": "alerts",
      "title": "3 events: 1 down, 1 degraded, 1 recovered",
      "message": "Workspace: Example Inc.\n• Down: API & <shop>: the status is 503, which is not 200\n• Degraded: API & <shop>: the status is 503, which is not 200\n• Recovered after 12 min: API & <shop>",
      "priority": 5,
      "tags": ["rotating_light"],
      "click": "https://status.example.com/incidents/inc_0000000000005"
    }
    "#);
}
