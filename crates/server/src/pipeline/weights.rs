//! Shares of the permits for checks: each workspace has the weight of its plan.
//! `domain::cadence::Turns` decides the shares.

use rules::WorkspaceId;

use super::{Pipeline, PipelineError};

impl Pipeline {
    /// Sets the share of this workspace by its new plan.
    pub fn weigh(&self, workspace: WorkspaceId, plan: &str) {
        self.permits.weigh(workspace, self.store.plans().of(plan).weight);
    }

    /// Sets the share of every workspace by its plan at startup.
    pub(super) async fn weigh_all(&self) -> Result<(), PipelineError> {
        for workspace in self.store.workspaces().list().await? {
            self.weigh(workspace.id, &workspace.plan);
        }
        Ok(())
    }
}
