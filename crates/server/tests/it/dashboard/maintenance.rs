//! Maintenance is planned in a form with a preview, and shown in a calendar.

use serde_json::json;
use testkit::person::Person;
use testkit::server::{MAINTENANCES, TestServer};

/// Starts a server with a person and this number of monitors.
async fn with_monitors(count: usize) -> (TestServer, Person, Vec<String>) {
    let server = TestServer::start().await;
    let ada = Person::set_up(&server).await;
    let owner = server.caller(rules::Scope::Write);
    let mut monitors = Vec::with_capacity(count);
    for number in 1..=count {
        let monitor = json!({
            "name": format!("Shop {number:03}"), "url": "https://example.com", "periodicity": "1h",
            "active": false,
        });
        let reply = owner.rpc("CreateHttpMonitor", json!({ "monitor": monitor })).await.json();
        monitors.push(reply["monitor"]["id"].as_str().unwrap().to_owned());
    }
    (server, ada, monitors)
}

// START is 2026-11-21 00:00 UTC.
#[tokio::test]
async fn maintenance_is_planned_ended_and_deleted() {
    let (server, ada, monitors) = with_monitors(2).await;
    let fields = [
        ("title", "New disks"),
        ("description", "We replace them."),
        ("starts_at", "2026-11-21T00:00"),
        ("duration", "2h"),
        ("recurrence", "FREQ=WEEKLY"),
        ("time_zone", "UTC"),
        ("monitor_ids", monitors[0].as_str()),
    ];
    let created = ada.post("/w/acme/maintenance/new", &fields).await;
    let path = created.location().unwrap();
    assert!(path.starts_with("/w/acme/maintenance/mnt_"), "{created}");
    let shown = ada.get(&path).await.text();
    for expected in ["Active now", "End now", "Shop 001", "every week", "2026-11-28 00:00 UTC"] {
        assert!(shown.contains(expected), "{expected}: {shown}");
    }
    let calendar = ada.get("/w/acme/maintenance?month=2026-12").await.text();
    assert!(calendar.contains("December 2026") && calendar.contains("00:00–02:00"), "{calendar}");

    let edit = ada.get(&format!("{path}/edit")).await.text();
    assert!(edit.contains("value=\"2026-11-21T00:00\"") && edit.contains("checked"), "{edit}");
    let mut changed = fields.to_vec();
    changed[0].1 = "Newer disks";
    assert_eq!(ada.post(&format!("{path}/edit"), &changed).await.status, 303);
    let stale = [&changed[..], &[("revision", "1")]].concat();
    let refused = ada.post(&format!("{path}/edit"), &stale).await;
    assert_eq!(refused.status, 422, "{refused}");

    assert_eq!(ada.post(&format!("{path}/end"), &[]).await.status, 303);
    assert!(!ada.get(&path).await.text().contains("End now"));
    assert_eq!(ada.post(&format!("{path}/delete"), &[]).await.status, 303);
    assert_eq!(ada.get(&path).await.status, 404);
    let owner = server.caller(rules::Scope::Write);
    let left = owner.call(MAINTENANCES, "ListMaintenances", json!({})).await.json();
    assert_eq!(left["totalSize"], 0);
}

#[tokio::test]
async fn form_previews_windows_without_saving() {
    let (_server, ada, monitors) = with_monitors(1).await;
    let fields = [
        ("action", "show"),
        ("starts_at", "2026-11-23T02:00"),
        ("duration", "1h"),
        ("recurrence", "FREQ=DAILY"),
        ("monitor_ids", monitors[0].as_str()),
    ];
    let shown = ada.post("/w/acme/maintenance/new", &fields).await;
    let text = shown.text();
    assert!(shown.status == 200 && text.contains("2026-11-24 02:00 UTC"), "{text}");
    let part = ada.post("/w/acme/maintenance/preview", &fields).await.text();
    assert!(part.contains("2026-11-24 02:00 UTC") && !part.contains("<html"), "{part}");
    assert!(ada.get("/w/acme/maintenance").await.text().contains("No maintenance is planned"));
}

#[tokio::test]
async fn invalid_maintenance_keeps_the_input() {
    let (_server, ada, _) = with_monitors(0).await;
    let fields = [("title", "Disks"), ("starts_at", "2026-11-23T02:00"), ("duration", "soon")];
    let reply = ada.post("/w/acme/maintenance/new", &fields).await;
    let text = reply.text();
    assert_eq!(reply.status, 422);
    assert!(text.contains("id=\"duration-error\"") && text.contains("value=\"Disks\""), "{text}");
    assert!(text.contains("monitor"), "{text}");
}

#[tokio::test]
async fn search_finds_monitors_beyond_the_first() {
    let (_server, ada, monitors) = with_monitors(60).await;
    let form = ada.get("/w/acme/maintenance/new").await.text();
    assert!(form.contains("Shop 050") && !form.contains("Shop 051"), "{form}");
    assert!(form.contains("More match"), "{form}");
    let search = [("monitor_search", "shop 06"), ("monitor_ids", monitors[2].as_str())];
    let found = ada.post("/w/acme/maintenance/monitors", &search).await.text();
    assert!(found.contains("Shop 060") && !found.contains("Shop 004"), "{found}");
    let chosen = format!("value=\"{}\" checked", monitors[2]);
    assert!(found.contains(&chosen), "the chosen one stays: {found}");
}

// The form of a maintenance for 6,000 monitors was larger than a form may be.
#[tokio::test]
async fn form_with_a_whole_fleet_is_read() {
    let server = TestServer::start().await;
    let ada = Person::set_up(&server).await;
    let ids: Vec<String> =
        (0..10_000).map(|id| rules::MonitorId::from_bits(id).to_string()).collect();
    let mut fields = vec![("title", "New disks"), ("duration", "1h")];
    fields.extend(ids.iter().map(|id| ("monitor_ids", id.as_str())));
    let refused = ada.post("/w/acme/maintenance/new", &fields).await;
    assert_eq!(refused.status, 422);
}
