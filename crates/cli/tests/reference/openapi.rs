//! The OpenAPI description holds for what is sent and answered: each scenario is played, and its requests,
//! responses and errors are validated. Linting it is `cargo xtask openapi`'s.

use std::fs;

use jsonschema::Validator;
use serde_json::{Value, json};

use super::fixture::{Stage, Workspace};
use super::pattern::{Saved, filled};
use super::player::{now, save, until};
use crate::SCENARIOS;

/// The description as it is published.
const DESCRIPTION: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/reference/openapi.json");
/// Keys with which a scenario is played here.
const KEYS: [&str; 4] = ["write", "read", "other", "none"];

struct Description(Value);

impl Description {
    /// Reads the description. Its outputs refuse unknown fields here: all that a server of this version
    /// answers must be described.
    fn read() -> Self {
        let text = fs::read_to_string(DESCRIPTION).unwrap();
        let mut description: Value = serde_json::from_str(&text).unwrap();
        let schemas = description["components"]["schemas"].as_object_mut().unwrap();
        for (_, schema) in schemas.iter_mut().filter(|(name, _)| name.contains(".v1.")) {
            schema["additionalProperties"] = json!(false);
        }
        Self(description)
    }

    /// Returns the schema at a pointer within the operation of a method.
    fn schema(&self, call: &str, pointer: &str) -> Validator {
        let operation = &self.0["paths"][format!("/rpc/{call}")]["post"];
        let mut at =
            operation.pointer(pointer).unwrap_or_else(|| panic!("{call} has no {pointer}"));
        if let Some(reference) = at["$ref"].as_str().filter(|it| it.contains("/responses/")) {
            at = self.0.pointer(&reference[1..]).unwrap();
        }
        let mut schema = at["content"]["application/json"]["schema"].clone();
        schema["components"] = self.0["components"].clone();
        jsonschema::options().with_draft(jsonschema::Draft::Draft202012).build(&schema).unwrap()
    }

    fn assert_valid(&self, call: &str, pointer: &str, value: &Value) {
        let schema = self.schema(call, pointer);
        let wrong: Vec<String> = schema
            .iter_errors(value)
            .map(|error| format!("{} at {}", error, error.instance_path()))
            .collect();
        assert!(wrong.is_empty(), "{call} {pointer}: {wrong:?}\n{value}");
    }
}

/// Plays a scenario and validates what travels. Returns the number of validated responses and errors.
fn play(
    description: &Description,
    stage: &Stage,
    workspace: &Workspace,
    scenario: &Value,
) -> (usize, usize) {
    let mut saved = Saved::new();
    saved.extend(stage.places().map(|(name, place)| (name.to_owned(), place)));
    saved.insert("now".to_owned(), now());
    let (mut responses, mut errors) = (0, 0);
    for step in scenario["steps"].as_array().unwrap() {
        let call = step["call"].as_str().unwrap();
        let is_plain = step["altered"].is_null() && step["instead"].is_null();
        let is_playable = KEYS.contains(&step["key"].as_str().unwrap_or("write"));
        if call.contains(" /v1/") || !is_plain || !is_playable {
            continue;
        }
        let request = filled(&step["request"], &saved);
        if step["answer"].is_object() {
            description.assert_valid(call, "/requestBody", &request);
            let answer = until(step, &saved, &mut || stage.call(workspace, step, &request));
            description.assert_valid(call, "/responses/200", &answer);
            save(step, &answer, &mut saved);
            responses += 1;
        } else if step["until"] != true && step["error"]["status"].is_u64() {
            let answer = stage.call(workspace, step, &request);
            let status = &step["error"]["status"];
            description.assert_valid(call, &format!("/responses/{status}"), &answer);
            errors += 1;
        }
    }
    (responses, errors)
}

// issue 16 point 17: "Publish OpenAPI 3.1 for the whole RPC API"
#[test]
fn scenarios_match_their_schemas() {
    let (description, stage) = (Description::read(), Stage::set());
    let mut played = (0, 0);
    let mut paths: Vec<_> =
        fs::read_dir(SCENARIOS).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|ending| ending == "json"));
    paths.sort();
    for path in paths {
        let scenario: Value = serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap();
        if scenario["settings"].is_object() {
            continue;
        }
        let workspace = stage.workspace_of(&scenario);
        let (responses, errors) = play(&description, &stage, &workspace, &scenario);
        played = (played.0 + responses, played.1 + errors);
    }
    assert!(played.0 > 100 && played.1 > 10, "{played:?} were validated");
}

#[test]
fn wrong_requests_do_not_match_their_schema() {
    let description = Description::read();
    let fine = json!({ "name": "API", "url": "https://example.com/", "periodicity": "30s" });
    let create = "monitor.v1.MonitorService/CreateHttpMonitor";
    let schema = description.schema(create, "/requestBody");
    assert!(schema.is_valid(&json!({ "monitor": fine })));
    for (field, value) in [
        ("timeout", json!(120_001)),
        ("periodicity", json!("2m")),
        ("interval", json!("30s")),
        ("name", json!("")),
        ("name", json!("é".repeat(257))),
        ("url", json!("ftp://example.com/")),
        ("regions", json!(["fly-moon"])),
        ("headers", json!([{ "value": "no key" }])),
        ("statusCodeAssertions", json!(vec![json!({ "target": 200, "comparator": "eq" }); 11])),
    ] {
        let mut wrong = fine.clone();
        wrong[field] = value;
        assert!(!schema.is_valid(&json!({ "monitor": wrong })), "{wrong}");
    }
    for missing in ["name", "url", "periodicity"] {
        let mut wrong = fine.clone();
        wrong.as_object_mut().unwrap().remove(missing);
        assert!(!schema.is_valid(&json!({ "monitor": wrong })), "{wrong}");
    }
    let update = "monitor.v1.MonitorService/UpdateHttpMonitor";
    let schema = description.schema(update, "/requestBody");
    assert!(schema.is_valid(&json!({ "monitor": { "id": "mon_1" }, "updateMask": "retry" })));
    assert!(!schema.is_valid(&json!({ "monitor": { "retry": 1 }, "updateMask": "retry" })));
}
