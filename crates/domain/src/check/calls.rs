//! Results of heartbeat monitors: of a call, and of an evaluation at a slot.

use std::sync::Arc;
use std::time::Duration;

use rules::{Timestamp, limits};

use super::heartbeat::{Availability, Finding, HeartbeatPlan, HeartbeatState, Signal, failed};
use super::{AttemptEvidence, CheckResult, Evidence, Outcome, Phases, ProbeName, ResultKey};

/// A call that ends a run.
#[derive(Clone, Debug)]
pub struct HeartbeatCall<'a> {
    pub signal: Signal,
    pub at: Timestamp,
    /// Duration of the run, if its start was reported.
    pub ran_for: Option<Duration>,
    /// Text that the job sent, at most as long as evidence keeps; empty for nothing.
    pub body: &'a [u8],
    /// Whether the job sent more.
    pub has_more: bool,
}

/// Returns the result of an evaluation: skipped while the monitor waits for its first call.
///
/// It has no attempts, because nothing is sent, and so no latency.
pub fn evaluate(
    identity: ResultKey,
    (plan, state): (HeartbeatPlan, &HeartbeatState),
    available: Availability,
    (now, probe): (Timestamp, ProbeName),
) -> CheckResult {
    let (outcome, reasons) = match plan.find(state, available, now) {
        Finding::Waiting => (Outcome::Skipped, Vec::new()),
        Finding::OnTime => (Outcome::Success, Vec::new()),
        Finding::Wrong(why) => (Outcome::Failure, vec![why]),
    };
    let evidence = (!reasons.is_empty()).then(|| attempt(now, reasons));
    CheckResult {
        identity,
        finished_at: now,
        outcome,
        latency_us: 0,
        phases: Phases::default(),
        status: None,
        attempts: 0,
        probe,
        evidence: evidence.map(keep),
    }
}

/// Returns the result of a call. Returns `None` for a start, which says nothing yet.
///
/// Its latency is the duration of the run. A longer one than 35 minutes, the most that a result can hold,
/// counts as 35 minutes.
pub fn received(
    identity: ResultKey,
    call: &HeartbeatCall<'_>,
    probe: ProbeName,
) -> Option<CheckResult> {
    let (outcome, reasons) = match call.signal {
        Signal::Start => return None,
        Signal::Success => (Outcome::Success, Vec::new()),
        Signal::Failure { exit_code } => (Outcome::Failure, vec![failed(exit_code)]),
    };
    let most = i32::MAX.unsigned_abs();
    let latency_us =
        call.ran_for.map(|ran_for| u32::try_from(ran_for.as_micros()).unwrap_or(most).min(most));
    let mut evidence = attempt(call.at, reasons);
    evidence.latency_us = latency_us.unwrap_or(0);
    if let Some(ran_for) = call.ran_for {
        evidence.started_at = call.at - ran_for;
    }
    let kept = &call.body[..call.body.len().min(limits::EVIDENCE_BODY_BYTES)];
    evidence.body = (!kept.is_empty()).then(|| String::from_utf8_lossy(kept).into_owned());
    evidence.body_truncated = call.has_more || kept.len() < call.body.len();
    Some(CheckResult {
        identity,
        finished_at: call.at,
        outcome,
        latency_us: latency_us.unwrap_or(0),
        phases: Phases::default(),
        status: None,
        // Only a run of known duration has a latency.
        attempts: u8::from(latency_us.is_some()),
        probe,
        evidence: Some(keep(evidence)),
    })
}

fn attempt(started_at: Timestamp, reasons: Vec<String>) -> AttemptEvidence {
    AttemptEvidence {
        started_at,
        latency_us: 0,
        failure: None,
        reasons,
        assertions: Vec::new(),
        hops: Vec::new(),
        body: None,
        body_truncated: false,
        body_cut: false,
        answers: Vec::new(),
    }
}

fn keep(attempt: AttemptEvidence) -> Arc<Evidence> {
    Arc::new(Evidence { attempts: vec![attempt] })
}

#[cfg(test)]
mod tests;
