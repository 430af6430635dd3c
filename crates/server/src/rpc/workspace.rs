//! `workspace.v1.WorkspaceService`: the workspace of the caller. `workspaces` schedules deletions.

use contract::monitor::encode_instant;
use contract::rpc::{self, Error, RequestContext, Response, ServiceResult};
use contract::workspace::wire::{
    CancelDeletionRequest, CancelDeletionResponse, DeleteWorkspaceRequest, DeleteWorkspaceResponse,
    GetWorkspaceRequest, GetWorkspaceResponse, PlanLimits, UpdateWorkspaceRequest,
    UpdateWorkspaceResponse, Workspace as WireWorkspace, WorkspaceService, WorkspaceUsage,
};
use domain::history::UptimeTarget;
use rules::plan::Plan;
use rules::{Role, Validator, WorkspaceId, tables};
use store::{StoreError, Usage, WorkspaceEdit};

use super::list::encode_total;
use super::request::{caller, change, require_person, require_role};
use crate::rpc::{Services, rpc_error};

/// Implementation of the service.
#[derive(Clone, Debug)]
pub(super) struct CurrentWorkspace(pub(super) Services);

impl WorkspaceService for CurrentWorkspace {
    async fn get_workspace(
        &self,
        context: RequestContext,
        _: GetWorkspaceRequest,
    ) -> ServiceResult<GetWorkspaceResponse> {
        let workspace = self.read(caller(&context).workspace).await?.into();
        Response::ok(GetWorkspaceResponse { workspace })
    }

    async fn update_workspace(
        &self,
        context: RequestContext,
        request: UpdateWorkspaceRequest,
    ) -> ServiceResult<UpdateWorkspaceResponse> {
        let caller = caller(&context);
        require_role(caller, Role::Admin)?;
        let seen = self.0.store.workspaces().get(caller.workspace).await.map_err(rpc_error)?;
        let mut validator = Validator::new(&tables::WORKSPACE);
        let slug = validator.text("slug", request.slug.or_else(|| Some(seen.slug.clone())));
        let name = validator.text("name", request.name.or_else(|| Some(seen.name.clone())));
        let target = uptime_target(&mut validator, request.uptime_target);
        let valid = validator.finish(slug.zip(name));
        let (slug, name) = valid.map_err(|violations| rpc::invalid(&violations))?;
        if (&slug, &name) != (&seen.slug, &seen.name) {
            let edit = WorkspaceEdit::Rename { slug, name };
            let edited = self.0.workspaces.edit(seen.id, edit, change(&self.0, caller)).await;
            edited.map_err(rpc_error)?;
        }
        if let Some(target) = target
            && target
                != self.0.store.workspaces().uptime_target(seen.id).await.map_err(rpc_error)?
        {
            let edit = WorkspaceEdit::UptimeTarget(target);
            let edited = self.0.workspaces.edit(seen.id, edit, change(&self.0, caller)).await;
            edited.map_err(rpc_error)?;
        }
        let workspace = self.read(seen.id).await?.into();
        Response::ok(UpdateWorkspaceResponse { workspace })
    }

    async fn delete_workspace(
        &self,
        context: RequestContext,
        _: DeleteWorkspaceRequest,
    ) -> ServiceResult<DeleteWorkspaceResponse> {
        let caller = caller(&context);
        require_person(caller, Role::Owner)?;
        let change = change(&self.0, caller);
        let scheduled = self.0.workspaces.schedule_deletion(caller.workspace, change).await;
        scheduled.map_err(rpc_error)?;
        let workspace = self.read(caller.workspace).await?.into();
        Response::ok(DeleteWorkspaceResponse { workspace })
    }

    async fn cancel_deletion(
        &self,
        context: RequestContext,
        _: CancelDeletionRequest,
    ) -> ServiceResult<CancelDeletionResponse> {
        let caller = caller(&context);
        require_person(caller, Role::Owner)?;
        let change = change(&self.0, caller);
        let cancelled = self.0.workspaces.cancel_deletion(caller.workspace, change).await;
        cancelled.map_err(rpc_error)?;
        let workspace = self.read(caller.workspace).await?.into();
        Response::ok(CancelDeletionResponse { workspace })
    }
}

impl CurrentWorkspace {
    async fn read(&self, id: WorkspaceId) -> Result<WireWorkspace, Error> {
        let read = async {
            let workspaces = self.0.store.workspaces();
            let (workspace, usage) = (workspaces.get(id).await?, workspaces.usage(id).await?);
            Ok::<_, StoreError>((workspace, usage, workspaces.uptime_target(id).await?))
        };
        let (workspace, usage, uptime_target) = read.await.map_err(rpc_error)?;
        let limits = self.0.store.plans().get(&workspace.plan);
        Ok(WireWorkspace {
            id: id.to_string(),
            name: workspace.name,
            slug: workspace.slug,
            plan: workspace.plan,
            limits: encode_limits(limits).into(),
            usage: encode_usage(usage).into(),
            created_at: encode_instant(workspace.created_at),
            deletes_at: workspace.deletes_at.map(encode_instant).unwrap_or_default(),
            uptime_target: uptime_target.to_string(),
        })
    }
}

/// Reads a new target. An invalid one is a violation.
fn uptime_target(validator: &mut Validator, given: Option<String>) -> Option<UptimeTarget> {
    let given = given?;
    UptimeTarget::parse(&given).or_else(|| {
        let allowed = "must be a percentage above 0 and up to 100, with up to four decimals";
        validator.refuse("uptime_target", given, allowed)
    })
}

fn encode_limits(plan: Plan) -> PlanLimits {
    PlanLimits {
        monitors: plan.monitors.map(encode_total),
        shortest_period: plan.shortest_period.map(|period| period.to_string()),
        status_pages: plan.pages.map(encode_total),
        notifications: plan.channels.map(encode_total),
        retention_days: plan.retention_days.map(encode_total),
    }
}

fn encode_usage(usage: Usage) -> WorkspaceUsage {
    WorkspaceUsage {
        monitors: encode_total(usage.monitors),
        shortest_period: usage.shortest_period.map(|period| period.to_string()),
        status_pages: encode_total(usage.pages),
        notifications: encode_total(usage.channels),
        retention_days: encode_total(usage.retention_days),
    }
}
