//! Validates webhooks against the published schema, as a receiver would. Supports the part of JSON
//! Schema that the schema uses. Accepts unknown fields, because later versions may add some.

use std::sync::LazyLock;

use serde_json::Value;

use super::validation::is_instant;

static SCHEMA: LazyLock<Value> = LazyLock::new(|| {
    let text = include_str!("../../../../docs/reference/webhook.schema.json");
    serde_json::from_str(text).expect("the schema is JSON")
});

/// Returns the position and the kind of the first mismatch.
pub(super) fn mismatch(body: &Value) -> Option<String> {
    wrong(&SCHEMA, body, "")
}

fn wrong(schema: &Value, value: &Value, at: &str) -> Option<String> {
    if let Some(name) = schema.get("$ref").and_then(Value::as_str) {
        let target =
            SCHEMA.pointer(name.trim_start_matches('#')).expect("references in the schema resolve");
        return wrong(target, value, at);
    }
    let is_typed = schema.get("type").is_none_or(|types| match types.as_str() {
        Some(word) => is_a(value, word),
        None => array(types).iter().any(|word| is_a(value, word.as_str().unwrap_or_default())),
    });
    let is_dated = schema.get("format").is_none() || value.as_str().is_none_or(is_instant);
    let is_only = schema.get("const").is_none_or(|only| only == value);
    let is_known = schema.get("enum").is_none_or(|known| array(known).contains(value));
    let fits = is_typed && is_dated && is_only && is_known;
    if !fits {
        return Some(format!("{at} is {value}"));
    }
    if let Some(names) = schema.get("required") {
        let missing =
            array(names).iter().filter_map(Value::as_str).find(|it| value.get(it).is_none());
        if let Some(name) = missing {
            return Some(format!("{at}/{name} is missing"));
        }
    }
    if let Some(properties) = schema.get("properties").and_then(Value::as_object) {
        return properties
            .iter()
            .find_map(|(name, inner)| wrong(inner, value.get(name)?, &format!("{at}/{name}")));
    }
    let inner = schema.get("items")?;
    let least = schema.get("minItems").and_then(Value::as_u64).unwrap_or(0);
    let items = array(value);
    if (items.len() as u64) < least {
        return Some(format!("{at} is too short"));
    }
    items.iter().find_map(|item| wrong(inner, item, &format!("{at}/item")))
}

fn array(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn is_a(value: &Value, word: &str) -> bool {
    match word {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_i64() || value.is_u64(),
        "string" => value.is_string(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        other => panic!("the schema has a type `{other}`"),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn mismatch_is_named() {
        let mut body = json!({
            "version": 1, "type": "channel.test", "timestamp": "2026-11-21T00:00:00Z", "later": 1,
            "data": { "channel": "chn_1", "link": null, "events": [] },
        });
        assert_eq!(mismatch(&body).as_deref(), Some("/data/events is too short"));
        body["data"]["events"] = json!([{}]);
        assert_eq!(mismatch(&body).as_deref(), Some("/data/events/item/event is missing"));
        body["timestamp"] = json!("today");
        assert_eq!(mismatch(&body).as_deref(), Some("/timestamp is \"today\""));
        body["version"] = json!(2);
        assert_eq!(mismatch(&body).as_deref(), Some("/version is 2"));
    }
}
