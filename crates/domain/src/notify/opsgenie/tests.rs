//! Messages to Opsgenie as sent, for each kind of event.

use insta::assert_snapshot;
use rules::notification::Opsgenie;
use rules::{OpsgenieRegion, ProviderType, Secret};

use super::{ALIAS_MAX, DESCRIPTION_MAX, DETAILS_MAX, ENTITY_MAX, MESSAGE_MAX};
use crate::notify::tests::asserts::{assert_text, json, length};
use crate::notify::tests::fixtures::{a_reminder, an_event, the_end_of_test, wire};
use crate::notify::{EventBatch, EventKind, Message};

const KIND: ProviderType = ProviderType::Opsgenie;

/// A typical channel.
pub(crate) fn channel() -> Opsgenie {
    Opsgenie { api_key: Secret::new("opsgenie-key".to_owned()), region: OpsgenieRegion::Eu }
}

/// Checks form and limits of a message.
pub(crate) fn assert_fits(message: &Message) {
    let body = &json(message).body;
    if body.get("note").is_some() {
        return assert_text(body, "/note", 1, 25_000);
    }
    assert_text(body, "/message", 1, MESSAGE_MAX);
    assert_text(body, "/alias", 1, ALIAS_MAX);
    assert_text(body, "/description", 0, DESCRIPTION_MAX);
    assert_text(body, "/entity", 0, ENTITY_MAX);
    let details = body["details"].as_object().expect("details are an object");
    let values = details
        .iter()
        .map(|(label, value)| length(label) + length(value.as_str().expect("details are texts")));
    assert!(values.sum::<usize>() <= DETAILS_MAX);
}

#[test]
fn error_is_composed() {
    assert_snapshot!(wire(KIND, EventBatch::One(&an_event(EventKind::Error))), @r#"
    POST https://api.eu.opsgenie.com/v2/alerts
    content-type: application/json
    authorization: GenieKey opsgenie-key

    {
      "message": "Down: API & <shop>",
      "alias": "inc_0000000000005",
      "description": "https://status.example.com/incidents/inc_0000000000005\n\nthe status is 503, which is not 200\nTarget: GET https://api.example.com/health?full=1&x_y=2\nSince: 2026-11-21 16:48:55 UTC\nRegions: 2 of 3 failing\nWorkspace: Example Inc.\n• Amsterdam (fly-ams): failing, status 503, 120 ms: the status is 503, which is not 200\n• Ashburn (fly-iad): failing, status 503, 120 ms: the status is 503, which is not 200\n• Singapore (fly-sin): ok, status 200, 240 ms",
      "details": {
        "Target": "GET https://api.example.com/health?full=1&x_y=2",
        "Since": "2026-11-21 16:48:55 UTC",
        "Regions": "2 of 3 failing",
        "Workspace": "Example Inc."
      },
      "entity": "GET https://api.example.com/health?full=1&x_y=2",
      "source": "Aloft",
      "tags": ["down"],
      "priority": "P1"
    }
    "#);
}

#[test]
fn degradation_is_composed() {
    assert_snapshot!(wire(KIND, EventBatch::One(&an_event(EventKind::Degraded))), @r#"
    POST https://api.eu.opsgenie.com/v2/alerts
    content-type: application/json
    authorization: GenieKey opsgenie-key

    {
      "message": "Degraded: API & <shop>",
      "alias": "mon_0000000000003",
      "description": "https://status.example.com/incidents/inc_0000000000005\n\nthe status is 503, which is not 200\nTarget: GET https://api.example.com/health?full=1&x_y=2\nSince: 2026-11-21 16:47:55 UTC\nRegions: 1 of 2 failing\nWorkspace: Example Inc.\n• Amsterdam (fly-ams): failing, status 503, 120 ms: the status is 503, which is not 200\n• Singapore (fly-sin): ok, status 200, 240 ms",
      "details": {
        "Target": "GET https://api.example.com/health?full=1&x_y=2",
        "Since": "2026-11-21 16:47:55 UTC",
        "Regions": "1 of 2 failing",
        "Workspace": "Example Inc."
      },
      "entity": "GET https://api.example.com/health?full=1&x_y=2",
      "source": "Aloft",
      "tags": ["degraded"],
      "priority": "P3"
    }
    "#);
}

#[test]
fn recovery_is_composed() {
    assert_snapshot!(wire(KIND, EventBatch::One(&an_event(EventKind::Recovered))), @r#"
    POST https://api.eu.opsgenie.com/v2/alerts/inc_0000000000005/close?identifierType=alias
    content-type: application/json
    authorization: GenieKey opsgenie-key

    {
      "source": "Aloft",
      "user": "Aloft",
      "note": "Recovered after 12 min: API & <shop>\n\nTarget: GET https://api.example.com/health?full=1&x_y=2\nStarted: 2026-11-21 16:36:55 UTC\nDuration: 12 min\nWorkspace: Example Inc."
    }
    "#);
}

#[test]
fn test_is_composed() {
    assert_snapshot!(wire(KIND, EventBatch::One(&an_event(EventKind::Test))), @r#"
    POST https://api.eu.opsgenie.com/v2/alerts
    content-type: application/json
    authorization: GenieKey opsgenie-key

    {
      "message": "Test: this channel works",
      "alias": "test-1795279735250",
      "description": "https://status.example.com/incidents/inc_0000000000005\n\nThis is a test of the channel \"On call\". Nothing is wrong.\nWorkspace: Example Inc.",
      "details": {"Workspace":"Example Inc."},
      "entity": "",
      "source": "Aloft",
      "tags": ["test"],
      "priority": "P5"
    }
    "#);
}

#[test]
fn reminder_is_composed() {
    assert_snapshot!(wire(KIND, EventBatch::One(&a_reminder())), @r#"
    POST https://api.eu.opsgenie.com/v2/alerts
    content-type: application/json
    authorization: GenieKey opsgenie-key

    {
      "message": "Still down after 2 h 5 min: API & <shop>",
      "alias": "inc_0000000000005",
      "description": "https://status.example.com/incidents/inc_0000000000005\n\nthe status is 503, which is not 200\nTarget: GET https://api.example.com/health?full=1&x_y=2\nSince: 2026-11-21 14:43:55 UTC\nDuration: 2 h 5 min\nReminder: 2\nRegions: 2 of 3 failing\nWorkspace: Example Inc.\n• Amsterdam (fly-ams): failing, status 503, 120 ms: the status is 503, which is not 200\n• Ashburn (fly-iad): failing, status 503, 120 ms: the status is 503, which is not 200\n• Singapore (fly-sin): ok, status 200, 240 ms",
      "details": {
        "Target": "GET https://api.example.com/health?full=1&x_y=2",
        "Since": "2026-11-21 14:43:55 UTC",
        "Duration": "2 h 5 min",
        "Reminder": "2",
        "Regions": "2 of 3 failing",
        "Workspace": "Example Inc."
      },
      "entity": "GET https://api.example.com/health?full=1&x_y=2",
      "source": "Aloft",
      "tags": ["down"],
      "priority": "P1"
    }
    "#);
}

#[test]
fn end_of_test_is_composed() {
    assert_snapshot!(wire(KIND, EventBatch::One(&the_end_of_test())), @r#"
    POST https://api.eu.opsgenie.com/v2/alerts/test-1795279735250/close?identifierType=alias
    content-type: application/json
    authorization: GenieKey opsgenie-key

    {
      "source": "Aloft",
      "user": "Aloft",
      "note": "Test: resolved\n\nThis is a test of the channel \"On call\". Nothing is wrong.\nWorkspace: Example Inc."
    }
    "#);
}
