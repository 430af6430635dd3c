//! Identities: what names an object for good, apart from its attributes.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use serde_json::Value as Json;

use crate::Outcome;
use crate::value::{Object, Type};

/// The schema of an identity. It has texts, numbers, bools, and lists of these.
///
/// ```
/// use terraform_plugin::resource::Identity;
/// use terraform_plugin::Type;
///
/// let identity = Identity::new()
///     .required("page_id", Type::String, "The page.")
///     .required("id", Type::String, "The component.");
/// assert_eq!(identity.attributes.len(), 2);
/// ```
#[derive(Clone, Debug, Default)]
pub struct Identity {
    /// Raised when identities of earlier versions must be upgraded.
    pub version: i64,
    /// Its attributes by name.
    pub attributes: BTreeMap<String, IdentityAttribute>,
    pub(crate) upgrades: Vec<IdentityUpgrade>,
}

/// An attribute of an identity.
#[derive(Clone, Debug)]
pub struct IdentityAttribute {
    /// Its type.
    pub ty: Type,
    /// Whether an import must say it; otherwise it may.
    pub required: bool,
    /// What it is, in plain words.
    pub description: String,
}

/// How identities of one earlier version become those of the present one.
#[derive(Clone)]
pub struct IdentityUpgrade {
    pub(crate) from: i64,
    pub(crate) run: Arc<dyn Fn(Json) -> Outcome<Object> + Send + Sync>,
}

impl Identity {
    /// Without attributes, in version 0.
    pub fn new() -> Self {
        Self::default()
    }

    /// The same in another version.
    #[must_use]
    pub fn version(mut self, version: i64) -> Self {
        self.version = version;
        self
    }

    /// The same with an attribute that an import must say.
    #[must_use]
    pub fn required(self, name: &str, ty: Type, description: &str) -> Self {
        self.attribute(name, ty, true, description)
    }

    /// The same with an attribute that an import may say.
    #[must_use]
    pub fn optional(self, name: &str, ty: Type, description: &str) -> Self {
        self.attribute(name, ty, false, description)
    }

    /// The same with an upgrade from an earlier version.
    #[must_use]
    pub fn upgrade(
        mut self,
        from: i64,
        run: impl Fn(Json) -> Outcome<Object> + Send + Sync + 'static,
    ) -> Self {
        self.upgrades.push(IdentityUpgrade { from, run: Arc::new(run) });
        self
    }

    /// The type of its values.
    pub fn ty(&self) -> Type {
        Type::object(self.attributes.iter().map(|(name, attribute)| (name, attribute.ty.clone())))
    }

    fn attribute(mut self, name: &str, ty: Type, required: bool, description: &str) -> Self {
        let attribute = IdentityAttribute { ty, required, description: description.to_owned() };
        self.attributes.insert(name.to_owned(), attribute);
        self
    }
}

impl fmt::Debug for IdentityUpgrade {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("IdentityUpgrade").field("from", &self.from).finish_non_exhaustive()
    }
}
