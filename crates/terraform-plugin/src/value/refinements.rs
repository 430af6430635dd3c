//! What is known of a value that is unknown: that it is not null, how its text begins, its bounds.

use super::Number;

/// What is known of an unknown value. Mostly nothing, which costs no memory.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Refinements(Option<Box<Known>>);

/// A bound of a number.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Bound {
    /// The number.
    pub number: Number,
    /// Whether the number itself is within.
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
    /// Nothing is known.
    pub const NONE: Self = Self(None);

    /// Unknown, but not null: what a server always answers with.
    #[must_use]
    pub fn not_null() -> Self {
        Self::NONE.with_null(false)
    }

    /// Whether nothing is known.
    pub fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    /// Whether it is null or is not, if that is known.
    pub fn null(&self) -> Option<bool> {
        self.0.as_ref()?.null
    }

    /// How the text begins, if that is known.
    pub fn prefix(&self) -> Option<&str> {
        self.0.as_ref()?.prefix.as_deref()
    }

    /// The least number, if that is known.
    pub fn least(&self) -> Option<&Bound> {
        self.0.as_ref()?.least.as_ref()
    }

    /// The greatest number, if that is known.
    pub fn most(&self) -> Option<&Bound> {
        self.0.as_ref()?.most.as_ref()
    }

    /// The least count of elements, if that is known.
    pub fn least_length(&self) -> Option<u64> {
        self.0.as_ref()?.least_length
    }

    /// The greatest count of elements, if that is known.
    pub fn most_length(&self) -> Option<u64> {
        self.0.as_ref()?.most_length
    }

    /// The same, and null or not.
    #[must_use]
    pub fn with_null(self, null: bool) -> Self {
        self.with(|known| known.null = Some(null))
    }

    /// The same, and text that begins with `prefix`.
    #[must_use]
    pub fn with_prefix(self, prefix: impl Into<String>) -> Self {
        self.with(|known| known.prefix = Some(prefix.into()))
    }

    /// The same, and a number not under `bound`.
    #[must_use]
    pub fn with_least(self, bound: Bound) -> Self {
        self.with(|known| known.least = Some(bound))
    }

    /// The same, and a number not over `bound`.
    #[must_use]
    pub fn with_most(self, bound: Bound) -> Self {
        self.with(|known| known.most = Some(bound))
    }

    /// The same, and at least so many elements.
    #[must_use]
    pub fn with_least_length(self, length: u64) -> Self {
        self.with(|known| known.least_length = Some(length))
    }

    /// The same, and at most so many elements.
    #[must_use]
    pub fn with_most_length(self, length: u64) -> Self {
        self.with(|known| known.most_length = Some(length))
    }

    fn with(mut self, learn: impl FnOnce(&mut Known)) -> Self {
        learn(self.0.get_or_insert_default());
        self
    }
}
