//! Serialization of a channel's secrets for the store's vault. [`Secret`] itself is not
//! serializable, so that no other code can write one.

/// A secret text.
pub(super) mod text {
    use serde::{Deserialize, Deserializer, Serializer};

    use crate::Secret;

    pub(in super::super) fn serialize<S: Serializer>(
        secret: &Secret<String>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(secret.expose())
    }

    pub(in super::super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Secret<String>, D::Error> {
        String::deserialize(deserializer).map(Secret::new)
    }
}

/// An optional secret text.
pub(super) mod maybe_text {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    use crate::Secret;

    #[expect(clippy::ref_option, reason = "serde passes a reference to the field")]
    pub(in super::super) fn serialize<S: Serializer>(
        secret: &Option<Secret<String>>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        secret.as_ref().map(Secret::expose).serialize(serializer)
    }

    pub(in super::super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<Secret<String>>, D::Error> {
        Option::<String>::deserialize(deserializer).map(|text| text.map(Secret::new))
    }
}
