//! Components with the same name do not share incidents or maintenance.

use std::time::Duration;

use serde_json::{Value, json};
use testkit::target::ScriptedResponse;

use super::{Site, made, well};

/// Returns the IDs of the items of a list.
fn ids(list: &Value) -> Vec<&str> {
    list.as_array().unwrap().iter().map(|it| it["id"].as_str().unwrap()).collect()
}

// spec: §2.6 (names are not unique)
#[tokio::test]
async fn components_with_the_same_name_are_kept_separate() {
    let target = well().await;
    let site = Site::open(&target).await;
    site.results(1).await;
    let namesake = json!({
        "pageId": site.page["id"], "type": "static", "name": "API & more", "order": 2,
    });
    let namesake = made(&site.owner, "CreateComponent", "component", namesake).await;
    let planned = json!({ "maintenance": {
        "title": "Moving", "startsAt": "2026-11-23T06:00:00Z", "duration": "1h",
        "componentIds": [namesake["id"]],
    } });
    let reply = site.owner.call(testkit::server::MAINTENANCES, "CreateMaintenance", planned).await;
    assert_eq!(reply.status, 200, "{reply}");
    target.on("/", ScriptedResponse::status(503));
    site.watched.server.advance(Duration::from_secs(30));
    site.results(2).await;

    let read =
        async |rest: &str| -> Value { serde_json::from_str(&site.text(rest).await).unwrap() };
    let ours = read("/status.json").await;
    let component = ours["sections"][0]["component"]["id"].as_str().unwrap().to_owned();
    let namesake = namesake["id"].as_str().unwrap();
    let incident = &ours["openIncidents"][0];
    assert_eq!(incident["components"], json!(["API & more"]));
    assert_eq!(incident["componentIds"], json!([component]));
    assert_eq!(ours["plannedMaintenance"][0]["componentIds"], json!([namesake]));
    let theirs = read("/api/v2/summary.json").await;
    assert_eq!(ids(&theirs["incidents"][0]["components"]), [component.as_str()]);
    assert_eq!(ids(&theirs["scheduled_maintenances"][0]["components"]), [namesake]);

    let incident = format!("/incident/{}", incident["id"].as_str().unwrap());
    let page = site.text(&incident).await;
    assert!(page.contains(&format!("/component/{component}\"")), "{page}");
    assert!(!page.contains(namesake), "{page}");
    let shows_incident =
        async |id: &str| site.text(&format!("/component/{id}")).await.contains(&incident);
    assert!(shows_incident(&component).await && !shows_incident(namesake).await);
}
