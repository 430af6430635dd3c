//! Patterns for responses in scenarios (`clients/scenarios/README.md`).

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

/// Saved values by name.
pub(super) type Saved = BTreeMap<String, String>;

/// All patterns.
const NAMES: [&str; 6] = ["$matches", "$type", "$length", "$has", "$set", "$absent"];

/// Returns the first difference between a value and its pattern. `None` means that they match. A
/// missing field is not the same as null.
pub(super) fn difference(value: Option<&Value>, pattern: &Value, path: &str) -> Option<String> {
    let wrong = || {
        let shown = value.map_or_else(|| "not there".to_owned(), Value::to_string);
        Some(format!("{path} is {shown} and not {pattern}"))
    };
    match pattern {
        Value::Array(items) => {
            let values = value.and_then(Value::as_array);
            let Some(values) = values.filter(|it| it.len() == items.len()) else {
                return wrong();
            };
            let mut pairs = values.iter().zip(items).enumerate();
            pairs.find_map(|(at, (value, item))| {
                difference(Some(value), item, &format!("{path}[{at}]"))
            })
        }
        Value::Object(fields) if fields.keys().any(|name| name.starts_with('$')) => {
            let all = fields.iter().all(|(name, pattern)| matches(value, name, pattern));
            if all { None } else { wrong() }
        }
        Value::Object(fields) => {
            let Some(value) = value.filter(|it| it.is_object()) else {
                return wrong();
            };
            let mut each = fields.iter();
            each.find_map(|(name, item)| {
                difference(value.get(name), item, &format!("{path}.{name}"))
            })
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {
            if value == Some(pattern) { None } else { wrong() }
        }
    }
}

fn matches(value: Option<&Value>, name: &str, pattern: &Value) -> bool {
    let Some(value) = value else {
        assert!(NAMES.contains(&name), "unknown pattern {name}");
        return name == "$absent";
    };
    match name {
        "$matches" => jsonschema::is_valid(&json!({ "type": "string", "pattern": pattern }), value),
        "$type" => kind(value) == pattern,
        "$length" => {
            let length = value.as_array().map(Vec::len);
            let length = length.or_else(|| value.as_str().map(|it| it.chars().count()));
            length.is_some_and(|it| pattern == it)
        }
        "$has" => {
            let items = value.as_array().into_iter().flatten();
            items.into_iter().any(|item| difference(Some(item), pattern, "it").is_none())
        }
        "$set" => {
            let sorted = |list: &Value| {
                let mut items: Vec<_> =
                    list.as_array().unwrap().iter().map(Value::to_string).collect();
                items.sort();
                items
            };
            value.is_array() && sorted(value) == sorted(pattern)
        }
        "$absent" => false,
        name => panic!("unknown pattern {name}"),
    }
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

/// Replaces names in a value by their saved values.
pub(super) fn filled(value: &Value, saved: &Saved) -> Value {
    match value {
        Value::String(text) => Value::from(filled_text(text, saved)),
        Value::Array(items) => items.iter().map(|item| filled(item, saved)).collect(),
        Value::Object(fields) => {
            if let Some(repeat) = fields.get("$repeat").and_then(Value::as_array) {
                let count = usize::try_from(repeat[1].as_u64().unwrap()).unwrap();
                return Value::from(repeat[0].as_str().unwrap().repeat(count));
            }
            let fields = fields.iter().map(|(name, value)| (name.clone(), filled(value, saved)));
            Value::Object(fields.collect::<Map<_, _>>())
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
    }
}

fn filled_text(text: &str, saved: &Saved) -> String {
    let mut parts = text.split("${");
    let mut result = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (name, rest) = part.split_once('}').unwrap();
        result =
            result + saved.get(name).unwrap_or_else(|| panic!("no step saved `{name}`")) + rest;
    }
    result
}

/// Returns the text at a path such as `logs.0.id`.
pub(super) fn at(value: &Value, path: &str) -> String {
    let found = value.pointer(&format!("/{}", path.replace('.', "/")));
    let text = found.and_then(Value::as_str);
    text.unwrap_or_else(|| panic!("{path} not found in {value}")).to_owned()
}

#[test]
fn each_pattern_matches_only_its_values() {
    // All clients' tests use this table.
    let table = include_str!("../../../../clients/scenarios/schema/patterns.json");
    let rows: Vec<Value> = serde_json::from_str(table).unwrap();
    for row in &rows {
        let holds = difference(Some(&row["value"]), &row["pattern"], "it").is_none();
        assert_eq!(row["holds"], holds, "{row}");
    }
    for name in NAMES {
        assert!(table.contains(name), "no row uses {name}");
    }
}
