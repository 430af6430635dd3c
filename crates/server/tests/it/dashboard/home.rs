//! Home shows what is not well and why, and the next step of a new workspace.

use rules::Scope;
use serde_json::json;
use testkit::person::Person;
use testkit::server::{MAINTENANCES, TestServer};

use super::settings::between;
use super::showcase::Showcase;
use crate::rpc::incident::Outage;

#[tokio::test]
async fn empty_workspace_offers_a_first_monitor() {
    let server = TestServer::start().await;
    let ada = Person::set_up(&server).await;
    let home = ada.open("/").await.text();
    assert!(home.contains("Watch your first site"), "{home}");
    assert!(home.contains("href=\"/w/acme/monitors/new\""), "{home}");
}

// issue 18, point 3: "what is down, degraded or unknown: since when, from which places, why"
#[tokio::test]
async fn home_explains_an_outage() {
    let outage = Outage::begin().await;
    let ada = Person::set_up(&outage.watched.server).await;
    let home = ada.get("/w/acme").await.text();
    for part in ["1 monitor is down", "this server (1 of 1)", "503", "\">for "] {
        assert!(home.contains(part), "{part}: {home}");
    }
    assert!(home.contains(&format!("/w/acme/monitors/{}", outage.monitor)), "{home}");
}

// issue 18, point 3: "First what is down, degraded or unknown: … why"
#[tokio::test]
async fn home_explains_degraded_and_unknown_monitors() {
    let showcase = Box::pin(Showcase::open()).await;
    // The probe of this region never connects.
    let fields = [
        ("name", "Orders"),
        ("url", "https://orders.acme.example/"),
        ("periodicity", "1m"),
        ("active", "true"),
        ("region_choice", "chosen"),
        ("regions", "railway-asia-southeast1"),
        ("action", "save"),
    ];
    let created = showcase.ada.post("/w/acme-shop/monitors/new?kind=http", &fields).await;
    assert_eq!(created.status, 303, "{created}");
    let home = showcase.ada.get("/w/acme-shop").await.text();
    let troubled = between(&home, "<ul class=\"troubled\">", "</ul>");
    for part in [
        "Product search</a> <span class=\"word degraded\">Degraded",
        "took 934 ms, more than 800 ms",
        "Orders</a> <span class=\"word unknown\">Unknown",
        "No region has reported a result yet.",
    ] {
        assert!(troubled.contains(part), "{part}: {troubled}");
    }
}

#[tokio::test]
async fn incident_is_acknowledged_from_home() {
    let outage = Outage::begin().await;
    let ada = Person::set_up(&outage.watched.server).await;
    let home = ada.get("/w/acme").await.text();
    let path = format!("/w/acme/incidents/{}/acknowledge", outage.incident);
    assert!(home.contains(&format!("action=\"{path}\"")), "{home}");
    assert_eq!(ada.post(&path, &[]).await.status, 303);
    let home = ada.get("/w/acme").await.text();
    assert!(!home.contains("<button class=\"small\">Ack"), "{home}");
    assert!(
        home.contains(&format!("/incidents/{}\">Acknowledged by Ada", outage.incident)),
        "{home}"
    );
}

// issue 18, point 3: "and the fleet: filter, sort, search as you type and group by tag, all in the URL"
#[tokio::test]
async fn home_filters_the_fleet_and_changes_it() {
    let server = TestServer::start().await;
    let ada = Person::set_up(&server).await;
    let caller = server.caller(Scope::Write);
    let mut ids = Vec::new();
    for name in ["Shop", "Mail"] {
        let monitor = json!({ "name": name, "url": "http://127.0.0.1:1/", "active": false,
            "periodicity": "1m" });
        let created = caller.rpc("CreateHttpMonitor", json!({ "monitor": monitor })).await.json();
        ids.push(created["monitor"]["id"].as_str().unwrap().to_owned());
    }
    let found = ada.get("/w/acme?q=shop&sort=-name").await.text();
    assert!(found.contains("1–1 of 1") && found.contains("All monitors are paused"), "{found}");
    assert!(found.contains("href=\"/w/acme?q=shop&#38;sort=name\""), "{found}");
    let fields = [("screen", "home"), ("q", "shop"), ("monitor", &*ids[0]), ("action", "resume")];
    let changed = ada.post("/w/acme/monitors/bulk", &fields).await;
    assert_eq!(changed.location().as_deref(), Some("/w/acme?q=shop"), "{changed}");
    let home = ada.get("/w/acme").await.text();
    assert!(home.contains("1 monitor resumed."), "{home}");
}

#[tokio::test]
async fn home_lists_current_and_next_maintenance() {
    let server = TestServer::start().await;
    let ada = Person::set_up(&server).await;
    let caller = server.caller(Scope::Write);
    let monitor = json!({ "name": "API", "url": "http://127.0.0.1:1/", "active": false,
        "periodicity": "1m" });
    let created = caller.rpc("CreateHttpMonitor", json!({ "monitor": monitor })).await.json();
    for (title, starts_at) in
        [("Later <disks>", "2026-11-23T02:00:00Z"), ("Now", "2026-11-21T00:00:00Z")]
    {
        let window = json!({ "title": title, "startsAt": starts_at, "duration": "2h",
            "monitorIds": [created["monitor"]["id"]] });
        let made =
            caller.call(MAINTENANCES, "CreateMaintenance", json!({ "maintenance": window })).await;
        assert_eq!(made.status, 200, "{made}");
    }
    let home = ada.get("/w/acme").await.text();
    let (now, later) = (home.find(">Now<").unwrap(), home.find("Later &#60;disks&#62;").unwrap());
    assert!(now < later && home.contains(">now</span>"), "{home}");
}
