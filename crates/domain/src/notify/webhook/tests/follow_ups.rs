//! Messages to webhooks after the first one: reminders and digests.

use insta::assert_snapshot;

use super::KIND;
use crate::notify::EventBatch;
use crate::notify::tests::fixtures::{a_digest, a_reminder, wire};

#[test]
fn reminder_is_composed() {
    assert_snapshot!(wire(KIND, EventBatch::One(&a_reminder())), @r#"
    POST https://hooks.example.com/in
    content-type: application/json
    authorization: Basic dXNlcjpwYXNz
    x-team: core
    webhook-id: inc_0000000000005-chn_0000000000007-error-2
    webhook-timestamp: 1795279735
    webhook-signature: v1,La9XBxIMUYsNGk6X4zOFJ2d2Swz8iDLcghJzNTbSVk0= v1,k2GDroPo7YWgzN74nSAEpJbTcweRyfrPbxtEwHhCfmg=

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
            "began_at": "2026-11-21T14:43:55.250Z",
            "duration_ms": 7500000,
            "close_reason": null,
            "reminder": 2,
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
#[expect(clippy::too_many_lines, reason = "the snapshot shows three whole events")]
fn digest_is_composed() {
    assert_snapshot!(wire(KIND, EventBatch::Digest(&a_digest())), @r#"
    POST https://hooks.example.com/in
    content-type: application/json
    authorization: Basic dXNlcjpwYXNz
    x-team: core
    webhook-id: digest-3-inc_0000000000005-chn_0000000000007-error
    webhook-timestamp: 1795279735
    webhook-signature: v1,JAugRXf0EBB3A/N74RTEF6XZLwmGQrVDdYu1Qw5lF48= v1,9BuaxWJkvNKviuP+oLG1JKY7XYiMQANhRkqwmYHYCgQ=

    {
      "version": 1,
      "type": "monitor.digest",
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
          },
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
          },
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
