//! What must hold of the answers (design §5, "DNS").

use rules::monitor::RecordAssertion;
use rules::{RecordComparator, RecordKind};

use super::{DnsPlan, compare};
use crate::check::assess::Findings;
use crate::check::redact::shown;
use crate::check::{AssertionResult, DnsAnswer, DnsSeen};

/// The response code of a name that exists.
const NO_ERROR: &str = "NOERROR";
/// The response code of a name that does not.
const NAME_ERROR: &str = "NXDOMAIN";

/// Holds an exchange that came to its end against its plan. Every response code but `NOERROR` is a
/// failure, also where another type was answered well. Where nothing is asserted, the name must
/// have an address of either family. Allocates nothing where nothing is asserted and all is well.
pub(in crate::check) fn assess(plan: &DnsPlan, seen: &DnsSeen) -> Findings {
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

fn answer(seen: &DnsSeen, kind: RecordKind) -> Option<&DnsAnswer> {
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
            Some(answer) => format!("looking up `{name}` answered {}", shown(&answer.rcode)),
            None => format!("the {kind} records of `{name}` were not answered"),
        };
        // All types of a name that does not exist say so: once is enough.
        if !self.reasons.contains(&reason) {
            self.reasons.push(reason);
        }
    }

    fn records(&mut self, assertion: &RecordAssertion, answer: Option<&DnsAnswer>) {
        let RecordAssertion { record: kind, target, comparator } = assertion;
        let words = format!("{kind} {comparator} `{}`", shown(target));
        let Some(answer) = answer.filter(|answer| answer.rcode == NO_ERROR) else {
            // The response code is the reason already.
            let seen = answer.map_or_else(|| "no answer".to_owned(), |answer| shown(&answer.rcode));
            self.assertions.push(AssertionResult { assertion: words, holds: false, seen });
            return;
        };
        let matching = answer
            .records
            .iter()
            .find(|record| compare::matches(*kind, *comparator, &record.value, target));
        let values: Vec<&str> = answer.records.iter().map(|record| record.value.as_str()).collect();
        let seen = match &*values {
            [] => "no records".to_owned(),
            values => shown(&values.join(", ")),
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
                shown(target),
                shown(&record.value)
            )),
            (false, None) => self
                .reasons
                .push(format!("no record of type {kind} {reason} `{}`: {seen}", shown(target))),
        }
        self.assertions.push(AssertionResult { assertion: words, holds, seen });
    }
}
