//! Shares of the places for checks: each workspace has the weight of its plan. How places are shared is decided
//! by `domain::cadence::Turns`.

use rules::WorkspaceId;

use super::{Pipeline, PipelineError};

impl Pipeline {
    /// Shares the places for checks by the plan that this workspace has from now on.
    pub fn weigh(&self, workspace: WorkspaceId, plan: &str) {
        self.places.weigh(workspace, self.store.plans().of(plan).weight);
    }

    /// Gives every workspace the weight of its plan: at the start.
    pub(super) async fn weigh_all(&self) -> Result<(), PipelineError> {
        for workspace in self.store.workspaces().list().await? {
            self.weigh(workspace.id, &workspace.plan);
        }
        Ok(())
    }
}
