//! Messages to webhooks as sent, for each kind of event.

use insta::assert_snapshot;
use rules::ProviderType;

use super::super::fixtures::{a_digest, a_reminder, an_event, wire};
use crate::notify::{EventBatch, EventKind};

const KIND: ProviderType = ProviderType::Webhook;

#[test]
fn error_is_composed() {
    assert_snapshot!(wire(KIND, EventBatch::One(&an_event(EventKind::Error))), @r#"
    POST https://hooks.example.com/in
    content-type: application/json
    authorization: Basic dXNlcjpwYXNz
    x-team: core
    webhook-id: inc_0000000000005-chn_0000000000007-error
    webhook-timestamp: 1795279735
    webhook-signature: v1,tUaYg2nkJtX1Yn873Ecm9oICQrvBjvRC0w4iFfIKstg= v1,4Y639cnqSpXj2W1soAxu094JKIzqsvZdtggokBkuylE=

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
    webhook-signature: v1,PEanFiHXoDPuzGlfvhw0Kzdh9QbVFHXNh9txbcNtvjQ= v1,KDAslNmkftZon4duBuo4X2i79jghGINLtbc8PJUmXlg=

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
    webhook-signature: v1,egmXZWKp8c+hBwfDErujDfWEyGtscvHTvAJCUjhnAUQ= v1,b2rOBOaRY9Dn2ONVg7z5+hjv2gqvWbgpvA84WNR5A9Q=

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
    webhook-signature: v1,IHkeb79J8IDjpje/6kJoCwQ4nVUSv0SujZUGT1Bl7JM= v1,ko3ROq5DxN7BgkFUjU1T6cYl6Fv536Ehh/4cUlfRKHY=

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

#[test]
fn reminder_is_composed() {
    assert_snapshot!(wire(KIND, EventBatch::One(&a_reminder())), @r#"
    POST https://hooks.example.com/in
    content-type: application/json
    authorization: Basic dXNlcjpwYXNz
    x-team: core
    webhook-id: inc_0000000000005-chn_0000000000007-error-2
    webhook-timestamp: 1795279735
    webhook-signature: v1,3rQfWHPZhiXdhI9eiWzN5KWirtbdbHC/FQAKkuVGc20= v1,zefoD2IEC9XKQVN7pu+3M6fRcidhtNDtGPhbmchl3Eg=

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
    webhook-id: storm-3-inc_0000000000005-chn_0000000000007-error
    webhook-timestamp: 1795279735
    webhook-signature: v1,GNSzCXM2ikdgs2Lbya2MivS715gJew1yK0v6UAYbC7Y= v1,TjXAwnDPstdOkwyAp9f0f557xnVCfKDyEg4aSREeTJw=

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
