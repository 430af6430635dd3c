//! Manual checks. They run beside the scheduled slots, with permits of their own.

use std::sync::Arc;
use std::time::Duration;

use domain::check::{CheckPlan, CheckResult, Job};
use rules::monitor::Monitor;
use rules::{Timestamp, limits};
use tokio::sync::oneshot;

use super::cadence::ScheduleCommand;
use super::{Pipeline, PipelineError};
use crate::lane::{QueuedJob, RevisionFlag};

/// Part of a call's time limit that is reserved for sending the response.
const RESPONSE_MARGIN: Duration = Duration::from_secs(2);

impl Pipeline {
    /// Checks a monitor now in each of its regions, and returns the stored results by region. Also
    /// checks an inactive monitor, but does not judge it.
    ///
    /// If no permit is free within the time that a manual check may take, nothing is checked. If
    /// the results are not stored before the caller gives up, the checks still end.
    pub async fn trigger(&self, monitor: &Monitor) -> Result<Vec<CheckResult>, PipelineError> {
        let requested_at = self.ctx.now();
        let deadline =
            requested_at + limits::TRIGGER_ANSWERED_WITHIN.saturating_sub(RESPONSE_MARGIN);
        tokio::select! {
            biased;
            results = self.trigger_at(monitor, requested_at) => results,
            () = self.ctx.sleep_until(deadline) => Err(PipelineError::Unfinished),
        }
    }

    async fn trigger_at(
        &self,
        monitor: &Monitor,
        requested_at: Timestamp,
    ) -> Result<Vec<CheckResult>, PipelineError> {
        let plan = Arc::new(CheckPlan::new(monitor)?);
        let regions = self.regions(&monitor.settings);
        let permit_count = regions.len().min(self.manual_checks_max);
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
        for region in regions.iter() {
            let (reply, answer) = oneshot::channel();
            let job = Job { slot, ..Job::manual(plan.clone(), region, requested_at) };
            let (handle, revision_flag) = (None, RevisionFlag::default());
            let in_flight = self.in_flight.begin();
            let queued = QueuedJob {
                job,
                handle,
                reply: Some(reply),
                revision_flag,
                has_permit: false,
                in_flight,
            };
            self.jobs.send(queued).await.map_err(|_| PipelineError::Stopping)?;
            waiting.push(answer);
        }
        let mut results = Vec::with_capacity(waiting.len());
        for answer in waiting {
            results.push(
                self.wait_for_result(answer, requested_at + limits::TRIGGER_ATTEMPTED_WITHIN)
                    .await?,
            );
        }
        Ok(results)
    }

    /// Returns the result of a manual check. Cadence abandons a check without a permit at
    /// `deadline`.
    async fn wait_for_result(
        &self,
        mut answer: oneshot::Receiver<CheckResult>,
        deadline: Timestamp,
    ) -> Result<CheckResult, PipelineError> {
        tokio::select! {
            result = &mut answer => return result.map_err(|_| self.no_result_error()),
            () = self.ctx.sleep_until(deadline) => {}
        }
        self.schedule_commands
            .send(ScheduleCommand::Poll)
            .await
            .map_err(|_| PipelineError::Stopping)?;
        answer.await.map_err(|_| self.no_result_error())
    }

    /// Returns the reason that no result can come.
    fn no_result_error(&self) -> PipelineError {
        if self.schedule_commands.is_closed() {
            PipelineError::Stopping
        } else {
            PipelineError::TooManyChecks
        }
    }
}
