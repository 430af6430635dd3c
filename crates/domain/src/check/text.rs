//! Compares a text with an assertion's target (design §5), by the same table for bodies and
//! headers. The caller supplies the text and decides which of several texts must match.

mod expectation;

use std::cmp::Ordering;

use rules::TextComparator;

pub(super) use self::expectation::{ReadyExpectation, SearchBudget, TextExpectation};
use super::redact::excerpt;

/// A text that may be incomplete.
#[derive(Clone, Copy, Debug)]
pub(super) struct Text<'a> {
    /// The text, or its beginning.
    pub(super) known: &'a str,
    /// Whether the text continues with an unknown, non-empty rest.
    pub(super) has_more: bool,
}

/// Result of a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Comparison {
    /// The assertion passes.
    Yes,
    /// The assertion fails.
    No,
    /// The assertion fails because the target is a number and the text is not.
    NotANumber,
    /// The result depends on the missing part of the text.
    Undecidable,
}

impl From<bool> for Comparison {
    fn from(holds: bool) -> Self {
        if holds { Self::Yes } else { Self::No }
    }
}

impl<'a> Text<'a> {
    /// Creates a text that is complete.
    pub(super) const fn complete(known: &'a str) -> Self {
        Self { known, has_more: false }
    }

    /// Compares this text as expected.
    pub(super) fn compare(self, ready: &ReadyExpectation<'_>) -> Comparison {
        let target = &*ready.expected.target;
        match ready.expected.comparator {
            TextComparator::Contains => self.contains(target),
            TextComparator::NotContains => self.contains(target).not(),
            TextComparator::Eq => self.equals(target),
            TextComparator::Neq => self.equals(target).not(),
            TextComparator::Empty => self.is_empty().into(),
            TextComparator::NotEmpty => (!self.is_empty()).into(),
            TextComparator::Gt => self.ordered(target, Ordering::is_gt),
            TextComparator::Gte => self.ordered(target, Ordering::is_ge),
            TextComparator::Lt => self.ordered(target, Ordering::is_lt),
            TextComparator::Lte => self.ordered(target, Ordering::is_le),
            TextComparator::Matches => self.matches(ready),
            TextComparator::NotMatches => self.matches(ready).not(),
        }
    }

    fn matches(self, ready: &ReadyExpectation<'_>) -> Comparison {
        ready.matches(self.known, self.has_more).map_or(Comparison::Undecidable, Into::into)
    }

    fn is_empty(self) -> bool {
        self.known.is_empty() && !self.has_more
    }

    fn contains(self, target: &str) -> Comparison {
        match (self.known.contains(target), self.has_more) {
            (true, _) => Comparison::Yes,
            (false, false) => Comparison::No,
            (false, true) => Comparison::Undecidable,
        }
    }

    fn equals(self, target: &str) -> Comparison {
        if self.may_become(target) { Comparison::Undecidable } else { self.is(target).into() }
    }

    fn is(self, target: &str) -> bool {
        !self.has_more && self.known == target
    }

    /// Returns whether the result of comparing with `target` depends on the missing rest.
    fn may_become(self, target: &str) -> bool {
        self.has_more && target.len() > self.known.len() && target.starts_with(self.known)
    }

    fn ordered(self, target: &str, accept: fn(Ordering) -> bool) -> Comparison {
        match number(target) {
            Some(target) => self.ordered_as_number(target, accept),
            None if self.may_become(target) => Comparison::Undecidable,
            None => {
                // A text that continues after the target is greater. UTF-8 bytes sort like code
                // points.
                let order = self.known.cmp(target);
                let goes_past = order.is_eq() && self.has_more;
                accept(if goes_past { Ordering::Greater } else { order }).into()
            }
        }
    }

    fn ordered_as_number(self, target: f64, accept: fn(Ordering) -> bool) -> Comparison {
        let may_be_number =
            |c: char| c.is_ascii_digit() || c.is_ascii_whitespace() || "+-.eE".contains(c);
        if self.has_more {
            let decidable = !self.known.chars().all(may_be_number);
            return if decidable { Comparison::NotANumber } else { Comparison::Undecidable };
        }
        number(self.known)
            .and_then(|value| value.partial_cmp(&target))
            .map_or(Comparison::NotANumber, |order| accept(order).into())
    }
}

impl Comparison {
    pub(super) fn not(self) -> Self {
        match self {
            Self::Yes => Self::No,
            Self::No => Self::Yes,
            Self::NotANumber => Self::NotANumber,
            Self::Undecidable => Self::Undecidable,
        }
    }
}

/// Parses a decimal number: optional sign, digits, optional fraction and exponent. Ignores
/// surrounding white space, because bodies often end with a line feed.
pub(super) fn number(text: &str) -> Option<f64> {
    let text = text.trim_ascii();
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let (mantissa, exponent) = match unsigned.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (unsigned, None),
    };
    let (whole, fraction) = match mantissa.split_once('.') {
        Some((whole, fraction)) => (whole, Some(fraction)),
        None => (mantissa, None),
    };
    let exponent = exponent.map(|exponent| exponent.strip_prefix(['+', '-']).unwrap_or(exponent));
    let digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    let is_number = digits(whole) && fraction.is_none_or(digits) && exponent.is_none_or(digits);
    is_number.then(|| text.parse().ok()).flatten()
}

/// Returns the expectation as text to follow "to": `contains` → ``contain `ok` ``.
pub(super) fn expectation(comparator: TextComparator, target: &str) -> String {
    let target = excerpt(target);
    match comparator {
        TextComparator::Contains => format!("contain `{target}`"),
        TextComparator::NotContains => format!("not contain `{target}`"),
        TextComparator::Eq => format!("be `{target}`"),
        TextComparator::Neq => format!("not be `{target}`"),
        TextComparator::Empty => "be empty".to_owned(),
        TextComparator::NotEmpty => "not be empty".to_owned(),
        TextComparator::Gt => format!("be greater than `{target}`"),
        TextComparator::Gte => format!("be at least `{target}`"),
        TextComparator::Lt => format!("be less than `{target}`"),
        TextComparator::Lte => format!("be at most `{target}`"),
        TextComparator::Matches => format!("match `{target}`"),
        TextComparator::NotMatches => format!("not match `{target}`"),
    }
}

/// Returns why `what`, with the value `seen`, fails. Shows `target` and `seen` unchanged: redact
/// credentials first.
pub(super) fn reason(
    what: &str,
    seen: &str,
    comparator: TextComparator,
    target: &str,
    comparison: Comparison,
) -> String {
    let expected = expectation(comparator, target);
    match comparison {
        Comparison::Undecidable if comparator.takes_expression() => {
            format!("expected {what} to {expected}, but only its beginning could be examined")
        }
        Comparison::Undecidable => {
            format!("expected {what} to {expected}, but the body was too long to decide")
        }
        Comparison::NotANumber => {
            format!("{what} is `{seen}`, which is not a number, expected to {expected}")
        }
        Comparison::Yes | Comparison::No => match comparator {
            TextComparator::Contains => format!("{what} does not contain `{}`", excerpt(target)),
            TextComparator::NotContains => format!("{what} contains `{}`", excerpt(target)),
            TextComparator::Neq => format!("{what} is `{}`", excerpt(target)),
            TextComparator::Empty => format!("{what} is not empty"),
            TextComparator::NotEmpty => format!("{what} is empty"),
            TextComparator::Eq
            | TextComparator::Gt
            | TextComparator::Gte
            | TextComparator::Lt
            | TextComparator::Lte
            | TextComparator::Matches
            | TextComparator::NotMatches => format!("{what} is `{seen}`, expected to {expected}"),
        },
    }
}

/// Returns the assertion as text: ``body contains `ok` ``.
pub(super) fn describe(what: &str, comparator: TextComparator, target: &str) -> String {
    match comparator {
        TextComparator::Empty | TextComparator::NotEmpty => format!("{what} {comparator}"),
        TextComparator::Contains
        | TextComparator::NotContains
        | TextComparator::Eq
        | TextComparator::Neq
        | TextComparator::Gt
        | TextComparator::Gte
        | TextComparator::Lt
        | TextComparator::Lte
        | TextComparator::Matches
        | TextComparator::NotMatches => format!("{what} {comparator} `{}`", excerpt(target)),
    }
}

#[cfg(test)]
mod tests;
