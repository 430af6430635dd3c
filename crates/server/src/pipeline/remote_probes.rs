//! Follows the stored probes: regions pass between the server's own probe and probes in other places, and
//! streams end with the tokens that opened them.

use std::collections::HashSet;
use std::time::Duration;

use domain::cadence::FirstRun;
use rules::monitor::Monitor;
use rules::{ProbeId, WorkspaceId};
use store::{BootMonitor, Page, ProbeSeen, StoreError, StoredProbe};
use tokio_util::sync::CancellationToken;
use tracing::{info, warn};

use super::cadence::ScheduleCommand;
use super::judge::Command;
use super::{Pipeline, PipelineError};
use crate::lane::probes::MovedRegion;

/// Time in which the regions of a new probe are mapped to it, and the pause between two looks.
const MAPPED_WITHIN: Duration = Duration::from_secs(2);
const LOOK_EVERY: Duration = Duration::from_millis(10);
/// Interval in which signs of life are stored, and expired tokens end their streams.
const UPKEEP_EVERY: Duration = Duration::from_secs(10);

impl Pipeline {
    /// Returns whether a probe in another place is connected.
    pub fn is_probe_connected(&self, probe: ProbeId) -> bool {
        let index = self.remote.index_of(probe);
        index.is_some_and(|index| self.remote.is_connected(index))
    }

    /// Waits until the regions of a new probe are mapped to it, so that the next call can use them. The
    /// probe is stored, so a timeout is no failure.
    pub(crate) async fn wait_for_probe(&self, probe: ProbeId) {
        let mut look = tokio::time::interval(LOOK_EVERY);
        let mapped = async {
            while self.remote.index_of(probe).is_none() {
                look.tick().await;
            }
        };
        let _ = tokio::time::timeout(MAPPED_WITHIN, mapped).await;
    }

    /// Reads the stored probes and maps regions to them. Returns the regions that another probe serves
    /// now.
    pub(super) async fn map_regions(&self) -> Result<Vec<MovedRegion>, StoreError> {
        let stored = self.store.probes().list().await?;
        Ok(self.map_regions_to(&stored))
    }

    fn map_regions_to(&self, stored: &[StoredProbe]) -> Vec<MovedRegion> {
        let changed = self.probes.replace_remote(stored);
        self.remote.record_moved(&changed);
        self.remote.close_without_token(stored, self.ctx.now());
        changed
    }

    /// Follows changes of the stored probes until `stop`.
    pub(super) async fn follow_probes(self, stop: CancellationToken) {
        let mut changes = self.store.probes().changed();
        // Regions whose monitors still run with the probe before, and whether the last change failed.
        let (mut unmoved, mut has_failed) = (HashSet::new(), false);
        while !stop.is_cancelled() {
            let is_changed = tokio::select! {
                changed = changes.changed() => changed.is_ok(),
                () = tokio::time::sleep(UPKEEP_EVERY) => has_failed,
                () = stop.cancelled() => return,
            };
            let done = if is_changed {
                let applied = stop.run_until_cancelled(self.apply_probes(&mut unmoved)).await;
                has_failed = matches!(applied, Some(Err(_)));
                applied
            } else {
                stop.run_until_cancelled(self.keep_up()).await
            };
            if let Some(Err(why)) = done {
                warn!("the probes in other places are not up to date: {why}; trying again");
            }
        }
    }

    /// Stores signs of life, and ends streams whose tokens have expired.
    async fn keep_up(&self) -> Result<(), PipelineError> {
        let seen: Vec<ProbeSeen> = self.remote.take_seen();
        if seen.is_empty() {
            return Ok(());
        }
        self.store.probes().record_seen(&seen).await?;
        self.remote.close_without_token(&self.store.probes().list().await?, self.ctx.now());
        Ok(())
    }

    /// Maps regions to the stored probes, and runs the monitors of changed regions there.
    async fn apply_probes(&self, unmoved: &mut HashSet<MovedRegion>) -> Result<(), PipelineError> {
        let changed = self.map_regions().await?;
        if !changed.is_empty() {
            let names: Vec<String> = changed.iter().map(ToString::to_string).collect();
            info!("another probe serves {} from now on", names.join(", "));
        }
        unmoved.extend(changed);
        if unmoved.is_empty() {
            return Ok(());
        }
        let owners: Option<HashSet<WorkspaceId>> = unmoved.iter().map(|it| it.workspace).collect();
        if let Some(owners) = owners {
            // A change of a workspace reads nothing of others.
            for owner in owners {
                for row in self.store.monitors().list(owner, Page::all()).await?.rows {
                    self.move_if_needed(row.monitor, unmoved).await?;
                }
            }
        } else {
            let mut stored = self.store.monitors().all_for_boot();
            while let Some(batch) = stored.next_batch().await? {
                for BootMonitor { monitor, .. } in batch {
                    self.move_if_needed(monitor, unmoved).await?;
                }
            }
        }
        unmoved.clear();
        Ok(())
    }

    /// Moves an active monitor if another probe serves one of its regions now.
    async fn move_if_needed(
        &self,
        monitor: Monitor,
        unmoved: &HashSet<MovedRegion>,
    ) -> Result<(), PipelineError> {
        let regions = self.regions(&monitor.settings);
        let is_moved = unmoved.iter().any(|moved| {
            regions.contains(moved.region)
                && moved.workspace.is_none_or(|it| it == monitor.workspace)
        });
        if !monitor.settings.active || !monitor.settings.check.is_probed() || !is_moved {
            return Ok(());
        }
        let (this, id) = (self.clone(), monitor.id);
        match self.change(id, async move { this.move_monitor(&monitor).await }).await? {
            Err(PipelineError::Unplannable(why)) => {
                warn!(monitor.id = %id, "{why}");
                Ok(())
            }
            moved => moved,
        }
    }

    /// Runs a monitor with the probes that serve its regions now. Checks that run elsewhere end there.
    async fn move_monitor(&self, read: &Monitor) -> Result<(), PipelineError> {
        // It may have been edited or deleted since it was read.
        let monitor = match self.store.monitors().get(read.workspace, read.id).await {
            Ok(stored) => stored.monitor,
            Err(StoreError::NotFound { .. }) => return Ok(()),
            Err(other) => return Err(other.into()),
        };
        if !monitor.settings.active {
            return Ok(());
        }
        let (judged, entry) = self.prepare(&monitor, self.stored_state(monitor.id).await?)?;
        self.command(|done| Command::Move { judged: Box::new(judged), done }).await?;
        let first = FirstRun::Regular;
        self.schedule_command(|done| ScheduleCommand::Put { entry, first, done }).await
    }
}
