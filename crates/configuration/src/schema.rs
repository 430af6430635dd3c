//! The JSON Schema of configuration files, for editors: names, types, limits, defaults and
//! descriptions of the tables.

use rules::MonitorKind;
use rules::field::{Block, Field, Presence, Rule, Shape, ValueType};
use serde_json::{Map, Value as Json, json};

use crate::compare::default_of;
use crate::kind::{Kind, is_single};
use crate::limits::{KEY_CHARS_MAX, NAME};
use crate::read::elements_max;

/// Definition of a text that a variable or a file has.
const SOURCE: &str = "source";
/// Definition of a reference to a resource.
const REFERENCE: &str = "reference";

/// Returns the schema.
pub fn schema() -> Json {
    let (name_min, name_max) = NAME.characters().unwrap_or_default();
    let monitors = MonitorKind::ALL.iter().map(|kind| {
        let mut schema = resource(Kind::Monitor(*kind), &[]);
        let described = json!({ "const": kind.as_str(), "description": "Kind of the monitor." });
        schema["properties"]["kind"] = described;
        require(&mut schema, "kind");
        schema
    });
    let monitors: Vec<Json> = monitors.collect();
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Configuration of Aloft",
        "description": "Monitors, channels and status pages for `aloft apply`.",
        "type": "object",
        "additionalProperties": false,
        "patternProperties": { "^x-": { "description": "Only for anchors." } },
        "properties": {
            "name": {
                "description": "Name of the configuration within the workspace.",
                "type": "string",
                "minLength": name_min,
                "maxLength": name_max,
                "pattern": "^[a-z0-9]+(-[a-z0-9]+)*$",
                "default": "default",
            },
            "monitors": section("Monitors by their keys.", &json!({ "oneOf": monitors })),
            "channels": section("Channels by their keys.", &channel()),
            "status_pages": section("Status pages by their keys.", &page()),
        },
        "$defs": {
            SOURCE: {
                "description": "The value of an environment variable, or the content of a file.",
                "type": "object",
                "properties": { "env": { "type": "string" }, "file": { "type": "string" } },
                "additionalProperties": false,
                "minProperties": 1,
                "maxProperties": 1,
            },
            REFERENCE: {
                "description": "A key of this configuration, or an ID.",
                "anyOf": [{ "type": ["string", "integer"] }, { "$ref": definition(SOURCE) }],
            },
        },
    })
}

fn section(description: &str, element: &Json) -> Json {
    let pattern = format!("^[a-z0-9][a-z0-9_-]{{0,{}}}$", KEY_CHARS_MAX - 1);
    json!({
        "description": description,
        "type": ["object", "null"],
        "propertyNames": { "pattern": pattern },
        "additionalProperties": element,
    })
}

fn channel() -> Json {
    let mut schema = resource(Kind::Channel, &[]);
    for rule in Kind::Channel.rules() {
        let Rule::ExactlyOneBlock { named_by } = rule else { continue };
        // The block names the kind.
        if let Some(required) = schema["required"].as_array_mut() {
            required.retain(|name| name != named_by);
        }
        let blocks = Kind::Channel.table().blocks.iter();
        let one: Vec<Json> = blocks.map(|block| json!({ "required": [block.name] })).collect();
        schema["oneOf"] = Json::Array(one);
    }
    schema
}

fn page() -> Json {
    let implied = ["page_id"];
    let mut schema = resource(Kind::Page, &[]);
    schema["properties"]["groups"] =
        section("Groups of components by their keys.", &resource(Kind::Group, &implied));
    schema["properties"]["components"] =
        section("Components by their keys.", &resource(Kind::Component, &implied));
    schema
}

/// Returns the schema of a resource without the fields that its place implies.
fn resource(kind: Kind, implied: &[&str]) -> Json {
    let fields: Vec<&Field> =
        kind.fields().filter(|field| !implied.contains(&field.name)).collect();
    let blocks: Vec<&Block> = kind.blocks().collect();
    let mut schema = object(kind.table().description, &fields, &blocks);
    let rules = kind.rules().filter_map(|rule| match rule {
        Rule::RequiredWhen { field, when, is } => Some(json!({
            "if": { "properties": { *when: { "const": is } }, "required": [when] },
            "then": { "required": [field] },
        })),
        Rule::Together { first, second } => Some(json!({
            "dependentRequired": { *first: [second], *second: [first] },
        })),
        Rule::ExactlyOneBlock { .. } => None,
    });
    let rules: Vec<Json> = rules.collect();
    if !rules.is_empty() {
        schema["allOf"] = Json::Array(rules);
    }
    schema
}

fn object(description: &str, fields: &[&Field], blocks: &[&Block]) -> Json {
    let mut properties = Map::new();
    for field in fields {
        properties.insert(field.name.to_owned(), field_schema(field));
    }
    for block in blocks {
        let inner: Vec<&Block> = block.blocks.iter().collect();
        let fields: Vec<&Field> = block.fields.iter().collect();
        let one = object(block.description, &fields, &inner);
        let list = json!({ "type": "array", "items": one, "description": block.description });
        let schema = match block.max {
            _ if is_single(block) => one,
            Some(max) => with(list, "maxItems", max.into()),
            None => list,
        };
        properties.insert(block.name.to_owned(), schema);
    }
    let required = fields.iter().filter(|field| field.presence == Presence::Required);
    let required: Vec<&str> = required.map(|field| field.name).collect();
    json!({
        "description": description,
        "type": "object",
        "additionalProperties": false,
        "properties": properties,
        "required": required,
    })
}

fn field_schema(field: &Field) -> Json {
    let schema = match field.shape.value_type() {
        ValueType::Integer => integer(field.shape),
        ValueType::Bool => json!({ "type": "boolean" }),
        ValueType::Text => element(field.shape),
        ValueType::SetOfTexts | ValueType::ListOfTexts | ValueType::ListOf(_) => list(field.shape),
    };
    let schema = with(schema, "description", field.description.into());
    match field.presence {
        Presence::Default(value) => with(schema, "default", default_of(value)),
        Presence::Required | Presence::Optional | Presence::Computed | Presence::Output => schema,
    }
}

fn integer(shape: Shape) -> Json {
    let schema = json!({ "type": "integer" });
    let Shape::Integer { min, max } = shape else { return schema };
    with(with(schema, "minimum", min.into()), "maximum", max.into())
}

/// Returns the schema of a text, or of an element of a list.
fn element(shape: Shape) -> Json {
    if let Shape::Id(_) | Shape::SetOfIds(_) = shape {
        return json!({ "$ref": definition(REFERENCE) });
    }
    let mut text = json!({ "type": "string" });
    let tag =
        if let Shape::SetOfTags { chars_max, .. } = shape { Some((1, chars_max)) } else { None };
    if let Some((min, max)) = shape.characters().or(tag) {
        text = with(with(text, "minLength", min.into()), "maxLength", max.into());
    }
    if let Some(names) = shape.names() {
        text = with(text, "enum", names.into());
    }
    json!({ "anyOf": [text, { "$ref": definition(SOURCE) }] })
}

fn list(shape: Shape) -> Json {
    let schema = json!({ "type": "array", "items": element(shape) });
    match elements_max(shape) {
        Some(max) => with(schema, "maxItems", max.into()),
        None => schema,
    }
}

fn with(mut schema: Json, name: &str, value: Json) -> Json {
    schema[name] = value;
    schema
}

fn require(schema: &mut Json, name: &str) {
    if let Some(required) = schema["required"].as_array_mut() {
        required.insert(0, name.into());
    }
}

fn definition(name: &str) -> String {
    format!("#/$defs/{name}")
}

#[cfg(test)]
mod tests;
