//! The JSON of the contract from the values of a form. The service validates it.

use rules::field::{Block, Field, Presence, Resource, Shape, json_name};
use serde_json::{Map, Value as Json, json};

use super::field_text::default_text;
use super::{Values, is_single};
use crate::time;

/// Returns a resource in the JSON of the contract. Empty inputs are left out, so that the service uses
/// its default. Switches are always included: a browser leaves out those that are off, and if nothing
/// was posted, they have their defaults.
pub(crate) fn resource(resource: &Resource, values: &Values) -> Map<String, Json> {
    let mut json = Map::new();
    let arguments = resource.fields.iter().filter(|field| field.presence != Presence::Output);
    for field in arguments {
        insert(&mut json, field, field.name, values);
    }
    for block in resource.blocks {
        if is_single(block) {
            if values.has_block(block) {
                let block_json = single_block(block, values);
                json.insert(json_name(block.name), Json::Object(block_json));
            }
            continue;
        }
        let rows: Vec<Json> = rows(block, block.name, values);
        if !rows.is_empty() {
            json.insert(json_name(block.name), Json::Array(rows));
        }
    }
    json
}

/// Returns a block that a resource has at most once, empty or not.
pub(crate) fn single_block(block: &Block, values: &Values) -> Map<String, Json> {
    let path = |name: &str| format!("{}.{name}", block.name);
    let mut json = Map::new();
    for field in block.fields {
        insert(&mut json, field, &path(field.name), values);
    }
    for inner in block.blocks {
        let rows = rows(inner, &path(inner.name), values);
        if !rows.is_empty() {
            json.insert(json_name(inner.name), Json::Array(rows));
        }
    }
    json
}

/// Returns the rows of a block at this path.
fn rows(block: &Block, path: &str, values: &Values) -> Vec<Json> {
    let row = |index: usize| {
        let mut json = Map::new();
        for field in block.fields {
            insert(&mut json, field, &format!("{path}[{index}].{}", field.name), values);
        }
        Json::Object(json)
    };
    (0..values.rows(path)).map(row).collect()
}

/// Adds the value of a field.
pub(super) fn insert(json: &mut Map<String, Json>, field: &Field, path: &str, values: &Values) {
    let given = values.first(path).unwrap_or_default();
    let is_empty = given.is_empty();
    let value = match field.shape {
        Shape::Bool => Json::Bool(values.is_on(path, default_text(field) == "true")),
        Shape::SetOfTags { .. } if is_empty => return,
        Shape::SetOf(_) | Shape::SetOfIds(_) | Shape::SetOfTags { .. } => json!(values.all(path)),
        Shape::ListOfDomains { .. } => json!(words(given)),
        _ if is_empty && !is_empty_text(field) => return,
        // The service explains what it expects instead of another text.
        Shape::Integer { .. } => given.trim().parse::<i64>().map_or(json!(given), |it| json!(it)),
        Shape::Instant => json!(instant(given)),
        _ => json!(given),
    };
    json.insert(json_name(field.name), value);
}

/// Returns whether an empty text is a value of the field, such as the target of an assertion.
const fn is_empty_text(field: &Field) -> bool {
    matches!(field.presence, Presence::Required) && matches!(field.shape.characters(), Some((0, _)))
}

fn words(text: &str) -> Vec<&str> {
    text.split([',', '\n', ' ']).map(str::trim).filter(|word| !word.is_empty()).collect()
}

/// Returns the value of `datetime-local`, which is in UTC, as RFC 3339. The service explains what it
/// expects instead of another text.
fn instant(given: &str) -> String {
    time::parse_input(given).map_or_else(|| given.to_owned(), |at| at.to_string())
}
