//! Monitors of a channel: a set of monitors in the same workspace.

use std::time::Duration;

use insta::assert_snapshot;
use rules::{ProviderType, Scope};
use serde_json::{Value, json};
use testkit::server::{Caller, TestServer};

use super::{a_channel, call, create, created, get};
use crate::protocols::a_monitor;

async fn monitor(caller: &Caller) -> String {
    let reply = caller.rpc("CreateTcpMonitor", json!({ "monitor": a_monitor("tcp") })).await;
    reply.json()["monitor"]["id"].as_str().unwrap().to_owned()
}

fn channel_for(monitors: &[&str]) -> Value {
    let mut channel = a_channel(ProviderType::Slack);
    channel["monitorIds"] = json!(monitors);
    channel
}

#[tokio::test]
async fn monitors_are_a_set_of_the_workspaces_own() {
    // spec: §2.4
    let server = TestServer::start().await;
    let caller = server.caller(Scope::Write);
    let mut own = [monitor(&caller).await, monitor(&caller).await];
    own.sort();
    let [a, b] = &own;
    let channel = created(&caller, &channel_for(&[b, a, b])).await;
    assert_eq!(channel["monitorIds"], json!([a, b]));
    assert_eq!(get(&caller, &channel["id"]).await.json()["notification"], channel);
    // The same set in another order changes nothing.
    server.advance(Duration::from_mins(1));
    let same = json!({ "id": channel["id"], "monitorIds": [b, a] });
    let request = json!({ "notification": same, "updateMask": "monitorIds" });
    let reply = call(&caller, "UpdateNotification", request).await;
    assert_eq!(reply.json()["notification"], channel);
}

#[tokio::test]
async fn unknown_monitor_ids_are_rejected_with_field_path() {
    // design: §4, errors
    let server = TestServer::start().await;
    let caller = server.caller(Scope::Write);
    let own = monitor(&caller).await;
    let foreign = monitor(&server.stranger()).await;
    let deleted = monitor(&caller).await;
    caller.rpc("DeleteMonitor", json!({ "id": deleted })).await;
    for unknown in [&foreign, &deleted, "mon_zzzz", "mon_0000000000000"] {
        let refused = create(&caller, &channel_for(&[&own, unknown])).await;
        let violations = contract::rpc::field_violations(&refused.error().unwrap());
        let shown: Vec<_> =
            violations.iter().map(|it| format!("{} {}", it.field, it.description)).collect();
        let due = format!(
            "notification.monitor_ids may only name monitors of this workspace (given: `{unknown}`)"
        );
        assert_eq!((refused.status.as_u16(), shown), (400, vec![due]));
    }
    assert_snapshot!(create(&caller, &channel_for(&["page_1"])).await, @r#"400 {"code":"invalid_argument","message":"`notification.monitor_ids` must be an identifier of the form mon_… (given: `page_1`)"}"#);
    assert_eq!(call(&caller, "ListNotifications", json!({})).await.json()["totalSize"], 0);
}

#[tokio::test]
async fn a_deleted_monitor_leaves_its_channels() {
    // issue 5: in the same transaction, recorded as a change of the channels
    let server = TestServer::start().await;
    let caller = server.caller(Scope::Write);
    let (stays, goes) = (monitor(&caller).await, monitor(&caller).await);
    let both = created(&caller, &channel_for(&[&stays, &goes])).await;
    let only = created(&caller, &channel_for(&[&goes])).await;
    let other = created(&caller, &channel_for(&[&stays])).await;
    server.advance(Duration::from_mins(1));
    caller.rpc("DeleteMonitor", json!({ "id": goes })).await;
    let now =
        async |channel: &Value| get(&caller, &channel["id"]).await.json()["notification"].clone();
    assert_eq!(now(&both).await["monitorIds"], json!([stays]));
    assert_eq!(now(&only).await["monitorIds"], json!([]));
    assert!(now(&only).await["updatedAt"].as_str() > only["updatedAt"].as_str());
    assert_eq!(now(&other).await, other);
}

#[tokio::test]
async fn channel_stores_501_monitors() {
    let server = TestServer::start().await;
    let caller = server.caller(Scope::Write);
    let mut own = Vec::new();
    for _ in 0..501 {
        own.push(monitor(&caller).await);
    }
    own.sort();
    let names: Vec<&str> = own.iter().map(String::as_str).collect();
    let channel = created(&caller, &channel_for(&names)).await;
    assert_eq!(get(&caller, &channel["id"]).await.json()["notification"]["monitorIds"], json!(own));
}
