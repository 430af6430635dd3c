//! Facts about an unknown value: not null, prefix of its text, bounds.

use super::Number;

/// Facts about an unknown value. Usually there are none, which needs no memory.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Refinements(Option<Box<Known>>);

/// A bound of a number.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Bound {
    pub number: Number,
    /// Whether the number itself is allowed.
    pub inclusive: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Default)]
struct Known {
    null: Option<bool>,
    prefix: Option<String>,
    least: Option<Bound>,
    most: Option<Bound>,
    least_length: Option<u64>,
    most_length: Option<u64>,
}

impl Refinements {
    /// No facts.
    pub const NONE: Self = Self(None);

    /// Returns the facts of a value that the server always returns: unknown, but not null.
    #[must_use]
    pub fn not_null() -> Self {
        Self::NONE.with_null(false)
    }

    /// Returns whether nothing is known.
    pub fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    /// Returns whether the value is null, if known.
    pub fn null(&self) -> Option<bool> {
        self.0.as_ref()?.null
    }

    /// Returns the prefix of the text, if known.
    pub fn prefix(&self) -> Option<&str> {
        self.0.as_ref()?.prefix.as_deref()
    }

    /// Returns the lower bound of the number, if known.
    pub fn least(&self) -> Option<&Bound> {
        self.0.as_ref()?.least.as_ref()
    }

    /// Returns the upper bound of the number, if known.
    pub fn most(&self) -> Option<&Bound> {
        self.0.as_ref()?.most.as_ref()
    }

    /// Returns the minimum number of elements, if known.
    pub fn least_length(&self) -> Option<u64> {
        self.0.as_ref()?.least_length
    }

    /// Returns the maximum number of elements, if known.
    pub fn most_length(&self) -> Option<u64> {
        self.0.as_ref()?.most_length
    }

    /// Sets whether the value is null.
    #[must_use]
    pub fn with_null(self, null: bool) -> Self {
        self.with(|known| known.null = Some(null))
    }

    /// Sets the prefix of the text.
    #[must_use]
    pub fn with_prefix(self, prefix: impl Into<String>) -> Self {
        self.with(|known| known.prefix = Some(prefix.into()))
    }

    /// Sets the lower bound of the number.
    #[must_use]
    pub fn with_least(self, bound: Bound) -> Self {
        self.with(|known| known.least = Some(bound))
    }

    /// Sets the upper bound of the number.
    #[must_use]
    pub fn with_most(self, bound: Bound) -> Self {
        self.with(|known| known.most = Some(bound))
    }

    /// Sets the minimum number of elements.
    #[must_use]
    pub fn with_least_length(self, length: u64) -> Self {
        self.with(|known| known.least_length = Some(length))
    }

    /// Sets the maximum number of elements.
    #[must_use]
    pub fn with_most_length(self, length: u64) -> Self {
        self.with(|known| known.most_length = Some(length))
    }

    fn with(mut self, learn: impl FnOnce(&mut Known)) -> Self {
        learn(self.0.get_or_insert_default());
        self
    }
}
