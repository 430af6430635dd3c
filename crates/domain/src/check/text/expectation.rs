//! The expectation on a text. [`ReadyExpectation`] has its compiled expression, for one response.

use std::cell::Cell;

use rules::{CompiledPattern, PATTERN_WORK_MAX, Pattern, TextComparator};

/// An expectation on a text.
#[derive(Clone, Debug)]
pub struct TextExpectation {
    pub comparator: TextComparator,
    /// As written; may be empty.
    pub target: String,
    /// The target as an expression, for the comparators that match.
    pattern: Option<Pattern>,
}

/// Work that the searches in one response may still do. A hostile response must not keep the probe busy.
#[derive(Debug)]
pub(in crate::check) struct SearchBudget {
    left: Cell<u64>,
}

/// An expectation to compare with the texts of one response.
#[derive(Debug)]
pub(in crate::check) struct ReadyExpectation<'a> {
    pub(in crate::check) expected: &'a TextExpectation,
    pattern: Option<CompiledPattern>,
    budget: &'a SearchBudget,
}

impl SearchBudget {
    pub(in crate::check) const fn new() -> Self {
        Self { left: Cell::new(PATTERN_WORK_MAX) }
    }

    /// Takes a part of the budget. Returns false if less is left.
    pub(in crate::check) fn take(&self, work: u64) -> bool {
        let left = self.left.get().checked_sub(work);
        self.left.set(left.unwrap_or_default());
        left.is_some()
    }
}

impl ReadyExpectation<'_> {
    /// Returns whether the expression matches a text that starts with `known`, and goes on if it
    /// `has_more`; `None` if that is unknown, or takes too much work.
    pub(super) fn matches(&self, known: &str, has_more: bool) -> Option<bool> {
        let pattern = self.pattern.as_ref()?;
        self.budget.take(pattern.work(known)).then(|| pattern.matches(known, has_more)).flatten()
    }
}

impl TextExpectation {
    /// Prepares for the texts of one response.
    pub(in crate::check) fn ready<'a>(&'a self, budget: &'a SearchBudget) -> ReadyExpectation<'a> {
        let pattern = self.pattern.as_ref().and_then(Pattern::compile);
        ReadyExpectation { expected: self, pattern, budget }
    }

    /// Returns whether it has an expression, whose search may take long.
    pub(in crate::check) const fn has_pattern(&self) -> bool {
        self.pattern.is_some()
    }

    /// Creates an expectation. Returns the reason if the target is not a valid expression.
    pub fn new(comparator: TextComparator, target: &str) -> Result<Self, String> {
        let pattern = if comparator.takes_expression() {
            let pattern = Pattern::parse(target);
            Some(pattern.map_err(|error| format!("the target of an assertion {error}"))?)
        } else {
            None
        };
        Ok(Self { comparator, target: target.to_owned(), pattern })
    }

    /// Returns whether all of several texts must match instead of any.
    pub(in crate::check) fn needs_all(&self) -> bool {
        match self.comparator {
            TextComparator::Neq
            | TextComparator::NotContains
            | TextComparator::NotMatches
            | TextComparator::Empty => true,
            TextComparator::Contains
            | TextComparator::Eq
            | TextComparator::NotEmpty
            | TextComparator::Gt
            | TextComparator::Gte
            | TextComparator::Lt
            | TextComparator::Lte
            | TextComparator::Matches => false,
        }
    }
}
