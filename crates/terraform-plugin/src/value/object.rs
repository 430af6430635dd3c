//! Objects: attributes by name, with typed access.

use std::collections::BTreeMap;
use std::collections::btree_map;

use super::{FromValue, IntoValue, Value};
use crate::{Diagnostic, Path};

/// Attributes by name: a configuration, a plan, a state, or one nested block of them.
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
    /// Without attributes.
    pub fn new() -> Self {
        Self::default()
    }

    /// The attribute as a Rust type. An absent attribute is null.
    ///
    /// `Option<T>` takes null, [`super::Given`] takes null and unknown, `Value` takes anything.
    ///
    /// # Errors
    /// A diagnostic at the attribute, when the value does not convert.
    pub fn get<T: FromValue>(&self, name: &str) -> Result<T, Diagnostic> {
        T::from_value(self.value(name)).map_err(|mismatch| {
            Diagnostic::error("Unexpected value", mismatch.to_string()).at(Path::root().name(name))
        })
    }

    /// The attribute's value; null when absent.
    pub fn value(&self, name: &str) -> &Value {
        self.0.get(name).unwrap_or(&Value::Null)
    }

    /// The attribute's value, to be changed; it begins as null.
    pub fn value_mut(&mut self, name: &str) -> &mut Value {
        self.0.entry(name.to_owned()).or_default()
    }

    /// Sets an attribute. Lists become sets where the schema says so.
    pub fn set(&mut self, name: impl Into<String>, value: impl IntoValue) {
        self.0.insert(name.into(), value.into_value());
    }

    /// The same with an attribute set: to build objects in one expression.
    #[must_use]
    pub fn with(mut self, name: impl Into<String>, value: impl IntoValue) -> Self {
        self.set(name, value);
        self
    }

    /// Takes an attribute out.
    pub fn remove(&mut self, name: &str) -> Option<Value> {
        self.0.remove(name)
    }

    /// Whether the object has the attribute, be it null.
    pub fn has(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }

    /// Names and values, by name.
    pub fn iter(&self) -> btree_map::Iter<'_, String, Value> {
        self.0.iter()
    }

    /// The values, by name.
    pub fn values(&self) -> btree_map::Values<'_, String, Value> {
        self.0.values()
    }

    /// Whether an attribute or a part of one is unknown.
    pub fn has_unknown(&self) -> bool {
        self.values().any(Value::has_unknown)
    }

    /// How many attributes there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
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
