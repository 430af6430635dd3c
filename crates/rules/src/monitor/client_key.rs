//! The private key of a client certificate. The store encrypts it with the check that it belongs to.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::argument::FieldValue;
use crate::{Secret, Validator};

/// A private key in PEM, as written. Unlike [`Secret`], it is serializable, because the store's vault
/// takes checks as JSON.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClientKey(pub Secret<String>);

impl FieldValue for ClientKey {
    type Draft = Option<Secret<String>>;

    fn read(validator: &mut Validator, name: &'static str, draft: Self::Draft) -> Option<Self> {
        validator.secret(name, draft).map(Self)
    }

    #[inline]
    fn draft(&self) -> Self::Draft {
        Some(self.0.clone())
    }

    fn secret(&self) -> Option<&Secret<String>> {
        Some(&self.0)
    }
}

impl Serialize for ClientKey {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.0.expose())
    }
}

impl<'de> Deserialize<'de> for ClientKey {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(|key| Self(Secret::new(key)))
    }
}
