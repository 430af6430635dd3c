//! Private state: data that a provider stores next to a resource's state, invisible to people.

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value as Json};

/// Values by key that Terraform stores next to the state.
///
/// A default value changes nothing: Terraform keeps the private state that it has.
///
/// ```
/// use terraform_plugin::Private;
///
/// let mut private = Private::default();
/// private.set("etag", 7);
/// assert_eq!(private.get::<u32>("etag"), Some(7));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Private {
    values: Map<String, Json>,
    changed: bool,
}

impl Private {
    /// Returns the value of a key, if it exists and has this type.
    pub fn get<T: DeserializeOwned>(&self, key: &str) -> Option<T> {
        serde_json::from_value(self.values.get(key)?.clone()).ok()
    }

    /// Sets the value of a key. A value without a JSON form becomes null.
    pub fn set(&mut self, key: impl Into<String>, value: impl Serialize) {
        self.changed = true;
        self.values.insert(key.into(), serde_json::to_value(value).unwrap_or_default());
    }

    /// Removes a key.
    pub fn remove(&mut self, key: &str) {
        self.changed = true;
        self.values.remove(key);
    }

    /// Decodes bytes. Invalid bytes count as empty, because nothing may depend on private state.
    pub(crate) fn from_bytes(bytes: &[u8]) -> Self {
        Self { values: serde_json::from_slice(bytes).unwrap_or_default(), changed: false }
    }

    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        if self.values.is_empty() {
            return Vec::new();
        }
        Json::Object(self.values.clone()).to_string().into()
    }

    /// Encodes the values, or returns the earlier bytes if nothing was changed.
    pub(crate) fn encode_over(&self, before: &[u8]) -> Vec<u8> {
        let silent = self.values.is_empty() && !self.changed;
        if silent { before.to_vec() } else { self.to_bytes() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_round_trip_and_invalid_bytes_are_empty() {
        let mut private = Private::default();
        assert_eq!(private.to_bytes(), b"");
        private.set("etag", 7);
        let back = Private::from_bytes(&private.to_bytes());
        assert_eq!((back.get::<i64>("etag"), back.get::<String>("etag")), (Some(7), None));
        assert_eq!(Private::from_bytes(b"{broken"), Private::default());
    }

    #[test]
    fn untouched_state_is_kept_emptied_state_is_not() {
        let before = br#"{"etag":7}"#;
        assert_eq!(Private::default().encode_over(before), before);
        let mut emptied = Private::from_bytes(before);
        emptied.remove("etag");
        assert_eq!(emptied.encode_over(before), b"");
    }
}
