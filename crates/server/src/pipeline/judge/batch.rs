//! Reports and decisions since the last commit.

use domain::cadence::Missed;
use domain::check::CheckResult;
use domain::judge::{JudgeState, Transition};
use domain::notify::Cause;
use rules::{ById, MonitorId, Timestamp};
use store::{Batch, Joined, ProbeEvent};
use tokio::sync::oneshot;
use tokio::time::Instant;

use super::COMMIT_WITHIN;

/// Reports and decisions since the last commit.
#[derive(Debug, Default)]
pub(super) struct PendingCommit {
    results: Vec<CheckResult>,
    missed: Vec<Missed>,
    histories: ById<MonitorId, JudgeState>,
    transitions: Vec<(MonitorId, Transition)>,
    /// Cause of each transition.
    grounds: Vec<(MonitorId, Cause)>,
    /// Regions that began to fail during open incidents.
    joined: Vec<Joined>,
    /// Events of probes for the audit logs of workspaces.
    notes: Vec<ProbeEvent>,
    /// Callers that wait for a result to be stored, with the index of the result.
    replies: Vec<(usize, oneshot::Sender<CheckResult>)>,
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

    pub(super) fn add_missed(&mut self, missed: Missed) {
        self.missed.push(missed);
        self.begin();
    }

    pub(super) fn add_history(&mut self, monitor: MonitorId, history: &JudgeState) {
        self.histories.insert(monitor, history.clone());
        self.begin();
    }

    /// Drops the state of a deleted monitor.
    pub(super) fn drop_history(&mut self, monitor: MonitorId) {
        self.histories.remove(&monitor);
    }

    pub(super) fn add_transition(
        &mut self,
        monitor: MonitorId,
        transition: Transition,
        grounds: Cause,
    ) {
        self.transitions.push((monitor, transition));
        self.grounds.push((monitor, grounds));
        self.begin();
    }

    pub(super) fn add_joined(&mut self, joined: Option<Joined>) {
        self.joined.extend(joined);
    }

    /// Takes the regions that joined incidents. They are noted once their results are stored.
    pub(super) fn take_joined(&mut self) -> Vec<Joined> {
        std::mem::take(&mut self.joined)
    }

    pub(super) fn add_notes(&mut self, notes: impl Iterator<Item = ProbeEvent>) {
        self.notes.extend(notes);
        self.begin();
    }

    pub(super) fn notes(&self) -> &[ProbeEvent] {
        &self.notes
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
        !self.transitions.is_empty() || !self.replies.is_empty() || !self.notes.is_empty()
    }

    /// Waits until the commit is due. Waits forever if nothing is pending.
    pub(super) async fn due(&self) {
        match self.since {
            Some(since) => tokio::time::sleep_until(since + COMMIT_WITHIN).await,
            None => std::future::pending().await,
        }
    }

    /// Returns everything as one transaction, with deferred votes that are due. States, notes and
    /// replies stay until [`Self::answer`].
    pub(super) fn batch(&mut self, votes: Vec<(MonitorId, JudgeState)>, now: Timestamp) -> Batch {
        Batch {
            at: now,
            results: std::mem::take(&mut self.results),
            missed: std::mem::take(&mut self.missed),
            histories: self.histories.iter().map(|(id, history)| (*id, history.clone())).collect(),
            votes,
            transitions: std::mem::take(&mut self.transitions),
            grounds: std::mem::take(&mut self.grounds),
        }
    }

    /// Sends results to their callers and starts a new batch.
    pub(super) fn answer(&mut self, stored: &Batch) {
        for (place, reply) in self.replies.drain(..) {
            // The caller may be gone; the result is stored all the same.
            let _ = reply.send(stored.results[place].clone());
        }
        self.histories.clear();
        self.notes.clear();
        self.since = None;
    }

    fn begin(&mut self) {
        self.since.get_or_insert_with(Instant::now);
    }
}
