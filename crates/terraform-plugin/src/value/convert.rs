//! Converts between values and Rust types without derive macros, so that schemas made at run time
//! are as easy to use as fixed ones.

use std::collections::{BTreeMap, BTreeSet};

use super::{Number, Value};

/// A value that does not fit the Rust type.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected {expected}, found {found}")]
pub struct Mismatch {
    /// Kind of value that the Rust type needs.
    pub expected: &'static str,
    /// Kind of the value found.
    pub found: &'static str,
}

/// A type that can be read from a value.
pub trait FromValue: Sized {
    /// Reads the value.
    ///
    /// # Errors
    /// Fails if the value is of another kind, or is null or unknown and the type cannot represent
    /// that.
    fn from_value(value: &Value) -> Result<Self, Mismatch>;
}

/// A type that can be converted to a value.
pub trait IntoValue {
    /// Returns the value.
    fn into_value(self) -> Value;
}

/// A value that may be null or unknown, as in configurations and plans.
///
/// ```
/// use terraform_plugin::{Diagnostic, Given, Object, Value};
///
/// let config = Object::new().with("timeout", Value::UNKNOWN);
/// match config.get::<Given<i64>>("timeout")? {
///     Given::Known(timeout) => assert!(timeout > 0),
///     Given::Null | Given::Unknown => {} // Rules wait until the value is there.
/// }
/// # Ok::<(), Diagnostic>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Given<T> {
    /// Unknown until apply.
    Unknown,
    /// Not configured.
    Null,
    Known(T),
}

impl<T> Given<T> {
    /// Returns the value if it is known and not null.
    pub fn known(self) -> Option<T> {
        match self {
            Self::Known(value) => Some(value),
            Self::Unknown | Self::Null => None,
        }
    }
}

pub(super) fn mismatch<T>(expected: &'static str, value: &Value) -> Result<T, Mismatch> {
    Err(Mismatch { expected, found: value.kind() })
}

/// Returns the content of a dynamic value.
pub(super) fn inside(value: &Value) -> &Value {
    if let Value::Dynamic(_, inner) = value { inner } else { value }
}

impl FromValue for Value {
    fn from_value(value: &Value) -> Result<Self, Mismatch> {
        Ok(value.clone())
    }
}

impl FromValue for String {
    fn from_value(value: &Value) -> Result<Self, Mismatch> {
        match inside(value).as_str() {
            Some(text) => Ok(text.to_owned()),
            None => mismatch("a string", value),
        }
    }
}

impl FromValue for bool {
    fn from_value(value: &Value) -> Result<Self, Mismatch> {
        if let Value::Bool(flag) = inside(value) { Ok(*flag) } else { mismatch("a bool", value) }
    }
}

impl FromValue for Number {
    fn from_value(value: &Value) -> Result<Self, Mismatch> {
        match inside(value).as_number() {
            Some(number) => Ok(number.clone()),
            None => mismatch("a number", value),
        }
    }
}

impl FromValue for f64 {
    fn from_value(value: &Value) -> Result<Self, Mismatch> {
        Number::from_value(value).map(|number| number.as_f64())
    }
}

impl<T: FromValue> FromValue for Option<T> {
    fn from_value(value: &Value) -> Result<Self, Mismatch> {
        if inside(value).is_null() { Ok(None) } else { T::from_value(value).map(Some) }
    }
}

impl<T: FromValue> FromValue for Given<T> {
    fn from_value(value: &Value) -> Result<Self, Mismatch> {
        if inside(value).is_unknown() {
            return Ok(Self::Unknown);
        }
        Ok(Option::from_value(value)?.map_or(Self::Null, Self::Known))
    }
}

impl<T: FromValue> FromValue for Vec<T> {
    fn from_value(value: &Value) -> Result<Self, Mismatch> {
        let inner = inside(value);
        if inner.count().is_none() || inner.as_map().is_some() {
            return mismatch("a list or set", value);
        }
        inner.elements().iter().map(T::from_value).collect()
    }
}

impl<T: FromValue + Ord> FromValue for BTreeSet<T> {
    fn from_value(value: &Value) -> Result<Self, Mismatch> {
        Vec::from_value(value).map(|elements: Vec<T>| elements.into_iter().collect())
    }
}

impl<T: FromValue> FromValue for BTreeMap<String, T> {
    fn from_value(value: &Value) -> Result<Self, Mismatch> {
        let read = |(name, value): (&String, &Value)| Ok((name.clone(), T::from_value(value)?));
        if let Some(elements) = inside(value).as_map() {
            return elements.iter().map(read).collect();
        }
        match inside(value).as_object() {
            Some(object) => object.iter().map(read).collect(),
            None => mismatch("a map", value),
        }
    }
}

macro_rules! integers {
    ($($kind:ty => $as:ident),*) => {$(
        impl FromValue for $kind {
            fn from_value(value: &Value) -> Result<Self, Mismatch> {
                let number = Number::from_value(value)?;
                match number.$as().and_then(|number| <$kind>::try_from(number).ok()) {
                    Some(number) => Ok(number),
                    None => mismatch("a whole number within bounds", value),
                }
            }
        }

        impl IntoValue for $kind {
            fn into_value(self) -> Value {
                Value::Number(self.into())
            }
        }
    )*};
}
integers!(i64 => as_i64, i32 => as_i64, i16 => as_i64, u64 => as_u64, u32 => as_i64, u16 => as_i64);

impl IntoValue for Value {
    fn into_value(self) -> Value {
        self
    }
}

impl IntoValue for &Value {
    fn into_value(self) -> Value {
        self.clone()
    }
}

impl IntoValue for bool {
    fn into_value(self) -> Value {
        Value::Bool(self)
    }
}

impl IntoValue for String {
    fn into_value(self) -> Value {
        Value::String(self)
    }
}

impl IntoValue for &str {
    fn into_value(self) -> Value {
        Value::String(self.to_owned())
    }
}

impl IntoValue for &String {
    fn into_value(self) -> Value {
        Value::String(self.clone())
    }
}

impl IntoValue for Number {
    fn into_value(self) -> Value {
        Value::Number(self)
    }
}

impl<T: IntoValue> IntoValue for Option<T> {
    fn into_value(self) -> Value {
        self.map_or(Value::Null, T::into_value)
    }
}

impl<T: IntoValue> IntoValue for Given<T> {
    fn into_value(self) -> Value {
        match self {
            Self::Unknown => Value::UNKNOWN,
            Self::Null => Value::Null,
            Self::Known(value) => value.into_value(),
        }
    }
}

impl<T: IntoValue> IntoValue for Vec<T> {
    fn into_value(self) -> Value {
        Value::list(self)
    }
}

impl<T: IntoValue> IntoValue for BTreeSet<T> {
    fn into_value(self) -> Value {
        Value::set(self)
    }
}

impl<T: IntoValue> IntoValue for BTreeMap<String, T> {
    fn into_value(self) -> Value {
        Value::Map(self.into_iter().map(|(name, value)| (name, value.into_value())).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn null_and_unknown_convert_only_if_supported() {
        assert_eq!(Option::<String>::from_value(&Value::Null), Ok(None));
        assert_eq!(Given::<String>::from_value(&Value::UNKNOWN), Ok(Given::Unknown));
        let refused = String::from_value(&Value::UNKNOWN).unwrap_err();
        assert_eq!(refused.to_string(), "expected a string, found unknown");
    }

    #[test]
    fn integers_out_of_bounds_are_rejected() {
        let big = Value::Number(Number::from(u64::MAX));
        assert_eq!(u64::from_value(&big), Ok(u64::MAX));
        assert!(i64::from_value(&big).is_err());
        assert!(u32::from_value(&Value::Number(Number::from(-1))).is_err());
        assert!(i64::from_value(&Value::Number("1.5".parse().unwrap())).is_err());
    }

    #[test]
    fn collections_round_trip() {
        let value = vec![1_i64, 2].into_value();
        assert_eq!(Vec::<i64>::from_value(&value), Ok(vec![1, 2]));
        let map = BTreeMap::from([("a".to_owned(), true)]).into_value();
        assert_eq!(BTreeMap::<String, bool>::from_value(&map).unwrap().len(), 1);
    }
}
