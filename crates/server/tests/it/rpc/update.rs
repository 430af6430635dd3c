//! Updates of monitors, with and without a mask.

use insta::assert_snapshot;
use rules::Scope;
use serde_json::{Value, json};
use testkit::server::{Caller, TestServer};

use crate::protocols::a_monitor;

/// Starts a server and creates an HTTP monitor with every field set. Returns them with the write
/// caller.
async fn with_monitor() -> (TestServer, Caller, Value) {
    let server = TestServer::start().await;
    let caller = server.caller(Scope::Write);
    let mut monitor = a_monitor("http");
    monitor["description"] = json!("watches the API");
    monitor["degradedAt"] = json!(500);
    monitor["retry"] = json!(7);
    monitor["headers"] = json!([{ "key": "X-Team", "value": "core" }]);
    let created = caller.rpc("CreateHttpMonitor", json!({ "monitor": monitor })).await;
    let monitor = created.json()["monitor"].clone();
    (server, caller, monitor)
}

#[tokio::test]
async fn update_mask_changes_only_named_fields() {
    // design: §4
    let (_server, caller, before) = with_monitor().await;
    let change = json!({ "id": before["id"], "name": "Renamed", "retry": 1 });
    let request = json!({ "monitor": change, "updateMask": "name" });
    let after = caller.rpc("UpdateHttpMonitor", request).await.json()["monitor"].clone();
    let mut due = before.clone();
    due["name"] = json!("Renamed");
    for output in ["updatedAt", "revision"] {
        due[output] = after[output].clone();
    }
    assert_eq!(after, due);
}

#[tokio::test]
async fn masked_field_without_value_is_cleared() {
    let (_server, caller, before) = with_monitor().await;
    let request = json!({
        "monitor": { "id": before["id"] },
        "updateMask": "description,degradedAt,retry,headers",
    });
    let after = caller.rpc("UpdateHttpMonitor", request).await.json()["monitor"].clone();
    assert!(after.get("description").is_none() && after.get("degradedAt").is_none(), "{after}");
    assert_eq!(after["retry"], 3);
    assert_eq!(after["headers"], json!([]));
    assert_eq!(after["effectiveDegradedAt"], 30_000);
    assert_eq!(after["name"], before["name"]);
}

#[tokio::test]
async fn without_a_mask_all_arguments_are_replaced() {
    let (_server, caller, before) = with_monitor().await;
    let mut change = a_monitor("http");
    change["id"] = before["id"].clone();
    change["name"] = json!("Anew");
    let after =
        caller.rpc("UpdateHttpMonitor", json!({ "monitor": change })).await.json()["monitor"]
            .clone();
    assert_eq!(after["name"], "Anew");
    assert!(after.get("description").is_none());
    assert_eq!(after["retry"], 3);
    assert_eq!(after["createdAt"], before["createdAt"]);
}

#[tokio::test]
async fn an_empty_mask_changes_nothing() {
    let (_server, caller, before) = with_monitor().await;
    let request = json!({ "monitor": { "id": before["id"], "name": "No" }, "updateMask": "" });
    assert_eq!(caller.rpc("UpdateHttpMonitor", request).await.json()["monitor"], before);
}

#[tokio::test]
async fn a_refused_update_changes_nothing() {
    let (_server, caller, before) = with_monitor().await;
    let id = &before["id"];
    let refusals = [
        json!({ "monitor": { "id": id, "name": "" }, "updateMask": "name" }),
        json!({ "monitor": { "id": id }, "updateMask": "url" }),
        json!({ "monitor": { "id": id }, "updateMask": "colour" }),
        json!({ "monitor": { "id": id }, "updateMask": "status" }),
        json!({ "monitor": { "id": id, "name": "x" } }),
        json!({ "monitor": { "name": "x" }, "updateMask": "name" }),
        json!({}),
    ];
    let mut shown = Vec::new();
    for request in refusals {
        let reply = caller.rpc("UpdateHttpMonitor", request).await;
        let message = reply.json()["message"]
            .as_str()
            .unwrap_or_default()
            .chars()
            .take(120)
            .collect::<String>();
        shown.push(format!("{} {message}", reply.status.as_u16()));
    }
    assert_snapshot!(shown.join("\n"), @"
    400 `monitor.name` must not be empty
    400 `monitor.url` must be given
    400 `update_mask` may only name name, url, periodicity, method, body, timeout, degraded_at, retry, follow_redirects, ip_vers
    400 `update_mask` may only name name, url, periodicity, method, body, timeout, degraded_at, retry, follow_redirects, ip_vers
    400 `monitor.periodicity` must be given; `monitor.url` must be given
    400 `monitor.id` must be given
    400 `monitor` must be given
    ");
    let read = caller.rpc("GetMonitor", json!({ "id": id })).await.json();
    assert_eq!(read["monitor"]["http"], before);
}

#[tokio::test]
async fn wrong_kind_update_names_the_right_method() {
    let (_server, caller, before) = with_monitor().await;
    let mut change = a_monitor("tcp");
    change["id"] = before["id"].clone();
    let reply = caller.rpc("UpdateTcpMonitor", json!({ "monitor": change })).await;
    assert_snapshot!(reply, @r#"400 {"code":"invalid_argument","message":"`monitor.id` names a monitor of type http; call UpdateHttpMonitor"}"#);
    assert_eq!(reply.reason().as_deref(), Some("MONITOR_TYPE_MISMATCH"));
}

#[tokio::test]
async fn edits_at_the_same_time_all_hold() {
    let (_server, caller, before) = with_monitor().await;
    let edit = async |field: &str, value: Value| {
        let request =
            json!({ "monitor": { "id": before["id"], field: value }, "updateMask": field });
        caller.rpc("UpdateHttpMonitor", request).await
    };
    let (a, b, c) = tokio::join!(
        edit("name", json!("Both")),
        edit("retry", json!(9)),
        edit("public", json!(true)),
    );
    for reply in [a, b, c] {
        assert_eq!(reply.status, 200, "{reply}");
    }
    let read = caller.rpc("GetMonitor", json!({ "id": before["id"] })).await.json();
    let http = &read["monitor"]["http"];
    assert_eq!(
        (&http["name"], &http["retry"], &http["public"]),
        (&json!("Both"), &json!(9), &json!(true))
    );
}
