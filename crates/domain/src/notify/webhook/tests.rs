//! Messages to webhooks as sent, for each kind of event. `follow_ups` has reminders and digests.

mod follow_ups;

use insta::assert_snapshot;
use rules::notification::{Webhook, WebhookHeader};
use rules::{ProviderType, Secret};

use crate::notify::tests::asserts::json;
use crate::notify::tests::fixtures::{an_event, wire};
use crate::notify::tests::schema;
use crate::notify::{EventBatch, EventKind, Message};

const KIND: ProviderType = ProviderType::Webhook;

/// A typical channel.
pub(crate) fn channel() -> Webhook {
    Webhook {
        endpoint: "https://user:pass@hooks.example.com/in".to_owned(),
        headers: vec![
            WebhookHeader { key: "X-Team".into(), value: Secret::new("core".into()) },
            WebhookHeader { key: "webhook-id".into(), value: Secret::new("forged".into()) },
        ],
    }
}

/// Checks form and limits of a message.
pub(crate) fn assert_fits(message: &Message) {
    schema::assert_fits(&json(message).body);
}

#[test]
fn error_is_composed() {
    assert_snapshot!(wire(KIND, EventBatch::One(&an_event(EventKind::Error))), @r#"
    POST https://hooks.example.com/in
    content-type: application/json
    authorization: Basic dXNlcjpwYXNz
    x-team: core
    webhook-id: inc_0000000000005-chn_0000000000007-error
    webhook-timestamp: 1795279735
    webhook-signature: v1,W2Y3c+Vfq8zmjp3JjE4hQTQs40N9xeEgb6EbkDf6Kws= v1,TxOIpA1A4Nf6iPMWxMvoQbxIqjYbcfYs5oZpVq5T6uk=

    {
      "version": 1,
      "type": "monitor.error",
      "timestamp": "2026-11-21T16:48:55.250Z",
      "data": {
        "channel": "chn_0000000000007",
        "link": "https://status.example.com/incidents/inc_0000000000005",
        "events": [
          {
            "event": "error",
            "at": "2026-11-21T16:48:55.250Z",
            "workspace": "Example Inc.",
            "monitor": {
              "id": "mon_0000000000003",
              "name": "API & <shop>",
              "kind": "http",
              "target": "https://api.example.com/health?full=1&x_y=2",
              "method": "GET"
            },
            "incident": "inc_0000000000005",
            "began_at": "2026-11-21T16:48:55.250Z",
            "duration_ms": 0,
            "close_reason": null,
            "reminder": 0,
            "summary": "the status is 503, which is not 200",
            "regions": [
              {
                "region": "fly-ams",
                "place": null,
                "failing": true,
                "reason": "the status is 503, which is not 200",
                "status": 503,
                "latency_ms": 120
              },
              {
                "region": "fly-iad",
                "place": null,
                "failing": true,
                "reason": "the status is 503, which is not 200",
                "status": 503,
                "latency_ms": 120
              },
              {
                "region": "fly-sin",
                "place": null,
                "failing": false,
                "reason": null,
                "status": 200,
                "latency_ms": 240
              }
            ]
          }
        ]
      }
    }
    "#);
}

#[test]
fn degradation_is_composed() {
    assert_snapshot!(wire(KIND, EventBatch::One(&an_event(EventKind::Degraded))), @r#"
    POST https://hooks.example.com/in
    content-type: application/json
    authorization: Basic dXNlcjpwYXNz
    x-team: core
    webhook-id: mon_0000000000003-1795279675250-chn_0000000000007-degraded
    webhook-timestamp: 1795279735
    webhook-signature: v1,qS2ZiIa8rf0GkkPhDzfXE6eUVuHmdgJEWkP1PkjwTAg= v1,fTK03nFTP7L/3bquluErxxTyrBkyWftS1myu96fQX28=

    {
      "version": 1,
      "type": "monitor.degraded",
      "timestamp": "2026-11-21T16:48:55.250Z",
      "data": {
        "channel": "chn_0000000000007",
        "link": "https://status.example.com/incidents/inc_0000000000005",
        "events": [
          {
            "event": "degraded",
            "at": "2026-11-21T16:48:55.250Z",
            "workspace": "Example Inc.",
            "monitor": {
              "id": "mon_0000000000003",
              "name": "API & <shop>",
              "kind": "http",
              "target": "https://api.example.com/health?full=1&x_y=2",
              "method": "GET"
            },
            "incident": null,
            "began_at": "2026-11-21T16:47:55.250Z",
            "duration_ms": 60000,
            "close_reason": null,
            "reminder": 0,
            "summary": "the status is 503, which is not 200",
            "regions": [
              {
                "region": "fly-ams",
                "place": null,
                "failing": true,
                "reason": "the status is 503, which is not 200",
                "status": 503,
                "latency_ms": 120
              },
              {
                "region": "fly-sin",
                "place": null,
                "failing": false,
                "reason": null,
                "status": 200,
                "latency_ms": 240
              }
            ]
          }
        ]
      }
    }
    "#);
}

#[test]
fn recovery_is_composed() {
    assert_snapshot!(wire(KIND, EventBatch::One(&an_event(EventKind::Recovered))), @r#"
    POST https://hooks.example.com/in
    content-type: application/json
    authorization: Basic dXNlcjpwYXNz
    x-team: core
    webhook-id: inc_0000000000005-chn_0000000000007-recovered
    webhook-timestamp: 1795279735
    webhook-signature: v1,MUpqKGGFj3VfcyaOUtJKN4LwYJFCGxT1JKHEwulkhD0= v1,ViVS1syvQuJhwAymnDuOWa6Q7ggAcn4zCFbYbvjkyRA=

    {
      "version": 1,
      "type": "monitor.recovered",
      "timestamp": "2026-11-21T16:48:55.250Z",
      "data": {
        "channel": "chn_0000000000007",
        "link": "https://status.example.com/incidents/inc_0000000000005",
        "events": [
          {
            "event": "recovered",
            "at": "2026-11-21T16:48:55.250Z",
            "workspace": "Example Inc.",
            "monitor": {
              "id": "mon_0000000000003",
              "name": "API & <shop>",
              "kind": "http",
              "target": "https://api.example.com/health?full=1&x_y=2",
              "method": "GET"
            },
            "incident": "inc_0000000000005",
            "began_at": "2026-11-21T16:36:55.250Z",
            "duration_ms": 720000,
            "close_reason": "recovered",
            "reminder": 0,
            "summary": null,
            "regions": []
          }
        ]
      }
    }
    "#);
}

#[test]
fn test_is_composed() {
    assert_snapshot!(wire(KIND, EventBatch::One(&an_event(EventKind::Test))), @r#"
    POST https://hooks.example.com/in
    content-type: application/json
    authorization: Basic dXNlcjpwYXNz
    x-team: core
    webhook-id: mon_0000000000003-1795279735250-chn_0000000000007-test
    webhook-timestamp: 1795279735
    webhook-signature: v1,Vxo3+qOOG1Z5iQEQUx1GSOagqvDX7K/4BuUUj/y6zKA= v1,NviXyptdFMgHxcWumKysi8jbfDeyoR0Ts5JUtg+MQFo=

    {
      "version": 1,
      "type": "channel.test",
      "timestamp": "2026-11-21T16:48:55.250Z",
      "data": {
        "channel": "chn_0000000000007",
        "link": "https://status.example.com/incidents/inc_0000000000005",
        "events": [
          {
            "event": "test",
            "at": "2026-11-21T16:48:55.250Z",
            "workspace": "Example Inc.",
            "monitor": {
              "id": "mon_0000000000003",
              "name": "API & <shop>",
              "kind": "http",
              "target": "https://api.example.com/health?full=1&x_y=2",
              "method": "GET"
            },
            "incident": null,
            "began_at": "2026-11-21T16:48:55.250Z",
            "duration_ms": 0,
            "close_reason": null,
            "reminder": 0,
            "summary": null,
            "regions": []
          }
        ]
      }
    }
    "#);
}
