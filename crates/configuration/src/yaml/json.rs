//! Any YAML as JSON, for importers.

use std::sync::Arc;

use serde_json::Value as Json;

use super::{Node, NodeValue, parse};
use crate::problem::Problem;
use crate::scalar::Scalar;

/// Reads the only document of a file as JSON. A number in another form than that of JSON stays a text, so
/// that a telephone number or a version keeps all its characters.
pub fn yaml_to_json(file: &str, text: &str) -> Result<Json, Problem> {
    parse(&Arc::from(file), text).map(json)
}

fn json(node: Node) -> Json {
    match node.value {
        NodeValue::Scalar(scalar) => value(scalar),
        NodeValue::List(nodes) => nodes.into_iter().map(json).collect(),
        NodeValue::Mapping(entries) => {
            entries.into_iter().map(|entry| (entry.key, json(entry.value))).collect()
        }
    }
}

fn value(scalar: Scalar) -> Json {
    match scalar {
        Scalar::Null => Json::Null,
        Scalar::Bool(is_on) => Json::Bool(is_on),
        Scalar::Integer(number, written) => number_or_text(number.into(), written),
        Scalar::Number(written) => number_or_text(written.parse::<f64>().ok().into(), written),
        Scalar::Text(text) => Json::String(text),
    }
}

fn number_or_text(number: Json, written: String) -> Json {
    let shown = number.to_string();
    if shown == written { number } else { Json::String(written) }
}
