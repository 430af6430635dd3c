//! The provider over the wire, as a host of any version calls it.

use serde_json::{Value, json};

use crate::host::{Host, unknown, value};

const NOTE: &str = "notebook_note";

#[test]
fn the_host_s_own_code_connects_reads_the_log_and_ends_it() {
    let host = Host::start();
    let ended = host.finish();
    assert_eq!(ended["by_itself"], true, "{ended}");
    let log = ended["log"].as_array().unwrap();
    // go-hclog read the line as one: its level is a level, and the rest are fields.
    let line = log.iter().find(|line| line["@message"] == "the host is done with this provider");
    let line = line.unwrap_or_else(|| panic!("it is not among {log:#?}"));
    assert_eq!(line["@level"], "debug");
}

#[test]
fn schemas_tell_all_that_there_is() {
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
fn a_note_is_imported_by_its_identity() {
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
fn an_identity_that_nobody_has_is_an_error_of_its_import() {
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
fn types_that_there_are_not_are_errors() {
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
fn bytes_that_are_no_value_are_errors_and_the_next_call_works() {
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
fn methods_of_other_kinds_of_plugins_are_refused_and_nothing_more() {
    let mut host = Host::start();
    let answer = host.call("LockState", json!({ "type_name": "x" }));
    assert_eq!(answer["status"], "Unimplemented");
    assert_eq!(host.call("StopProvider", json!({})), json!({}));
    assert!(host.call("GetMetadata", json!({}))["resources"].is_array());
}

/// A note of this title, planned and applied as Terraform does; its id and the answer.
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
