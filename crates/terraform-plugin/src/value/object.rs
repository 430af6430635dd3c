//! Objects: attributes by name, with typed access.

use std::collections::BTreeMap;
use std::collections::btree_map;

use super::convert::{inside, mismatch};
use super::{FromValue, IntoValue, Mismatch, Value};
use crate::{Diagnostic, Path};

/// Attributes by name: a configuration, a plan, a state, or a nested block of these.
///
/// ```
/// use terraform_plugin::{Diagnostic, Object, Value};
///
/// let mut note = Object::new();
/// note.set("title", "a");
/// note.set("tags", Value::set(["new"]));
/// assert_eq!(note.get::<String>("title")?, "a");
/// assert_eq!(note.get::<Option<i64>>("columns")?, None);
/// assert_eq!(note.get::<Vec<String>>("tags")?, ["new"]);
/// # Ok::<(), Diagnostic>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Object(BTreeMap<String, Value>);

impl Object {
    /// Creates an object without attributes.
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns an attribute as a Rust type. An absent attribute is null.
    ///
    /// `Option<T>` accepts null, [`super::Given`] accepts null and unknown, and `Value` accepts
    /// everything.
    ///
    /// # Errors
    /// Returns a diagnostic at the attribute if the value does not convert.
    pub fn get<T: FromValue>(&self, name: &str) -> Result<T, Diagnostic> {
        T::from_value(self.value(name)).map_err(|mismatch| {
            Diagnostic::error("Unexpected value", mismatch.to_string()).at(Path::root().name(name))
        })
    }

    /// Returns the attribute's value, or null if absent.
    pub fn value(&self, name: &str) -> &Value {
        self.0.get(name).unwrap_or(&Value::Null)
    }

    /// Returns the attribute's value for changes. Inserts null if absent.
    pub fn value_mut(&mut self, name: &str) -> &mut Value {
        self.0.entry(name.to_owned()).or_default()
    }

    /// Sets an attribute. Lists become sets if the schema has a set.
    pub fn set(&mut self, name: impl Into<String>, value: impl IntoValue) {
        self.0.insert(name.into(), value.into_value());
    }

    /// Returns the object with an attribute set, to build objects in one expression.
    #[must_use]
    pub fn with(mut self, name: impl Into<String>, value: impl IntoValue) -> Self {
        self.set(name, value);
        self
    }

    /// Removes an attribute.
    pub fn remove(&mut self, name: &str) -> Option<Value> {
        self.0.remove(name)
    }

    /// Returns whether the object has the attribute, even if it is null.
    pub fn has(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }

    /// Iterates over names and values, by name.
    pub fn iter(&self) -> btree_map::Iter<'_, String, Value> {
        self.0.iter()
    }

    /// Iterates over the values, by name.
    pub fn values(&self) -> btree_map::Values<'_, String, Value> {
        self.0.values()
    }

    /// Returns whether an attribute or a part of one is unknown.
    pub fn has_unknown(&self) -> bool {
        self.values().any(Value::has_unknown)
    }

    /// Returns the number of attributes.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns whether the object has no attributes.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl FromValue for Object {
    fn from_value(value: &Value) -> Result<Self, Mismatch> {
        match inside(value).as_object() {
            Some(object) => Ok(object.clone()),
            None => mismatch("an object", value),
        }
    }
}

impl IntoValue for Object {
    fn into_value(self) -> Value {
        Value::Object(self)
    }
}

impl FromIterator<(String, Value)> for Object {
    fn from_iter<I: IntoIterator<Item = (String, Value)>>(attributes: I) -> Self {
        Self(attributes.into_iter().collect())
    }
}

impl IntoIterator for Object {
    type Item = (String, Value);
    type IntoIter = btree_map::IntoIter<String, Value>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

impl<'a> IntoIterator for &'a Object {
    type Item = (&'a String, &'a Value);
    type IntoIter = btree_map::Iter<'a, String, Value>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.iter()
    }
}
