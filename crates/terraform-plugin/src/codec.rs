//! Encodes and decodes values: msgpack on the wire, JSON in states. Both decoders are driven by a
//! type and never guess. They return an error for malformed, deeply nested or oversized input.

mod json;
mod msgpack;
mod text;

pub use json::{from_json, to_json};
pub use msgpack::{from_msgpack, to_msgpack};

use std::fmt;

use crate::value::{Type, Value};

/// Maximum nesting depth of a value.
pub(crate) const MAX_DEPTH: usize = 128;
/// Maximum length of an encoded value in bytes: four times the maximum gRPC message of Terraform.
pub(crate) const MAX_BYTES: usize = 1 << 28;

/// An encoded value that does not fit its type, or a value that cannot be encoded as its type.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CodecError {
    #[error("unexpected end of the value")]
    Short,
    #[error("{0} unexpected bytes after the value")]
    Trailing(usize),
    #[error("the value is nested more than {MAX_DEPTH} levels deep")]
    Deep,
    #[error("the value is longer than {MAX_BYTES} bytes")]
    Long,
    #[error("expected {expected}, found {found}")]
    Mismatch {
        /// Type in the schema.
        expected: String,
        /// Kind of the value found.
        found: String,
    },
    /// The object has an attribute that its type lacks.
    #[error("unknown attribute `{0}`")]
    UnknownAttribute(String),
    #[error("invalid JSON at byte {0}")]
    Json(usize),
    #[error("an unknown value cannot be encoded as JSON")]
    Unknown,
    /// An error in an attribute or element.
    #[error("{step}: {source}")]
    Within {
        /// Path step to the attribute or element.
        step: String,
        source: Box<CodecError>,
    },
}

impl CodecError {
    pub(crate) fn mismatch(expected: impl fmt::Display, found: &str) -> Self {
        Self::Mismatch { expected: expected.to_string(), found: found.to_string() }
    }

    pub(crate) fn within(self, step: impl fmt::Display) -> Self {
        Self::Within { step: step.to_string(), source: Box::new(self) }
    }
}

/// Returns the type of a value that has no schema, as needed to encode it as dynamic.
pub(crate) fn type_of(value: &Value) -> Type {
    match value {
        Value::Null | Value::Unknown(_) => Type::Dynamic,
        Value::Bool(_) => Type::Bool,
        Value::Number(_) => Type::Number,
        Value::String(_) => Type::String,
        Value::List(elements) | Value::Tuple(elements) => {
            Type::Tuple(elements.iter().map(type_of).collect())
        }
        Value::Set(elements) => Type::set(common(elements.iter())),
        Value::Map(elements) => Type::map(common(elements.values())),
        Value::Object(object) => Type::object(object.iter().map(|(name, v)| (name, type_of(v)))),
        Value::Dynamic(ty, _) => ty.clone(),
    }
}

/// Returns the type that all elements share, or dynamic.
fn common<'a>(elements: impl Iterator<Item = &'a Value>) -> Type {
    let mut types = elements.map(type_of);
    let Some(first) = types.next() else { return Type::Dynamic };
    if types.all(|ty| ty == first) { first } else { Type::Dynamic }
}
