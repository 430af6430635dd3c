//! Converts between Terraform's values and the JSON of the wire. The table of a resource decides about names,
//! lists, sets and blocks. Validation belongs to `validate`, plans to `resource`.

use contract::rpc::FieldViolation;
use rules::field::{Block, Field, Presence, Resource, Shape, ValueType, json_name};
use serde_json::{Map, Value as Json};
use terraform_plugin::{Object, Path, Value};

/// Prefix on the wire of the effective value of a field that the service computes.
const EFFECTIVE: &str = "effective_";

/// Encodes the arguments, blocks and id of `resource`. Leaves out null and unknown values.
pub fn encode(table: &Resource, resource: &Object) -> Json {
    let mut json = encode_fields(table.fields, resource);
    encode_blocks(table.blocks, resource, &mut json);
    if let Some(id) = resource.value("id").as_str() {
        json.insert("id".to_owned(), id.into());
    }
    Json::Object(json)
}

/// Decodes the attributes and blocks of a resource. Absent values are null; lists and sets are never null.
pub fn decode(table: &Resource, json: &Json) -> Object {
    let mut object = decode_fields(table.fields, json);
    decode_blocks(table.blocks, json, &mut object);
    object
}

/// Returns the path of a field that the service names by its path from the request.
pub fn violation_path(violation: &FieldViolation) -> Path {
    // Only the resource itself has fields in a request.
    let within = violation.field.split_once('.').map_or("", |(_, within)| within);
    parse_path(within)
}

/// Returns the path that a violation of `rules` names, such as `headers[2].key`. A block that may be
/// given once has no index there (`webhook.endpoint`), and is the first of its list for Terraform.
pub fn parse_path(field: &str) -> Path {
    let mut path = Path::root();
    let mut parts = field.split('.').filter(|part| !part.is_empty()).peekable();
    while let Some(part) = parts.next() {
        let (name, indexes) = part.split_once('[').unwrap_or((part, ""));
        path = path.name(name);
        if indexes.is_empty() && parts.peek().is_some() {
            path = path.index(0);
        }
        for index in indexes.split(['[', ']']).filter_map(|index| index.parse().ok()) {
            path = path.index(index);
        }
    }
    path
}

/// Returns whether the wire has one object for a block, not a list.
pub fn is_single(block: &Block) -> bool {
    block.max == Some(1)
}

fn encode_fields(fields: &[Field], object: &Object) -> Map<String, Json> {
    let arguments = fields.iter().filter(|field| field.presence != Presence::Output);
    arguments
        .filter_map(|field| Some((json_name(field.name), encode_value(object.value(field.name))?)))
        .collect()
}

fn encode_blocks(blocks: &[Block], object: &Object, json: &mut Map<String, Json>) {
    for block in blocks {
        let one = |value: &Value| {
            let object = value.as_object()?;
            let mut json = encode_fields(block.fields, object);
            encode_blocks(block.blocks, object, &mut json);
            Some(Json::Object(json))
        };
        let given = object.value(block.name).elements();
        let written = if is_single(block) {
            given.first().and_then(one)
        } else {
            Some(given.iter().filter_map(one).collect())
        };
        json.extend(written.map(|written| (json_name(block.name), written)));
    }
}

fn encode_value(value: &Value) -> Option<Json> {
    match value {
        Value::Bool(flag) => Some((*flag).into()),
        Value::Number(number) => number.as_i64().map(Json::from),
        Value::String(text) => Some(text.clone().into()),
        Value::List(_) | Value::Set(_) | Value::Tuple(_) => {
            Some(value.elements().iter().filter_map(encode_value).collect())
        }
        Value::Null | Value::Unknown(_) | Value::Map(_) | Value::Object(_) | Value::Dynamic(..) => {
            None
        }
    }
}

fn decode_fields(fields: &[Field], json: &Json) -> Object {
    let read = |field: &Field| {
        let mut given = &json[json_name(field.name)];
        let effective;
        if given.is_null() && field.presence == Presence::Computed {
            effective = json_name(&format!("{EFFECTIVE}{}", field.name));
            given = &json[effective];
        }
        (field.name.to_owned(), decode_value(field.shape, given))
    };
    fields.iter().map(read).collect()
}

fn decode_blocks(blocks: &[Block], json: &Json, object: &mut Object) {
    for block in blocks {
        let one = |json: &Json| {
            let mut inner = decode_fields(block.fields, json);
            decode_blocks(block.blocks, json, &mut inner);
            Value::Object(inner)
        };
        let given = &json[json_name(block.name)];
        let read = if !is_single(block) {
            elements(given).iter().map(one).collect()
        } else if given.is_object() {
            vec![one(given)]
        } else {
            Vec::new()
        };
        object.set(block.name, Value::List(read));
    }
}

fn decode_value(shape: Shape, json: &Json) -> Value {
    match shape.value_type() {
        ValueType::Text => json.as_str().map_or(Value::Null, |text| Value::String(text.to_owned())),
        ValueType::Integer => {
            json.as_i64().map_or(Value::Null, |number| Value::Number(number.into()))
        }
        ValueType::Bool => json.as_bool().map_or(Value::Null, Value::Bool),
        ValueType::SetOfTexts => Value::set(texts(json)),
        ValueType::ListOfTexts => Value::list(texts(json)),
        ValueType::ListOf(fields) => {
            let objects =
                elements(json).iter().map(|json| Value::Object(decode_fields(fields, json)));
            Value::List(objects.collect())
        }
    }
}

fn texts(json: &Json) -> impl Iterator<Item = &str> {
    elements(json).iter().filter_map(Json::as_str)
}

/// Returns the elements of a list; none if it is absent.
pub fn elements(json: &Json) -> &[Json] {
    json.as_array().map_or(&[], Vec::as_slice)
}

#[cfg(test)]
mod tests {
    use rules::tables::{HTTP_MONITOR, NOTIFICATION};
    use serde_json::json;

    use super::*;

    #[test]
    fn encoded_monitor_decodes_equal() {
        let wire = json!({
            "id": "mon_1", "name": "API", "url": "https://example.com", "periodicity": "30s",
            "method": "GET", "body": "", "timeout": 0, "degradedAt": 0, "retry": 0,
            "followRedirects": false, "active": true, "public": false, "description": "",
            "clientCertificate": "-----BEGIN", "clientKey": "-----BEGIN", "tags": ["Prod"], "regions": ["fly-ams"],
            "headers": [{"key": "B", "value": ""}, {"key": "A", "value": "1"}],
            "statusCodeAssertions": [{"target": 200, "comparator": "eq"}],
            "bodyAssertions": [], "jsonAssertions": [], "headerAssertions": [],
        });
        let object = decode(&HTTP_MONITOR, &wire);
        assert_eq!(object.value("retry"), &Value::Number(0.into()));
        assert_eq!(object.value("status"), &Value::Null);
        assert_eq!(encode(&HTTP_MONITOR, &object), wire);
    }

    #[test]
    fn effective_value_fills_an_absent_one() {
        let object = decode(&HTTP_MONITOR, &json!({"effectiveDegradedAt": 30_000}));
        assert_eq!(object.value("degraded_at"), &Value::Number(30_000.into()));
        let object = decode(&HTTP_MONITOR, &json!({"degradedAt": 5, "effectiveDegradedAt": 5}));
        assert_eq!(object.value("degraded_at"), &Value::Number(5.into()));
    }

    #[test]
    fn single_block_decodes_as_a_list() {
        let wire = json!({"webhook": {"endpoint": "https://example.com", "headers": []}});
        let object = decode(&NOTIFICATION, &wire);
        assert_eq!(object.value("webhook").count(), Some(1));
        assert_eq!(object.value("ntfy").count(), Some(0));
        let written = encode(&NOTIFICATION, &object);
        assert_eq!(written["webhook"], wire["webhook"]);
        assert!(written.get("ntfy").is_none());
    }

    #[test]
    fn paths_of_the_service_map_to_the_configuration() {
        let violation =
            |field: &str| FieldViolation { field: field.to_owned(), description: String::new() };
        for (field, path) in [
            ("monitor.headers[2].key", "headers[2].key"),
            ("notification.webhook.headers[0].value", "webhook[0].headers[0].value"),
            ("notification.webhook", "webhook"),
            ("monitor", ""),
        ] {
            assert_eq!(super::violation_path(&violation(field)).to_string(), path);
        }
    }
}
