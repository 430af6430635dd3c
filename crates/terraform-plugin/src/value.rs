//! Values as Terraform has them: everything may be null, and everything may be unknown until apply.
//! Their bytes belong to `codec`, their types to `value::types`.

mod convert;
mod known;
mod number;
mod object;
mod refinements;
mod set;
mod types;

use std::collections::BTreeMap;

pub use convert::{FromValue, Given, IntoValue, Mismatch};
pub use number::{NotANumber, Number};
pub use object::Object;
pub use refinements::{Bound, Refinements};
pub use set::Set;
pub use types::Type;

/// One value of any type. Null and unknown stand beside the kinds, because each type has them.
///
/// Equality is structural, with two exceptions that are Terraform's: numbers are equal when they
/// are the same number, and sets when they have the same elements.
///
/// ```
/// use terraform_plugin::Value;
///
/// let tags = Value::set(["new", "old", "new"]);
/// assert_eq!(tags, Value::set(["old", "new"]));
/// assert!(Value::list([Value::UNKNOWN]).has_unknown());
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum Value {
    /// Absent: an argument that is not in the configuration.
    #[default]
    Null,
    /// Not known before apply. What is known about it stands in the refinements.
    Unknown(Refinements),
    /// `true` or `false`.
    Bool(bool),
    /// A decimal number of any size.
    Number(Number),
    /// Text.
    String(String),
    /// Elements of one type, in order.
    List(Vec<Value>),
    /// Elements of one type without order; each known one stands once.
    Set(Set),
    /// Elements of one type by key.
    Map(BTreeMap<String, Value>),
    /// Attributes by name, each of its own type.
    Object(Object),
    /// Elements in order, each of its own type.
    Tuple(Vec<Value>),
    /// A value whose type travels with it, where the schema says [`Type::Dynamic`].
    Dynamic(Type, Box<Value>),
}

impl Value {
    /// Unknown, with nothing known about it.
    pub const UNKNOWN: Self = Self::Unknown(Refinements::NONE);

    /// A list of what converts to values.
    pub fn list<T: IntoValue>(elements: impl IntoIterator<Item = T>) -> Self {
        Self::List(elements.into_iter().map(IntoValue::into_value).collect())
    }

    /// A set of what converts to values.
    pub fn set<T: IntoValue>(elements: impl IntoIterator<Item = T>) -> Self {
        Self::Set(elements.into_iter().map(IntoValue::into_value).collect())
    }

    /// An object of names and what converts to values.
    pub fn object<N: Into<String>>(attributes: impl IntoIterator<Item = (N, Value)>) -> Self {
        Self::Object(attributes.into_iter().map(|(name, value)| (name.into(), value)).collect())
    }

    /// Whether this is null.
    pub fn is_null(&self) -> bool {
        matches!(self, Self::Null)
    }

    /// Whether this itself is unknown; parts of it may be unknown nevertheless ([`Value::has_unknown`]).
    pub fn is_unknown(&self) -> bool {
        matches!(self, Self::Unknown(_))
    }

    /// Whether this or a part of it is unknown.
    pub fn has_unknown(&self) -> bool {
        match self {
            Self::Unknown(_) => true,
            Self::Null | Self::Bool(_) | Self::Number(_) | Self::String(_) => false,
            Self::List(elements) | Self::Tuple(elements) => elements.iter().any(Self::has_unknown),
            Self::Set(elements) => elements.iter().any(Self::has_unknown),
            Self::Map(elements) => elements.values().any(Self::has_unknown),
            Self::Object(object) => object.has_unknown(),
            Self::Dynamic(_, inner) => inner.has_unknown(),
        }
    }

    /// The text, if this is a known string.
    pub fn as_str(&self) -> Option<&str> {
        if let Self::String(text) = self { Some(text) } else { None }
    }

    /// The number, if this is a known one.
    pub fn as_number(&self) -> Option<&Number> {
        if let Self::Number(number) = self { Some(number) } else { None }
    }

    /// The elements by key, if this is a known map.
    pub fn as_map(&self) -> Option<&BTreeMap<String, Value>> {
        if let Self::Map(elements) = self { Some(elements) } else { None }
    }

    /// The object, if this is a known one.
    pub fn as_object(&self) -> Option<&Object> {
        if let Self::Object(object) = self { Some(object) } else { None }
    }

    /// The elements of a list, set or tuple, in their order; nothing for any other value.
    pub fn elements(&self) -> &[Value] {
        match self {
            Self::List(elements) | Self::Tuple(elements) => elements,
            Self::Set(elements) => elements.as_slice(),
            Self::Dynamic(_, inner) => inner.elements(),
            Self::Null
            | Self::Unknown(_)
            | Self::Bool(_)
            | Self::Number(_)
            | Self::String(_)
            | Self::Map(_)
            | Self::Object(_) => &[],
        }
    }

    /// How many elements a list, set, tuple or map has; nothing for any other value.
    pub fn count(&self) -> Option<usize> {
        match self {
            Self::List(elements) | Self::Tuple(elements) => Some(elements.len()),
            Self::Set(elements) => Some(elements.len()),
            Self::Map(elements) => Some(elements.len()),
            Self::Dynamic(_, inner) => inner.count(),
            Self::Null
            | Self::Unknown(_)
            | Self::Bool(_)
            | Self::Number(_)
            | Self::String(_)
            | Self::Object(_) => None,
        }
    }

    /// What kind of value this is, in the words of Terraform's language.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Unknown(_) => "unknown",
            Self::Bool(_) => "bool",
            Self::Number(_) => "number",
            Self::String(_) => "string",
            Self::List(_) => "list",
            Self::Set(_) => "set",
            Self::Map(_) => "map",
            Self::Object(_) => "object",
            Self::Tuple(_) => "tuple",
            Self::Dynamic(_, inner) => inner.kind(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_are_equal_whatever_their_order() {
        assert_eq!(Value::set([2, 1, 2]), Value::set([1, 2]));
        assert_ne!(Value::list([2, 1]), Value::list([1, 2]));
    }

    #[test]
    fn unknown_elements_of_a_set_stay_apart() {
        let set = Value::set([Value::UNKNOWN, Value::UNKNOWN]);
        assert_eq!(set.elements().len(), 2);
        assert!(set.has_unknown());
    }
}
