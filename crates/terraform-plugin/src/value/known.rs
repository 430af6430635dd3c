//! Values without their unknown parts.

use super::{Object, Value};

impl Value {
    /// Replaces unknown parts by null.
    #[must_use]
    pub fn without_unknown(self) -> Self {
        match self {
            Self::Unknown(_) => Self::Null,
            Self::List(elements) => Self::List(all(elements)),
            Self::Tuple(elements) => Self::Tuple(all(elements)),
            Self::Set(elements) => Self::Set(all(elements.into_vec()).into_iter().collect()),
            Self::Map(elements) => {
                let known = elements.into_iter().map(|(key, it)| (key, it.without_unknown()));
                Self::Map(known.collect())
            }
            Self::Object(object) => Self::Object(object.without_unknown()),
            Self::Dynamic(ty, inner) => Self::Dynamic(ty, Box::new(inner.without_unknown())),
            known @ (Self::Null | Self::Bool(_) | Self::Number(_) | Self::String(_)) => known,
        }
    }
}

impl Object {
    /// Replaces unknown parts by null.
    #[must_use]
    pub fn without_unknown(self) -> Self {
        self.into_iter().map(|(name, value)| (name, value.without_unknown())).collect()
    }
}

fn all(elements: Vec<Value>) -> Vec<Value> {
    elements.into_iter().map(Value::without_unknown).collect()
}
