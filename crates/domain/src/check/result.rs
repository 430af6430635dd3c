//! The result of a check: what is stored of it and what the judge hears.

use std::sync::Arc;

use rules::Timestamp;

use super::{Assessment, Attempt, Evidence, Identity, Job, Outcome, Phases};

/// Who ran a check: `embedded`, or the name of a probe.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ProbeId(pub Arc<str>);

/// The result of one job.
#[derive(Clone, Debug)]
pub struct CheckResult {
    /// What makes it one with another of the same identity.
    pub identity: Identity,
    /// When it was finished, by the core's clock.
    pub finished_at: Timestamp,
    /// What it came to.
    pub outcome: Outcome,
    /// Whole exchange of the last attempt, in microseconds.
    pub latency_us: u32,
    /// Phases of the last attempt's final hop.
    pub phases: Phases,
    /// Status code of the last attempt's final answer.
    pub status: Option<u16>,
    /// How many attempts were made; 0 for a skipped slot.
    pub attempts: u8,
    /// Who ran it.
    pub probe: ProbeId,
    /// Kept for what is not a success, and where the job asked for it; a skipped slot has none.
    pub evidence: Option<Arc<Evidence>>,
}

/// The result of `job`, whose attempts were these, in their order; the last one decides.
pub fn conclude(
    job: &Job,
    attempts: Vec<(Attempt, Assessment)>,
    finished_at: Timestamp,
    probe: ProbeId,
) -> CheckResult {
    let last = attempts.last();
    let outcome = last.map_or(Outcome::Skipped, |(_, assessment)| assessment.outcome);
    let mut result = CheckResult {
        identity: job.identity(),
        finished_at,
        outcome,
        latency_us: last.map_or(0, |(attempt, _)| attempt.latency_us),
        phases: last.map(|(attempt, _)| attempt.seen.phases()).unwrap_or_default(),
        status: last.and_then(|(attempt, _)| attempt.seen.status()),
        attempts: u8::try_from(attempts.len()).unwrap_or(u8::MAX),
        probe,
        evidence: None,
    };
    let wanted = job.keep_evidence || outcome != Outcome::Success;
    if wanted && !attempts.is_empty() {
        result.evidence = Some(Arc::new(Evidence::of(&job.plan, attempts)));
    }
    result
}
