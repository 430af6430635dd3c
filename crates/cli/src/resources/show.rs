//! Resources as tables for people, by the tables of `rules`. Hides secrets as from read keys.

use contract::{SecretVisibility, encode_endpoint, encode_text, encode_url};
use rules::field::{Field, Redaction, Resource, Shape, json_name};
use serde_json::Value as Json;

use crate::{output, rows, time};

/// Returns the properties of a resource, one per row.
pub(crate) fn lines(table: &'static Resource, json: &Json) -> Vec<[String; 2]> {
    let label = |name: &str| name.replace('_', " ");
    let mut lines = vec![["id".to_owned(), json["id"].as_str().unwrap_or_default().to_owned()]];
    for field in table.fields.iter().chain(table.beyond).filter(|field| field.name != "id") {
        let value = &json[json_name(field.name)];
        if !is_empty(value) {
            lines.push([label(field.name), shown(field, value)]);
        }
    }
    for block in table.blocks {
        for row in json[json_name(block.name)].as_array().into_iter().flatten() {
            lines.push([label(block.name), rows::text(block, row)]);
        }
    }
    lines
}

/// Returns a list as a table. `columns` are headings with their fields.
pub(super) fn table(columns: &[(&str, &str)], resources: &[Json]) -> String {
    let head = columns.iter().map(|(head, _)| (*head).to_owned()).collect();
    let row = |it: &Json| columns.iter().map(|(_, field)| cell(field, &it[*field])).collect();
    let rows: Vec<Vec<String>> = std::iter::once(head).chain(resources.iter().map(row)).collect();
    output::table_of(&rows)
}

/// Formats a value of a list.
fn cell(field: &str, value: &Json) -> String {
    if let Some(text) = value.as_str() {
        let is_time = field.ends_with("At") || field == "since";
        return if is_time { time::shown(text) } else { text.to_owned() };
    }
    match value {
        Json::Null => String::new(),
        Json::Bool(is_on) => yes_or_no(*is_on),
        Json::Array(all) => all.iter().filter_map(Json::as_str).collect::<Vec<_>>().join(", "),
        Json::Number(_) | Json::String(_) | Json::Object(_) => value.to_string(),
    }
}

fn yes_or_no(is_on: bool) -> String {
    if is_on { "yes" } else { "no" }.to_owned()
}

fn is_empty(value: &Json) -> bool {
    value.is_null()
        || value.as_array().is_some_and(Vec::is_empty)
        || value.as_str().is_some_and(str::is_empty)
}

fn shown(field: &Field, value: &Json) -> String {
    if let Some(text) = value.as_str() {
        return shown_text(field, text);
    }
    if let Some(is_on) = value.as_bool() {
        return yes_or_no(is_on);
    }
    match value.as_array() {
        Some(all) => all.iter().filter_map(Json::as_str).collect::<Vec<_>>().join(", "),
        None => value.to_string(),
    }
}

fn shown_text(field: &Field, text: &str) -> String {
    let secrets = SecretVisibility::Redacted;
    if field.shape == Shape::Instant {
        return time::shown(text);
    }
    match field.redaction {
        Redaction::Absent => "…".to_owned(),
        Redaction::Text => encode_text(text, secrets),
        Redaction::Path => encode_endpoint(text, secrets),
        Redaction::None if field.sensitive => "…".to_owned(),
        Redaction::None if matches!(field.shape, Shape::HttpUrl { .. }) => {
            encode_url(text, secrets)
        }
        Redaction::None => text.to_owned(),
    }
}
