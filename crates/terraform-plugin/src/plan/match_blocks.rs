//! Finds the nested object of the state that corresponds to one in the configuration.

use crate::value::{Object, Value};

/// Returns the object at an index of a list.
pub(super) fn at(value: Option<&Value>, index: usize) -> Option<&Object> {
    value?.elements().get(index)?.as_object()
}

/// Returns the object at a key of a map.
pub(super) fn under<'a>(value: Option<&'a Value>, key: &str) -> Option<&'a Object> {
    if let Some(Value::Map(elements)) = value { elements.get(key)?.as_object() } else { None }
}
