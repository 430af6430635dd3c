//! Heartbeat monitors: calls of the URL, their limits, and what they mean for status and incidents.

use std::time::Duration;

use bytes::Bytes;
use http::Request;
use rules::Scope;
use serde_json::{Value, json};
use testkit::server::{Reply, TestServer};

use crate::pipeline::until;

const MINUTE: Duration = Duration::from_mins(1);

/// Creates a monitor that expects a call every minute, and returns its message.
pub(crate) async fn monitor(server: &TestServer, more: Value) -> Value {
    let mut monitor = json!({ "name": "Backup", "interval": 60, "grace": 60, "active": true });
    monitor.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    let request = json!({ "monitor": monitor });
    let reply = server.caller(Scope::Write).rpc("CreateHeartbeatMonitor", request).await;
    assert_eq!(reply.status, 200, "{reply}");
    reply.json()["monitor"].clone()
}

/// Returns the path of a monitor's URL, with this end.
pub(crate) fn path(monitor: &Value, end: &str) -> String {
    let url = monitor["url"].as_str().unwrap();
    let at = url.find("/heartbeat/").unwrap();
    format!("{}{end}", &url[at..])
}

pub(crate) async fn call(server: &TestServer, method: &str, path: &str, body: &str) -> Reply {
    let request = Request::builder().method(method).uri(path).header("host", "localhost");
    server.nobody().request(request.body(Bytes::from(body.to_owned()).into()).unwrap()).await
}

fn text(reply: &Reply) -> String {
    String::from_utf8_lossy(&reply.body).into_owned()
}

async fn status(server: &TestServer, monitor: &Value) -> Value {
    let request = json!({ "id": monitor["id"] });
    server.caller(Scope::Read).rpc("GetMonitorStatus", request).await.json()
}

/// Waits for a status.
pub(crate) async fn wait_for(server: &TestServer, monitor: &Value, wanted: &str) -> Value {
    until(async || {
        let found = status(server, monitor).await;
        (found["status"] == wanted).then_some(found)
    })
    .await
}

/// Lets time pass in steps of a slot, so that the server is not taken for suspended.
async fn pass(server: &TestServer, monitor: &Value, time: Duration) {
    for _ in 0..time.as_secs() / 30 {
        let before = logs(server, monitor).await.len();
        server.advance(Duration::from_secs(30));
        until(async || (logs(server, monitor).await.len() > before).then_some(())).await;
    }
}

async fn logs(server: &TestServer, monitor: &Value) -> Vec<Value> {
    let request = json!({ "id": monitor["id"], "limit": 100, "withDetails": false });
    let reply = server.caller(Scope::Read).rpc("ListResponseLogs", request).await;
    reply.json()["logs"].as_array().unwrap().clone()
}

#[tokio::test]
async fn late_heartbeat_opens_an_incident_until_the_next() {
    let server = TestServer::start().await;
    let monitor = monitor(&server, json!({})).await;
    assert_eq!(status(&server, &monitor).await["status"], "unknown");
    let reply = call(&server, "GET", &path(&monitor, ""), "").await;
    assert_eq!((reply.status.as_u16(), text(&reply).as_str()), (200, "ok\n"));
    assert_eq!(reply.headers["cache-control"], "no-store");
    wait_for(&server, &monitor, "active").await;

    pass(&server, &monitor, 3 * MINUTE).await;
    let late = wait_for(&server, &monitor, "error").await;
    assert_eq!(late["regions"], json!([]));
    let request = json!({ "id": late["incidentId"] });
    let caller = server.caller(Scope::Read);
    let incident = caller.call("incident.v1.IncidentService", "GetIncident", request).await.json();
    let cause = incident["incident"]["cause"].as_str().unwrap_or_default().to_owned();
    assert!(incident.to_string().contains("no heartbeat for 2 min"), "{cause} {incident}");

    call(&server, "HEAD", &path(&monitor, ""), "").await;
    let found = wait_for(&server, &monitor, "active").await;
    assert_eq!(found["incidentId"], "");
}

#[tokio::test]
async fn reported_failure_is_an_incident_with_its_output() {
    let server = TestServer::start().await;
    let monitor = monitor(&server, json!({})).await;
    call(&server, "GET", &path(&monitor, "/start"), "").await;
    server.advance(Duration::from_secs(12));
    let reply = call(&server, "POST", &path(&monitor, "/3"), "disk full").await;
    assert_eq!(text(&reply), "ok\n");
    wait_for(&server, &monitor, "error").await;
    let all = logs(&server, &monitor).await;
    let failed = all.iter().find(|log| log["outcome"] == "failure").unwrap();
    let request = json!({ "monitorId": monitor["id"], "id": failed["id"] });
    let log = server.caller(Scope::Write).rpc("GetResponseLog", request).await.json();
    assert_eq!(log["log"]["latencyUs"], 12_000_000, "{log}");
    assert_eq!(log["attempts"][0]["body"], "disk full");
    assert_eq!(log["attempts"][0]["reasons"], json!(["the job ended with exit code 3"]));
    call(&server, "POST", &path(&monitor, "/0"), "").await;
    wait_for(&server, &monitor, "active").await;
}

#[tokio::test]
async fn monitor_without_a_call_becomes_late() {
    let server = TestServer::start().await;
    let monitor = monitor(&server, json!({})).await;
    pass(&server, &monitor, MINUTE).await;
    assert_eq!(status(&server, &monitor).await["status"], "unknown");
    pass(&server, &monitor, 2 * MINUTE).await;
    wait_for(&server, &monitor, "error").await;
}

#[tokio::test]
async fn restart_makes_no_heartbeat_late() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let server = TestServer::start_with(|settings| settings.data.clone_from(&data)).await;
    let monitor = monitor(&server, json!({})).await;
    call(&server, "GET", &path(&monitor, ""), "").await;
    wait_for(&server, &monitor, "active").await;
    let server = server.restart(10 * MINUTE).await;
    pass(&server, &monitor, MINUTE / 2).await;
    let server = server.restart(10 * MINUTE).await;
    pass(&server, &monitor, MINUTE).await;
    assert_eq!(status(&server, &monitor).await["status"], "active");
    pass(&server, &monitor, MINUTE).await;
    wait_for(&server, &monitor, "error").await;
}

#[tokio::test]
async fn restart_does_not_end_a_late_heartbeat() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let server = TestServer::start_with(|settings| settings.data.clone_from(&data)).await;
    let monitor = monitor(&server, json!({})).await;
    call(&server, "GET", &path(&monitor, ""), "").await;
    pass(&server, &monitor, 3 * MINUTE).await;
    let late = wait_for(&server, &monitor, "error").await;
    let mut server = server;
    for _ in 0..2 {
        server = server.restart(10 * MINUTE).await;
        pass(&server, &monitor, MINUTE).await;
        let found = status(&server, &monitor).await;
        assert_eq!(
            (&found["status"], &found["incidentId"]),
            (&late["status"], &late["incidentId"])
        );
    }
}

#[tokio::test]
async fn paused_monitor_records_calls_without_judging_them() {
    let server = TestServer::start().await;
    let monitor = monitor(&server, json!({ "active": false })).await;
    assert_eq!(call(&server, "GET", &path(&monitor, ""), "").await.status, 200);
    assert_eq!(call(&server, "GET", &path(&monitor, "/fail"), "").await.status, 200);
    assert_eq!(status(&server, &monitor).await["status"], "unknown");
    let caller = server.caller(Scope::Read);
    let read = caller.rpc("GetMonitor", json!({ "id": monitor["id"] })).await.json();
    let read = &read["monitor"]["heartbeat"];
    assert!(read["lastHeartbeatAt"].is_string(), "{read}");
    assert_eq!(read["url"], Value::Null, "a read key does not see the secret");
    let resume =
        json!({ "monitor": { "id": monitor["id"], "active": true }, "updateMask": "active" });
    server.caller(Scope::Write).rpc("UpdateHeartbeatMonitor", resume).await;
    pass(&server, &monitor, MINUTE / 2).await;
    assert_eq!(status(&server, &monitor).await["status"], "unknown");
}

#[tokio::test]
async fn rotated_or_deleted_url_is_unknown() {
    let server = TestServer::start().await;
    let first = monitor(&server, json!({})).await;
    let caller = server.caller(Scope::Write);
    let id = json!({ "id": first["id"] });
    let second = caller.rpc("RotateHeartbeatUrl", id.clone()).await.json()["monitor"].clone();
    assert_ne!(first["url"], second["url"]);
    assert_eq!(call(&server, "GET", &path(&first, ""), "").await.status, 404);
    assert_eq!(call(&server, "GET", &path(&second, ""), "").await.status, 200);
    assert_eq!(caller.rpc("DeleteMonitor", id).await.status, 200);
    assert_eq!(call(&server, "GET", &path(&second, ""), "").await.status, 404);
}

#[tokio::test]
async fn wrong_calls_are_refused_with_a_reason() {
    let server = TestServer::start().await;
    let monitor = monitor(&server, json!({})).await;
    let mut seen = Vec::new();
    for (method, end, body) in [
        ("DELETE", "", String::new()),
        ("GET", "/256", String::new()),
        ("POST", "", "x".repeat(1024 * 1024 + 1)),
    ] {
        let reply = call(&server, method, &path(&monitor, end), &body).await;
        seen.push(format!("{} {}", reply.status.as_u16(), text(&reply).trim()));
    }
    insta::assert_snapshot!(seen.join("\n"), @r"
    405 call this URL with GET, HEAD or POST
    404 the URL may only end with /start, /fail or an exit code, /0 to /255
    413 the body must have at most 1 MiB; the first 4 KiB are kept
    ");
}

#[tokio::test]
async fn unknown_urls_are_refused_and_limited() {
    let server = TestServer::start().await;
    let (unknown, malformed) = (format!("/heartbeat/{}", "a".repeat(43)), "/heartbeat/a");
    for _ in 0..30 {
        for path in [&*unknown, malformed] {
            let reply = call(&server, "GET", path, "").await;
            assert_eq!(reply.status, 404);
            assert!(text(&reply).starts_with("no monitor has this URL"), "{reply}");
        }
    }
    assert_eq!(call(&server, "GET", &unknown, "").await.status, 429);
}

#[tokio::test]
async fn output_in_history_has_no_token() {
    let server = TestServer::start().await;
    let monitor = monitor(&server, json!({})).await;
    let url = monitor["url"].as_str().unwrap();
    call(&server, "POST", &path(&monitor, "/fail"), &format!("calls {url}/fail")).await;
    wait_for(&server, &monitor, "error").await;
    let failed = logs(&server, &monitor).await;
    let failed = failed.iter().find(|log| log["outcome"] == "failure").unwrap();
    let request = json!({ "monitorId": monitor["id"], "id": failed["id"] });
    let log = server.caller(Scope::Read).rpc("GetResponseLog", request).await.json();
    let token = url.rsplit('/').next().unwrap();
    assert_eq!(log["attempts"][0]["body"], format!("calls {}/fail", url.replace(token, "…")));
}

#[tokio::test]
async fn calls_at_once_are_all_in_the_history() {
    let server = TestServer::start().await;
    let monitor = monitor(&server, json!({})).await;
    for end in ["/1", "/2", "", "/3"] {
        assert_eq!(call(&server, "GET", &path(&monitor, end), "").await.status, 200);
    }
    // The first evaluation may be stored before or after them.
    until(async || {
        let logs = logs(&server, &monitor).await;
        let calls = logs.iter().filter(|log| log["outcome"] != "skipped");
        (calls.count() == 4).then_some(())
    })
    .await;
}

#[tokio::test]
async fn too_many_calls_of_one_url_are_refused() {
    let server = TestServer::start().await;
    let monitor = monitor(&server, json!({})).await;
    for _ in 0..10 {
        assert_eq!(call(&server, "GET", &path(&monitor, ""), "").await.status, 200);
    }
    let refused = call(&server, "GET", &path(&monitor, ""), "").await;
    assert_eq!(
        (refused.status.as_u16(), &refused.headers["retry-after"]),
        (429, &"6".parse().unwrap())
    );
    server.advance(Duration::from_secs(6));
    assert_eq!(call(&server, "GET", &path(&monitor, ""), "").await.status, 200);
}
