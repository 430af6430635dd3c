//! Manual checks of monitors and of drafts. They run beside the scheduled slots, with permits of
//! their own.

use std::sync::Arc;
use std::time::Duration;

use domain::check::{CheckPlan, CheckResult, Job};
use rules::monitor::{Monitor, MonitorSettings};
use rules::{MonitorId, Region, Timestamp, WorkspaceId, limits};
use tokio::sync::oneshot;

use super::cadence::ScheduleCommand;
use super::{Pipeline, PipelineError};
use crate::lane::QueuedJob;

/// Part of a call's time limit that is reserved for sending the response.
const RESPONSE_MARGIN: Duration = Duration::from_secs(2);

/// Whether a check is that of a draft.
#[derive(Clone, Copy, Debug)]
struct IsDraft(bool);

impl Pipeline {
    /// Checks a monitor now in each of its regions, and returns the stored results by region. Also
    /// checks an inactive monitor, but does not judge it.
    ///
    /// If no permit is free within the time that a manual check may take, nothing is checked. If
    /// the results are not stored before the caller gives up, the checks still end.
    pub async fn trigger(&self, monitor: &Monitor) -> Result<Vec<CheckResult>, PipelineError> {
        let regions: Vec<Region> = self.regions(&monitor.settings).iter().collect();
        let plan = self.plan(monitor, regions.iter().copied())?;
        self.check_manually(plan, &regions, IsDraft(false)).await
    }

    /// Checks a draft now in these regions, with the limits of [`Self::trigger`]. Makes one attempt,
    /// because a person waits, and stores nothing.
    pub async fn check_draft(
        &self,
        workspace: WorkspaceId,
        settings: MonitorSettings,
        regions: &[Region],
    ) -> Result<Vec<CheckResult>, PipelineError> {
        let now = self.ctx.now();
        let draft = Monitor {
            id: MonitorId::from_bits(0),
            workspace,
            revision: 0,
            settings: MonitorSettings { retry: 0, ..settings },
            created_at: now,
            updated_at: now,
        };
        let plan = self.plan(&draft, regions.iter().copied())?;
        self.check_manually(plan, regions, IsDraft(true)).await
    }

    async fn check_manually(
        &self,
        plan: CheckPlan,
        regions: &[Region],
        is_draft: IsDraft,
    ) -> Result<Vec<CheckResult>, PipelineError> {
        let requested_at = self.ctx.now();
        let deadline =
            requested_at + limits::TRIGGER_ANSWERED_WITHIN.saturating_sub(RESPONSE_MARGIN);
        tokio::select! {
            biased;
            results = self.check_at((Arc::new(plan), regions, is_draft), requested_at) => results,
            () = self.ctx.sleep_until(deadline) => Err(PipelineError::Unfinished),
        }
    }

    async fn check_at(
        &self,
        (plan, regions, IsDraft(is_draft)): (Arc<CheckPlan>, &[Region], IsDraft),
        requested_at: Timestamp,
    ) -> Result<Vec<CheckResult>, PipelineError> {
        let workspace = plan.workspace;
        let away = regions.iter().find(|region| self.is_away(workspace, **region));
        if let Some(region) = away {
            return Err(PipelineError::Disconnected(*region));
        }
        let count = u32::try_from(regions.len()).unwrap_or(u32::MAX);
        let permit_count = count.min(self.manual_checks_max);
        let _permits = tokio::select! {
            biased;
            permits = self.manual_checks.acquire_many(permit_count) => {
                permits.expect("the semaphore is never closed")
            }
            () = self.ctx.sleep_until(requested_at + limits::TRIGGER_ATTEMPTED_WITHIN) => {
                return Err(PipelineError::TooManyChecks);
            }
        };
        // The wait for a permit does not count as a delay of the check.
        let slot = self.ctx.now();
        let mut waiting = Vec::new();
        for region in regions {
            let (reply, answer) = oneshot::channel();
            let job = Job { slot, ..Job::manual(plan.clone(), *region, requested_at) };
            let queued = QueuedJob::beside(job, reply, is_draft, self.in_flight.begin());
            self.jobs.send(queued).await.map_err(|_| PipelineError::Stopping)?;
            waiting.push((*region, answer));
        }
        let mut results = Vec::with_capacity(waiting.len());
        for (region, answer) in waiting {
            results.push(
                self.wait_for_result(
                    workspace,
                    (region, answer),
                    requested_at + limits::TRIGGER_ATTEMPTED_WITHIN,
                )
                .await?,
            );
        }
        Ok(results)
    }

    /// Returns the result of a manual check. Cadence abandons a check without a permit at
    /// `deadline`.
    async fn wait_for_result(
        &self,
        workspace: WorkspaceId,
        (region, mut answer): (Region, oneshot::Receiver<CheckResult>),
        deadline: Timestamp,
    ) -> Result<CheckResult, PipelineError> {
        tokio::select! {
            result = &mut answer => return result.map_err(|_| self.no_result_error(workspace, region)),
            () = self.ctx.sleep_until(deadline) => {}
        }
        self.schedule_commands
            .send(ScheduleCommand::Poll)
            .await
            .map_err(|_| PipelineError::Stopping)?;
        answer.await.map_err(|_| self.no_result_error(workspace, region))
    }

    /// Returns whether the probe of a region is in another place and not connected.
    fn is_away(&self, workspace: WorkspaceId, region: Region) -> bool {
        let probe = self.remote.probe_of(workspace, region);
        probe.is_some_and(|probe| !self.remote.is_connected(probe))
    }

    /// Returns the reason that no result can come.
    fn no_result_error(&self, workspace: WorkspaceId, region: Region) -> PipelineError {
        if self.schedule_commands.is_closed() {
            PipelineError::Stopping
        } else if self.is_away(workspace, region) {
            PipelineError::Disconnected(region)
        } else {
            PipelineError::NotRun(region)
        }
    }
}
