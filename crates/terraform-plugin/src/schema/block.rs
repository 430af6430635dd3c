//! Nested blocks: `headers { … }`.

use std::collections::BTreeMap;

use super::{Attribute, Body, Nesting};
use crate::validate::{Check, Validator};
use crate::value::{Type, Value};

/// A nested block. Terraform itself holds its bounds of count, and never plans it as null: a
/// repeated block that is absent is empty.
#[derive(Clone, Debug)]
pub struct Block {
    /// How many there may be, and how they are kept.
    pub nesting: Nesting,
    /// The fewest; for a single block 1 makes it required.
    pub min_items: u32,
    /// The most; 0 is without bound.
    pub max_items: u32,
    /// What it is for, in Markdown.
    pub description: String,
    /// Why not to use it any more, and what to use instead.
    pub deprecated: Option<String>,
    /// Its attributes and blocks.
    pub body: Body,
    /// Rules of all blocks of this name together.
    pub validators: Vec<Validator>,
}

impl Block {
    /// At most one.
    pub fn single() -> Self {
        Self::of(Nesting::Single)
    }

    /// Repeated, in order.
    pub fn list() -> Self {
        Self::of(Nesting::List)
    }

    /// Repeated, without order.
    pub fn set() -> Self {
        Self::of(Nesting::Set)
    }

    /// Of a nesting: for schemas made from tables.
    pub fn of(nesting: Nesting) -> Self {
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

    /// The same, at least so many.
    #[must_use]
    pub fn min_items(mut self, count: u32) -> Self {
        self.min_items = count;
        self
    }

    /// The same, at most so many.
    #[must_use]
    pub fn max_items(mut self, count: u32) -> Self {
        self.max_items = count;
        self
    }

    /// The same with a description in Markdown.
    #[must_use]
    pub fn describe(mut self, description: impl Into<String>) -> Self {
        self.description = description.into();
        self
    }

    /// The same, no longer to be used: `why` also says what to use.
    #[must_use]
    pub fn deprecated(mut self, why: impl Into<String>) -> Self {
        self.deprecated = Some(why.into());
        self
    }

    /// The same with an attribute.
    #[must_use]
    pub fn attribute(mut self, name: impl Into<String>, attribute: Attribute) -> Self {
        self.body.attributes.insert(name.into(), attribute);
        self
    }

    /// The same with a block within.
    #[must_use]
    pub fn block(mut self, name: impl Into<String>, block: Self) -> Self {
        self.body.blocks.insert(name.into(), block);
        self
    }

    /// The same with a rule across the attributes of one block.
    #[must_use]
    pub fn check(mut self, check: Check) -> Self {
        self.body.checks.push(check);
        self
    }

    /// The same with a rule of all blocks of this name together.
    #[must_use]
    pub fn validate(mut self, validator: Validator) -> Self {
        self.validators.push(validator);
        self
    }

    /// What stands where there is none: nothing, or an empty collection, for that is never null.
    pub(crate) fn none(&self) -> Value {
        match self.nesting {
            Nesting::Single => Value::Null,
            Nesting::List => Value::List(Vec::new()),
            Nesting::Set => Value::set::<Value>([]),
            Nesting::Map => Value::Map(BTreeMap::new()),
        }
    }

    /// The type of its values.
    pub fn ty(&self) -> Type {
        self.nesting.around(self.body.ty())
    }
}
