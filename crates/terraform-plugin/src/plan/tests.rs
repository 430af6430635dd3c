//! Examples of plans.

use std::sync::Arc;

use super::{check_plan, check_state, propose, replacements};
use crate::Path;
use crate::schema::{Attribute, Block, Nesting, Presence, Replace, Schema};
use crate::value::{IntoValue, Object, Type, Value};

mod properties;

/// Returns a complex schema: defaults, computed and derived attributes, blocks with defaults and
/// computed parts.
fn schema() -> Schema {
    let part = |block: Block| {
        block
            .attribute("key", Attribute::required(Type::String))
            .attribute("weight", Attribute::optional(Type::Number).default(1))
            .attribute("id", Attribute::computed(Type::String).use_state_for_unknown())
    };
    Schema::new("A note.")
        .attribute("id", Attribute::computed(Type::String).use_state_for_unknown())
        .attribute("status", Attribute::computed(Type::String))
        .attribute("name", Attribute::required(Type::String))
        .attribute("kind", Attribute::required(Type::String).requires_replace())
        .attribute("description", Attribute::optional(Type::String))
        .attribute("columns", Attribute::optional(Type::Number).default(45))
        .attribute("secret", Attribute::optional(Type::String).write_only())
        .attribute(
            "lines",
            Attribute::optional_computed(Type::Number).derive(["columns"], |plan| {
                plan.get::<i64>("columns").map_or(Value::UNKNOWN, |it| (it * 2).into_value())
            }),
        )
        .block("rows", part(Block::list()))
        .block("parts", part(Block::set()))
}

fn config() -> Object {
    let part = |key: &str| Value::object([("key", key.into_value())]);
    Object::new()
        .with("name", "api")
        .with("kind", "http")
        .with("rows", vec![part("a"), part("b")])
        .with("parts", Value::set([part("x"), part("y")]))
}

/// Returns the state after an apply: every unknown value is set.
fn settle(plan: &Object) -> Object {
    fn known(value: &Value, name: &str) -> Value {
        if let Some(object) = value.as_object() {
            return Value::Object(settle(object));
        }
        if let Some(elements) = value.as_map() {
            let known = elements.iter().map(|(key, each)| (key.clone(), known(each, name)));
            return Value::Map(known.collect());
        }
        let elements = value.elements().iter().map(|each| known(each, name));
        if value.is_unknown() {
            return format!("the {name}").into_value();
        }
        if matches!(value, Value::Set(_)) {
            return Value::Set(elements.collect());
        }
        if value.count().is_some() { Value::List(elements.collect()) } else { value.clone() }
    }
    plan.iter().map(|(name, value)| (name.clone(), known(value, name))).collect()
}

#[test]
fn creation_plans_defaults_unknown_and_derived_values() {
    let plan = propose(&schema().body, &config(), None);
    assert_eq!(plan.value("columns"), &45.into_value());
    assert_eq!(plan.value("lines"), &90.into_value());
    assert!(plan.value("id").is_unknown() && plan.value("status").is_unknown());
    let row = plan.get::<Vec<Object>>("rows").unwrap().remove(1);
    assert_eq!(row.value("weight"), &1.into_value());
    assert!(row.value("id").is_unknown());
}

#[test]
fn unchanged_configuration_plans_the_state() {
    let body = schema().body;
    let state = settle(&propose(&body, &config(), None));
    assert_eq!(propose(&body, &config(), Some(&state)), state);
}

#[test]
fn write_only_value_is_not_a_change() {
    let body = schema().body;
    let state = settle(&propose(&body, &config(), None));
    let plan = propose(&body, &config().with("secret", "hush"), Some(&state));
    assert_eq!(plan, state);
    assert!(plan.value("secret").is_null());
}

#[test]
fn update_keeps_id_and_makes_status_unknown() {
    let body = schema().body;
    let state = settle(&propose(&body, &config(), None));
    let plan = propose(&body, &config().with("columns", 10), Some(&state));
    assert_eq!(plan.value("id"), state.value("id"));
    assert!(plan.value("status").is_unknown());
    assert_eq!(plan.value("lines"), &20.into_value());
}

#[test]
fn derived_value_drift_is_a_change() {
    let body = schema().body;
    let state = settle(&propose(&body, &config(), None)).with("lines", 7);
    let plan = propose(&body, &config(), Some(&state));
    assert_eq!(plan.value("lines"), &90.into_value());
    assert!(plan.value("status").is_unknown());
}

#[test]
fn derived_value_is_unknown_until_its_sources() {
    let plan = propose(&schema().body, &config().with("columns", Value::UNKNOWN), None);
    assert!(plan.value("lines").is_unknown());
}

#[test]
fn unchanged_set_elements_keep_computed_values() {
    let body = schema().body;
    let state = settle(&propose(&body, &config(), None));
    let part = |key: &str| Value::object([("key", key.into_value())]);
    let changed = config().with("parts", Value::set([part("y"), part("a new one")]));
    let plan = propose(&body, &changed, Some(&state));
    let ids = plan.get::<Vec<Object>>("parts").unwrap().into_iter();
    let ids: Vec<_> =
        ids.map(|part| (part.get("key").unwrap(), part.value("id").clone())).collect();
    let expected: [(String, Value); 2] =
        [("a new one".into(), Value::UNKNOWN), ("y".into(), "the id".into_value())];
    assert!(expected.iter().all(|pair| ids.contains(pair)), "{ids:?}");
}

#[test]
fn unknown_block_stays_unknown() {
    let plan = propose(&schema().body, &config().with("rows", Value::UNKNOWN), None);
    assert!(plan.value("rows").is_unknown());
}

#[test]
fn removed_optional_value_plans_null() {
    let body = schema().body;
    let state = settle(&propose(&body, &config().with("description", "old"), None));
    let plan = propose(&body, &config(), Some(&state));
    assert!(plan.value("description").is_null());
    assert_ne!(plan, state);
}

#[test]
fn only_replacing_changes_are_listed() {
    let body = schema().body;
    let state = settle(&propose(&body, &config(), None));
    let change = |config: Object| {
        let plan = propose(&body, &config, Some(&state));
        replacements(&body, &config, &state, &plan)
    };
    assert_eq!(change(config().with("name", "other")), []);
    assert_eq!(change(config().with("kind", "tcp")), [Path::from("kind")]);
}

#[test]
fn nested_attributes_are_completed_kept_and_replaced() {
    let parts = || {
        [
            ("key", Attribute::required(Type::String).requires_replace()),
            ("weight", Attribute::optional(Type::Number).default(1)),
            ("id", Attribute::computed(Type::String).use_state_for_unknown()),
        ]
    };
    let part = |key: &str| Value::object([("key", key.into_value())]);
    let in_map = |parts: &[(&str, Value)]| {
        let parts = parts.iter().map(|(key, part)| ((*key).to_owned(), part.clone()));
        Value::Map(parts.collect())
    };
    let (a, b, c) = (part("a"), part("b"), part("c"));
    let cases = [
        (Nesting::Single, a.clone(), c.clone(), "it.key"),
        (Nesting::List, Value::list([&a, &b]), Value::list([&a, &c]), "it[1].key"),
        (Nesting::Set, Value::set([&a, &b]), Value::set([&a, &c]), "it"),
        (Nesting::Map, in_map(&[("x", a.clone())]), in_map(&[("x", c)]), "it[\"x\"].key"),
    ];
    for (nesting, before, after, path) in cases {
        let it = Attribute::nested(nesting, Presence::Optional, parts());
        let body = Schema::new("").attribute("it", it).body;
        let plan = propose(&body, &Object::new().with("it", before.clone()), None);
        assert!(plan.has_unknown(), "{nesting:?}");
        let state = settle(&plan);
        let config = Object::new().with("it", before);
        assert_eq!(propose(&body, &config, Some(&state)), state, "{nesting:?}");
        let config = Object::new().with("it", after);
        let plan = propose(&body, &config, Some(&state));
        let paths = replacements(&body, &config, &state, &plan);
        let paths: Vec<String> = paths.iter().map(Path::to_string).collect();
        assert_eq!(paths, [path], "{nesting:?}");
    }
}

#[test]
fn rules_within_a_set_receive_the_set() {
    let fewer = |old: &Value, new: &Value| new.count() < old.count();
    let key = || Attribute::required(Type::String);
    let rules = [
        (Replace::Never, [false, false]),
        (Replace::Always, [true, true]),
        (Replace::IfConfigured, [true, true]),
        (Replace::If(Arc::new(fewer)), [true, false]),
    ];
    let part = |key: &str| Value::object([("key", key.into_value())]);
    for (rule, expected) in rules {
        let direct = [("key", key().replace(rule.clone()))];
        let deep = Attribute::nested(Nesting::Single, Presence::Optional, direct.clone());
        for (attributes, is_deep) in [(direct, false), ([("inner", deep)], true)] {
            let it = Attribute::nested(Nesting::Set, Presence::Optional, attributes);
            let body = Schema::new("").attribute("it", it).body;
            let part = |key: &&str| {
                if is_deep { Value::object([("inner", part(key))]) } else { part(key) }
            };
            let of = |keys: &[&str]| Object::new().with("it", Value::set(keys.iter().map(part)));
            let (prior, plans) = (of(&["a", "b"]), [of(&["a"]), of(&["a", "c"])]);
            let found = plans.map(|plan| !replacements(&body, &plan, &prior, &plan).is_empty());
            assert_eq!(found, expected, "{rule:?}, deep: {is_deep}");
        }
    }
}

#[test]
fn state_that_differs_from_plan_is_reported() {
    let body = schema().body;
    let plan = propose(&body, &config(), None);
    let state = settle(&plan);
    assert_eq!(check_state(&body, &plan, &state), []);
    let broken = state.clone().with("columns", 1).with("rows", Value::list::<Value>([]));
    let shown: Vec<String> = check_state(&body, &plan, &broken)
        .into_iter()
        .map(|it| format!("{}: {}", it.path.unwrap_or_default(), it.detail))
        .collect();
    insta::assert_snapshot!(shown.join("\n"), @r"
    columns: the plan and the state after apply differ: 45 became 1. This is a bug in the provider.
    rows: the plan and the state after apply differ: planned 2 elements, got 0 elements. This is a bug in the provider.
    ");
}

#[test]
fn values_within_sensitive_attribute_are_hidden() {
    let word = || ("word", Attribute::optional(Type::String));
    let inner = Attribute::nested(Nesting::Single, Presence::Optional, [word()]);
    let it = Attribute::nested(Nesting::List, Presence::Optional, [word(), ("inner", inner)]);
    let body = Schema::new("").attribute("it", it.sensitive()).body;
    let with = |text: &str| {
        let inner = Object::new().with("word", text);
        let it = inner.clone().with("inner", Value::Object(inner));
        Object::new().with("it", vec![Value::Object(it)])
    };
    let found = check_state(&body, &with("hush"), &with("hushed"));
    assert_eq!(found.len(), 2);
    for found in found {
        assert!(found.detail.contains("the values are sensitive"), "{}", found.detail);
    }
}

#[test]
fn plan_that_contradicts_configuration_is_reported() {
    let body = schema().body;
    let plan = propose(&body, &config(), None);
    assert_eq!(check_plan(&body, &config(), None, &plan), []);
    let found =
        check_plan(&body, &config(), None, &plan.with("name", "other").with("description", "x"));
    let paths: Vec<_> = found.into_iter().filter_map(|it| it.path).collect();
    assert_eq!(paths, [Path::from("description"), Path::from("name")]);
}
