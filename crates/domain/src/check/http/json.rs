//! Assertions on values in a body of JSON. `document` parses the body; decision 0081 has the rules.

mod document;

use std::borrow::Cow;

use rules::monitor::JsonAssertion;
use rules::{JsonPath, TextComparator, limits};
use serde_json::Value;

use crate::check::AssertionResult;
use crate::check::findings::Findings;
use crate::check::redact::excerpt;
use crate::check::text::{self, Comparison, ReadyExpectation, SearchBudget, Text, TextExpectation};

/// An expectation on the values at a path.
#[derive(Clone, Debug)]
pub struct JsonExpectation {
    /// As written.
    text: String,
    path: JsonPath,
    expected: TextExpectation,
}

impl JsonExpectation {
    /// Creates an expectation. Returns the reason if the path or the target is invalid.
    pub(super) fn new(assertion: &JsonAssertion) -> Result<Self, String> {
        let JsonAssertion { path, target, comparator } = assertion;
        Ok(Self {
            text: path.clone(),
            path: JsonPath::parse(path)
                .map_err(|error| format!("the path of an assertion {error}"))?,
            expected: TextExpectation::new(*comparator, target)?,
        })
    }
}

/// Adds the results of `assertions` on a body to `found`. Returns how many are undecided because the body
/// is incomplete.
pub(super) fn assess(
    found: &mut Findings,
    assertions: &[JsonExpectation],
    body: Text<'_>,
    budget: &SearchBudget,
) -> usize {
    if assertions.is_empty() {
        return 0;
    }
    if body.has_more {
        for assertion in assertions {
            add(found, assertion, "unknown".to_owned(), Comparison::Undecidable);
        }
        return assertions.len();
    }
    match document::parse(body.known) {
        Ok(document) => {
            let mut comparer = Comparer { budget, text_left: limits::JSON_COMPARED_BYTES_MAX };
            return assertions.iter().filter(|it| !comparer.compare(found, it, &document)).count();
        }
        Err(reason) => {
            // One reason for the body, not one for each path.
            found.reasons.push(format!("the body is not JSON: {reason}"));
            for assertion in assertions {
                let actual = "not JSON".to_owned();
                found.assertions.push(result(assertion, actual, false));
            }
        }
    }
    0
}

/// Compares values of one body within the limits of its work.
struct Comparer<'a> {
    budget: &'a SearchBudget,
    /// Bytes of values that may still be compared. A path can select a large value many times, inside of
    /// others.
    text_left: usize,
}

impl Comparer<'_> {
    /// Compares the values at a path, and returns whether that was possible. As for the lines of a header,
    /// any of them must match, or all if the comparator is a negation. A path without values satisfies
    /// `empty` and the negations.
    fn compare(
        &mut self,
        found: &mut Findings,
        assertion: &JsonExpectation,
        document: &Value,
    ) -> bool {
        let JsonExpectation { text, path, expected } = assertion;
        let values = path.select(document);
        let needs_all = expected.needs_all();
        let ready = expected.ready(self.budget);
        let mut first = None;
        for value in &values {
            let held = self.compare_value(value, &ready);
            if held == Comparison::Undecidable {
                add(found, assertion, "too large to compare".to_owned(), held);
                return false;
            }
            if (held == Comparison::Yes) != needs_all {
                add(found, assertion, shown(value), held);
                return true;
            }
            first.get_or_insert(held);
        }
        if let Some(held) = first {
            add(found, assertion, shown_all(&values), held);
            return true;
        }
        if !needs_all {
            let expectation = text::expectation(expected.comparator, &expected.target);
            let path = excerpt(text);
            found.reasons.push(format!("JSON `{path}` has no value, expected to {expectation}"));
        }
        found.assertions.push(result(assertion, "no value".to_owned(), needs_all));
        true
    }

    fn compare_value(&mut self, value: &Value, ready: &ReadyExpectation<'_>) -> Comparison {
        let expected = ready.expected;
        match expected.comparator {
            TextComparator::Empty => return is_empty(value).into(),
            TextComparator::NotEmpty => return (!is_empty(value)).into(),
            TextComparator::Eq
            | TextComparator::Neq
            | TextComparator::Contains
            | TextComparator::NotContains
            | TextComparator::Gt
            | TextComparator::Gte
            | TextComparator::Lt
            | TextComparator::Lte
            | TextComparator::Matches
            | TextComparator::NotMatches => {}
        }
        let text = text_of(value);
        let Some(left) = self.text_left.checked_sub(text.len()) else {
            return Comparison::Undecidable;
        };
        self.text_left = left;
        if expected.comparator == TextComparator::Eq {
            equals(value, &text, expected).into()
        } else if expected.comparator == TextComparator::Neq {
            (!equals(value, &text, expected)).into()
        } else {
            Text::complete(&text).compare(ready)
        }
    }
}

/// Returns the first values, which are enough to recognise the others.
fn shown_all(values: &[&Value]) -> String {
    match values {
        [only] => shown(only),
        several => {
            let all: Vec<_> = several.iter().take(8).map(|value| shown(value)).collect();
            excerpt(&all.join(", "))
        }
    }
}

fn add(found: &mut Findings, assertion: &JsonExpectation, actual: String, held: Comparison) {
    let TextExpectation { comparator, target, .. } = &assertion.expected;
    if held != Comparison::Yes {
        let what = format!("JSON `{}`", excerpt(&assertion.text));
        found.reasons.push(text::reason(&what, &actual, *comparator, target, held));
    }
    found.assertions.push(result(assertion, actual, held == Comparison::Yes));
}

fn result(assertion: &JsonExpectation, actual: String, passed: bool) -> AssertionResult {
    let TextExpectation { comparator, target, .. } = &assertion.expected;
    let what = format!("JSON `{}`", excerpt(&assertion.text));
    AssertionResult { assertion: text::describe(&what, *comparator, target), passed, actual }
}

fn shown(value: &Value) -> String {
    excerpt(&text_of(value))
}

/// Returns a text as it is, and other values as compact JSON.
fn text_of(value: &Value) -> Cow<'_, str> {
    match value {
        Value::String(text) => Cow::Borrowed(text),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => {
            Cow::Owned(value.to_string())
        }
    }
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(fields) => fields.is_empty(),
        Value::Bool(_) | Value::Number(_) => false,
    }
}

/// Compares numbers by value, so that `1.0` equals `1`, and everything else as text. Whole numbers are
/// compared exactly.
fn equals(value: &Value, text: &str, expected: &TextExpectation) -> bool {
    let target = &*expected.target;
    if text == target {
        return true;
    }
    let is_whole = |text: &str| text.trim_ascii().parse::<i128>().is_ok();
    match (value, text::number(text), text::number(target)) {
        (Value::Number(_), Some(_), Some(_)) if is_whole(text) && is_whole(target) => {
            text.trim_ascii().parse::<i128>() == target.trim_ascii().parse::<i128>()
        }
        (Value::Number(_), Some(value), Some(target)) => {
            value.partial_cmp(&target).is_some_and(std::cmp::Ordering::is_eq)
        }
        _ => false,
    }
}
