//! Writes JSON as YAML for people: mappings in blocks, lists of scalars in one line.

use serde_json::Value as Json;

use crate::scalar::written;

/// Spaces of a level.
const INDENT: usize = 2;
/// Key of a value that a variable has.
const ENV: &str = "env";

/// Writes a value as YAML.
pub fn to_yaml(value: &Json) -> String {
    let mut text = String::new();
    match value {
        Json::Object(entries) if !entries.is_empty() => mapping(&mut text, value, 0),
        Json::Null
        | Json::Bool(_)
        | Json::Number(_)
        | Json::String(_)
        | Json::Array(_)
        | Json::Object(_) => {
            text.push_str(&in_line(value));
            text.push('\n');
        }
    }
    text
}

/// Writes the entries of an object, one per line.
fn mapping(text: &mut String, value: &Json, indent: usize) {
    for (key, value) in value.as_object().into_iter().flatten() {
        text.push_str(&" ".repeat(indent));
        entry(text, key, value, indent);
    }
}

/// Writes an entry whose line is indented already.
fn entry(text: &mut String, key: &str, value: &Json, indent: usize) {
    text.push_str(&written(key));
    text.push(':');
    match value {
        Json::Object(entries) if !entries.is_empty() && !is_variable(value) => {
            text.push('\n');
            mapping(text, value, indent + INDENT);
        }
        Json::Array(elements) if elements.iter().any(Json::is_object) => {
            text.push('\n');
            for element in elements {
                list_element(text, element, indent + INDENT);
            }
        }
        Json::Null
        | Json::Bool(_)
        | Json::Number(_)
        | Json::String(_)
        | Json::Array(_)
        | Json::Object(_) => {
            text.push(' ');
            text.push_str(&in_line(value));
            text.push('\n');
        }
    }
}

fn list_element(text: &mut String, element: &Json, indent: usize) {
    text.push_str(&" ".repeat(indent));
    text.push_str("- ");
    let entries = element.as_object().filter(|entries| !entries.is_empty());
    let Some(entries) = entries else {
        text.push_str(&in_line(element));
        text.push('\n');
        return;
    };
    for (index, (key, value)) in entries.iter().enumerate() {
        if index > 0 {
            text.push_str(&" ".repeat(indent + INDENT));
        }
        entry(text, key, value, indent + INDENT);
    }
}

fn in_line(value: &Json) -> String {
    match value {
        Json::String(text) => written(text),
        Json::Array(elements) => {
            // A comma ends an element in a list of one line, and `written` quotes those that have one.
            let elements: Vec<String> = elements.iter().map(in_line).collect();
            format!("[{}]", elements.join(", "))
        }
        Json::Object(entries) => {
            let entries: Vec<String> = entries
                .iter()
                .map(|(key, value)| format!("{}: {}", written(key), in_line(value)))
                .collect();
            format!("{{{}}}", entries.join(", "))
        }
        Json::Null => "null".to_owned(),
        Json::Bool(_) | Json::Number(_) => value.to_string(),
    }
}

fn is_variable(value: &Json) -> bool {
    value.as_object().is_some_and(|entries| entries.len() == 1 && entries.contains_key(ENV))
}
