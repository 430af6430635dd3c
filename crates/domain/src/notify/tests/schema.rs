//! Webhooks match their JSON Schema. Validates the keywords that the schema uses, but is stricter:
//! the schema allows unknown fields for later versions, while an unknown field is an error here.

use serde_json::Value;

use super::fixtures::{a_digest, a_reminder, an_event, composed};
use crate::notify::{CloseReason, Event, EventBatch, EventKind, Message};

const SCHEMA: &str = include_str!("../../../../../docs/reference/webhook.schema.json");
/// Keywords that this validator checks, and keywords that only describe.
const CHECKED_KEYWORDS: [&str; 8] =
    ["type", "const", "enum", "required", "properties", "items", "minItems", "$ref"];
const ANNOTATIONS: [&str; 7] =
    ["$schema", "$id", "$defs", "title", "description", "format", "minimum"];

#[test]
fn every_kind_of_body_matches_the_schema() {
    let kinds = [EventKind::Error, EventKind::Degraded, EventKind::Recovered, EventKind::Test];
    let mut events: Vec<Event> = kinds.map(an_event).into();
    events.push(a_reminder());
    for closed in
        [CloseReason::Degraded, CloseReason::Paused, CloseReason::Deleted, CloseReason::Resolved]
    {
        events.push(Event { closed: Some(closed), ..an_event(EventKind::Recovered) });
    }
    for event in &events {
        assert_fits(&sent(EventBatch::One(event)));
    }
    assert_fits(&sent(EventBatch::Digest(&a_digest())));
}

#[test]
fn unknown_or_missing_fields_do_not_match() {
    let fine = sent(EventBatch::One(&an_event(EventKind::Error)));
    for (pointer, value) in [
        ("/version", Value::from(2)),
        ("/type", Value::from("monitor.unknown")),
        ("/data/events", Value::Array(Vec::new())),
        ("/data/events/0/reminder", Value::from("0")),
        ("/data/events/0/monitor", Value::Null),
    ] {
        let mut wrong = fine.clone();
        *wrong.pointer_mut(pointer).unwrap() = value;
        assert!(mismatch(&wrong).is_some(), "{pointer}");
    }
    let mut more = fine.clone();
    more["data"]["more"] = Value::Null;
    assert!(mismatch(&more).is_some());
    let mut less = fine;
    less["data"].as_object_mut().unwrap().remove("channel");
    assert!(mismatch(&less).is_some());
}

#[test]
fn schema_uses_only_supported_keywords() {
    fn walk(schema: &Value) {
        for (word, inner) in schema.as_object().unwrap() {
            assert!(
                CHECKED_KEYWORDS.contains(&word.as_str()) || ANNOTATIONS.contains(&word.as_str()),
                "{word}"
            );
            match word.as_str() {
                "properties" | "$defs" => inner.as_object().unwrap().values().for_each(walk),
                "items" => walk(inner),
                _ => {}
            }
        }
    }
    walk(&schema());
}

/// Panics if `body` does not match the schema.
pub(crate) fn assert_fits(body: &Value) {
    assert_eq!(mismatch(body), None);
}

fn sent(batch: EventBatch<'_>) -> Value {
    match composed(rules::ProviderType::Webhook, batch, "https://status.example.com/") {
        Message::Http(message) => serde_json::from_slice(&message.body).unwrap(),
        Message::Mail(_) => panic!("a webhook is not an email"),
    }
}

fn schema() -> Value {
    serde_json::from_str(SCHEMA).unwrap()
}

/// Describes the first mismatch of `body`, if any.
fn mismatch(body: &Value) -> Option<String> {
    let schema = schema();
    wrong(&schema, &schema, body, "")
}

fn wrong(root: &Value, schema: &Value, value: &Value, at: &str) -> Option<String> {
    if let Some(name) = schema.get("$ref").and_then(Value::as_str) {
        let target = root.pointer(name.trim_start_matches('#')).unwrap();
        return wrong(root, target, value, at);
    }
    let is_type = |word: &Value| match word.as_str().unwrap() {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_i64() || value.is_u64(),
        "string" => value.is_string(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        other => panic!("the schema has a type `{other}`"),
    };
    let types = schema.get("type").map(|types| match types {
        Value::Array(types) => types.iter().any(is_type),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Object(_) => {
            is_type(types)
        }
    });
    let is_const = schema.get("const").is_none_or(|only| only == value);
    let known = schema.get("enum").and_then(Value::as_array);
    let is_known = known.is_none_or(|known| known.contains(value));
    if types == Some(false) || !is_const || !is_known {
        return Some(format!("{at} is {value}"));
    }
    match value {
        Value::Object(fields) => wrong_fields(root, schema, fields, at),
        Value::Array(items) => {
            let least = schema.get("minItems").and_then(Value::as_u64).unwrap_or(0);
            if (items.len() as u64) < least {
                return Some(format!("{at} is too short"));
            }
            let inner = schema.get("items")?;
            items.iter().find_map(|item| wrong(root, inner, item, &format!("{at}/item")))
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => None,
    }
}

fn wrong_fields(
    root: &Value,
    schema: &Value,
    fields: &serde_json::Map<String, Value>,
    at: &str,
) -> Option<String> {
    let required = schema.get("required").and_then(Value::as_array);
    let mut names = required.into_iter().flatten().filter_map(Value::as_str);
    if let Some(missing) = names.find(|name| !fields.contains_key(*name)) {
        return Some(format!("{at}/{missing} is missing"));
    }
    fields.iter().find_map(|(name, field)| {
        match schema.get("properties").and_then(|properties| properties.get(name)) {
            Some(inner) => wrong(root, inner, field, &format!("{at}/{name}")),
            None => Some(format!("{at}/{name} is unknown")),
        }
    })
}
