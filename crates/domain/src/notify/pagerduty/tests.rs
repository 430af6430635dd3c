//! Messages to PagerDuty as sent, for each kind of event.

use insta::assert_snapshot;
use rules::notification::Pagerduty;
use rules::{ProviderType, Secret};

use super::{DEDUP_KEY_MAX, PAYLOAD_BYTES_MAX, SUMMARY_MAX};
use crate::notify::tests::asserts::{JsonMessage, assert_text, json, text};
use crate::notify::tests::fixtures::{a_reminder, an_event, the_end_of_test, wire};
use crate::notify::{EventBatch, EventKind, Message};

const KIND: ProviderType = ProviderType::Pagerduty;

/// A typical channel.
pub(crate) fn channel() -> Pagerduty {
    Pagerduty { integration_key: Secret::new("0123456789abcdef0123456789abcdef".to_owned()) }
}

/// Checks form and limits of a message.
pub(crate) fn assert_fits(message: &Message) {
    let JsonMessage { body, bytes } = &json(message);
    assert!(*bytes <= PAYLOAD_BYTES_MAX);
    assert_text(body, "/dedup_key", 1, DEDUP_KEY_MAX);
    match text(body, "/event_action") {
        "trigger" => {
            assert_text(body, "/payload/summary", 1, SUMMARY_MAX);
            assert!(!text(body, "/payload/source").is_empty());
            let severity = text(body, "/payload/severity");
            assert!(matches!(severity, "critical" | "error" | "warning" | "info"));
        }
        action => assert_eq!(action, "resolve"),
    }
}

#[test]
fn error_is_composed() {
    assert_snapshot!(wire(KIND, EventBatch::One(&an_event(EventKind::Error))), @r#"
    POST https://events.pagerduty.com/v2/enqueue
    content-type: application/json

    {
      "routing_key": "0123456789abcdef0123456789abcdef",
      "event_action": "trigger",
      "dedup_key": "inc_0000000000005",
      "client": "Aloft",
      "payload": {
        "summary": "Down: API & <shop>",
        "source": "GET https://api.example.com/health?full=1&x_y=2",
        "severity": "critical",
        "group": "Example Inc.",
        "custom_details": {
          "Why": "the status is 503, which is not 200",
          "Target": "GET https://api.example.com/health?full=1&x_y=2",
          "Since": "2026-11-21 16:48:55 UTC",
          "Regions": "2 of 3 failing",
          "Workspace": "Example Inc.",
          "Seen": [
            "Amsterdam (fly-ams): failing, status 503, 120 ms: the status is 503, which is not 200",
            "Ashburn (fly-iad): failing, status 503, 120 ms: the status is 503, which is not 200",
            "Singapore (fly-sin): ok, status 200, 240 ms"
          ]
        },
        "timestamp": "2026-11-21T16:48:55.250Z"
      },
      "client_url": "https://status.example.com/incidents/inc_0000000000005",
      "links": [{"href":"https://status.example.com/incidents/inc_0000000000005","text":"Open in Aloft"}]
    }
    "#);
}

#[test]
fn degradation_is_composed() {
    assert_snapshot!(wire(KIND, EventBatch::One(&an_event(EventKind::Degraded))), @r#"
    POST https://events.pagerduty.com/v2/enqueue
    content-type: application/json

    {
      "routing_key": "0123456789abcdef0123456789abcdef",
      "event_action": "trigger",
      "dedup_key": "mon_0000000000003",
      "client": "Aloft",
      "payload": {
        "summary": "Degraded: API & <shop>",
        "source": "GET https://api.example.com/health?full=1&x_y=2",
        "severity": "warning",
        "group": "Example Inc.",
        "custom_details": {
          "Why": "the status is 503, which is not 200",
          "Target": "GET https://api.example.com/health?full=1&x_y=2",
          "Since": "2026-11-21 16:47:55 UTC",
          "Regions": "1 of 2 failing",
          "Workspace": "Example Inc.",
          "Seen": [
            "Amsterdam (fly-ams): failing, status 503, 120 ms: the status is 503, which is not 200",
            "Singapore (fly-sin): ok, status 200, 240 ms"
          ]
        },
        "timestamp": "2026-11-21T16:48:55.250Z"
      },
      "client_url": "https://status.example.com/incidents/inc_0000000000005",
      "links": [{"href":"https://status.example.com/incidents/inc_0000000000005","text":"Open in Aloft"}]
    }
    "#);
}

#[test]
fn recovery_is_composed() {
    assert_snapshot!(wire(KIND, EventBatch::One(&an_event(EventKind::Recovered))), @r#"
    POST https://events.pagerduty.com/v2/enqueue
    content-type: application/json

    {
      "routing_key": "0123456789abcdef0123456789abcdef",
      "event_action": "resolve",
      "dedup_key": "inc_0000000000005"
    }
    "#);
}

#[test]
fn test_is_composed() {
    assert_snapshot!(wire(KIND, EventBatch::One(&an_event(EventKind::Test))), @r#"
    POST https://events.pagerduty.com/v2/enqueue
    content-type: application/json

    {
      "routing_key": "0123456789abcdef0123456789abcdef",
      "event_action": "trigger",
      "dedup_key": "test-1795279735250",
      "client": "Aloft",
      "payload": {
        "summary": "Test: this channel works",
        "source": "Example Inc.",
        "severity": "info",
        "group": "Example Inc.",
        "custom_details": {
          "Why": "This is a test of the channel \"On call\". Nothing is wrong.",
          "Workspace": "Example Inc."
        },
        "timestamp": "2026-11-21T16:48:55.250Z"
      },
      "client_url": "https://status.example.com/incidents/inc_0000000000005",
      "links": [{"href":"https://status.example.com/incidents/inc_0000000000005","text":"Open in Aloft"}]
    }
    "#);
}

#[test]
fn reminder_is_composed() {
    assert_snapshot!(wire(KIND, EventBatch::One(&a_reminder())), @r#"
    POST https://events.pagerduty.com/v2/enqueue
    content-type: application/json

    {
      "routing_key": "0123456789abcdef0123456789abcdef",
      "event_action": "trigger",
      "dedup_key": "inc_0000000000005",
      "client": "Aloft",
      "payload": {
        "summary": "Still down after 2 h 5 min: API & <shop>",
        "source": "GET https://api.example.com/health?full=1&x_y=2",
        "severity": "critical",
        "group": "Example Inc.",
        "custom_details": {
          "Why": "the status is 503, which is not 200",
          "Target": "GET https://api.example.com/health?full=1&x_y=2",
          "Since": "2026-11-21 14:43:55 UTC",
          "Duration": "2 h 5 min",
          "Reminder": "2",
          "Regions": "2 of 3 failing",
          "Workspace": "Example Inc.",
          "Seen": [
            "Amsterdam (fly-ams): failing, status 503, 120 ms: the status is 503, which is not 200",
            "Ashburn (fly-iad): failing, status 503, 120 ms: the status is 503, which is not 200",
            "Singapore (fly-sin): ok, status 200, 240 ms"
          ]
        },
        "timestamp": "2026-11-21T16:48:55.250Z"
      },
      "client_url": "https://status.example.com/incidents/inc_0000000000005",
      "links": [{"href":"https://status.example.com/incidents/inc_0000000000005","text":"Open in Aloft"}]
    }
    "#);
}

#[test]
fn end_of_test_is_composed() {
    assert_snapshot!(wire(KIND, EventBatch::One(&the_end_of_test())), @r#"
    POST https://events.pagerduty.com/v2/enqueue
    content-type: application/json

    {
      "routing_key": "0123456789abcdef0123456789abcdef",
      "event_action": "resolve",
      "dedup_key": "test-1795279735250"
    }
    "#);
}
