//! The result of a check, as stored and as passed to the judge.

use std::sync::Arc;

use rules::Timestamp;

use super::{Assessment, Attempt, Evidence, FailureKind, Job, Outcome, Phases, ResultKey};

/// Name of the probe that ran a check, such as `this server`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ProbeName(pub Arc<str>);

/// The result of one job.
#[derive(Clone, Debug)]
pub struct CheckResult {
    pub identity: ResultKey,
    /// Time of completion by the server's clock.
    pub finished_at: Timestamp,
    pub outcome: Outcome,
    /// Duration of the last attempt's whole exchange, in microseconds.
    pub latency_us: u32,
    /// Phases of the last attempt's final hop.
    pub phases: Phases,
    /// Status code of the last attempt's final response.
    pub status: Option<u16>,
    /// Number of attempts; 0 for a skipped slot, and for the result of a heartbeat monitor without a
    /// duration.
    pub attempts: u8,
    pub probe: ProbeName,
    /// Present unless the check succeeded, or if the job requests it; a skipped slot has none.
    pub evidence: Option<Arc<Evidence>>,
}

/// Why attempts decide nothing. The slot of such a check counts as missed, because it says nothing of the
/// target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Undecided {
    /// The probe had not enough memory.
    NoMemory,
    /// The probe has no IPv6, and the monitor requires it by `ip_version` or by its own address.
    NoIpv6,
}

impl Undecided {
    /// Returns why these attempts decide nothing, or `None` if the last one decides. It decides if IPv6 was
    /// not missing for all of them: then an earlier one failed because of the target.
    pub fn of(attempts: &[(Attempt, Assessment)]) -> Option<Self> {
        let (_, assessment) = attempts.last()?;
        let lacks_ipv6 = |(attempt, _): &(Attempt, Assessment)| {
            let failure = attempt.failure.as_ref();
            failure.is_some_and(|failure| failure.kind == FailureKind::ProbeWithoutIpv6)
        };
        if attempts.iter().all(lacks_ipv6) {
            return Some(Self::NoIpv6);
        }
        assessment.lacks_memory.then_some(Self::NoMemory)
    }
}

/// Creates the result of `job` from its attempts in order; the last one decides.
pub fn conclude(
    job: &Job,
    attempts: Vec<(Attempt, Assessment)>,
    finished_at: Timestamp,
    probe: ProbeName,
) -> CheckResult {
    let last = attempts.last();
    let outcome = last.map_or(Outcome::Skipped, |(_, assessment)| assessment.outcome);
    let mut result = CheckResult {
        identity: job.identity(),
        finished_at,
        outcome,
        latency_us: last.map_or(0, |(attempt, _)| attempt.latency_us),
        phases: last.map(|(attempt, _)| attempt.observation.phases()).unwrap_or_default(),
        status: last.and_then(|(attempt, _)| attempt.observation.status()),
        attempts: u8::try_from(attempts.len()).unwrap_or(u8::MAX),
        probe,
        evidence: None,
    };
    let wanted = job.keep_evidence || outcome != Outcome::Success;
    if wanted && !attempts.is_empty() {
        result.evidence = Some(Arc::new(Evidence::new(&job.plan, attempts)));
    }
    result
}
