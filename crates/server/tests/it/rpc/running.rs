//! Running monitors: triggers, status, and the effect of changes on the pipeline.

use rules::Scope;
use serde_json::{Value, json};
use testkit::server::TestServer;
use testkit::target::{HttpTarget, ScriptedResponse, TcpTarget};
use tokio::net::TcpListener;

use crate::pipeline::until;

/// Returns a listener of the test and a monitor for it.
async fn listening() -> (TcpListener, Value) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let monitor = json!({
        "name": "local",
        "uri": listener.local_addr().unwrap().to_string(),
        "periodicity": "30s",
        "retry": 0,
        "active": true,
    });
    (listener, monitor)
}

#[tokio::test]
async fn a_trigger_answers_a_result_per_region() {
    let (_target, monitor) = listening().await;
    let server = TestServer::start().await;
    let caller = server.caller(Scope::Write);
    let created = caller.rpc("CreateTcpMonitor", json!({ "monitor": monitor })).await.json();
    let id = &created["monitor"]["id"];
    let reply = caller.rpc("TriggerMonitor", json!({ "id": id })).await;
    assert_eq!(reply.status, 200, "{reply}");
    let results = reply.json()["results"].clone();
    let results = results.as_array().unwrap();
    let regions: Vec<&str> =
        results.iter().map(|result| result["region"].as_str().unwrap()).collect();
    assert_eq!(regions, ["fly-ams", "fly-iad", "fly-sin"]);
    for result in results {
        assert_eq!(result["outcome"], "success", "{result}");
        assert_eq!(result["servedBy"], "this server");
        assert_eq!(result["attempts"], 1);
        assert_eq!(result["reasons"], json!([]));
        assert!(result["phases"]["connectUs"].is_u64(), "{result}");
        assert!(result["latencyMs"].as_i64().unwrap() >= 1, "{result}");
    }
}

#[tokio::test]
async fn trigger_on_a_refusing_target_returns_a_reason() {
    let (_target, mut monitor) = listening().await;
    // Hold the port so that no other process listens on it.
    let nobody = TcpTarget::refusing();
    monitor["uri"] = json!(nobody.address().to_string());
    monitor["regions"] = json!(["fly-ams"]);
    monitor["active"] = json!(false);
    let server = TestServer::start().await;
    let caller = server.caller(Scope::Write);
    let created = caller.rpc("CreateTcpMonitor", json!({ "monitor": monitor })).await.json();
    let reply =
        caller.rpc("TriggerMonitor", json!({ "id": created["monitor"]["id"] })).await.json();
    let result = &reply["results"][0];
    assert_eq!(result["outcome"], "failure", "{result}");
    assert_eq!(result["reasons"].as_array().unwrap().len(), 1, "{result}");
}

// issue 16, point 3: "record in the result when the budget cut a body"
#[tokio::test]
async fn body_beyond_the_memory_is_marked_cut() {
    let target = HttpTarget::start().await;
    target.on("/", ScriptedResponse::ok("x".repeat(100_000)));
    for (memory, is_cut) in [(1_000, true), (1_000_000, false)] {
        let server = TestServer::start_with(|it| it.check_body_memory = memory).await;
        let caller = server.caller(Scope::Write);
        let monitor = json!({
            "name": "local", "url": target.url("/"), "periodicity": "1h", "retry": 0,
            "regions": ["fly-ams"],
            "bodyAssertions": [{ "target": "needle", "comparator": "contains" }],
        });
        let created = caller.rpc("CreateHttpMonitor", json!({ "monitor": monitor })).await.json();
        let id = &created["monitor"]["id"];
        let reply = caller.rpc("TriggerMonitor", json!({ "id": id })).await.json();
        assert_eq!(reply["results"][0]["outcome"], "failure", "{reply}");
        let logs = caller.rpc("ListResponseLogs", json!({ "id": id })).await.json();
        let asked = json!({ "monitorId": id, "id": logs["logs"][0]["id"] });
        let whole = caller.rpc("GetResponseLog", asked).await.json();
        assert_eq!(whole["attempts"][0]["bodyCut"], is_cut, "{whole}");
    }
}

#[tokio::test]
async fn paused_monitor_is_unknown_in_every_region() {
    let (_target, mut monitor) = listening().await;
    monitor["active"] = json!(false);
    let server = TestServer::start().await;
    let caller = server.caller(Scope::Write);
    let created = caller.rpc("CreateTcpMonitor", json!({ "monitor": monitor })).await.json();
    let id = &created["monitor"]["id"];
    let status =
        server.caller(Scope::Read).rpc("GetMonitorStatus", json!({ "id": id })).await.json();
    assert_eq!(status["status"], "unknown");
    let regions = status["regions"].as_array().unwrap();
    assert_eq!(regions.len(), 3);
    assert!(regions.iter().all(|region| region["status"] == "unknown"), "{status}");
}

#[tokio::test]
async fn new_monitor_is_checked_immediately_and_becomes_active() {
    // design: §5, slots
    let (target, monitor) = listening().await;
    let server = TestServer::start_on_system_clock().await;
    let caller = server.caller(Scope::Write);
    let created = caller.rpc("CreateTcpMonitor", json!({ "monitor": monitor })).await.json();
    let id = &created["monitor"]["id"];
    // Each region opens one connection. Results are committed within 100 ms after that.
    for _ in 0..3 {
        target.accept().await.unwrap();
    }
    // Two of three regions make the monitor active. Wait for the third.
    let status = until(async || {
        let status = caller.rpc("GetMonitorStatus", json!({ "id": id })).await.json();
        let has_reported = |region: &Value| region["latencyMs"].is_u64();
        status["regions"].as_array().unwrap().iter().all(has_reported).then_some(status)
    })
    .await;
    assert_eq!(status["regions"].as_array().unwrap().len(), 3);
    assert_eq!(status["status"], "active", "{status}");
    let read = caller.rpc("GetMonitor", json!({ "id": id })).await.json();
    assert_eq!(read["monitor"]["tcp"]["status"], "active");
}

#[tokio::test]
async fn an_edit_reaches_the_checks_at_once() {
    // issue 3: editing, pausing or deleting takes effect within a second
    let (before, monitor) = listening().await;
    let (after, changed) = listening().await;
    let server = TestServer::start_on_system_clock().await;
    let caller = server.caller(Scope::Write);
    let created = caller.rpc("CreateTcpMonitor", json!({ "monitor": monitor })).await.json();
    let id = &created["monitor"]["id"];
    before.accept().await.unwrap();
    let change = json!({ "id": id, "uri": changed["uri"] });
    let request = json!({ "monitor": change, "updateMask": "uri" });
    assert_eq!(caller.rpc("UpdateTcpMonitor", request).await.status, 200);
    for _ in 0..3 {
        after.accept().await.unwrap();
    }
    let pause = json!({ "monitor": { "id": id, "active": false }, "updateMask": "active" });
    let paused = caller.rpc("UpdateTcpMonitor", pause).await.json();
    assert_eq!(paused["monitor"]["status"], "unknown");
    let status = caller.rpc("GetMonitorStatus", json!({ "id": id })).await.json();
    assert_eq!(status["status"], "unknown", "{status}");
}
