//! Assesses one attempt: compares the observation with the assertions and the time limit of the
//! plan. Pure; design §5 has the rules.

use std::time::Duration;

use super::findings::{AssertionResult, Findings};
use super::{Attempt, CheckPlan, Observation, PlannedCheck, dns, http, tcp};

/// Outcome of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Outcome {
    /// All assertions passed.
    Success,
    /// All assertions passed, but the check took longer than its limit, or a certificate expires soon.
    Degraded,
    /// An assertion or the exchange itself failed.
    Failure,
    /// Not run, because the previous check still ran.
    Skipped,
}

impl Outcome {
    /// All outcomes.
    pub const ALL: [Self; 4] = [Self::Success, Self::Degraded, Self::Failure, Self::Skipped];

    /// Returns the word for users and messages.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Success => "success",
            Self::Degraded => "degraded",
            Self::Failure => "failure",
            Self::Skipped => "skipped",
        }
    }
}

/// Assessment of one attempt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assessment {
    pub outcome: Outcome,
    /// Human-readable reasons for the outcome; empty for a success.
    pub reasons: Vec<String>,
    /// Results of the plan's assertions, in order. Empty if the exchange failed.
    pub assertions: Vec<AssertionResult>,
    /// Whether the check failed only because the probe had not enough memory to decide. This says
    /// nothing of the target.
    pub lacks_memory: bool,
}

/// Assesses an attempt of a plan. Only a success can be degraded: by its latency, which covers the
/// whole exchange, or by what its kind warns of.
pub fn assess(plan: &CheckPlan, attempt: &Attempt) -> Assessment {
    if let Some(failure) = &attempt.failure {
        return Assessment {
            outcome: Outcome::Failure,
            reasons: vec![failure.detail.clone()],
            assertions: Vec::new(),
            lacks_memory: false,
        };
    }
    let found = match (&plan.check, &attempt.observation) {
        (PlannedCheck::Http(plan), Observation::Http(seen)) => http::assess(plan, seen),
        (PlannedCheck::Tcp(plan), Observation::Tcp(seen)) => tcp::assess(plan, seen),
        (PlannedCheck::Dns(plan), Observation::Dns(seen)) => dns::assess(plan, seen),
        (
            PlannedCheck::Http(_)
            | PlannedCheck::Tcp(_)
            | PlannedCheck::Dns(_)
            | PlannedCheck::Heartbeat(_),
            _,
        ) => Findings {
            reasons: vec!["the probe returned an observation of another kind of check".to_owned()],
            ..Findings::default()
        },
    };
    let mut reasons = found.reasons;
    let outcome = if reasons.is_empty() {
        warn(plan, attempt, &mut reasons);
        if reasons.is_empty() { Outcome::Success } else { Outcome::Degraded }
    } else {
        Outcome::Failure
    };
    let lacks_memory = found.lacks_memory;
    Assessment { outcome, reasons, assertions: found.assertions, lacks_memory }
}

/// Adds the reasons for which a success is degraded.
fn warn(plan: &CheckPlan, attempt: &Attempt, reasons: &mut Vec<String>) {
    let latency = Duration::from_micros(u64::from(attempt.latency_us));
    if let Some(limit) = plan.degraded_above.filter(|limit| latency > *limit) {
        // Rounded up, so that the text never shows a value within the limit.
        let took = attempt.latency_us.div_ceil(1_000);
        reasons.push(format!("took {took} ms, more than {} ms", limit.as_millis()));
    }
    if let PlannedCheck::Http(plan) = &plan.check
        && let Some(warning) = plan.certificate_warning
        && let Observation::Http(seen) = &attempt.observation
    {
        reasons.extend(http::expiring_certificate(seen, attempt.started_at, warning));
    }
}

#[cfg(test)]
mod tests;
