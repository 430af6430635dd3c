//! Assesses the final response (design §5, "HTTP").

use std::borrow::Cow;
use std::time::Duration;

use ::http::{HeaderMap, Method};
use rules::monitor::StatusCodeAssertion;
use rules::{NumberComparator, TextComparator, Timestamp, counted};

use super::{HeaderExpectation, HttpPlan, decode, json};
use crate::check::findings::Findings;
use crate::check::redact::{self, excerpt};
use crate::check::text::{self, Comparison, ReadyExpectation, SearchBudget, Text, TextExpectation};
use crate::check::{AssertionResult, HttpObservation, SearchResult};

/// Reason for an undecided body assertion if the memory budget was used up.
const OUT_OF_MEMORY: &str = "not enough memory to read the body; raise `check_body_memory_mib`";

/// Assesses a completed exchange. A success without assertions allocates nothing.
pub(in crate::check) fn assess(plan: &HttpPlan, seen: &HttpObservation) -> Findings {
    let mut found = Findings::default();
    let Some((answer, status)) =
        seen.hops.last().and_then(|answer| answer.status.map(|status| (answer, status)))
    else {
        found.reasons.push("no response received".to_owned());
        return found;
    };
    if plan.status_code_assertions.is_empty() && !(200..300).contains(&status) {
        found.reasons.push(format!("status is {status}, expected 2xx"));
    }
    for assertion in &plan.status_code_assertions {
        found.status(assertion, status);
    }
    let budget = SearchBudget::new();
    if !plan.body_assertions.is_empty() || !plan.json_assertions.is_empty() {
        found.whole_body(plan, seen, &answer.headers, &budget);
    }
    let before_headers = found.reasons.len();
    for assertion in &plan.header_assertions {
        found.header(assertion, &answer.headers, &budget);
    }
    found.lacks_memory &= found.reasons.len() == before_headers;
    found
}

/// Returns the warning of the first certificate of the hops that expires within this time.
pub(in crate::check) fn expiring_certificate(
    seen: &HttpObservation,
    now: Timestamp,
    warning: Duration,
) -> Option<String> {
    let ends = seen.hops.iter().filter_map(|hop| Some((hop.certificate.as_ref()?.not_after, hop)));
    let (end, hop) = ends.min_by_key(|(end, _)| *end)?;
    let left = end.since(now);
    if left >= warning {
        return None;
    }
    let host = excerpt(hop.url.host_str().unwrap_or_default());
    let (days, hours) = (left.as_secs() / 86_400, left.as_secs() / 3_600);
    let left = if days > 0 { counted(days, "day") } else { counted(hours, "hour") };
    let limit = counted(warning.as_secs() / 86_400, "day");
    Some(format!("the certificate of `{host}` expires in {left}, sooner than {limit}"))
}

impl Findings {
    /// Assesses all assertions on the body.
    fn whole_body(
        &mut self,
        plan: &HttpPlan,
        seen: &HttpObservation,
        headers: &HeaderMap,
        budget: &SearchBudget,
    ) {
        // A HEAD response has no body: ignore any bytes that follow it.
        let is_head = plan.method == Method::HEAD;
        let has_more = seen.body.truncated && !is_head;
        let bytes = if is_head { &[][..] } else { &seen.body.bytes };
        let decoded = decode(headers, bytes, has_more);
        let known = Text { known: &decoded, has_more };
        let mut undecided = 0;
        for (index, expected) in plan.body_assertions.iter().enumerate() {
            let searched = seen.body.found.as_ref().filter(|_| !is_head);
            let held = match (expected.comparator, searched) {
                (TextComparator::Contains, Some(searched)) => contained(searched, index),
                (TextComparator::NotContains, Some(searched)) => contained(searched, index).not(),
                _ => known.compare(&expected.ready(budget)),
            };
            undecided += usize::from(held == Comparison::Undecidable);
            self.body(expected, known, held);
        }
        undecided += json::assess(self, &plan.json_assertions, known, budget);
        if undecided > 0 && seen.body.memory_exhausted {
            self.lacks_memory = self.reasons.len() == undecided;
            self.reasons.push(OUT_OF_MEMORY.to_owned());
        }
    }

    fn status(&mut self, assertion: &StatusCodeAssertion, status: u16) {
        let StatusCodeAssertion { target, comparator } = assertion;
        let (holds, expected) = match comparator {
            NumberComparator::Eq => (status == *target, ""),
            NumberComparator::Neq => (status != *target, "anything but "),
            NumberComparator::Gt => (status > *target, "more than "),
            NumberComparator::Gte => (status >= *target, "at least "),
            NumberComparator::Lt => (status < *target, "less than "),
            NumberComparator::Lte => (status <= *target, "at most "),
        };
        if !holds {
            self.reasons.push(format!("status is {status}, expected {expected}{target}"));
        }
        self.assertions.push(AssertionResult {
            assertion: format!("status {comparator} {target}"),
            passed: holds,
            actual: status.to_string(),
        });
    }

    fn body(&mut self, expected: &TextExpectation, body: Text<'_>, held: Comparison) {
        let TextExpectation { target, comparator, .. } = expected;
        let seen = excerpt(body.known);
        if held != Comparison::Yes {
            self.reasons.push(text::reason("body", &seen, *comparator, target, held));
        }
        self.assertions.push(AssertionResult {
            assertion: text::describe("body", *comparator, target),
            passed: held == Comparison::Yes,
            actual: seen,
        });
    }

    fn header(
        &mut self,
        assertion: &HeaderExpectation,
        headers: &HeaderMap,
        budget: &SearchBudget,
    ) {
        let HeaderExpectation { key, expected } = assertion;
        let TextExpectation { target, comparator, .. } = expected;
        let what = format!("header `{}`", excerpt(key));
        let lines: Vec<_> = headers
            .get_all(key.as_str())
            .iter()
            .map(|line| String::from_utf8_lossy(line.as_bytes()))
            .collect();
        let (held, line) = any_or_all(&lines, &expected.ready(budget));
        let hide = |text: &str| excerpt(&redact::header_value(key, text));
        let seen = match (line, held) {
            (None, _) => "absent".to_owned(),
            // Shows the one line that decided, or all lines if none did.
            (Some(line), Comparison::No | Comparison::NotANumber) if expected.needs_all() => {
                hide(line)
            }
            (Some(line), _) if lines.len() == 1 => hide(line),
            (Some(_), _) => hide(&lines.join(", ")),
        };
        let target = hide(target);
        if held != Comparison::Yes {
            self.reasons.push(match line {
                None => {
                    format!(
                        "{what} is absent, expected to {}",
                        text::expectation(*comparator, &target)
                    )
                }
                Some(_) => text::reason(&what, &seen, *comparator, &target, held),
            });
        }
        self.assertions.push(AssertionResult {
            assertion: text::describe(&what, *comparator, &target),
            passed: held == Comparison::Yes,
            actual: seen,
        });
    }
}

/// Returns whether the searched part of a body contains the target of this assertion.
fn contained(found: &SearchResult, assertion: usize) -> Comparison {
    match (found.contained.get(assertion), found.has_more) {
        (Some(true), _) => Comparison::Yes,
        (_, true) => Comparison::Undecidable,
        (_, false) => Comparison::No,
    }
}

/// Returns whether the lines of one header pass, and the deciding line, or `None` if the header is
/// absent. A comparator that needs all lines passes without lines. So an absent header satisfies
/// `empty`, `neq` and `not_contains` (design §5), and `empty` stays the opposite of `not_empty`.
fn any_or_all<'a>(
    lines: &'a [Cow<'_, str>],
    ready: &ReadyExpectation<'_>,
) -> (Comparison, Option<&'a str>) {
    let held = |line: &Cow<'_, str>| Text::complete(line).compare(ready);
    let needs_all = ready.expected.needs_all();
    let deciding = lines.iter().find(|line| (held(line) == Comparison::Yes) != needs_all);
    match deciding.or(lines.first()) {
        Some(line) => (held(line), Some(line)),
        None => (needs_all.into(), None),
    }
}
