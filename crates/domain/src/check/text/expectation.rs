//! The expectation on a text, ready to be compared: an expression is compiled once per plan.

use rules::{Pattern, TextComparator};

/// An expectation on a text.
#[derive(Clone, Debug)]
pub struct TextExpectation {
    pub comparator: TextComparator,
    /// As written; may be empty.
    pub target: String,
    /// The target as an expression, for the comparators that match.
    pattern: Option<Pattern>,
}

impl TextExpectation {
    /// Creates an expectation. Returns the reason if the target is not a valid expression.
    pub fn new(comparator: TextComparator, target: &str) -> Result<Self, String> {
        let pattern = match comparator {
            TextComparator::Matches | TextComparator::NotMatches => {
                let pattern = Pattern::parse(target)
                    .map_err(|error| format!("the target of an assertion {error}"))?;
                Some(pattern)
            }
            TextComparator::Contains
            | TextComparator::NotContains
            | TextComparator::Eq
            | TextComparator::Neq
            | TextComparator::Empty
            | TextComparator::NotEmpty
            | TextComparator::Gt
            | TextComparator::Gte
            | TextComparator::Lt
            | TextComparator::Lte => None,
        };
        Ok(Self { comparator, target: target.to_owned(), pattern })
    }

    /// Returns whether the expression matches a text that starts with `known`, and goes on if it
    /// `has_more`; `None` if that is unknown.
    pub(super) fn matches(&self, known: &str, has_more: bool) -> Option<bool> {
        self.pattern.as_ref()?.matches(known, has_more)
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
