//! Page overview and daily history of a component, as data for keys of the workspace.

use std::time::Duration;

use insta::assert_snapshot;
use rules::Scope;
use serde_json::{Value, json};
use testkit::server::{Caller, STATUS_PAGES};
use testkit::target::{HttpTarget, ScriptedResponse};

use super::{a_component, a_group, a_page, call, done, paths, start};
use crate::pipeline::{PERIOD, Watched};

async fn overview(caller: &Caller, page: &Value) -> Value {
    done(caller, "GetStatusPageOverview", "overview", json!({ "id": page["id"] })).await
}

async fn summary(caller: &Caller, component: &Value, days: i32) -> Value {
    let reply = call(caller, "GetComponentSummary", json!({ "id": component["id"], "days": days }));
    let reply = reply.await;
    assert_eq!(reply.status, 200, "{reply}");
    reply.json()
}

#[tokio::test]
async fn overview_without_data_orders_components_and_omits_uptime() {
    // design: §4 "GetStatusPageOverview"
    let (server, caller) = start().await;
    let page = a_page(&caller, "acme").await;
    let group = a_group(&caller, &page).await;
    a_component(&caller, &page, json!({ "name": "Mail", "order": 2 })).await;
    let fields = json!({ "name": "API", "order": 1, "groupId": group["id"], "description": "d" });
    a_component(&caller, &page, fields).await;
    let reader = server.caller(Scope::Read);
    let reply = call(&reader, "GetStatusPageOverview", json!({ "id": page["id"] })).await;
    assert_snapshot!(reply, @r#"200 {"overview":{"pageId":"page_1jkm030012kv4","at":"2026-11-21T00:00:00Z","state":"up","components":[{"id":"cmp_1jkm030040wk9","name":"API","description":"d","groupId":"grp_1jkm03000q7pq","state":"up","isStale":false},{"id":"cmp_1jkm03004mbva","name":"Mail","groupId":"","state":"up","isStale":false}],"openIncidents":[],"plannedMaintenance":[],"openReports":[]}}"#);
}

#[tokio::test]
async fn overview_shows_failure_regardless_of_page_access() {
    let target = HttpTarget::start().await;
    target.on("/", ScriptedResponse::ok("fine"));
    let watched = Watched::start().await;
    let caller = watched.server.caller(Scope::Write);
    let monitor = watched.monitor(&target.url("/")).await;
    let page = a_page(&caller, "acme").await;
    let shows = json!({ "type": "monitor", "monitorId": monitor.to_string(), "name": "API" });
    let component = a_component(&caller, &page, shows).await;
    watched.stored.at_least(1, monitor).await;
    target.on("/", ScriptedResponse::status(503));
    watched.server.advance(PERIOD);
    watched.stored.at_least(2, monitor).await;
    let locked = json!({ "id": page["id"], "accessType": "password", "password": "hunter2" });
    let request = json!({ "statusPage": locked, "updateMask": "accessType,password" });
    done(&caller, "UpdateStatusPage", "statusPage", request).await;
    let hidden = json!({ "id": page["id"] });
    done(&caller, "UnpublishStatusPage", "statusPage", hidden).await;

    let seen = overview(&caller, &page).await;
    assert_eq!((&seen["state"], &seen["pageId"]), (&json!("down"), &page["id"]), "{seen}");
    assert_eq!(seen["checkedAt"], "2026-11-21T00:00:30Z", "{seen}");
    let shown = &seen["components"][0];
    assert_eq!((&shown["id"], &shown["state"]), (&component["id"], &json!("down")), "{seen}");
    assert_eq!(shown["since"], "2026-11-21T00:00:30Z");
    assert_eq!(shown["uptime90dMillionths"], 1_000_000, "it was up until now");
    let incident = &seen["openIncidents"][0];
    assert_eq!(incident["componentIds"], json!([component["id"]]), "{seen}");
    assert!(!seen.to_string().contains(&monitor.to_string()), "a visitor knows no monitors");

    // Half a minute of failure is half of the known time today.
    watched.server.advance(PERIOD);
    watched.stored.at_least(3, monitor).await;
    let days = summary(&caller, &component, 2).await;
    let today = &days["days"][1];
    assert_eq!(
        (&today["date"], &today["downSeconds"]),
        (&json!("2026-11-21"), &json!(30)),
        "{days}"
    );
    assert_eq!(days["days"].as_array().unwrap().len(), 2);
    assert_eq!(days["days"][0]["unknownSeconds"], 86_400, "{days}");
    let parts = ["up", "degraded", "down", "maintenance", "unknown"];
    let parts = parts.map(|part| today[format!("{part}Seconds")].as_i64().unwrap());
    assert_eq!(parts.iter().sum::<i64>(), 60, "{days}");
}

// design: §4 "Deleting a monitor leaves page components that show it … shown as unknown with its history"
#[tokio::test]
async fn component_of_deleted_monitor_is_unknown_with_history() {
    let target = HttpTarget::start().await;
    target.on("/", ScriptedResponse::ok("fine"));
    let watched = Watched::start().await;
    let caller = watched.server.caller(Scope::Write);
    let monitor = watched.monitor(&target.url("/")).await;
    let page = a_page(&caller, "acme").await;
    let shows = json!({ "type": "monitor", "monitorId": monitor.to_string() });
    let component = a_component(&caller, &page, shows).await;
    watched.stored.at_least(1, monitor).await;
    watched.server.advance(PERIOD);
    watched.stored.at_least(2, monitor).await;
    let deleted = caller.rpc("DeleteMonitor", json!({ "id": monitor.to_string() })).await;
    assert_eq!(deleted.status, 200, "{deleted}");
    watched.server.advance(Duration::from_hours(1));
    let seen = overview(&caller, &page).await;
    let shown = &seen["components"][0];
    assert_eq!((&shown["state"], &shown["name"]), (&json!("unknown"), &json!("local")), "{seen}");
    assert_eq!(shown["uptime7dMillionths"], 1_000_000, "{seen}");
    let days = summary(&caller, &component, 1).await;
    let known = days["days"][0]["upSeconds"].as_i64().unwrap();
    assert!((1..=30).contains(&known), "nothing is known of the hour after: {days}");
    let read = done(&caller, "GetComponent", "component", json!({ "id": component["id"] })).await;
    assert_eq!((&read["type"], &read["monitorId"]), (&json!("monitor"), &Value::Null));
}

#[tokio::test]
async fn component_summary_rejects_invalid_days_and_foreign_workspaces() {
    let (server, caller) = start().await;
    let page = a_page(&caller, "acme").await;
    let component = a_component(&caller, &page, json!({ "name": "Mail" })).await;
    for days in [0, -1, 91, i32::MAX] {
        let request = json!({ "id": component["id"], "days": days });
        let refused = call(&caller, "GetComponentSummary", request).await;
        assert_eq!((refused.status.as_u16(), paths(&refused)), (400, vec!["days".to_owned()]));
    }
    let request = json!({ "id": component["id"] });
    let all = call(&caller, "GetComponentSummary", request.clone()).await;
    assert_eq!(all.json()["days"], json!([]), "it never showed a monitor");
    let stranger = server.stranger();
    assert_eq!(call(&stranger, "GetComponentSummary", request).await.status, 404);
    let page = json!({ "id": page["id"] });
    let reply = stranger.call(STATUS_PAGES, "GetStatusPageOverview", page).await;
    assert_eq!(reply.status, 404, "{reply}");
}
