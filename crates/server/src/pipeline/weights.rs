//! Shares of the permits for checks: each workspace has the weight of its plan, here and at
//! probes elsewhere. `domain::cadence::Turns` decides the shares.

use rules::WorkspaceId;

use super::{Pipeline, PipelineError};

impl Pipeline {
    /// Sets the share of this workspace by its new plan. Waiting jobs that may run now start without
    /// the caller, which may be dropped.
    pub fn set_weight(&self, workspace: WorkspaceId, plan: &str) {
        let weight = self.store.plans().get(plan).weight;
        self.remote.set_weight(workspace, weight);
        let runnable = self.permits.set_weight(workspace, weight, self.ctx.now());
        if runnable.is_empty() {
            return;
        }
        let lanes = self.jobs.clone();
        tokio::spawn(async move {
            for job in runnable {
                // During a stop the lanes are closed, and the next start records the slots as missed.
                let _ = lanes.send(job).await;
            }
        });
    }

    /// Sets the share of every workspace by its plan at startup.
    pub(super) async fn set_all_weights(&self) -> Result<(), PipelineError> {
        for workspace in self.store.workspaces().list().await? {
            self.set_weight(workspace.id, &workspace.plan);
        }
        Ok(())
    }
}
