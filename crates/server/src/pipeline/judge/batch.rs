//! Results and decisions since the last commit.

use domain::cadence::Missed;
use domain::check::{CheckResult, ProbeName, ResultKey};
use domain::judge::{JudgeState, StoredSuspicion, Transition};
use domain::notify::Cause;
use rules::{ById, MonitorId, Timestamp};
use store::{Batch, FailedRegion, ProbeEvent};
use tokio::sync::oneshot;
use tokio::time::Instant;

use super::COMMIT_DELAY;

/// Results and decisions since the last commit.
#[derive(Debug, Default)]
pub(super) struct PendingCommit {
    results: Vec<CheckResult>,
    missed: Vec<Missed>,
    states: ById<MonitorId, JudgeState>,
    transitions: Vec<(MonitorId, Transition)>,
    /// Cause of each transition.
    causes: Vec<(MonitorId, Cause)>,
    /// Regions that began to fail during open incidents.
    failed_regions: Vec<FailedRegion>,
    /// Events of probes for the audit logs of workspaces.
    probe_events: Vec<ProbeEvent>,
    /// Probes whose suspicion began or ended.
    suspicions: Vec<(ProbeName, StoredSuspicion)>,
    /// Callers that wait for a result to be stored, with the index of the result.
    replies: Vec<(usize, oneshot::Sender<CheckResult>)>,
    /// Scheduled checks that were reported late.
    late: Vec<ResultKey>,
    /// Reported results that have no vote.
    without_vote: Vec<ResultKey>,
    /// Probes that keep a result until it is stored.
    reported: Vec<oneshot::Sender<()>>,
    /// Time of the first addition.
    since: Option<Instant>,
}

impl PendingCommit {
    pub(super) fn add_result(
        &mut self,
        result: CheckResult,
        reply: Option<oneshot::Sender<CheckResult>>,
    ) {
        if let Some(reply) = reply {
            self.replies.push((self.results.len(), reply));
        }
        self.results.push(result);
        self.begin();
    }

    /// Adds a result of a probe in another place. `stored` completes when it is stored; others may
    /// share its commit until then.
    pub(super) fn add_reported(
        &mut self,
        result: CheckResult,
        is_late: bool,
        stored: oneshot::Sender<()>,
    ) {
        if is_late {
            self.late.push(result.identity);
        }
        self.reported.push(stored);
        self.add_result(result, None);
    }

    /// Records that a result of this batch has no vote.
    pub(super) fn add_without_vote(&mut self, identity: ResultKey) {
        self.without_vote.push(identity);
    }

    pub(super) fn add_missed(&mut self, missed: Missed) {
        self.missed.push(missed);
        self.begin();
    }

    pub(super) fn add_state(&mut self, monitor: MonitorId, judge_state: &JudgeState) {
        self.states.insert(monitor, judge_state.clone());
        self.begin();
    }

    /// Drops the state of a deleted monitor.
    pub(super) fn remove_state(&mut self, monitor: MonitorId) {
        self.states.remove(&monitor);
    }

    pub(super) fn add_transition(
        &mut self,
        monitor: MonitorId,
        transition: Transition,
        cause: Cause,
    ) {
        self.transitions.push((monitor, transition));
        self.causes.push((monitor, cause));
        self.begin();
    }

    pub(super) fn add_failed_region(&mut self, failed_region: Option<FailedRegion>) {
        self.failed_regions.extend(failed_region);
    }

    /// Takes the regions that began to fail during open incidents. They are recorded once their
    /// results are stored.
    pub(super) fn take_failed_regions(&mut self) -> Vec<FailedRegion> {
        std::mem::take(&mut self.failed_regions)
    }

    pub(super) fn add_probe_events(&mut self, events: impl Iterator<Item = ProbeEvent>) {
        self.probe_events.extend(events);
        self.begin();
    }

    pub(super) fn add_suspicion(&mut self, probe: ProbeName, stored: StoredSuspicion) {
        self.suspicions.push((probe, stored));
        self.begin();
    }

    pub(super) fn probe_events(&self) -> &[ProbeEvent] {
        &self.probe_events
    }

    pub(super) fn is_empty(&self) -> bool {
        self.since.is_none()
    }

    pub(super) fn len(&self) -> usize {
        self.results.len()
    }

    /// Returns whether to commit now: a verdict changed, a suspicion began or ended, or a caller
    /// waits for a result.
    pub(super) fn is_urgent(&self) -> bool {
        !self.transitions.is_empty() || !self.replies.is_empty() || !self.suspicions.is_empty()
    }

    /// Waits until the commit is due. Waits forever if nothing is pending.
    pub(super) async fn due(&self) {
        match self.since {
            Some(since) => tokio::time::sleep_until(since + COMMIT_DELAY).await,
            None => std::future::pending().await,
        }
    }

    /// Returns the batch, with deferred votes that are due. Probe events are stored before it, and failed
    /// regions after it. States, probe events, replies and reported results stay until
    /// [`Self::finish`].
    pub(super) fn batch(
        &mut self,
        deferred_states: Vec<(MonitorId, JudgeState)>,
        now: Timestamp,
    ) -> Batch {
        Batch {
            at: now,
            results: std::mem::take(&mut self.results),
            missed: std::mem::take(&mut self.missed),
            late: std::mem::take(&mut self.late),
            without_vote: std::mem::take(&mut self.without_vote),
            judge_states: self
                .states
                .iter()
                .map(|(id, judge_state)| (*id, judge_state.clone()))
                .collect(),
            deferred_states,
            transitions: std::mem::take(&mut self.transitions),
            causes: std::mem::take(&mut self.causes),
            suspicions: std::mem::take(&mut self.suspicions),
        }
    }

    /// Ends a stored batch: sends results to their callers, and starts a new batch.
    pub(super) fn finish(&mut self, stored: &Batch) {
        for (index, reply) in self.replies.drain(..) {
            // The caller may be gone; the result is stored all the same.
            let _ = reply.send(stored.results[index].clone());
        }
        for stored in self.reported.drain(..) {
            // The request may have ended; the probe sends the result again, and it is dropped.
            let _ = stored.send(());
        }
        self.states.clear();
        self.probe_events.clear();
        self.since = None;
    }

    fn begin(&mut self) {
        self.since.get_or_insert_with(Instant::now);
    }
}
