//! Stores results and decisions, one transaction at a time, with retries until it is stored or the
//! store has ended. `judge` decides when to commit.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use domain::check::{CheckResult, Outcome};
use domain::judge::JudgeState;
use rules::MonitorId;
use store::{Batch, Committed, StoreError};
use tokio::time::Instant;
use tracing::{error, warn};

use super::Judge;
use crate::lane::JudgeInput;

/// Pause between a failed commit and its retry.
const COMMIT_AGAIN: Duration = Duration::from_secs(1);

/// Maximum number of deferred states that the judge stores on its own thread. These take some
/// milliseconds on a machine that was idle.
const DEFERRED_BY_JUDGE: usize = 64;

/// Thread that stores a batch.
#[derive(Clone, Copy)]
enum By {
    /// The thread of the store's writer.
    Writer,
    /// The judge's own thread, while such commits are fast.
    Judge,
}

/// The store ended, or the judge had to, and this was lost.
#[derive(Default)]
pub(super) struct StoreEnded {
    pub(super) results: usize,
    pub(super) missed: usize,
    pub(super) transitions: usize,
}

impl StoreEnded {
    /// Adds an input that was not recorded.
    pub(super) fn add(&mut self, input: &JudgeInput) {
        match input {
            JudgeInput::Result(..) => self.results += 1,
            JudgeInput::Missed(_) => self.missed += 1,
            // A probe keeps reported results until they are stored.
            JudgeInput::ConnectivityCheck(..) | JudgeInput::Reported { .. } => {}
        }
    }
}

impl Judge {
    /// Commits the pending batch, with retries until it is stored. No input is recorded meanwhile.
    ///
    /// Fails if the store has ended.
    pub(super) async fn commit(&mut self) -> Result<(), StoreEnded> {
        self.commit_by(By::Writer).await
    }

    /// Commits like [`Self::commit`] while no check is in progress: on this thread if commits are
    /// fast. No input waits meanwhile, and switching to the writer's thread takes as long as the
    /// commit.
    pub(super) async fn commit_idle(&mut self) -> Result<(), StoreEnded> {
        self.commit_by(By::Judge).await
    }

    async fn commit_by(&mut self, by: By) -> Result<(), StoreEnded> {
        if self.pending.is_empty() {
            return Ok(());
        }
        let deferred_states = self.take_due_deferred();
        let by = if deferred_states.len() > DEFERRED_BY_JUDGE { By::Writer } else { by };
        let batch = Arc::new(self.pending.batch(deferred_states, self.ctx.now()));
        let begun = Instant::now();
        let stored = self.abandon.run_until_cancelled(self.store_all(&batch, by)).await;
        let Some(Ok(committed)) = stored else {
            return Err(StoreEnded {
                results: batch.results.len(),
                missed: batch.missed.len(),
                transitions: batch.transitions.len(),
            });
        };
        self.metrics.commit_seconds.observe(begun.elapsed().as_secs_f64());
        let dropped = committed.duplicates + committed.ownerless;
        self.metrics.monitors.record(&batch.results);
        self.metrics.traces.record_checks(&batch.results);
        self.metrics.results_committed.inc_by(ran(&batch.results).saturating_sub(dropped));
        self.record_failed_regions().await;
        self.pending.finish(&batch);
        Ok(())
    }

    /// Takes the states whose votes waited long enough. Must be called before each commit and only
    /// then, because a starting process recalls from the last stored slot.
    fn take_due_deferred(&mut self) -> Vec<(MonitorId, JudgeState)> {
        let now = self.ctx.now();
        let due = std::iter::from_fn(|| self.deferred.pop_due(now));
        due.filter_map(|id| Some((id, self.judged.get(&id)?.state.clone()))).collect()
    }

    /// Records the regions that began to fail during incidents, without retry: missing ones are
    /// added when the incident closes.
    async fn record_failed_regions(&mut self) {
        let failed_regions = self.pending.take_failed_regions();
        if failed_regions.is_empty() {
            return;
        }
        let incidents = self.store.incidents();
        let recording = incidents.record_failed_regions(failed_regions);
        let recorded = self.abandon.run_until_cancelled(recording).await;
        if let Some(Err(why)) = recorded {
            warn!("failed to add failing regions to timelines of incidents: {why}");
        }
    }

    /// Stores a batch and its probe events, with retries until both are stored.
    async fn store_all(&self, batch: &Arc<Batch>, mut by: By) -> Result<Committed, StoreError> {
        loop {
            match self.store_once(batch, by).await {
                Err(ended) if ended.has_ended() => return Err(ended),
                Err(why) => error!("failed to store results, retrying: {why}"),
                Ok(committed) => {
                    self.is_stuck.store(false, Ordering::Relaxed);
                    return Ok(committed);
                }
            }
            self.is_stuck.store(true, Ordering::Relaxed);
            self.metrics.commits_failed.inc();
            by = By::Writer;
            tokio::time::sleep(COMMIT_AGAIN).await;
        }
    }

    async fn store_once(&self, batch: &Arc<Batch>, by: By) -> Result<Committed, StoreError> {
        if !self.pending.probe_events().is_empty() {
            self.store.audit().record_probes(self.pending.probe_events().to_vec()).await?;
        }
        match by {
            By::Writer => self.store.commit(batch.clone()).await,
            By::Judge => self.store.commit_inline(batch.clone()).await,
        }
    }
}

fn ran(results: &[CheckResult]) -> u64 {
    results.iter().filter(|result| result.outcome != Outcome::Skipped).count() as u64
}
