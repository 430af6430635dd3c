//! Formats values as JSON and as TypeScript literals: on one line if they fit, otherwise with a
//! line per field.

use serde_json::Value;

/// Maximum width of a line that can be broken.
pub(crate) const WIDTH: usize = 92;
/// Maximum number of objects, and of other values, shown of a list in a response.
const OBJECTS_MAX: usize = 1;
const VALUES_MAX: usize = 6;
/// Maximum number of characters shown of a text in a response.
const TEXT_MAX: usize = 160;
/// Placeholder for omitted values, printed without quotes.
const MORE: &str = "\u{0}…";

/// Language of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    Json,
    TypeScript,
}

/// Formats a value whose first line starts after `column` characters.
pub(crate) fn written(value: &Value, form: Form, column: usize) -> String {
    let mut text = String::new();
    write(value, form, 0, column, &mut text);
    text
}

fn write(value: &Value, form: Form, indent: usize, column: usize, text: &mut String) {
    let line = on_one_line(value, form);
    let simple = !holds_objects(value);
    if simple && column + line.chars().count() <= WIDTH || is_empty(value) {
        text.push_str(&line);
        return;
    }
    let (open, close) = if value.is_array() { ('[', ']') } else { ('{', '}') };
    let inner = indent + 2;
    let lines = members(value, form);
    let last = lines.len() - 1;
    text.push(open);
    for (at, (name, member)) in lines.into_iter().enumerate() {
        text.push('\n');
        text.push_str(&" ".repeat(inner));
        text.push_str(&name);
        write(member, form, inner, inner + name.chars().count() + 1, text);
        // JSON allows no comma after the last element, and none follows the placeholder.
        let more = member.as_str() == Some(MORE);
        if (at < last || form == Form::TypeScript) && !more {
            text.push(',');
        }
    }
    text.push('\n');
    text.push_str(&" ".repeat(indent));
    text.push(close);
}

/// Returns the elements of a list or the fields of an object, each with its prefix.
fn members(value: &Value, form: Form) -> Vec<(String, &Value)> {
    match value {
        Value::Array(items) => items.iter().map(|item| (String::new(), item)).collect(),
        Value::Object(fields) => {
            let named =
                fields.iter().map(|(name, value)| (format!("{}: ", key(name, form)), value));
            named.collect()
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {
            vec![(String::new(), value)]
        }
    }
}

fn on_one_line(value: &Value, form: Form) -> String {
    let joined = |parts: Vec<String>| parts.join(", ");
    match value {
        Value::String(text) if text == MORE => "…".to_owned(),
        Value::Array(items) => {
            format!("[{}]", joined(items.iter().map(|item| on_one_line(item, form)).collect()))
        }
        Value::Object(fields) if fields.is_empty() => "{}".to_owned(),
        Value::Object(fields) => {
            let field = |(name, value): (&String, &Value)| {
                format!("{}: {}", key(name, form), on_one_line(value, form))
            };
            format!("{{ {} }}", joined(fields.iter().map(field).collect()))
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value.to_string(),
    }
}

fn key(name: &str, form: Form) -> String {
    match form {
        Form::Json => format!("\"{name}\""),
        Form::TypeScript => name.to_owned(),
    }
}

/// Returns whether an object contains other objects, directly or in a list. It is easier to read on
/// several lines.
pub(crate) fn holds_objects(value: &Value) -> bool {
    let is_object = |value: &Value| value.as_object().is_some_and(|fields| !fields.is_empty());
    match value {
        Value::Object(fields) => fields.values().any(|value| {
            is_object(value) || value.as_array().is_some_and(|items| items.iter().any(is_object))
        }),
        Value::Array(items) => items.len() > 1 && items.iter().any(is_object),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Object(fields) => fields.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => true,
    }
}

/// Shortens a response: keeps the first object of a list, and the beginning of a long text.
pub(crate) fn shortened(value: &Value) -> Value {
    match value {
        Value::Array(items) => {
            let most = if items.iter().any(Value::is_object) { OBJECTS_MAX } else { VALUES_MAX };
            let mut kept: Vec<Value> = items.iter().take(most).map(shortened).collect();
            if items.len() > most {
                kept.push(Value::from(MORE));
            }
            Value::Array(kept)
        }
        Value::Object(fields) => {
            fields.iter().map(|(name, value)| (name.clone(), shortened(value))).collect()
        }
        Value::String(text) if text.chars().count() > TEXT_MAX => {
            Value::String(text.chars().take(TEXT_MAX).chain(['…']).collect())
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value.clone(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn request_is_formatted_for_people() {
        let request = json!({ "monitor": {
            "name": "API", "regions": ["fly-ams", "fly-iad"], "active": true,
            "headers": [{ "key": "a", "value": "b" }],
        }});
        assert_eq!(
            written(&request, Form::TypeScript, 0),
            "{\n  monitor: {\n    name: \"API\",\n    regions: [\"fly-ams\", \"fly-iad\"],\n    \
             active: true,\n    headers: [{ key: \"a\", value: \"b\" }],\n  },\n}"
        );
        assert_eq!(written(&json!({ "id": "mon_…" }), Form::Json, 0), r#"{ "id": "mon_…" }"#);
        let json = written(&request, Form::Json, 0);
        assert_eq!(serde_json::from_str::<Value>(&json).unwrap(), request);
    }

    #[test]
    fn long_response_ends_with_a_placeholder() {
        let answer =
            json!({ "logs": [{ "id": "1" }, { "id": "2" }], "codes": [1, 2, 3, 4, 5, 6, 7] });
        assert_eq!(
            written(&shortened(&answer), Form::Json, 0),
            "{\n  \"logs\": [\n    { \"id\": \"1\" },\n    …\n  ],\n  \"codes\": [1, 2, 3, 4, 5, 6, …]\n}"
        );
    }
}
