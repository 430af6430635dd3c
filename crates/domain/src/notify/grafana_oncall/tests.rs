//! Messages to Grafana OnCall as sent, for each kind of event.

use insta::assert_snapshot;
use rules::notification::IncomingWebhook;
use rules::{ProviderType, Secret};

use super::{MESSAGE_MAX, TITLE_MAX};
use crate::notify::tests::asserts::{assert_text, json, text};
use crate::notify::tests::fixtures::{a_reminder, an_event, the_end_of_test, wire};
use crate::notify::{EventBatch, EventKind, Message};

const KIND: ProviderType = ProviderType::GrafanaOncall;

/// A typical channel.
pub(crate) fn channel() -> IncomingWebhook {
    IncomingWebhook {
        webhook_url: Secret::new(
            "https://oncall.example.com/integrations/v1/formatted_webhook/x/".to_owned(),
        ),
    }
}

/// Checks form and limits of a message.
pub(crate) fn assert_fits(message: &Message) {
    let body = &json(message).body;
    assert_text(body, "/title", 1, TITLE_MAX);
    assert_text(body, "/message", 0, MESSAGE_MAX);
    assert!(matches!(text(body, "/state"), "alerting" | "ok"));
}

#[test]
fn error_is_composed() {
    assert_snapshot!(wire(KIND, EventBatch::One(&an_event(EventKind::Error))), @r#"
    POST https://oncall.example.com/integrations/v1/formatted_webhook/x/
    content-type: application/json

    {
      "alert_uid": "inc_0000000000005",
      "title": "Down: API & <shop>",
      "message": "the status is 503, which is not 200\nTarget: GET https://api.example.com/health?full=1&x_y=2\nSince: 2026-11-21 16:48:55 UTC\nRegions: 2 of 3 failing\nWorkspace: Example Inc.\n• Amsterdam (fly-ams): failing, status 503, 120 ms: the status is 503, which is not 200\n• Ashburn (fly-iad): failing, status 503, 120 ms: the status is 503, which is not 200\n• Singapore (fly-sin): ok, status 200, 240 ms",
      "state": "alerting",
      "link_to_upstream_details": "https://status.example.com/incidents/inc_0000000000005"
    }
    "#);
}

#[test]
fn degradation_is_composed() {
    assert_snapshot!(wire(KIND, EventBatch::One(&an_event(EventKind::Degraded))), @r#"
    POST https://oncall.example.com/integrations/v1/formatted_webhook/x/
    content-type: application/json

    {
      "alert_uid": "mon_0000000000003",
      "title": "Degraded: API & <shop>",
      "message": "the status is 503, which is not 200\nTarget: GET https://api.example.com/health?full=1&x_y=2\nSince: 2026-11-21 16:47:55 UTC\nRegions: 1 of 2 failing\nWorkspace: Example Inc.\n• Amsterdam (fly-ams): failing, status 503, 120 ms: the status is 503, which is not 200\n• Singapore (fly-sin): ok, status 200, 240 ms",
      "state": "alerting",
      "link_to_upstream_details": "https://status.example.com/incidents/inc_0000000000005"
    }
    "#);
}

#[test]
fn recovery_is_composed() {
    assert_snapshot!(wire(KIND, EventBatch::One(&an_event(EventKind::Recovered))), @r#"
    POST https://oncall.example.com/integrations/v1/formatted_webhook/x/
    content-type: application/json

    {
      "alert_uid": "inc_0000000000005",
      "title": "Recovered after 12 min: API & <shop>",
      "message": "Target: GET https://api.example.com/health?full=1&x_y=2\nStarted: 2026-11-21 16:36:55 UTC\nDuration: 12 min\nWorkspace: Example Inc.",
      "state": "ok",
      "link_to_upstream_details": "https://status.example.com/incidents/inc_0000000000005"
    }
    "#);
}

#[test]
fn test_is_composed() {
    assert_snapshot!(wire(KIND, EventBatch::One(&an_event(EventKind::Test))), @r#"
    POST https://oncall.example.com/integrations/v1/formatted_webhook/x/
    content-type: application/json

    {
      "alert_uid": "test-1795279735250",
      "title": "Test: this channel works",
      "message": "This is a test of the channel \"On call\". Nothing is wrong.\nWorkspace: Example Inc.",
      "state": "alerting",
      "link_to_upstream_details": "https://status.example.com/incidents/inc_0000000000005"
    }
    "#);
}

#[test]
fn reminder_is_composed() {
    assert_snapshot!(wire(KIND, EventBatch::One(&a_reminder())), @r#"
    POST https://oncall.example.com/integrations/v1/formatted_webhook/x/
    content-type: application/json

    {
      "alert_uid": "inc_0000000000005",
      "title": "Still down after 2 h 5 min: API & <shop>",
      "message": "the status is 503, which is not 200\nTarget: GET https://api.example.com/health?full=1&x_y=2\nSince: 2026-11-21 14:43:55 UTC\nDuration: 2 h 5 min\nReminder: 2\nRegions: 2 of 3 failing\nWorkspace: Example Inc.\n• Amsterdam (fly-ams): failing, status 503, 120 ms: the status is 503, which is not 200\n• Ashburn (fly-iad): failing, status 503, 120 ms: the status is 503, which is not 200\n• Singapore (fly-sin): ok, status 200, 240 ms",
      "state": "alerting",
      "link_to_upstream_details": "https://status.example.com/incidents/inc_0000000000005"
    }
    "#);
}

#[test]
fn end_of_test_is_composed() {
    assert_snapshot!(wire(KIND, EventBatch::One(&the_end_of_test())), @r#"
    POST https://oncall.example.com/integrations/v1/formatted_webhook/x/
    content-type: application/json

    {
      "alert_uid": "test-1795279735250",
      "title": "Test: resolved",
      "message": "This is a test of the channel \"On call\". Nothing is wrong.\nWorkspace: Example Inc.",
      "state": "ok",
      "link_to_upstream_details": "https://status.example.com/incidents/inc_0000000000005"
    }
    "#);
}
