//! What one attempt means: the assertions and the time limit of the plan, held against what was
//! seen. Pure; the rules are design §5.

use std::time::Duration;

use super::{Attempt, Plan, PlannedCheck, Seen, dns, http, tcp};

/// What a check came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Outcome {
    /// All that was asked for holds.
    Success,
    /// All holds, and it took longer than it may.
    Degraded,
    /// Something does not hold.
    Failure,
    /// It did not run, because the one before still ran.
    Skipped,
}

/// What one attempt means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assessment {
    /// Success, degraded or failure.
    pub outcome: Outcome,
    /// Why it is not a success, in sentences for people; empty where it is.
    pub reasons: Vec<String>,
    /// Each assertion of the plan, in its order; empty where the exchange failed before.
    pub assertions: Vec<AssertionResult>,
}

/// One assertion, held against what was seen.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct AssertionResult {
    /// The assertion in words, such as `status eq 200`.
    pub assertion: String,
    /// Whether it holds.
    pub holds: bool,
    /// What was seen, shortened.
    pub seen: String,
}

/// What a kind finds in an exchange that came to its end.
#[derive(Debug, Default)]
pub(crate) struct Findings {
    /// Why it fails, in sentences for people; empty where all holds.
    pub(crate) reasons: Vec<String>,
    /// Each assertion of the plan, in its order.
    pub(crate) assertions: Vec<AssertionResult>,
}

/// Holds an attempt against its plan. Slow means above the limit, not at it, and is said of
/// successes only; latency is the whole exchange.
pub fn assess(plan: &Plan, attempt: &Attempt) -> Assessment {
    if let Some(failure) = &attempt.failure {
        return Assessment {
            outcome: Outcome::Failure,
            reasons: vec![failure.detail.clone()],
            assertions: Vec::new(),
        };
    }
    let found = match (&plan.check, &attempt.seen) {
        (PlannedCheck::Http(plan), Seen::Http(seen)) => http::assess(plan, seen),
        (PlannedCheck::Tcp(plan), Seen::Tcp(seen)) => tcp::assess(plan, seen),
        (PlannedCheck::Dns(plan), Seen::Dns(seen)) => dns::assess(plan, seen),
        (PlannedCheck::Http(_) | PlannedCheck::Tcp(_) | PlannedCheck::Dns(_), _) => Findings {
            reasons: vec!["the probe answered with what another kind of check sees".to_owned()],
            assertions: Vec::new(),
        },
    };
    let latency = Duration::from_micros(u64::from(attempt.latency_us));
    let slow = plan.slow_above.filter(|limit| latency > *limit);
    let (outcome, reasons) = match (found.reasons.is_empty(), slow) {
        (false, _) => (Outcome::Failure, found.reasons),
        (true, Some(limit)) => {
            // Rounded up, so that it never reads as if the limit had been kept.
            let took = attempt.latency_us.div_ceil(1_000);
            let why = format!("took {took} ms, more than {} ms", limit.as_millis());
            (Outcome::Degraded, vec![why])
        }
        (true, None) => (Outcome::Success, Vec::new()),
    };
    Assessment { outcome, reasons, assertions: found.assertions }
}

#[cfg(test)]
mod tests;
