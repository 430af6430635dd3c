//! Responses when a provider's code fails, returns invalid values or panics, and upgrades of old
//! states.

mod scripted;

use serde_json::json;
use tonic::Request;

use super::{Server, wire};
use crate::codec::to_msgpack;
use crate::proto::tfplugin6 as proto;
use crate::proto::tfplugin6::provider_server::Provider as _;
use crate::resource::Resource;
use crate::serve::Stop;
use crate::value::{IntoValue, Object, Type, Value};
use scripted::{NAME, Scripted};

fn server() -> Server<Scripted> {
    Server::new(Scripted, Stop::default())
}

fn ty() -> Type {
    Resource::schema(&Scripted).ty()
}

#[expect(clippy::unnecessary_wraps, reason = "messages have optional values")]
fn packed(object: Option<Object>) -> Option<proto::DynamicValue> {
    let value = object.map_or(Value::Null, Value::Object);
    Some(proto::DynamicValue { msgpack: to_msgpack(&value, &ty()).unwrap(), json: Vec::new() })
}

fn unpacked(value: Option<&proto::DynamicValue>) -> Option<Object> {
    wire::object("answer", value, &ty()).unwrap()
}

fn summaries(found: &[proto::Diagnostic]) -> Vec<&str> {
    found.iter().map(|it| it.summary.as_str()).collect()
}

/// Returns a configuration that contains only the script.
fn config(script: &str) -> Object {
    Object::new().with("script", script)
}

async fn planned(prior: Option<Object>, config: Object) -> proto::plan_resource_change::Response {
    let request = proto::plan_resource_change::Request {
        type_name: NAME.into(),
        prior_state: packed(prior),
        proposed_new_state: packed(Some(config.clone())),
        config: packed(Some(config)),
        prior_private: br#"{"kept":1}"#.to_vec(),
        ..Default::default()
    };
    server().plan_resource_change(Request::new(request)).await.unwrap().into_inner()
}

async fn applied(
    prior: Option<Object>,
    config: Option<Object>,
) -> proto::apply_resource_change::Response {
    let plan = match config.clone() {
        Some(config) => planned(prior.clone(), config).await.planned_state,
        None => packed(None),
    };
    let request = proto::apply_resource_change::Request {
        type_name: NAME.into(),
        prior_state: packed(prior),
        planned_state: plan,
        config: packed(config),
        planned_private: br#"{"kept":1}"#.to_vec(),
        ..Default::default()
    };
    server().apply_resource_change(Request::new(request)).await.unwrap().into_inner()
}

fn state(script: &str) -> Object {
    let state = config(script).with("id", "1").with("revision", 1).with("size", 3);
    state.with("rows", Value::list::<Value>([]))
}

#[tokio::test]
async fn failed_apply_keeps_existing_object_in_state() {
    // Name, prior state, configuration, expected state, and expected diagnostics.
    let (old, gone) = (Some(state("old")), None);
    let cases = [
        ("panic", gone.clone(), Some(config("panic")), gone.clone(), vec!["Provider panicked"]),
        ("panic", old.clone(), Some(config("panic")), old.clone(), vec!["Provider panicked"]),
        ("fail", gone.clone(), Some(config("fail")), gone.clone(), vec!["No"]),
        ("fail", old.clone(), Some(config("fail")), old, vec!["No"]),
        ("delete", Some(state("fail")), None, Some(state("fail")), vec!["No"]),
        ("gone", Some(state("fine")), None, gone.clone(), vec![]),
        ("half", gone.clone(), Some(config("half")), Some(state("half")), vec!["Half made"]),
        (
            "wrong identity",
            gone.clone(),
            Some(config("nobody")),
            Some(state("nobody")),
            vec!["Response does not match the schema"],
        ),
        ("fine", gone, Some(config("fine")), Some(state("fine")), vec![]),
    ];
    for (name, prior, wanted, kept, expected) in cases {
        let answer = applied(prior, wanted).await;
        assert_eq!(summaries(&answer.diagnostics), expected, "{name}");
        assert_eq!(unpacked(answer.new_state.as_ref()).map(plain), kept.map(plain), "{name}");
    }
}

/// Removes the value that each apply increments.
fn plain(mut object: Object) -> Object {
    object.remove("pass_wo");
    object
}

#[tokio::test]
async fn provider_that_violates_its_plan_is_reported() {
    for (script, expected, path) in [
        ("lie", "State differs from plan", "size"),
        ("unsure", "Unknown value in a response", "revision"),
        ("stray", "Response does not match the schema", "colour"),
    ] {
        let answer = applied(None, Some(config(script))).await;
        assert_eq!(summaries(&answer.diagnostics), [expected], "{script}");
        let attribute = answer.diagnostics[0].attribute.as_ref().unwrap();
        assert_eq!(attribute, &wire::attribute_path(&path.into()), "{script}");
        let kept = unpacked(answer.new_state.as_ref()).unwrap();
        assert_eq!(kept.value("id"), &"1".into_value(), "{script}: it exists");
    }
}

#[tokio::test]
async fn unreadable_plan_keeps_the_state() {
    let broken = proto::DynamicValue { msgpack: vec![0xc1], json: Vec::new() };
    let request = proto::apply_resource_change::Request {
        type_name: NAME.into(),
        prior_state: packed(Some(state("old"))),
        planned_state: Some(broken),
        ..Default::default()
    };
    let answer = server().apply_resource_change(Request::new(request)).await.unwrap().into_inner();
    assert_eq!(summaries(&answer.diagnostics), ["Cannot read the planned state"]);
    assert_eq!(answer.new_state, packed(Some(state("old"))));
}

#[tokio::test]
async fn unchanged_private_state_is_kept() {
    let kept = applied(None, Some(config("fine"))).await;
    assert_eq!(kept.private, br#"{"kept":1}"#);
    let changed = applied(None, Some(config("private"))).await;
    assert_eq!(changed.private, br#"{"mine":true}"#);
}

#[tokio::test]
async fn identity_is_read_from_state_attributes() {
    let identity = applied(None, Some(config("fine"))).await.new_identity.unwrap();
    let ty = Resource::identity(&Scripted).unwrap().ty();
    let identity = wire::object("identity", identity.identity_data.as_ref(), &ty).unwrap();
    assert_eq!(identity, Some(Object::new().with("id", "1")));
    assert_eq!(applied(Some(state("fine")), None).await.new_identity, None);
}

#[tokio::test]
async fn change_by_provider_code_makes_computed_values_unknown() {
    let plan = planned(Some(state("drift")), config("drift")).await;
    let values = unpacked(plan.planned_state.as_ref()).unwrap();
    assert_eq!(values.value("size"), &99.into_value());
    assert!(values.value("revision").is_unknown());
    assert_eq!(values.value("id"), &"1".into_value());
    let same = planned(Some(state("fine")), config("fine")).await;
    assert_eq!(unpacked(same.planned_state.as_ref()).map(plain), Some(plain(state("fine"))));
}

#[tokio::test]
async fn old_states_are_upgraded() {
    let today = json!({ "id": "1", "script": "fine", "size": 3, "dropped": [1] });
    let cases = [
        (2, today.to_string(), "fine", 3),
        (1, json!({ "id": "1", "name": "by schema", "size": 4 }).to_string(), "by schema", 4),
        (0, json!({ "whatever": { "it": "was raw" } }).to_string(), "was raw", 5),
    ];
    for (version, stored, script, size) in cases {
        let answer = upgraded(version, &stored).await;
        assert_eq!(summaries(&answer.diagnostics), [""; 0], "{version}");
        let values = unpacked(answer.upgraded_state.as_ref()).unwrap();
        assert_eq!(values.value("script"), &script.into_value(), "{version}");
        assert_eq!(values.value("size"), &size.into_value(), "{version}");
        // Absent in old states, or stored in the wrong form by an old provider.
        assert_eq!(values.value("rows"), &Value::list::<Value>([]), "{version}");
    }
}

#[tokio::test]
async fn unreadable_stored_state_is_explained() {
    let detail =
        async |version, stored: &str| upgraded(version, stored).await.diagnostics.remove(0).detail;
    insta::assert_snapshot!(detail(3, "{}").await, @"It has version 3, but this provider supports up to 2. Use a newer provider.");
    insta::assert_snapshot!(detail(-1, "{}").await, @"This provider cannot upgrade version -1 to 2.");
    insta::assert_snapshot!(detail(2, "{").await, @"invalid JSON at byte 1.");
    insta::assert_snapshot!(detail(2, r#"{"size":"many"}"#).await, @"size: expected number, found string.");
}

async fn upgraded(version: i64, stored: &str) -> proto::upgrade_resource_state::Response {
    let raw_state = Some(proto::RawState { json: stored.into(), ..Default::default() });
    let request =
        proto::upgrade_resource_state::Request { type_name: NAME.into(), version, raw_state };
    server().upgrade_resource_state(Request::new(request)).await.unwrap().into_inner()
}

#[tokio::test]
async fn old_identities_are_upgraded() {
    let identity = async |version, stored: serde_json::Value| {
        let raw = proto::RawState { json: stored.to_string().into(), ..Default::default() };
        let request = proto::upgrade_resource_identity::Request {
            type_name: NAME.into(),
            version,
            raw_identity: Some(raw),
        };
        let answer = server().upgrade_resource_identity(Request::new(request)).await.unwrap();
        let data = answer.into_inner().upgraded_identity.unwrap().identity_data;
        let ty = Resource::identity(&Scripted).unwrap().ty();
        wire::object("identity", data.as_ref(), &ty).unwrap().unwrap()
    };
    let today = Object::new().with("id", "1");
    assert_eq!(identity(1, json!({ "id": "1" })).await, today);
    assert_eq!(identity(0, json!({ "number": 1 })).await, today);
}

#[tokio::test]
async fn only_supported_foreign_states_are_moved() {
    let moved = async |source: &str| {
        let state = json!({ "label": "fine" }).to_string().into();
        let request = proto::move_resource_state::Request {
            source_type_name: source.into(),
            source_state: Some(proto::RawState { json: state, ..Default::default() }),
            target_type_name: NAME.into(),
            ..Default::default()
        };
        server().move_resource_state(Request::new(request)).await.unwrap().into_inner()
    };
    let taken = unpacked(moved("other_thing").await.target_state.as_ref()).unwrap();
    assert_eq!(taken.value("script"), &"fine".into_value());
    assert_eq!(summaries(&moved("other_else").await.diagnostics), ["Move is not supported"]);
}

#[tokio::test]
async fn write_only_values_require_supporting_terraform() {
    for (able, expected) in [(true, vec![]), (false, vec!["Terraform is too old"])] {
        let capabilities =
            proto::ClientCapabilities { write_only_attributes_allowed: able, ..Default::default() };
        let request = proto::validate_resource_config::Request {
            type_name: NAME.into(),
            config: packed(Some(config("fine").with("pass_wo", "hush"))),
            client_capabilities: Some(capabilities),
        };
        let answer = server().validate_resource_config(Request::new(request)).await.unwrap();
        assert_eq!(summaries(&answer.into_inner().diagnostics), expected, "{able}");
    }
}

#[tokio::test]
async fn all_schemas_are_valid() {
    let request = proto::get_provider_schema::Request::default();
    let answer = server().get_provider_schema(Request::new(request)).await.unwrap();
    let answer = answer.into_inner();
    assert_eq!(summaries(&answer.diagnostics), [""; 0]);
    assert_eq!(answer.resource_schemas[NAME].version, 2);
}
