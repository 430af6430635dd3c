//! JSON of a page, validated against two schemas: our documented one, and Statuspage's. The schema
//! file of Statuspage names its source.
//!
//! The schemas allow unknown fields, for later versions. These tests reject fields missing from the
//! schemas.

use std::time::Duration;

use jsonschema::Validator;
use serde_json::{Value, json};
use testkit::server::{INCIDENTS, MAINTENANCES, STATUS_REPORTS};

use super::super::{Site, made, report, well};
use super::published;

const OURS: &str = include_str!("../../../../../../docs/reference/status.schema.json");
const STATUSPAGE: &str = include_str!("../schemas/statuspage_v2.schema.json");
/// Endpoints, named as in the schema.
const ENDPOINTS: [&str; 5] =
    ["summary", "status", "components", "incidents", "scheduled-maintenances"];

/// Returns a validator of a schema that rejects unknown properties.
fn strict(mut schema: Value) -> Validator {
    fn close(schema: &mut Value) {
        match schema {
            Value::Object(words) => {
                words.values_mut().for_each(close);
                if words.get("type") == Some(&json!("object")) && words.contains_key("properties") {
                    words.insert("additionalProperties".to_owned(), json!(false));
                }
            }
            Value::Array(items) => items.iter_mut().for_each(close),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }
    close(&mut schema);
    jsonschema::validator_for(&schema).unwrap()
}

fn ours() -> Validator {
    strict(serde_json::from_str(OURS).unwrap())
}

fn statuspage(endpoint: &str) -> Validator {
    let mut schema: Value = serde_json::from_str(STATUSPAGE).unwrap();
    schema["$ref"] = json!(format!("#/$defs/{endpoint}"));
    strict(schema)
}

fn assert_fits(validator: &Validator, answer: &Value, what: &str) {
    let faults: Vec<String> = validator
        .iter_errors(answer)
        .map(|fault| format!("{} at {}", fault, fault.instance_path()))
        .collect();
    assert!(faults.is_empty(), "{what}: {}\n{answer:#}", faults.join("\n"));
}

/// Validates all JSON of a page against the schemas. Returns Statuspage's summary.
async fn assert_all_fit(site: &Site, what: &str) -> Value {
    assert_fits(&ours(), &site.read("/status.json").await, what);
    for endpoint in ENDPOINTS {
        let answer = site.read(&format!("/api/v2/{endpoint}.json")).await;
        assert_fits(&statuspage(endpoint), &answer, &format!("{what}, {endpoint}"));
    }
    site.read("/api/v2/summary.json").await
}

// issue 7: "the v2 JSON against its published schema's shapes"
#[tokio::test]
async fn json_of_every_state_matches_its_schema() {
    let target = well().await;
    let site = published(&target).await;
    site.results(1).await;
    let up = assert_all_fit(&site, "up").await;
    assert_eq!(up["status"]["indicator"], "none");
    assert_eq!(up["page"]["url"], "https://up.example/status/acme");
    site.turns(&target, false, 2).await;
    let down = assert_all_fit(&site, "down").await;
    assert_eq!(down["status"]["indicator"], "major");
    assert_eq!(down["incidents"][0]["status"], "investigating");
    let incident = json!({ "id": down["incidents"][0]["id"] });
    let reply = site.owner.call(INCIDENTS, "AcknowledgeIncident", incident).await;
    assert_eq!(reply.status, 200, "{reply}");
    let acknowledged = assert_all_fit(&site, "acknowledged").await;
    assert_eq!(acknowledged["incidents"][0]["status"], "identified");
    site.turns(&target, true, 3).await;
    let over = assert_all_fit(&site, "recovered").await;
    assert_eq!(over["incidents"], json!([]));
    let past = site.read("/api/v2/incidents.json").await;
    assert_eq!(past["incidents"][0]["status"], "resolved");
    let report = report::opened(&site).await;
    let listed = assert_all_fit(&site, "reported").await;
    assert_eq!(listed["incidents"][0]["name"], report["title"]);
    // Past, active and planned maintenance.
    let component = site.component().await;
    for is_ended in [true, false] {
        let on = json!({
            "title": "Moving", "startsAt": "2026-11-20T12:00:00Z", "duration": "48h",
            "description": "To another hall", "componentIds": [component],
        });
        let id = json!({ "id": site.plan(on).await["id"] });
        if is_ended {
            site.turns(&target, true, 4).await;
            let reply = site.owner.call(MAINTENANCES, "EndMaintenance", id).await;
            assert_eq!(reply.status, 200, "{reply}");
        }
    }
    site.plan(json!({
        "title": "Later", "startsAt": "2026-11-22T06:00:00Z", "duration": "1h",
        "recurrence": "FREQ=DAILY;COUNT=3", "componentIds": [component],
    }))
    .await;
    let planned = assert_all_fit(&site, "maintenance").await;
    assert_eq!(planned["components"][0]["status"], "under_maintenance");
    let all = planned["scheduled_maintenances"].as_array().unwrap();
    let statuses: Vec<_> = all.iter().map(|it| it["status"].as_str().unwrap()).collect();
    assert_eq!(statuses, ["in_progress", "scheduled", "scheduled", "scheduled"]);
    let past = site.read("/api/v2/scheduled-maintenances.json").await;
    let all = past["scheduled_maintenances"].as_array().unwrap();
    assert_eq!(all.iter().filter(|it| it["status"] == "completed").count(), 1);
}

#[tokio::test]
async fn json_of_empty_and_large_pages_matches_schema() {
    let target = well().await;
    let site = published(&target).await;
    site.results(1).await;
    let page = json!({ "title": "Empty", "slug": "empty" });
    let page = made(&site.owner, "CreateStatusPage", "statusPage", page).await;
    let visit = async |rest: &str| -> Value {
        let reply = site.anybody().get(&format!("/status/empty{rest}")).await;
        serde_json::from_slice(&reply.body).unwrap()
    };
    assert_fits(&ours(), &visit("/status.json").await, "empty");
    for endpoint in ENDPOINTS {
        let answer = visit(&format!("/api/v2/{endpoint}.json")).await;
        assert_fits(&statuspage(endpoint), &answer, &format!("empty, {endpoint}"));
    }
    for group in 0..5 {
        let fields = json!({ "pageId": page["id"], "name": format!("Group {group}") });
        let group = made(&site.owner, "CreateComponentGroup", "componentGroup", fields).await;
        for number in 0..20 {
            let fields = json!({
                "pageId": page["id"], "type": "static", "name": format!("Part {number}"),
                "groupId": group["id"], "description": "One of a hundred",
            });
            made(&site.owner, "CreateComponent", "component", fields).await;
        }
    }
    assert_fits(&ours(), &visit("/status.json").await, "large");
    let components = visit("/api/v2/components.json").await;
    assert_fits(&statuspage("components"), &components, "large");
    assert_eq!(components["components"].as_array().unwrap().len(), 105);
}

/// Returns some fields of an object.
fn fields<const COUNT: usize>(it: &Value, names: [&str; COUNT]) -> [Value; COUNT] {
    names.map(|name| it[name].clone())
}

// Groups as in Cloudflare's response of 2026; see the schema.
#[tokio::test]
async fn v2_components_match_statuspage_format() {
    let target = well().await;
    let site = published(&target).await;
    site.results(1).await;
    let report = report::opened(&site).await;
    let summary = site.read("/api/v2/summary.json").await;
    let [api, group, mail] = [0, 1, 2].map(|place| summary["components"][place].clone());
    let place = ["position", "group", "group_id", "components"];
    assert_eq!(fields(&api, place), [json!(1), json!(false), Value::Null, Value::Null]);
    assert_eq!(fields(&group, place), [json!(2), json!(true), Value::Null, json!([mail["id"]])]);
    assert_eq!(fields(&mail, place), [json!(1), json!(false), group["id"].clone(), Value::Null]);
    let listed = &summary["incidents"][0];
    assert_eq!(listed["components"], json!([mail]), "as the list has it");
    let link = format!("https://up.example/status/acme/report/{}", report["id"].as_str().unwrap());
    assert_eq!(listed["shortlink"], link);
}

// As in GitHub's responses of 2022 and 2023; see the schema.
#[tokio::test]
async fn v2_incident_updates_list_component_status_changes() {
    let target = well().await;
    let site = published(&target).await;
    site.results(1).await;
    site.turns(&target, false, 2).await;
    site.turns(&target, true, 3).await;
    let incidents = site.read("/api/v2/incidents.json").await;
    let over = &incidents["incidents"][0];
    let api = over["components"][0]["id"].clone();
    assert_eq!(fields(over, ["status", "impact"]), ["resolved", "major"]);
    let turned = |old, new| json!([{ "code": api, "name": "API & more", "old_status": old, "new_status": new }]);
    let updates = over["incident_updates"].as_array().unwrap();
    let turns: Vec<_> =
        updates.iter().map(|it| fields(it, ["status", "affected_components"])).collect();
    let resolved = [json!("resolved"), turned("major_outage", "operational")];
    assert_eq!(turns, [resolved, [json!("investigating"), turned("operational", "major_outage")]]);
}

// As in GitHub's response of 2021 and HTX's of 2020; see the schema.
#[tokio::test]
async fn v2_maintenance_has_announcement_time_and_status_updates() {
    let target = well().await;
    let site = published(&target).await;
    site.results(1).await;
    let planned = json!({
        "title": "Moving", "startsAt": "2026-11-21T00:30:00Z", "duration": "48h",
        "componentIds": [site.component().await],
    });
    site.plan(planned).await;
    site.watched.server.advance(Duration::from_mins(30));
    let window = async || -> Value {
        let all = site.read("/api/v2/scheduled-maintenances.json").await;
        all["scheduled_maintenances"][0].clone()
    };
    let on = window().await;
    let times = ["started_at", "scheduled_for", "scheduled_until"];
    let listed =
        ["2026-11-21T00:00:00.000Z", "2026-11-21T00:30:00.000Z", "2026-11-23T00:30:00.000Z"];
    assert_eq!(fields(&on, times), listed);
    let updates = on["incident_updates"].as_array().unwrap();
    let statuses: Vec<_> = updates.iter().map(|it| it["status"].as_str().unwrap()).collect();
    assert_eq!(statuses, ["in_progress", "scheduled"]);
    let affected = &updates[0]["affected_components"][0];
    let turned = ["operational", "under_maintenance"];
    assert_eq!(fields(affected, ["old_status", "new_status"]), turned);
}

#[tokio::test]
async fn statuspage_json_is_stable_while_nothing_changes() {
    let target = well().await;
    let site = published(&target).await;
    site.results(1).await;
    let before = site.read("/api/v2/summary.json").await;
    for count in 2..4 {
        site.turns(&target, true, count).await;
    }
    assert_eq!(
        site.read("/api/v2/summary.json").await,
        before,
        "checks that change nothing are no update"
    );
}

// https://support.atlassian.com/statuspage/docs/top-level-status-and-incident-impact-calculations/
#[tokio::test]
async fn v2_overall_status_uses_statuspage_descriptions() {
    let target = well().await;
    let site = published(&target).await;
    site.results(1).await;
    let summary_status = async || {
        let status = site.read("/api/v2/status.json").await["status"].clone();
        [status["indicator"].clone(), status["description"].clone()]
    };
    assert_eq!(summary_status().await, ["none", "All Systems Operational"]);
    let all = site.read("/api/v2/components.json").await["components"].clone();
    let [api, mail] = [0, 2].map(|place| all[place]["id"].clone());
    let impacts = |api_is: &str, mail_is: &str| {
        let summary_status =
            [(&api, api_is), (&mail, mail_is)].into_iter().filter(|(_, is)| !is.is_empty());
        summary_status
            .map(|(id, is)| json!({ "componentId": id, "impact": is }))
            .collect::<Vec<_>>()
    };
    let opened = json!({
        "statusReport": {
            "pageId": site.page["id"], "title": "Trouble", "components": impacts("degraded", ""),
        },
        "update": { "status": "investigating", "text": "We look." },
    });
    let reply = site.owner.call(STATUS_REPORTS, "CreateStatusReport", opened).await;
    assert_eq!(reply.status, 200, "{reply}");
    let id = reply.json()["statusReport"]["id"].clone();
    assert_eq!(summary_status().await, ["minor", "Partially Degraded Service"]);
    for (components, sentence) in [
        (impacts("degraded", "degraded"), ["minor", "Degraded System Service"]),
        (impacts("down", "degraded"), ["major", "Partial System Outage"]),
        (impacts("down", "down"), ["critical", "Major System Outage"]),
    ] {
        site.watched.server.advance(Duration::from_secs(1));
        let update = json!({ "status": "identified", "text": "More.", "components": components });
        let request = json!({ "id": id, "update": update });
        let reply = site.owner.call(STATUS_REPORTS, "AddStatusReportUpdate", request).await;
        assert_eq!(reply.status, 200, "{reply}");
        assert_eq!(summary_status().await, sentence);
    }
}

#[test]
fn unknown_fields_do_not_match_the_schema() {
    let page = json!({
        "id": "page_1", "name": "Acme", "url": "https://up.example", "time_zone": "Etc/UTC",
        "updated_at": "2026-11-21T00:00:00.000Z",
    });
    let state = json!({ "indicator": "none", "description": "All Systems Operational" });
    let fine = json!({ "page": page, "status": state });
    let validator = statuspage("status");
    assert!(validator.is_valid(&fine));
    for (pointer, value) in [
        ("/page/more", json!(1)),
        ("/page/updated_at", json!("yesterday")),
        ("/page/url", json!("/status/acme")),
        ("/status/indicator", json!("maybe")),
        ("/status/description", json!("Fine")),
    ] {
        let mut wrong = fine.clone();
        let (parent, name) = pointer.rsplit_once('/').unwrap();
        wrong.pointer_mut(parent).unwrap()[name] = value;
        assert!(!validator.is_valid(&wrong), "{pointer}");
    }
}

// issue 16 point 23: "Serve the Statuspage-v2 sub-lists"
#[tokio::test]
async fn v2_sublists_contain_unresolved_active_and_upcoming() {
    let target = well().await;
    let site = Site::open(&target).await;
    site.results(1).await;
    let component = site.component().await;
    for (title, starts_at) in [("On", "2026-11-21T00:00:00Z"), ("To come", "2026-11-23T06:00:00Z")]
    {
        let planned = json!({
            "title": title, "startsAt": starts_at, "duration": "1h", "componentIds": [component],
        });
        site.plan(planned).await;
    }
    site.turns(&target, false, 2).await;
    let list = async |path: &str, key: &str| -> Vec<String> {
        let answer: Value = serde_json::from_str(&site.text(path).await).unwrap();
        assert!(answer["page"]["id"].is_string(), "{answer}");
        let all = answer[key].as_array().unwrap();
        all.iter().map(|it| it["name"].as_str().unwrap().to_owned()).collect()
    };
    let unresolved = list("/api/v2/incidents/unresolved.json", "incidents").await;
    assert_eq!(unresolved, ["API & more is down"]);
    let key = "scheduled_maintenances";
    assert_eq!(list("/api/v2/scheduled-maintenances/active.json", key).await, ["On"]);
    assert_eq!(list("/api/v2/scheduled-maintenances/upcoming.json", key).await, ["To come"]);
}
