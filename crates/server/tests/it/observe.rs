//! Health, readiness and metrics.

use rules::Scope;
use serde_json::json;
use testkit::server::{MAINTENANCES, TestServer};

use crate::protocols::a_monitor;

#[tokio::test]
async fn a_running_server_is_alive_and_ready() {
    let server = TestServer::start().await;
    let nobody = server.nobody();
    assert_eq!(nobody.get("/healthz").await.to_string(), "200 ok\n");
    let ready = nobody.get("/readyz").await;
    assert_eq!(
        ready.to_string(),
        r#"200 {"ready":true,"store":"ok","pipeline":"ok","unreadable_rows":0}"#
    );
}

#[tokio::test]
async fn a_server_whose_store_is_closed_says_so() {
    let server = TestServer::start().await;
    server.running().app().store.clone().close().await.unwrap();
    let ready = server.nobody().get("/readyz").await;
    assert_eq!(
        (ready.status.as_u16(), &ready.json()["store"]),
        (503, &json!("the database is closed"))
    );
    assert_eq!(server.nobody().get("/healthz").await.status, 200);
}

#[tokio::test]
async fn all_calls_are_counted_by_method_and_code() {
    let server = TestServer::start().await;
    server.caller(Scope::Read).rpc("ListMonitors", json!({})).await;
    server.caller(Scope::Read).rpc("DeleteMonitor", json!({})).await;
    server.nobody().rpc("ListMonitors", json!({})).await;
    server.caller(Scope::Write).rpc("GetMonitor", json!({ "id": "mon_x" })).await;
    let unknown = json!({ "interval": 1 });
    let refused = server.caller(Scope::Read).rpc("ListMonitors", unknown).await.error().unwrap();
    let names_request = |url: &str| url.ends_with("google.rpc.RequestInfo");
    assert!(refused.details.iter().any(|detail| names_request(&detail.type_url)), "{refused:?}");
    let page = server.nobody().get("/metrics").await;
    assert_eq!(
        page.headers["content-type"],
        "application/openmetrics-text; version=1.0.0; charset=utf-8"
    );
    let page = page.to_string();
    for line in [
        "aloft_calls_total{method=\"ListMonitors\",code=\"ok\"} 1",
        "aloft_calls_total{method=\"DeleteMonitor\",code=\"permission_denied\"} 1",
        "aloft_calls_total{method=\"ListMonitors\",code=\"unauthenticated\"} 1",
        "aloft_calls_total{method=\"GetMonitor\",code=\"not_found\"} 1",
        "aloft_calls_total{method=\"ListMonitors\",code=\"invalid_argument\"} 1",
        "aloft_call_seconds_count 3",
    ] {
        assert!(page.contains(line), "no `{line}` in\n{page}");
    }
}

#[tokio::test]
async fn the_figures_tell_nothing_of_workspaces() {
    let server = TestServer::start().await;
    let created = server
        .caller(Scope::Write)
        .rpc("CreateTcpMonitor", json!({ "monitor": a_monitor("tcp") }))
        .await;
    let id = created.json()["monitor"]["id"].as_str().unwrap().to_owned();
    let page = server.nobody().get("/metrics").await.to_string();
    for secret in [id.as_str(), "acme", "db.example.com"] {
        assert!(!page.contains(secret), "{secret}");
    }
}

// issue 20, point 7: "Per-monitor metrics (bounded, behind a setting: status, latency by phase, …)"
#[tokio::test]
async fn setting_shows_single_monitors_in_metrics() {
    let server = TestServer::start_with(|settings| settings.monitors_in_metrics = 1).await;
    let caller = server.caller(Scope::Write);
    let new = |name: &str| json!({ "monitor": { "name": name, "uri": "localhost:1", "periodicity": "1h", "active": true, "retry": 0 } });
    let created = caller.rpc("CreateTcpMonitor", new("first")).await;
    caller.rpc("CreateTcpMonitor", new("second")).await;
    let id = created.json()["monitor"]["id"].as_str().unwrap().to_owned();
    let metrics = async || server.nobody().get("/metrics").await.to_string();
    let labels = format!("workspace=\"acme\",id=\"{id}\",name=\"first\",kind=\"tcp\"");
    let before = metrics().await;
    assert!(
        before.contains(&format!("aloft_monitor_status{{{labels},status=\"unknown\"}} ")),
        "{before}"
    );
    caller.rpc("TriggerMonitor", json!({ "id": id })).await;
    let after = metrics().await;
    for series in [
        format!("aloft_monitor_status{{{labels},status=\"error\"}} 1\n"),
        format!("aloft_monitor_status{{{labels},status=\"active\"}} 0\n"),
        format!("aloft_monitor_latency_seconds{{{labels},region=\"fly-ams\"}} "),
        format!("aloft_monitor_phase_seconds{{{labels},region=\"fly-ams\",phase=\"dns\"}} "),
    ] {
        assert!(after.contains(&series), "no `{series}` in\n{after}");
    }
    assert!(!after.contains("name=\"second\""), "{after}");
    let in_maintenance = |is| format!("aloft_monitor_in_maintenance{{{labels}}} {is}\n");
    assert!(after.contains(&in_maintenance(0)), "{after}");
    let now = json!({
        "title": "New disks", "startsAt": "2026-11-21T00:00:00Z", "duration": "2h",
        "monitorIds": [id],
    });
    let made = caller.call(MAINTENANCES, "CreateMaintenance", json!({ "maintenance": now })).await;
    assert_eq!(made.status, 200, "{made}");
    let held = metrics().await;
    assert!(held.contains(&in_maintenance(1)), "{held}");
}
