//! Nested blocks: `headers { … }`.

use std::collections::BTreeMap;

use super::{Attribute, Body, Nesting};
use crate::validate::{Check, Validator};
use crate::value::{Type, Value};

/// A nested block. Terraform itself checks the number of blocks and never plans null: an absent
/// repeated block is empty.
#[derive(Clone, Debug)]
pub struct Block {
    /// Number and order of blocks.
    pub nesting: Nesting,
    /// Minimum number of blocks. For a single block, 1 makes it required.
    pub min_items: u32,
    /// Maximum number of blocks. 0 means no limit.
    pub max_items: u32,
    /// Purpose, in Markdown.
    pub description: String,
    /// Deprecation notice that names the replacement.
    pub deprecated: Option<String>,
    pub body: Body,
    /// Rules for all blocks of this name together.
    pub validators: Vec<Validator>,
}

impl Block {
    /// Creates a block that may occur once.
    pub fn single() -> Self {
        Self::new(Nesting::Single)
    }

    /// Creates a repeated block with an order.
    pub fn list() -> Self {
        Self::new(Nesting::List)
    }

    /// Creates a repeated block without order.
    pub fn set() -> Self {
        Self::new(Nesting::Set)
    }

    /// Creates a block from a nesting, for schemas made from tables.
    pub fn new(nesting: Nesting) -> Self {
        Self {
            nesting,
            min_items: 0,
            max_items: 0,
            description: String::new(),
            deprecated: None,
            body: Body::default(),
            validators: Vec::new(),
        }
    }

    /// Sets the minimum number of blocks.
    #[must_use]
    pub fn min_items(mut self, count: u32) -> Self {
        self.min_items = count;
        self
    }

    /// Sets the maximum number of blocks.
    #[must_use]
    pub fn max_items(mut self, count: u32) -> Self {
        self.max_items = count;
        self
    }

    /// Sets the description in Markdown.
    #[must_use]
    pub fn describe(mut self, description: impl Into<String>) -> Self {
        self.description = description.into();
        self
    }

    /// Marks the block as deprecated. `why` names the replacement.
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
    pub fn block(mut self, name: impl Into<String>, block: Self) -> Self {
        self.body.blocks.insert(name.into(), block);
        self
    }

    /// Adds a rule across the attributes of one block.
    #[must_use]
    pub fn check(mut self, check: Check) -> Self {
        self.body.checks.push(check);
        self
    }

    /// Adds a rule for all blocks of this name together.
    #[must_use]
    pub fn validate(mut self, validator: Validator) -> Self {
        self.validators.push(validator);
        self
    }

    /// Returns the value of an absent block: null for a single block, otherwise an empty
    /// collection.
    pub(crate) fn none(&self) -> Value {
        match self.nesting {
            Nesting::Single => Value::Null,
            Nesting::List => Value::List(Vec::new()),
            Nesting::Set => Value::set::<Value>([]),
            Nesting::Map => Value::Map(BTreeMap::new()),
        }
    }

    /// Returns the type of its values.
    pub fn ty(&self) -> Type {
        self.nesting.around(self.body.ty())
    }
}
