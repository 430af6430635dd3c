//! Queries to the judge from other parts of the server, with their timeout. The answers come from
//! `judge`.

use std::collections::HashMap;
use std::sync::atomic::Ordering;
use std::time::Duration;

use rules::{MonitorId, Timestamp, WorkspaceId};
use tokio::sync::oneshot;
use tokio::time::timeout;

use super::judge::Command;
use super::{MonitorView, Pipeline, PipelineError, RegionHealth};

/// Timeout of a query. The judge answers nothing during a commit, which may take forever if the
/// database fails.
const ANSWERED_WITHIN: Duration = Duration::from_secs(5);

impl Pipeline {
    /// Returns the state of a running monitor.
    ///
    /// Fails if the monitor does not run. Also fails if a stage has ended, so that no unchecked
    /// monitor is shown as operational.
    pub async fn view(&self, monitor: MonitorId) -> Result<MonitorView, PipelineError> {
        if self.schedule_commands.is_closed() || self.jobs.is_closed() {
            return Err(PipelineError::Stopping);
        }
        self.query(|answer| Command::View { monitor, answer }).await?
    }

    /// Returns whether the last commit failed. The judge answers no query until a retry succeeds.
    pub fn is_stuck(&self) -> bool {
        self.is_stuck.load(Ordering::Relaxed)
    }

    /// Returns the end of the last check of each of these monitors in any region, where known.
    /// Takes one query for any number of monitors.
    pub(crate) async fn checked(
        &self,
        monitors: Vec<MonitorId>,
    ) -> Result<HashMap<MonitorId, Timestamp>, PipelineError> {
        if self.schedule_commands.is_closed() || self.jobs.is_closed() {
            return Err(PipelineError::Stopping);
        }
        self.query(|answer| Command::Checked { monitors, answer }).await
    }

    /// Returns the health of the regions of a workspace from the ended checks.
    pub async fn health(&self, workspace: WorkspaceId) -> Result<Vec<RegionHealth>, PipelineError> {
        self.query(|answer| Command::Regions { workspace, answer }).await
    }

    async fn query<T>(
        &self,
        command: impl FnOnce(oneshot::Sender<T>) -> Command,
    ) -> Result<T, PipelineError> {
        let (answer, answered) = oneshot::channel();
        let reply = async {
            let sent = self.commands.send(command(answer)).await;
            sent.map_err(|_| PipelineError::Stopping)?;
            answered.await.map_err(|_| PipelineError::Stopping)
        };
        timeout(ANSWERED_WITHIN, reply).await.map_err(|_| PipelineError::Busy)?
    }
}
