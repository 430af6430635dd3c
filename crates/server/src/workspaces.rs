//! Changes workspaces as a whole, for `control`, `rpc` and `housekeeping`. A deletion by an owner
//! takes effect after a week. Until then, the monitors rest and the pages are not found.

use std::sync::Arc;

use rules::{Timestamp, WorkspaceId, limits};
use store::{
    Actor, AuditContext, MaintenanceFilter, OperatorContext, Page, Store, StoreError, WorkspaceEdit,
};
use tracing::{error, info};

use crate::auth::Auth;
use crate::pipeline::{Pipeline, PipelineError};

/// Parts of the server that follow changes of workspaces. A command without a server has only a
/// store.
#[derive(Clone, Debug)]
pub(crate) struct WorkspaceAdmin {
    pub(crate) store: Store,
    /// Caches keys with their workspaces.
    pub(crate) auth: Option<Arc<Auth>>,
    /// Runs the checks.
    pub(crate) pipeline: Option<Pipeline>,
}

impl WorkspaceAdmin {
    /// Changes a workspace.
    pub(crate) async fn edit(
        &self,
        id: WorkspaceId,
        edit: WorkspaceEdit,
        change: AuditContext,
    ) -> Result<(), StoreError> {
        self.store.workspaces().edit(id, edit, change).await?;
        // The cache holds the workspace's old names and plan with its keys.
        if let Some(auth) = &self.auth {
            for key in self.store.keys().list(id).await? {
                auth.evict(key.id);
            }
        }
        Ok(())
    }

    /// Schedules the deletion of a workspace and lets its monitors rest. Repeating it does not move
    /// the deletion.
    pub(crate) async fn schedule_deletion(
        &self,
        id: WorkspaceId,
        change: AuditContext,
    ) -> Result<(), StoreError> {
        let scheduled = self.store.workspaces().get(id).await?.deletes_at;
        let at = scheduled.unwrap_or(change.at + limits::WORKSPACE_DELETION_DELAY);
        self.edit(id, WorkspaceEdit::ScheduleDeletion(at), change).await?;
        self.update_checks(id).await
    }

    /// Cancels the deletion of a workspace: its active monitors are checked again.
    pub(crate) async fn cancel_deletion(
        &self,
        id: WorkspaceId,
        change: AuditContext,
    ) -> Result<(), StoreError> {
        self.edit(id, WorkspaceEdit::CancelDeletion, change).await?;
        self.update_checks(id).await
    }

    /// Deletes the workspaces whose deletion is due.
    pub(crate) async fn delete_due(&self, now: Timestamp) -> Result<(), StoreError> {
        for workspace in self.store.workspaces().due_for_deletion(now).await? {
            let slug = workspace.slug;
            // One that fails keeps no other one.
            match self.delete(workspace.id, AuditContext::new(Actor::Server, now)).await {
                Ok(()) => {
                    info!(workspace.id = %workspace.id, "deleted workspace `{slug}` as scheduled");
                }
                Err(error) => error!(
                    workspace.id = %workspace.id, %error,
                    "failed to delete workspace `{slug}`, retrying: {error}"
                ),
            }
        }
        Ok(())
    }

    /// Deletes a workspace and everything in it. Revokes keys first, so that no client adds
    /// resources meanwhile.
    pub(crate) async fn delete(
        &self,
        id: WorkspaceId,
        change: AuditContext,
    ) -> Result<(), StoreError> {
        let store = &self.store;
        for key in store.keys().list(id).await? {
            store.keys().revoke(id, key.id, change).await?;
            if let Some(auth) = &self.auth {
                auth.evict(key.id);
            }
        }
        let (filter, now) = (MaintenanceFilter::default(), change.at);
        for row in store.maintenances().list(id, filter, Page::all(), now).await?.rows {
            store.maintenances().delete(id, row.maintenance.id, change).await?;
        }
        for template in store.report_templates().list(id, Page::all()).await?.rows {
            store.report_templates().delete(id, template.id, change).await?;
        }
        for page in store.pages().list(id, Page::all()).await?.rows {
            store.pages().delete(id, page.id, change).await?;
        }
        for channel in store.channels().list(id, Page::all()).await?.rows {
            store.channels().delete(id, channel.id, change).await?;
        }
        for row in store.monitors().list(id, Page::all()).await?.rows {
            let monitor = row.monitor.id;
            store.monitors().delete(id, monitor, change).await?;
            if let Some(pipeline) = &self.pipeline {
                // The deletion is stored: a monitor that cannot be removed now does not start again.
                log_failure(id, pipeline.apply_removal(monitor).await);
            }
        }
        for probe in store.probes().list_of(id).await? {
            store.probes().delete(probe.id, OperatorContext::of_server(change)).await?;
        }
        self.edit(id, WorkspaceEdit::Delete, change).await
    }

    /// Starts or stops the checks of every active monitor, as the stored workspace requires. Each
    /// monitor reads the workspace in turn with its other changes, so that the last change wins.
    async fn update_checks(&self, id: WorkspaceId) -> Result<(), StoreError> {
        let Some(pipeline) = &self.pipeline else { return Ok(()) };
        for row in self.store.monitors().list(id, Page::all()).await?.rows {
            if !row.monitor.settings.active {
                continue;
            }
            let (store, running) = (self.store.clone(), pipeline.clone());
            let (monitor, number) = (row.monitor.clone(), row.monitor.id);
            let update = async move {
                let rests = store.workspaces().get(id).await?.deletes_at.is_some();
                if rests {
                    running.apply_pause(&monitor).await
                } else {
                    let stored = store.monitors().get(id, monitor.id).await?;
                    running.apply_change(&stored.monitor).await
                }
            };
            log_failure(id, pipeline.change(number, update).await.and_then(|done| done));
        }
        Ok(())
    }
}

fn log_failure(workspace: WorkspaceId, result: Result<(), PipelineError>) {
    if let Err(why) = result {
        error!(
            workspace.id = %workspace,
            "failed to update the checks of workspace {workspace}; a restart does it: {why}"
        );
    }
}
