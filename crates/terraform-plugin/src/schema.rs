//! Schemas: describe as data what a configuration may contain. Terraform uses them for
//! documentation, completion and its own checks. The framework uses them to plan and validate.

mod attribute;
mod block;
mod conform;
mod faults;
mod violations;

use std::collections::BTreeMap;

pub use attribute::{Attribute, Derived, Presence, Replace, ReplaceRule, Shape};
pub use block::Block;
pub(crate) use conform::{conform, fit_type as fit, salvage};
pub(crate) use violations::{violations, write_only};

use crate::validate::Check;
use crate::value::Type;

/// The schema of a provider, resource, data source, ephemeral resource, list or action.
///
/// ```
/// use terraform_plugin::schema::{Attribute, Block, Schema};
/// use terraform_plugin::{validate, Type};
///
/// let schema = Schema::new("Asks a URL whether it is well.")
///     .attribute("id", Attribute::computed(Type::String).use_state_for_unknown())
///     .attribute("url", Attribute::required(Type::String).validate(validate::length(1..=2048)))
///     .attribute("retry", Attribute::optional(Type::Number).default(3))
///     .block("headers", Block::list().max_items(20)
///         .attribute("key", Attribute::required(Type::String))
///         .attribute("value", Attribute::required(Type::String).sensitive()));
/// assert_eq!(schema.body.attributes.len(), 3);
/// ```
#[derive(Clone, Debug, Default)]
pub struct Schema {
    /// Version of the states. Increase it if states of earlier versions need an upgrade.
    pub version: i64,
    /// Purpose, in Markdown.
    pub description: String,
    /// Deprecation notice that names the replacement.
    pub deprecated: Option<String>,
    pub body: Body,
}

/// The attributes and blocks of a schema or of a block.
#[derive(Clone, Debug, Default)]
pub struct Body {
    pub attributes: BTreeMap<String, Attribute>,
    pub blocks: BTreeMap<String, Block>,
    /// Rules across attributes.
    pub checks: Vec<Check>,
}

/// Number and order of nested objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Nesting {
    /// One or none.
    Single,
    /// Ordered.
    List,
    /// Without order.
    Set,
    /// By key.
    Map,
}

impl Schema {
    /// Creates a schema without attributes. `description` is its purpose in Markdown.
    pub fn new(description: impl Into<String>) -> Self {
        Self { description: description.into(), ..Self::default() }
    }

    /// Sets the version of its states.
    #[must_use]
    pub fn version(mut self, version: i64) -> Self {
        self.version = version;
        self
    }

    /// Marks the schema as deprecated. `why` names the replacement.
    #[must_use]
    pub fn deprecated(mut self, why: impl Into<String>) -> Self {
        self.deprecated = Some(why.into());
        self
    }

    /// Adds an attribute.
    #[must_use]
    pub fn attribute(mut self, name: impl Into<String>, attribute: Attribute) -> Self {
        self.body.attributes.insert(name.into(), attribute);
        self
    }

    /// Adds a nested block.
    #[must_use]
    pub fn block(mut self, name: impl Into<String>, block: Block) -> Self {
        self.body.blocks.insert(name.into(), block);
        self
    }

    /// Adds a rule across attributes.
    #[must_use]
    pub fn check(mut self, check: Check) -> Self {
        self.body.checks.push(check);
        self
    }

    /// Returns the type of its values.
    pub fn ty(&self) -> Type {
        self.body.ty()
    }
}

impl Body {
    /// Returns the type of its values: an object with all attributes and blocks.
    pub fn ty(&self) -> Type {
        let attributes = self.attributes.iter().map(|(name, attribute)| (name, attribute.ty()));
        let blocks = self.blocks.iter().map(|(name, block)| (name, block.ty()));
        Type::object(attributes.chain(blocks))
    }
}

impl Nesting {
    /// Returns the type of nested values whose elements have the type `one`.
    pub(crate) fn around(self, one: Type) -> Type {
        match self {
            Self::Single => one,
            Self::List => Type::list(one),
            Self::Set => Type::set(one),
            Self::Map => Type::map(one),
        }
    }
}
