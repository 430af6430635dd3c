//! Deliveries: channel tests with the receiver's response, the delivery log, and retries of dead
//! letters.

use std::sync::Arc;
use std::time::Duration;

use domain::judge::{IncidentChange, StatusReason, Transition};
use domain::notify::Cause;
use insta::assert_snapshot;
use rules::{IncidentId, MonitorId, MonitorStatus, ProviderType, Scope};
use serde_json::{Value, json};
use store::Batch;
use testkit::receivers::{Behaviour, Receiver, json_of};
use testkit::server::{Caller, MONITORS, TestServer};

use super::{HIDDEN, a_channel, call, created};
use crate::pipeline::until;
use crate::protocols::a_monitor;

/// Returns a channel that sends to this receiver.
fn leading_to(receiver: &Receiver) -> Value {
    json_of(&receiver.provider())
}

/// Tests a channel and returns the result, without the parts that differ between runs.
async fn tested(caller: &Caller, request: Value) -> Value {
    let reply = call(caller, "TestNotification", request).await;
    assert_eq!(reply.status, 200, "{reply}");
    let mut json = reply.json();
    let took = json.as_object_mut().unwrap().remove("durationMs");
    assert!(took.is_none_or(|took| took.as_i64().unwrap() >= 0));
    json
}

async fn deliveries(caller: &Caller, request: Value) -> Value {
    let reply = call(caller, "ListDeliveries", request).await;
    assert_eq!(reply.status, 200, "{reply}");
    reply.json()
}

/// Server with a monitor and a channel for it that sends to a receiver.
struct SendingFixture {
    server: TestServer,
    receiver: Receiver,
    monitor: String,
    channel: String,
}

impl SendingFixture {
    async fn new() -> Self {
        let server = TestServer::start().await;
        let caller = server.caller(Scope::Write);
        let receiver = Receiver::start(ProviderType::Slack).await;
        let monitor =
            caller.call(MONITORS, "CreateTcpMonitor", json!({ "monitor": a_monitor("tcp") }));
        let monitor = monitor.await.json()["monitor"]["id"].as_str().unwrap().to_owned();
        let mut channel = leading_to(&receiver);
        channel["monitorIds"] = json!([monitor]);
        let channel = created(&caller, &channel).await["id"].as_str().unwrap().to_owned();
        Self { server, receiver, monitor, channel }
    }

    fn caller(&self) -> Caller {
        self.server.caller(Scope::Write)
    }

    /// Takes the monitor down and opens an incident with this ID.
    async fn down(&self, incident: u64) {
        let app = self.server.running().app();
        let monitor = MonitorId::parse(&self.monitor).unwrap();
        let transition = Transition {
            from: MonitorStatus::Active,
            to: MonitorStatus::Error,
            at: app.ctx.now(),
            incident: IncidentChange::Opened(IncidentId::from_bits(incident)),
            why: StatusReason::NoVotes,
        };
        let cause = Cause { why: "connection refused".to_owned(), ..Cause::default() };
        let batch = Batch {
            transitions: vec![(monitor, transition)],
            causes: vec![(monitor, cause)],
            ..Batch::default()
        };
        app.store.commit(Arc::new(batch)).await.unwrap();
    }

    /// Waits until the only delivery is in this state and has an attempt, then returns it.
    async fn delivery(&self, state: &str) -> Value {
        let caller = self.caller();
        until(async || {
            let listed = deliveries(&caller, json!({ "state": state })).await;
            let found = &listed["deliveries"][0];
            found["attempts"][0].is_object().then(|| found.clone())
        })
        .await
    }
}

#[tokio::test]
async fn test_notification_reports_the_receivers_response() {
    // issue 6, point 3
    let server = TestServer::start().await;
    let caller = server.caller(Scope::Write);
    let receiver = Receiver::start(ProviderType::Slack).await;
    let channel = created(&caller, &leading_to(&receiver)).await;
    let id = json!({ "id": channel["id"] });
    let mut results = Vec::new();
    results.push(tested(&caller, id.clone()).await.to_string());
    for behaviour in [
        Behaviour::Status(404),
        Behaviour::Status(401),
        Behaviour::Busy(7),
        Behaviour::Status(500),
        Behaviour::Redirect("http://127.0.0.1:1/".to_owned()),
        Behaviour::Close,
    ] {
        receiver.behave_times(1, behaviour);
        results.push(tested(&caller, id.clone()).await.to_string());
    }
    // The port differs between runs.
    results[6] = results[6].replace(&receiver.base()["http://".len()..], "127.0.0.1:80");
    assert_snapshot!(results.join("\n"), @r#"
    {"accepted":true,"status":200,"response":"answered 200 “ok”","help":""}
    {"accepted":false,"status":404,"response":"answered 404; it no longer exists: enter its new address in the channel","help":"put the address that the receiver has today into the channel"}
    {"accepted":false,"status":401,"response":"answered 401; it rejected the credentials: correct them in the channel","help":"put credentials into the channel that the receiver takes"}
    {"accepted":false,"status":429,"response":"answered 429","help":"try again later: the receiver does not accept messages at the moment"}
    {"accepted":false,"status":500,"response":"answered 500","help":"try again later: the receiver does not accept messages at the moment"}
    {"accepted":false,"status":307,"response":"answered 307; it redirects: enter its final address in the channel","help":"put the address that it leads to into the channel"}
    {"accepted":false,"response":"127.0.0.1:80 reset the connection before the response was complete","help":"check that the address is right, and that this server may send to it"}
    "#);
    let log = deliveries(&caller, json!({ "notificationId": channel["id"] })).await;
    let states = log["deliveries"].as_array().unwrap().iter();
    let states: Vec<_> = states.map(|it| it["state"].as_str().unwrap()).collect();
    assert_eq!(states, ["dead", "dead", "dead", "dead", "dead", "dead", "accepted"]);
}

#[tokio::test]
async fn testing_an_unsaved_channel_stores_nothing() {
    let server = TestServer::start().await;
    let caller = server.caller(Scope::Write);
    let receiver = Receiver::start(ProviderType::Discord).await;
    let channel = leading_to(&receiver);
    let results = tested(&caller, json!({ "notification": channel })).await;
    assert_eq!(results["accepted"], true, "{results}");
    assert_eq!(receiver.accepted().len(), 1);
    assert_eq!(call(&caller, "ListNotifications", json!({})).await.json()["totalSize"], 0);
    assert_eq!(deliveries(&caller, json!({})).await["totalSize"], 0);
}

#[tokio::test]
async fn testing_an_unconfigured_kind_names_the_missing_setting() {
    let server = TestServer::start().await;
    let caller = server.caller(Scope::Write);
    let results = tested(&caller, json!({ "notification": a_channel(ProviderType::Email) })).await;
    assert_snapshot!(results, @r#"{"accepted":false,"response":"channels of the kind `email` cannot send on this server: set `ALOFT_SMTP_URL`","help":"the operator of this server has to set `ALOFT_SMTP_URL`"}"#);
}

#[tokio::test]
async fn invalid_test_notification_requests_are_rejected() {
    let server = TestServer::start_with(|settings| settings.allow_private_networks = false).await;
    let caller = server.caller(Scope::Write);
    let slack = a_channel(ProviderType::Slack);
    let private = json!({ "providerType": "slack", "slack": { "webhookUrl": "http://10.0.0.1/" } });
    let mut replies = Vec::new();
    for request in [
        json!({}),
        json!({ "id": "chn_0000000000001", "notification": slack }),
        json!({ "id": "" }),
        json!({ "id": "chn_0000000000001" }),
        json!({ "notification": {} }),
        json!({ "notification": private }),
    ] {
        replies.push(call(&caller, "TestNotification", request).await.to_string());
    }
    assert_snapshot!(replies.join("\n"), @r#"
    400 {"code":"invalid_argument","message":"`id` must be given, or `notification` instead"}
    400 {"code":"invalid_argument","message":"`id` must not be given with `notification`"}
    400 {"code":"invalid_argument","message":"`id` must be given"}
    404 {"code":"not_found","message":"channel `chn_0000000000001` not found in this workspace"}
    400 {"code":"invalid_argument","message":"`notification.provider_type` must be given"}
    400 {"code":"invalid_argument","message":"`notification.slack.webhook_url` must be an address that this server may send to: address 10.0.0.1 is private; `--allow-private-networks` opens private and loopback networks"}
    "#);
}

#[tokio::test]
async fn delivery_log_of_a_test_hides_secrets() {
    let server = TestServer::start().await;
    let (caller, read) = (server.caller(Scope::Write), server.caller(Scope::Read));
    let channel = created(&caller, &a_channel(ProviderType::Ntfy)).await;
    tested(&caller, json!({ "id": channel["id"] })).await;
    let log = call(&read, "ListDeliveries", json!({})).await;
    assert_eq!(log.json()["totalSize"], 1);
    assert!(!log.to_string().contains(HIDDEN), "{log}");
}

#[tokio::test]
async fn deliveries_are_logged_with_attempts() {
    // issue 6, point 3
    let fixture = SendingFixture::new().await;
    fixture.receiver.behave(Behaviour::Status(500));
    fixture.down(7).await;
    let delivery = fixture.delivery("waiting").await;
    let id = delivery["id"].as_str().unwrap();
    let read = fixture.server.caller(Scope::Read);
    let got = call(&read, "GetDelivery", json!({ "id": id })).await.json()["delivery"].clone();
    assert_eq!(got, delivery);
    let took = delivery["attempts"][0]["durationMs"].to_string();
    let shown = serde_json::to_string_pretty(&delivery).unwrap();
    let shown = shown
        .replace(&fixture.monitor, "mon_here")
        .replace(&fixture.channel, "chn_here")
        .replace(&format!("\"durationMs\": {took}"), "\"durationMs\": 0")
        .replace(delivery["nextAttemptAt"].as_str().unwrap(), "later");
    assert_snapshot!(shown, @r#"
    {
      "id": "dlv_0000000000001",
      "notificationId": "chn_here",
      "providerType": "slack",
      "monitorId": "mon_here",
      "incidentId": "inc_0000000000007",
      "event": "error",
      "reminder": 0,
      "state": "waiting",
      "key": "inc_0000000000007-chn_here-error",
      "createdAt": "2026-11-21T00:00:00Z",
      "nextAttemptAt": "later",
      "attempts": [
        {
          "number": 1,
          "at": "2026-11-21T00:00:00Z",
          "durationMs": 0,
          "status": 500,
          "response": "answered 500"
        }
      ]
    }
    "#);
}

#[tokio::test]
async fn deliveries_are_filtered_and_paginated() {
    let fixture = SendingFixture::new().await;
    let caller = fixture.caller();
    fixture.down(7).await;
    fixture.receiver.takes(1).await;
    let total = async |request: Value| deliveries(&caller, request).await["totalSize"].clone();
    for _ in 0..3 {
        tested(&caller, json!({ "id": fixture.channel })).await;
    }
    for (request, count) in [
        (json!({}), 4),
        (json!({ "notificationId": fixture.channel }), 4),
        (json!({ "monitorId": fixture.monitor }), 1),
        (json!({ "state": "cancelled" }), 0),
        (json!({ "notificationId": "chn_0000000000009" }), 0),
    ] {
        assert_eq!(total(request.clone()).await, count, "{request}");
    }
    let first = deliveries(&caller, json!({ "limit": 3 })).await;
    let next = json!({ "limit": 3, "pageToken": first["nextPageToken"] });
    let second = deliveries(&caller, next).await;
    let parts = [&first, &second].map(|part| part["deliveries"].as_array().unwrap().clone());
    let ids: Vec<_> = parts.concat().iter().map(|it| it["id"].to_string()).collect();
    assert_eq!((ids.len(), ids.is_sorted_by(|a, b| a > b)), (4, true), "newest first: {ids:?}");
    assert_eq!(second["nextPageToken"], "");
    let wrong =
        json!({ "notificationId": "api", "monitorId": "chn_1", "state": "lost", "limit": 0 });
    let refused = call(&caller, "ListDeliveries", wrong).await;
    assert_snapshot!(refused, @r#"400 {"code":"invalid_argument","message":"`limit` must be 1 to 100 (given: `0`); `notification_id` must be a channel's identifier, chn_… (given: `api`); `monitor_id` must be a monitor's identifier, mon_… (given: `chn_1`); `state` must be one of waiting, accepted, dead, cancelled (given: `lost`)"}"#);
}

#[tokio::test]
async fn only_dead_letters_can_be_replayed() {
    // issue 6, point 4: "dead letters kept, listed and replayable"
    let fixture = SendingFixture::new().await;
    let caller = fixture.caller();
    fixture.receiver.behave_times(1, Behaviour::Status(404));
    fixture.down(7).await;
    let dead = fixture.delivery("dead").await;
    let id = dead["id"].clone();
    // Two attempts at the same instant would count as one attempt recorded twice.
    fixture.server.advance(Duration::from_secs(1));
    let replayed = call(&caller, "ReplayDelivery", json!({ "id": id })).await;
    assert_eq!(replayed.json()["delivery"]["state"], "waiting", "{replayed}");
    let taken = fixture.receiver.takes(1).await;
    assert_eq!(taken.len(), 1);
    let accepted = fixture.delivery("accepted").await;
    assert_eq!((&accepted["id"], &accepted["key"]), (&id, &dead["key"]));
    assert_eq!(accepted["attempts"].as_array().unwrap().len(), 2);
    let again = call(&caller, "ReplayDelivery", json!({ "id": id })).await;
    assert_eq!(again.reason().as_deref(), Some("FAILED_PRECONDITION"));
    let replies = again.to_string().replace(id.as_str().unwrap(), "dlv_here");
    assert_snapshot!(replies, @r#"400 {"code":"failed_precondition","message":"`id` must be a dead letter (given: `dlv_here`)"}"#);
}

#[tokio::test]
async fn deliveries_of_another_workspace_are_not_found() {
    let fixture = SendingFixture::new().await;
    tested(&fixture.caller(), json!({ "id": fixture.channel })).await;
    let id = deliveries(&fixture.caller(), json!({})).await["deliveries"][0]["id"].clone();
    let stranger = fixture.server.stranger();
    assert_eq!(deliveries(&stranger, json!({})).await["totalSize"], 0);
    for (method, request) in [
        ("GetDelivery", json!({ "id": id })),
        ("ReplayDelivery", json!({ "id": id })),
        ("TestNotification", json!({ "id": fixture.channel })),
    ] {
        assert_eq!(call(&stranger, method, request).await.status, 404, "{method}");
    }
}
