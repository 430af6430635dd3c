//! The JSON of a page against its schemas: ours as it is documented, and Statuspage's as its public
//! reference has it. The schemas let readers take fields that they do not know, for later versions; here
//! a field that they do not name is a fault.

use jsonschema::Validator;
use serde_json::{Value, json};
use testkit::server::{INCIDENTS, MAINTENANCES};

use super::super::{Site, made, report, well};
use super::published;

const OURS: &str = include_str!("../../../../../../docs/reference/status.schema.json");
const STATUSPAGE: &str = include_str!("../schemas/statuspage_v2.schema.json");
/// The five endpoints, each a part of the schema by its name.
const ENDPOINTS: [&str; 5] =
    ["summary", "status", "components", "incidents", "scheduled-maintenances"];

/// A schema, where an object has the properties that it names and no other.
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

/// Holds all JSON of a page against the schemas; answers Statuspage's summary.
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
async fn the_json_of_every_state_has_the_documented_shapes() {
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
    let told = assert_all_fit(&site, "reported").await;
    assert_eq!(told["incidents"][0]["name"], report["title"]);
    // Maintenance that is over, that is on, and that is to come.
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
async fn the_json_of_an_empty_and_of_a_large_page_has_them_too() {
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

#[test]
fn what_a_schema_does_not_name_does_not_fit() {
    let page = json!({
        "id": "page_1", "name": "Acme", "url": "https://up.example", "time_zone": "Etc/UTC",
        "updated_at": "2026-11-21T00:00:00.000Z",
    });
    let fine = json!({ "page": page, "status": { "indicator": "none", "description": "Fine" } });
    let validator = statuspage("status");
    assert!(validator.is_valid(&fine));
    for (pointer, value) in [
        ("/page/more", json!(1)),
        ("/page/updated_at", json!("yesterday")),
        ("/page/url", json!("/status/acme")),
        ("/status/indicator", json!("maybe")),
    ] {
        let mut wrong = fine.clone();
        let (parent, name) = pointer.rsplit_once('/').unwrap();
        wrong.pointer_mut(parent).unwrap()[name] = value;
        assert!(!validator.is_valid(&wrong), "{pointer}");
    }
}
