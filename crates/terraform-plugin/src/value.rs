//! Values as in Terraform: each may be null, or unknown until apply. Leaves their encoding to
//! `codec` and their types to `value::types`.

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

/// One value of any type. Every type has null and unknown values.
///
/// Equality is structural, with two exceptions as in Terraform: numbers compare by value, and sets
/// ignore order.
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
    /// Absent, such as an argument that is not in the configuration.
    #[default]
    Null,
    /// Not known before apply. The refinements contain what is known about it.
    Unknown(Refinements),
    Bool(bool),
    /// Decimal number of any size.
    Number(Number),
    String(String),
    /// Ordered elements of one type.
    List(Vec<Value>),
    /// Elements of one type without order and without known duplicates.
    Set(Set),
    /// Elements of one type by key.
    Map(BTreeMap<String, Value>),
    /// Attributes by name, each with its own type.
    Object(Object),
    /// Ordered elements, each with its own type.
    Tuple(Vec<Value>),
    /// Value with its type, for [`Type::Dynamic`] in the schema.
    Dynamic(Type, Box<Value>),
}

impl Value {
    /// Unknown value about which nothing is known.
    pub const UNKNOWN: Self = Self::Unknown(Refinements::NONE);

    /// Creates a list from convertible values.
    pub fn list<T: IntoValue>(elements: impl IntoIterator<Item = T>) -> Self {
        Self::List(elements.into_iter().map(IntoValue::into_value).collect())
    }

    /// Creates a set from convertible values.
    pub fn set<T: IntoValue>(elements: impl IntoIterator<Item = T>) -> Self {
        Self::Set(elements.into_iter().map(IntoValue::into_value).collect())
    }

    /// Creates an object from names and values.
    pub fn object<N: Into<String>>(attributes: impl IntoIterator<Item = (N, Value)>) -> Self {
        Self::Object(attributes.into_iter().map(|(name, value)| (name.into(), value)).collect())
    }

    /// Returns whether the value is null.
    pub fn is_null(&self) -> bool {
        matches!(self, Self::Null)
    }

    /// Returns whether the value itself is unknown. Its parts may be unknown in any case
    /// ([`Value::has_unknown`]).
    pub fn is_unknown(&self) -> bool {
        matches!(self, Self::Unknown(_))
    }

    /// Returns whether the value or a part of it is unknown.
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

    /// Returns the text of a known string.
    pub fn as_str(&self) -> Option<&str> {
        if let Self::String(text) = self { Some(text) } else { None }
    }

    /// Returns the number of a known number.
    pub fn as_number(&self) -> Option<&Number> {
        if let Self::Number(number) = self { Some(number) } else { None }
    }

    /// Returns the elements of a known map by key.
    pub fn as_map(&self) -> Option<&BTreeMap<String, Value>> {
        if let Self::Map(elements) = self { Some(elements) } else { None }
    }

    /// Returns the object of a known object.
    pub fn as_object(&self) -> Option<&Object> {
        if let Self::Object(object) = self { Some(object) } else { None }
    }

    /// Returns the elements of a list, set or tuple in order. Empty for any other value.
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

    /// Returns the number of elements of a list, set, tuple or map. `None` for any other value.
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

    /// Returns the kind of the value in Terraform's terms.
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
    fn sets_are_equal_in_any_order() {
        assert_eq!(Value::set([2, 1, 2]), Value::set([1, 2]));
        assert_ne!(Value::list([2, 1]), Value::list([1, 2]));
    }

    #[test]
    fn unknown_elements_of_a_set_stay_separate() {
        let set = Value::set([Value::UNKNOWN, Value::UNKNOWN]);
        assert_eq!(set.elements().len(), 2);
        assert!(set.has_unknown());
    }
}
