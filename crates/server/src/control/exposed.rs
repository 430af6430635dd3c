//! Serializes a secret in plain text, for the socket that only its owner may open.

use rules::Secret;
use serde::{Deserialize as _, Deserializer, Serializer};

pub(super) fn serialize<S: Serializer>(
    secret: &Secret<String>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(secret.expose())
}

pub(super) fn deserialize<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Secret<String>, D::Error> {
    String::deserialize(deserializer).map(Secret::new)
}
