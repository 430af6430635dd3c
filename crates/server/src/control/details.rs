//! Reads workspaces with the limits of their plans and their usage, for `aloft workspaces list` and
//! `show`.

use store::{Usage, Workspace, WorkspaceEdit};

use super::service::control_error;
use super::{ControlError, ControlService, WorkspaceDetails, WorkspaceUsage};

impl ControlService {
    /// Returns all workspaces, newest first.
    pub async fn list_workspaces(&self) -> Result<Vec<WorkspaceDetails>, ControlError> {
        let mut all = Vec::new();
        for workspace in self.store.workspaces().list().await.map_err(control_error)? {
            all.push(self.details(workspace).await?);
        }
        Ok(all)
    }

    /// Returns the workspace with this slug.
    pub async fn show_workspace(&self, slug: &str) -> Result<WorkspaceDetails, ControlError> {
        let workspace = self.store.workspaces().by_slug(slug).await.map_err(control_error)?;
        self.details(workspace).await
    }

    async fn details(&self, workspace: Workspace) -> Result<WorkspaceDetails, ControlError> {
        let limits = self.store.plans().get(&workspace.plan);
        let usage = self.store.workspaces().usage(workspace.id).await.map_err(control_error)?;
        let is_operator = self.store.workspaces().is_operator(workspace.id).await;
        let is_operator = is_operator.map_err(control_error)?;
        let (workspace, usage) = (workspace.into(), usage.into());
        Ok(WorkspaceDetails { workspace, limits, usage, is_operator })
    }

    /// Makes the workspace with this slug one of the operator's, or ends that.
    pub async fn set_operator(
        &self,
        slug: &str,
        is_operator: bool,
    ) -> Result<WorkspaceDetails, ControlError> {
        let id = self.workspace(slug).await?.id;
        self.edit(id, WorkspaceEdit::Operator(is_operator)).await?;
        self.show_workspace(slug).await
    }
}

impl From<Usage> for WorkspaceUsage {
    fn from(usage: Usage) -> Self {
        let Usage { monitors, shortest_period, pages, channels, retention_days } = usage;
        Self { monitors, shortest_period, pages, channels, retention_days }
    }
}
