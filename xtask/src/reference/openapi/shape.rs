//! Shapes of `rules` as keywords of JSON Schema. Forms that no expression describes stay plain texts: the
//! service checks them.

use rules::field::{Field, Shape};
use serde_json::{Map, Value, json};

use crate::reference::tables::TableEntry;

/// Keywords of a schema.
pub(super) type Keywords = Map<String, Value>;

/// Returns the bounds of an input.
pub(super) fn bounds(entry: TableEntry) -> Keywords {
    match entry {
        TableEntry::Field(field) => of_field(field),
        TableEntry::Block(block) => match block.max {
            Some(most) if most > 1 => keywords(json!({ "maxItems": most })),
            Some(_) | None => Keywords::new(),
        },
    }
}

/// Returns the words of an output. Its other bounds are those of the input, which may be redacted.
pub(super) fn enum_values(entry: TableEntry) -> Keywords {
    match entry {
        TableEntry::Field(field) if field.shape.names().is_some() => of_field(field),
        TableEntry::Field(_) | TableEntry::Block(_) => Keywords::new(),
    }
}

fn of_field(field: &Field) -> Keywords {
    let shape = field.shape;
    let mut found = lengths(shape);
    let more = match shape {
        Shape::OneOf(words) => keywords(json!({ "enum": words })),
        Shape::SetOf(words) => keywords(json!({ "items": { "type": "string", "enum": words } })),
        Shape::SetOfIds(prefix) => {
            keywords(json!({ "items": { "type": "string", "pattern": format!("^{prefix}") } }))
        }
        Shape::SetOfTags { max, chars_max } => keywords(json!({
            "maxItems": max,
            "items": { "type": "string", "minLength": 1, "maxLength": chars_max },
        })),
        Shape::ListOfDomains { max } => keywords(json!({ "maxItems": max })),
        Shape::Integer { min, max: i32::MAX } if min > i32::MIN => {
            keywords(json!({ "minimum": min }))
        }
        Shape::Integer { min, max } if min > i32::MIN => {
            keywords(json!({ "minimum": min, "maximum": max }))
        }
        Shape::EmailAddress { .. } => keywords(json!({ "format": "email" })),
        Shape::Integer { .. }
        | Shape::Text { .. }
        | Shape::Line { .. }
        | Shape::HttpUrl { .. }
        | Shape::HostPort { .. }
        | Shape::DomainName { .. }
        | Shape::ContactUrl { .. }
        | Shape::HeaderName { .. }
        | Shape::AnswerHeaderName { .. }
        | Shape::JsonPath { .. }
        | Shape::Certificates { .. }
        | Shape::PrivateKey { .. }
        | Shape::HeaderValue { .. }
        | Shape::Slug { .. }
        | Shape::PhoneNumber
        | Shape::TimeOfDay
        | Shape::TimeZone
        | Shape::Interval { .. }
        | Shape::Id(_)
        | Shape::Bool
        | Shape::Instant
        | Shape::ListOf(_) => Keywords::new(),
    };
    found.extend(more);
    if let Some(pattern) = pattern(shape) {
        found.insert("pattern".to_owned(), Value::from(pattern));
    }
    found
}

fn lengths(shape: Shape) -> Keywords {
    let length = |(min, max)| keywords(json!({ "minLength": min, "maxLength": max }));
    shape.characters().map(length).unwrap_or_default()
}

/// Returns an expression that every text of this shape matches.
fn pattern(shape: Shape) -> Option<String> {
    let pattern = match shape {
        Shape::HttpUrl { .. } => "^[Hh][Tt][Tt][Pp][Ss]?://",
        Shape::HostPort { .. } => ":[0-9]{1,5}$",
        Shape::HeaderName { .. } | Shape::AnswerHeaderName { .. } => {
            "^[!#$%&'*+.^_`|~0-9A-Za-z-]+$"
        }
        Shape::JsonPath { .. } => "^\\$",
        Shape::Certificates { .. } => "-----BEGIN CERTIFICATE-----",
        Shape::PrivateKey { .. } => "-----BEGIN ((RSA|EC) )?PRIVATE KEY-----",
        Shape::Slug { .. } => "^[a-z0-9]+(-[a-z0-9]+)*$",
        Shape::PhoneNumber => "^\\+[0-9]+$",
        Shape::TimeOfDay => "^([01][0-9]|2[0-3]):[0-5][0-9]$",
        Shape::Interval { .. } => "^[1-9][0-9]*[mh]$",
        Shape::Id(prefix) => return Some(format!("^{prefix}")),
        Shape::Integer { .. }
        | Shape::Text { .. }
        | Shape::Line { .. }
        | Shape::DomainName { .. }
        | Shape::ContactUrl { .. }
        | Shape::HeaderValue { .. }
        | Shape::EmailAddress { .. }
        | Shape::TimeZone
        | Shape::Bool
        | Shape::OneOf(_)
        | Shape::SetOf(_)
        | Shape::SetOfIds(_)
        | Shape::SetOfTags { .. }
        | Shape::ListOfDomains { .. }
        | Shape::Instant
        | Shape::ListOf(_) => return None,
    };
    Some(pattern.to_owned())
}

/// Returns the fields of a JSON object.
pub(super) fn keywords(value: Value) -> Keywords {
    match value {
        Value::Object(fields) => fields,
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
            Keywords::new()
        }
    }
}
