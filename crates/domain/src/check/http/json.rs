//! Assertions on values in a body of JSON. `document` parses the body; decision 0081 has the rules.

mod document;

use std::borrow::Cow;

use rules::monitor::JsonAssertion;
use rules::{JsonPath, TextComparator};
use serde_json::Value;

use crate::check::AssertionResult;
use crate::check::findings::Findings;
use crate::check::redact::excerpt;
use crate::check::text::{self, Comparison, Text, TextExpectation};

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
        Ok(document) => assertions.iter().for_each(|it| compare(found, it, &document)),
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

/// Compares the values at a path. As for the lines of a header, any of them must match, or all if the
/// comparator is a negation. A path without values satisfies `empty` and the negations.
fn compare(found: &mut Findings, assertion: &JsonExpectation, document: &Value) {
    let JsonExpectation { text, path, expected } = assertion;
    let values = path.select(document);
    let needs_all = expected.needs_all();
    let held: Vec<Comparison> = values.iter().map(|it| compare_value(it, expected)).collect();
    let deciding = held.iter().position(|held| (*held == Comparison::Yes) != needs_all);
    let Some(first) = values.first() else {
        if !needs_all {
            let expectation = text::expectation(expected.comparator, &expected.target);
            let path = excerpt(text);
            found.reasons.push(format!("JSON `{path}` has no value, expected to {expectation}"));
        }
        found.assertions.push(result(assertion, "no value".to_owned(), needs_all));
        return;
    };
    let (shown, held) = match deciding {
        Some(index) => (shown(values[index]), held[index]),
        None if values.len() == 1 => (shown(first), held[0]),
        // The first values are enough to recognise the others.
        None => {
            let all: Vec<_> = values.iter().take(8).map(|value| shown(value)).collect();
            (excerpt(&all.join(", ")), held[0])
        }
    };
    add(found, assertion, shown, held);
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

fn compare_value(value: &Value, expected: &TextExpectation) -> Comparison {
    match expected.comparator {
        TextComparator::Empty => is_empty(value).into(),
        TextComparator::NotEmpty => (!is_empty(value)).into(),
        TextComparator::Eq => equals(value, expected).into(),
        TextComparator::Neq => (!equals(value, expected)).into(),
        TextComparator::Contains
        | TextComparator::NotContains
        | TextComparator::Gt
        | TextComparator::Gte
        | TextComparator::Lt
        | TextComparator::Lte
        | TextComparator::Matches
        | TextComparator::NotMatches => Text::complete(&text_of(value)).compare(expected),
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
fn equals(value: &Value, expected: &TextExpectation) -> bool {
    let text = text_of(value);
    let target = &*expected.target;
    if *text == *target {
        return true;
    }
    let is_whole = |text: &str| text.trim_ascii().parse::<i128>().is_ok();
    match (value, text::number(&text), text::number(target)) {
        (Value::Number(_), Some(_), Some(_)) if is_whole(&text) && is_whole(target) => {
            text.trim_ascii().parse::<i128>() == target.trim_ascii().parse::<i128>()
        }
        (Value::Number(_), Some(value), Some(target)) => {
            value.partial_cmp(&target).is_some_and(std::cmp::Ordering::is_eq)
        }
        _ => false,
    }
}
