//! Permits that limit the number of concurrent checks, shared between checkers and cadence.
//! `domain::cadence::Turns` decides the order of waiting checks.

use std::sync::Mutex;
use std::time::Duration;

use domain::cadence::Turns;
use rules::{Timestamp, WorkspaceId};

use crate::lane::QueuedJob;
use crate::observe::metrics::Metrics;

/// Permits, and the jobs that wait for one.
#[derive(Debug)]
pub(super) struct CheckPermits {
    turns: Mutex<Turns<QueuedJob>>,
    metrics: Metrics,
}

impl CheckPermits {
    pub(super) fn new(in_flight_max: usize, metrics: Metrics) -> Self {
        Self { turns: Mutex::new(Turns::new(in_flight_max)), metrics }
    }

    /// Adds a workspace that now has monitors to those that share the permits. Returns the jobs that
    /// may run now, for the lanes.
    pub(super) fn join(&self, workspace: WorkspaceId, now: Timestamp) -> Vec<QueuedJob> {
        self.with(|turns| with_permits(turns.join(workspace, now)))
    }

    /// Removes a workspace that has no monitors any more. Returns the jobs that may run now, for the
    /// lanes.
    pub(super) fn remove_workspace(
        &self,
        workspace: WorkspaceId,
        now: Timestamp,
    ) -> Vec<QueuedJob> {
        self.with(|turns| with_permits(turns.remove_workspace(workspace, now)))
    }

    /// Sets the weight of a workspace among those that share the permits. Returns the jobs that may
    /// run now, for the lanes.
    pub(super) fn set_weight(
        &self,
        workspace: WorkspaceId,
        weight: u32,
        now: Timestamp,
    ) -> Vec<QueuedJob> {
        self.with(|turns| with_permits(turns.set_weight(workspace, weight, now)))
    }

    /// Returns the job if it has a permit or gets one now; otherwise queues it.
    pub(super) fn admit(&self, queued: QueuedJob) -> Option<QueuedJob> {
        if queued.has_permit {
            return Some(queued);
        }
        let (workspace, deadline) = (queued.job.plan.workspace, queued.job.next_slot);
        self.with(|turns| turns.admit(workspace, deadline, queued))
    }

    /// Releases the permit of a check that ran for `ran` and returns the jobs that may run next.
    pub(super) fn ended(
        &self,
        workspace: WorkspaceId,
        ran: Duration,
        now: Timestamp,
    ) -> Vec<QueuedJob> {
        self.with(|turns| turns.release(workspace, ran, now))
    }

    /// Removes and returns the jobs that waited until their next slot was due.
    pub(super) fn expired(&self, now: Timestamp) -> Vec<QueuedJob> {
        self.with(|turns| turns.expired(now))
    }

    /// Removes and returns all waiting jobs, for a stop.
    pub(super) fn drain(&self) -> Vec<QueuedJob> {
        self.with(Turns::drain)
    }

    fn with<T>(&self, work: impl FnOnce(&mut Turns<QueuedJob>) -> T) -> T {
        let mut turns = self.turns.lock().expect("no thread panics while it holds the lock");
        let before = turns.waiting();
        let done = work(&mut turns);
        if before > 0 || turns.waiting() > 0 {
            self.metrics.checks_waiting.set(turns.waiting() as i64);
            self.metrics.workspaces_waiting.set(turns.workspaces_waiting() as i64);
        }
        done
    }

    #[cfg(test)]
    pub(super) fn waiting(&self) -> usize {
        self.with(|turns| turns.waiting())
    }
}

fn with_permits(mut jobs: Vec<QueuedJob>) -> Vec<QueuedJob> {
    for job in &mut jobs {
        job.has_permit = true;
    }
    jobs
}
