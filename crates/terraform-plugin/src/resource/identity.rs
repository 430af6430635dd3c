//! Identities: permanent names of objects, apart from their attributes.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use serde_json::Value as Json;

use crate::Outcome;
use crate::value::{Object, Type};

/// The schema of an identity. Allows strings, numbers, bools, and lists of these.
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
    /// Version of the identity. Increase it if identities of earlier versions need an upgrade.
    pub version: i64,
    /// Attributes by name.
    pub attributes: BTreeMap<String, IdentityAttribute>,
    pub(crate) upgrades: Vec<IdentityUpgrade>,
}

/// An attribute of an identity.
#[derive(Clone, Debug)]
pub struct IdentityAttribute {
    pub ty: Type,
    /// Whether an import must set it.
    pub required: bool,
    /// Description in plain text.
    pub description: String,
}

/// An upgrade from one earlier version of the identity to the current one.
#[derive(Clone)]
pub struct IdentityUpgrade {
    pub(crate) from: i64,
    pub(crate) run: Arc<dyn Fn(Json) -> Outcome<Object> + Send + Sync>,
}

impl Identity {
    /// Creates an identity without attributes, in version 0.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the version.
    #[must_use]
    pub fn version(mut self, version: i64) -> Self {
        self.version = version;
        self
    }

    /// Adds an attribute that an import must set.
    #[must_use]
    pub fn required(self, name: &str, ty: Type, description: &str) -> Self {
        self.attribute(name, ty, true, description)
    }

    /// Adds an attribute that an import may set.
    #[must_use]
    pub fn optional(self, name: &str, ty: Type, description: &str) -> Self {
        self.attribute(name, ty, false, description)
    }

    /// Adds an upgrade from an earlier version.
    #[must_use]
    pub fn upgrade(
        mut self,
        from: i64,
        run: impl Fn(Json) -> Outcome<Object> + Send + Sync + 'static,
    ) -> Self {
        self.upgrades.push(IdentityUpgrade { from, run: Arc::new(run) });
        self
    }

    /// Returns the type of its values.
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
