//! The provider over the wire, as hosts of any version call it.

use serde_json::{Value, json};

use crate::host::{Host, unknown, value};

const NOTE: &str = "notebook_note";

#[test]
fn go_plugin_connects_reads_log_and_stops_provider() {
    let (lines, by_itself) = Host::start().finish();
    assert!(by_itself);
    let logged = |it: &&Value| it["log"]["@message"] == "the host is done with this provider";
    let line = lines.iter().find(logged).unwrap_or_else(|| panic!("not found in {lines:#?}"));
    // go-hclog parsed the line, because it found the level.
    assert_eq!(line["log"]["@level"], "debug");
}

#[test]
fn stop_cancels_reads() {
    let mut host = Host::start_example("oven");
    let config = value(json!({ "sweet": unknown() }));
    let read = json!({ "type_name": "oven_smell", "config": config });
    let read = host.begin("ReadDataSource", read);
    host.logged("sniffing");
    assert_eq!(host.call("StopProvider", json!({})), json!({}));
    let answer = host.end(&read);
    assert_eq!(answer["diagnostics"][0]["summary"], "Cancelled", "{answer}");
}

#[test]
fn stopped_create_returns_partial_object() {
    let mut host = Host::start_example("oven");
    let config = value(json!({ "minutes": 600, "done": null }));
    let planned = value(json!({ "minutes": 600, "done": unknown() }));
    let apply = json!({ "type_name": "oven_cake", "prior_state": value(Value::Null),
        "config": config, "planned_state": planned });
    let apply = host.begin("ApplyResourceChange", apply);
    assert_eq!(host.logged("baking")["minutes"], 600);
    host.call("StopProvider", json!({}));
    let answer = host.end(&apply);
    assert_eq!(answer["new_state"], json!({ "minutes": 600, "done": false }));
    assert_eq!(answer["diagnostics"][0]["summary"], "Baking was stopped");
}

#[test]
fn calls_after_a_stop_succeed() {
    let folder = tempfile::tempdir().unwrap();
    let mut host = Host::configured(folder.path());
    host.call("StopProvider", json!({}));
    create(&mut host, "a");
}

#[test]
fn running_call_does_not_prevent_shutdown() {
    let mut host = Host::start_example("oven");
    let config = value(json!({ "sweet": unknown() }));
    host.begin("ReadDataSource", json!({ "type_name": "oven_smell", "config": config }));
    host.logged("sniffing");
    assert!(host.finish().1, "it was killed");
}

#[test]
fn schemas_list_everything_offered() {
    let mut host = Host::start();
    let schemas = host.call("GetProviderSchema", json!({}));
    let attributes = &schemas["resource_schemas"][NOTE]["block"]["attributes"];
    let named = |name: &str| {
        let all = attributes.as_array().unwrap().iter();
        all.clone().find(|it| it["name"] == name).unwrap_or(&Value::Null).clone()
    };
    assert_eq!(named("pass_wo")["write_only"], true);
    assert_eq!(named("secret")["sensitive"], true);
    assert_eq!(named("title")["required"], true);
    assert_eq!(named("title")["description_kind"], "MARKDOWN");
    let identities = host.call("GetResourceIdentitySchemas", json!({}));
    let identity = &identities["identity_schemas"][NOTE]["identity_attributes"][0];
    assert_eq!((&identity["name"], &identity["required_for_import"]), (&json!("id"), &json!(true)));
}

#[test]
fn note_is_imported_by_identity() {
    let folder = tempfile::tempdir().unwrap();
    let mut host = Host::configured(folder.path());
    let (id, made) = create(&mut host, "a");
    assert_eq!(made["new_identity"]["identity_data"], json!({ "id": id }));
    let identity = json!({ "identity_data": value(json!({ "id": id })) });
    let request = json!({ "type_name": NOTE, "identity": identity });
    let imported = host.call("ImportResourceState", request);
    let imported = &imported["imported_resources"][0];
    assert_eq!(imported["type_name"], NOTE);
    assert_eq!(imported["identity"]["identity_data"], json!({ "id": id }));
    let read = json!({ "type_name": NOTE, "current_state": value(imported["state"].clone()),
        "current_identity": { "identity_data": value(json!({ "id": id })) } });
    let read = host.call("ReadResource", read);
    assert_eq!(read["new_state"]["title"], "a");
    assert_eq!(read["new_identity"]["identity_data"], json!({ "id": id }));
}

#[test]
fn import_of_unknown_identity_fails() {
    let folder = tempfile::tempdir().unwrap();
    let mut host = Host::configured(folder.path());
    for identity in [json!({ "id": "77" }), json!({ "id": null }), json!({}), json!([1])] {
        let request =
            json!({ "type_name": NOTE, "identity": { "identity_data": value(identity.clone()) } });
        let answer = host.call("ImportResourceState", request);
        assert_eq!(answer["diagnostics"][0]["severity"], "ERROR", "{identity}: {answer}");
    }
}

#[test]
fn invalid_list_action_and_ephemeral_configurations_are_rejected() {
    let folder = tempfile::tempdir().unwrap();
    let mut host = Host::configured(folder.path());
    let (list, action, key) = (NOTE, "notebook_stamp", "notebook_key");
    let fine = json!({ "id": "1", "stamp": null });
    for (method, name, of, config, wrong) in [
        ("ValidateListResourceConfig", "type_name", list, json!({ "prefix": null }), "prefix"),
        ("ValidateActionConfig", "action_type", action, fine.clone(), "id"),
        ("PlanAction", "action_type", action, fine, "id"),
        (
            "ValidateEphemeralResourceConfig",
            "type_name",
            key,
            json!({ "length": 1, "key": null }),
            "length",
        ),
    ] {
        let answer = host.call(method, json!({ name: of, "config": value(config.clone()) }));
        assert_eq!(answer, json!({}), "{method}");
        let mut config = config;
        config[wrong] = json!([1]);
        let answer = host.call(method, json!({ name: of, "config": value(config) }));
        assert_eq!(answer["diagnostics"][0]["severity"], "ERROR", "{method}: {answer}");
    }
}

#[test]
fn ephemeral_key_closes_with_its_private_data() {
    let folder = tempfile::tempdir().unwrap();
    let mut host = Host::configured(folder.path());
    let config = value(json!({ "length": 3, "key": null }));
    let opened = host
        .call("OpenEphemeralResource", json!({ "type_name": "notebook_key", "config": config }));
    assert_eq!(opened["result"], json!({ "length": 3, "key": "kkk" }));
    assert_eq!(opened["renew_at"], "3000-01-01T00:00:00Z");
    let close = |private: &Value| json!({ "type_name": "notebook_key", "private": private });
    assert_eq!(host.call("CloseEphemeralResource", close(&opened["private"])), json!({}));
    let other = host.call("CloseEphemeralResource", close(&json!("e30=")));
    assert_eq!(other["diagnostics"][0]["summary"], "Unknown lock", "{other}");
}

#[test]
fn function_call_needs_no_configuration() {
    let mut host = Host::start();
    let functions = host.call("GetFunctions", json!({}));
    assert_eq!(functions["functions"]["spell"]["parameters"][0]["name"], "word");
    let call = |words: &[&str]| {
        let arguments: Vec<_> = words.iter().map(|word| value(json!(word))).collect();
        json!({ "name": "spell", "arguments": arguments })
    };
    assert_eq!(host.call("CallFunction", call(&["ab", "c"]))["result"], json!(["a", "b", "c"]));
    let answer = host.call("CallFunction", call(&["ab", ""]));
    assert_eq!(answer["error"]["function_argument"], "1", "{answer}");
    let unknown = json!({ "name": "sing", "arguments": [] });
    assert!(host.call("CallFunction", unknown)["error"]["text"].is_string());
}

#[test]
fn unknown_types_are_rejected() {
    let mut host = Host::start();
    for (method, answer) in [
        ("ValidateResourceConfig", "config"),
        ("ReadDataSource", "config"),
        ("PlanResourceChange", "proposed_new_state"),
    ] {
        let request = json!({ "type_name": "notebook_pen", answer: value(json!({})) });
        let answer = host.call(method, request);
        let diagnostic = &answer["diagnostics"][0];
        assert_eq!(diagnostic["severity"], "ERROR", "{method}: {answer}");
        assert!(answer.to_string().contains("notebook_pen"), "{method}: {answer}");
    }
}

#[test]
fn malformed_value_fails_only_its_call() {
    let folder = tempfile::tempdir().unwrap();
    let mut host = Host::configured(folder.path());
    for broken in ["wQ==", "3////w==", "xwD/", "gaF4", "AAA="] {
        let broken = json!({ "msgpack": broken });
        let request = json!({ "type_name": NOTE, "prior_state": broken, "config": broken,
            "proposed_new_state": broken });
        let answer = host.call("PlanResourceChange", request);
        assert_eq!(answer["diagnostics"][0]["severity"], "ERROR", "{broken}: {answer}");
    }
    create(&mut host, "a");
}

#[test]
fn unsupported_methods_return_unimplemented() {
    let mut host = Host::start();
    let answer = host.call("LockState", json!({ "type_name": "x" }));
    assert_eq!(answer["status"], "Unimplemented");
    assert_eq!(host.call("StopProvider", json!({})), json!({}));
    assert!(host.call("GetMetadata", json!({}))["resources"].is_array());
}

/// Plans and applies a note with this title, as Terraform does. Returns its id and the response.
fn create(host: &mut Host, title: &str) -> (String, Value) {
    let config = json!({
        "id": null, "revision": null, "title": title, "text": null, "pinned": null,
        "columns": null, "lines": null, "ratio": null, "tags": null, "shelf": null,
        "secret": null, "pass_wo": null, "extra": null, "style": null,
        "line": [], "mark": [], "cover": null,
    });
    let mut proposed = config.clone();
    for computed in ["id", "revision", "pinned", "columns", "lines"] {
        proposed[computed] = unknown();
    }
    let planned = host.call(
        "PlanResourceChange",
        json!({ "type_name": NOTE, "prior_state": value(Value::Null), "config": value(config.clone()),
            "proposed_new_state": value(proposed) }),
    );
    assert_eq!(planned["planned_state"]["lines"], 160, "{planned}");
    let applied = host.call(
        "ApplyResourceChange",
        json!({ "type_name": NOTE, "prior_state": value(Value::Null), "config": value(config),
            "planned_state": value(planned["planned_state"].clone()) }),
    );
    let id = applied["new_state"]["id"].as_str();
    (id.unwrap_or_else(|| panic!("{applied}")).to_owned(), applied)
}
