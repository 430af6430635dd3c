//! Private state: what a provider keeps beside a resource's state, unseen by people.

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value as Json};

/// Values by key, kept by Terraform beside the state.
///
/// One that nothing was done to says nothing: a state that is returned with it keeps what Terraform
/// has already.
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
    /// The value at a key, if it is there and of this type.
    pub fn get<T: DeserializeOwned>(&self, key: &str) -> Option<T> {
        serde_json::from_value(self.values.get(key)?.clone()).ok()
    }

    /// Sets the value at a key. What has no JSON becomes null.
    pub fn set(&mut self, key: impl Into<String>, value: impl Serialize) {
        self.changed = true;
        self.values.insert(key.into(), serde_json::to_value(value).unwrap_or_default());
    }

    /// Takes a key out.
    pub fn remove(&mut self, key: &str) {
        self.changed = true;
        self.values.remove(key);
    }

    /// Broken bytes are as good as none: nothing may depend on private state.
    pub(crate) fn from_bytes(bytes: &[u8]) -> Self {
        Self { values: serde_json::from_slice(bytes).unwrap_or_default(), changed: false }
    }

    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        if self.values.is_empty() {
            return Vec::new();
        }
        Json::Object(self.values.clone()).to_string().into()
    }

    /// The bytes, or those that were there before if this says nothing.
    pub(crate) fn over(&self, before: &[u8]) -> Vec<u8> {
        let silent = self.values.is_empty() && !self.changed;
        if silent { before.to_vec() } else { self.to_bytes() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_set_reads_back_and_broken_bytes_are_none() {
        let mut private = Private::default();
        assert_eq!(private.to_bytes(), b"");
        private.set("etag", 7);
        let back = Private::from_bytes(&private.to_bytes());
        assert_eq!((back.get::<i64>("etag"), back.get::<String>("etag")), (Some(7), None));
        assert_eq!(Private::from_bytes(b"{broken"), Private::default());
    }

    #[test]
    fn one_that_says_nothing_keeps_and_one_that_was_emptied_does_not() {
        let before = br#"{"etag":7}"#;
        assert_eq!(Private::default().over(before), before);
        let mut emptied = Private::from_bytes(before);
        emptied.remove("etag");
        assert_eq!(emptied.over(before), b"");
    }
}
