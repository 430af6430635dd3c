//! Messages to PagerDuty as sent, for each kind of event.

use insta::assert_snapshot;
use rules::ProviderType;

use super::super::fixtures::{a_reminder, an_event, the_end_of_test, wire};
use crate::notify::{EventBatch, EventKind};

const KIND: ProviderType = ProviderType::Pagerduty;

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
