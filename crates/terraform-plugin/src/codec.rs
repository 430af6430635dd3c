//! Values as bytes: msgpack on the wire, JSON in states. Both are read by a type, never guess, and
//! answer broken, deep or enormous input with an error.

mod json;
mod msgpack;
mod text;

pub use json::{from_json, to_json};
pub use msgpack::{from_msgpack, to_msgpack};

use std::fmt;

use crate::value::{Type, Value};

/// How deep values may be nested.
pub(crate) const MAX_DEPTH: usize = 128;
/// The longest encoded value that is read: four times what a gRPC message of Terraform may hold.
pub(crate) const MAX_BYTES: usize = 1 << 28;

/// Bytes that are no value of the type, or a value that is not of the type.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CodecError {
    /// The bytes end too early.
    #[error("the value ends too early")]
    Short,
    /// There are bytes after the value.
    #[error("there are {0} bytes after the value")]
    Trailing(usize),
    /// The value is nested too deep.
    #[error("the value is nested more than {MAX_DEPTH} levels deep")]
    Deep,
    /// The value is too long.
    #[error("the value is longer than {MAX_BYTES} bytes")]
    Long,
    /// The value is not of its type.
    #[error("expected {expected}, found {found}")]
    Mismatch {
        /// The type of the schema.
        expected: String,
        /// What stands there.
        found: String,
    },
    /// The object has an attribute that its type does not have.
    #[error("unknown attribute `{0}`")]
    UnknownAttribute(String),
    /// JSON that is none.
    #[error("broken JSON at byte {0}")]
    Json(usize),
    /// A value that is not known has no JSON.
    #[error("an unknown value cannot be written as JSON")]
    Unknown,
    /// Below an attribute or element.
    #[error("{step}: {source}")]
    Within {
        /// The attribute or element.
        step: String,
        /// What is wrong there.
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

/// The type of a value by itself: how a value without a schema travels as dynamic.
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

/// The one type that all elements have, or dynamic.
fn common<'a>(elements: impl Iterator<Item = &'a Value>) -> Type {
    let mut types = elements.map(type_of);
    let Some(first) = types.next() else { return Type::Dynamic };
    if types.all(|ty| ty == first) { first } else { Type::Dynamic }
}
