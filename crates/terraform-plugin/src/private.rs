//! Private state: what a provider keeps beside a resource's state, unseen by people.

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value as Json};

/// Values by key, kept by Terraform beside the state.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Private(Map<String, Json>);

impl Private {
    /// The value at a key, if it is there and of this type.
    pub fn get<T: DeserializeOwned>(&self, key: &str) -> Option<T> {
        serde_json::from_value(self.0.get(key)?.clone()).ok()
    }

    /// Sets the value at a key. What has no JSON becomes null.
    pub fn set(&mut self, key: impl Into<String>, value: impl Serialize) {
        self.0.insert(key.into(), serde_json::to_value(value).unwrap_or_default());
    }

    /// Takes a key out.
    pub fn remove(&mut self, key: &str) {
        self.0.remove(key);
    }

    /// Broken bytes are as good as none: nothing may depend on private state.
    pub(crate) fn from_bytes(bytes: &[u8]) -> Self {
        Self(serde_json::from_slice(bytes).unwrap_or_default())
    }

    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        if self.0.is_empty() { Vec::new() } else { Json::Object(self.0.clone()).to_string().into() }
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
}
