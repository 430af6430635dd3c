//! Assesses DNS answers (design §5, "DNS").

use rules::monitor::RecordAssertion;
use rules::{RecordComparator, RecordKind};

use super::{DnsPlan, compare};
use crate::check::findings::Findings;
use crate::check::redact::excerpt;
use crate::check::{AssertionResult, DnsAnswer, DnsObservation};

/// Response code for a name that exists.
const NO_ERROR: &str = "NOERROR";
/// Response code for a name that does not exist.
const NAME_ERROR: &str = "NXDOMAIN";

/// Assesses a completed exchange. Any response code other than `NOERROR` is a failure, even if the
/// query for another type succeeded. Without assertions, the name must have an A or AAAA record. A
/// success without assertions allocates nothing.
pub(in crate::check) fn assess(plan: &DnsPlan, seen: &DnsObservation) -> Findings {
    let mut found = Findings::default();
    for kind in &plan.kinds {
        found.response_code(plan, *kind, answer(seen, *kind));
    }
    if plan.record_assertions.is_empty()
        && found.reasons.is_empty()
        && seen.answers.iter().all(|answer| answer.records.is_empty())
    {
        found.reasons.push(format!("`{}` has no A or AAAA record", plan.name));
    }
    for assertion in &plan.record_assertions {
        found.records(assertion, answer(seen, assertion.record));
    }
    found
}

fn answer(seen: &DnsObservation, kind: RecordKind) -> Option<&DnsAnswer> {
    seen.answers.iter().find(|answer| answer.kind == kind)
}

impl Findings {
    fn response_code(&mut self, plan: &DnsPlan, kind: RecordKind, answer: Option<&DnsAnswer>) {
        let name = &plan.name;
        let reason = match answer {
            Some(answer) if answer.rcode == NO_ERROR => return,
            Some(answer) if answer.rcode == NAME_ERROR => {
                format!("`{name}` does not exist ({NAME_ERROR})")
            }
            Some(answer) => format!("looking up `{name}` answered {}", excerpt(&answer.rcode)),
            None => format!("the {kind} records of `{name}` were not answered"),
        };
        // Every type of a missing name returns the same code: report it once.
        if !self.reasons.contains(&reason) {
            self.reasons.push(reason);
        }
    }

    fn records(&mut self, assertion: &RecordAssertion, answer: Option<&DnsAnswer>) {
        let RecordAssertion { record: kind, target, comparator } = assertion;
        let words = format!("{kind} {comparator} `{}`", excerpt(target));
        let Some(answer) = answer.filter(|answer| answer.rcode == NO_ERROR) else {
            // The response code already is the reason.
            let seen =
                answer.map_or_else(|| "no answer".to_owned(), |answer| excerpt(&answer.rcode));
            self.assertions.push(AssertionResult { assertion: words, passed: false, actual: seen });
            return;
        };
        let matching = answer
            .records
            .iter()
            .find(|record| compare::matches(*kind, *comparator, &record.value, target));
        let values: Vec<&str> = answer.records.iter().map(|record| record.value.as_str()).collect();
        let seen = match &*values {
            [] => "no records".to_owned(),
            values => excerpt(&values.join(", ")),
        };
        let (holds, reason) = match comparator {
            RecordComparator::Eq => (matching.is_some(), "is"),
            RecordComparator::Contains => (matching.is_some(), "contains"),
            RecordComparator::Neq => (matching.is_none(), "is"),
            RecordComparator::NotContains => (matching.is_none(), "contains"),
        };
        match (holds, matching) {
            (true, _) => {}
            (false, Some(record)) => self.reasons.push(format!(
                "a record of type {kind} {reason} `{}`: `{}`",
                excerpt(target),
                excerpt(&record.value)
            )),
            (false, None) => self
                .reasons
                .push(format!("no record of type {kind} {reason} `{}`: {seen}", excerpt(target))),
        }
        self.assertions.push(AssertionResult { assertion: words, passed: holds, actual: seen });
    }
}
