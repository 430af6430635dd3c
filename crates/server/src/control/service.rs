//! Implements the operations on a store. It validates input by the tables of `rules`; the store
//! writes an audit row for every change.

use std::cmp::Reverse;
use std::sync::Arc;
use std::time::Duration;

use rules::plan::Plans;
use rules::{KeyId, Scope, Validator, Violations, WorkspaceId, counted, limits, tables};
use store::{
    Actor, ApiKey, AuditContext, DamagedRow, FREE_PLAN, KeyHash, Store, StoreError, Workspace,
    WorkspaceEdit,
};
use web::context::Context;

use super::operation::{Operation, OperationReply};
use super::{
    ControlError, CreateKey, CreateWorkspace, CreatedKey, KeepResults, KeyRow, RenameWorkspace,
    UnreadableRow, WorkspaceRow,
};
use crate::auth::{Auth, key};
use crate::pipeline::Pipeline;
use crate::workspaces::WorkspaceAdmin;

/// Executes the operations, in a running server or in a command.
#[derive(Clone, Debug)]
pub struct ControlService {
    ctx: Context,
    pub(super) store: Store,
    auth: Option<Arc<Auth>>,
    /// The running checks, in a server only.
    pub(super) pipeline: Option<Pipeline>,
    /// URL of the server, in a server only.
    server_url: Option<String>,
}

/// A key to issue.
#[derive(Clone, Debug)]
pub(crate) struct IssuedKey {
    pub(crate) workspace: WorkspaceId,
    pub(crate) name: String,
    /// Scope. `None` as for keys from before scopes existed.
    pub(crate) scope: Option<Scope>,
    pub(crate) expires_in: Option<Duration>,
}

impl ControlService {
    /// Creates the operations on this store. `auth` caches keys and must forget changed and revoked
    /// ones at once.
    pub const fn new(ctx: Context, store: Store, auth: Option<Arc<Auth>>) -> Self {
        Self { ctx, store, auth, pipeline: None, server_url: None }
    }

    /// Connects a pipeline, whose checks follow changes of workspaces.
    #[must_use]
    pub fn with_pipeline(self, pipeline: Pipeline) -> Self {
        Self { pipeline: Some(pipeline), ..self }
    }

    /// Sets the URL of the server that runs.
    #[must_use]
    pub fn with_server_url(self, url: &str) -> Self {
        Self { server_url: Some(url.to_owned()), ..self }
    }

    /// Applies these plans to the store, if no server runs.
    pub(super) fn apply_plans(&self, plans: Plans, default_days: u32) {
        self.store.set_plans(plans, default_days);
    }

    /// Creates a workspace.
    pub async fn create_workspace(
        &self,
        new: CreateWorkspace,
    ) -> Result<WorkspaceRow, ControlError> {
        let mut validator = Validator::new(&tables::WORKSPACE);
        let slug = validator.text("slug", Some(new.slug));
        let name = validator.text("name", Some(new.name));
        let (slug, name) = validator.finish(slug.zip(name))?;
        let change = self.change();
        let workspace = Workspace {
            id: self.ctx.new_id(),
            slug,
            name,
            plan: new.plan.unwrap_or_else(|| FREE_PLAN.to_owned()),
            created_at: change.at,
            deletes_at: None,
        };
        self.refuse_unknown_plan(&workspace.plan)?;
        self.store.workspaces().create(workspace.clone(), change).await.map_err(control_error)?;
        self.update_weight(&workspace);
        Ok(workspace.into())
    }

    /// Renames a workspace. The addresses of its status pages remain.
    pub async fn rename_workspace(
        &self,
        renamed: RenameWorkspace,
    ) -> Result<WorkspaceRow, ControlError> {
        let old = self.workspace(&renamed.workspace).await?;
        let mut validator = Validator::new(&tables::WORKSPACE);
        let slug = validator.text("slug", Some(renamed.slug.unwrap_or(old.slug)));
        let name = validator.text("name", Some(renamed.name.unwrap_or(old.name)));
        let (slug, name) = validator.finish(slug.zip(name))?;
        self.edit(old.id, WorkspaceEdit::Rename { slug: slug.clone(), name }).await?;
        self.workspace(&slug).await.map(WorkspaceRow::from)
    }

    /// Changes the plan of a workspace. Resources beyond the new limits remain, but no more can be
    /// created.
    pub async fn set_plan(&self, slug: &str, plan: String) -> Result<WorkspaceRow, ControlError> {
        let workspace = self.workspace(slug).await?;
        self.refuse_unknown_plan(&plan)?;
        self.edit(workspace.id, WorkspaceEdit::Plan(plan)).await?;
        let workspace = self.workspace(slug).await?;
        self.update_weight(&workspace);
        Ok(workspace.into())
    }

    /// Deletes a workspace and everything in it, at once.
    pub async fn delete_workspace(&self, slug: &str) -> Result<(), ControlError> {
        let id = self.workspace(slug).await?.id;
        self.admin().delete(id, self.change()).await.map_err(control_error)
    }

    /// Sets the weight of a workspace's checks to that of its plan.
    fn update_weight(&self, workspace: &Workspace) {
        if let Some(pipeline) = &self.pipeline {
            pipeline.set_weight(workspace.id, &workspace.plan);
        }
    }

    pub(super) async fn workspace(&self, slug: &str) -> Result<Workspace, ControlError> {
        self.store.workspaces().by_slug(slug).await.map_err(control_error)
    }

    pub(super) async fn edit(
        &self,
        id: WorkspaceId,
        edit: WorkspaceEdit,
    ) -> Result<(), ControlError> {
        self.admin().edit(id, edit, self.change()).await.map_err(control_error)
    }

    fn admin(&self) -> WorkspaceAdmin {
        WorkspaceAdmin {
            store: self.store.clone(),
            auth: self.auth.clone(),
            pipeline: self.pipeline.clone(),
        }
    }

    fn refuse_unknown_plan(&self, plan: &str) -> Result<(), ControlError> {
        let plans = self.store.plans();
        if plan == FREE_PLAN || plans.has(plan) {
            return Ok(());
        }
        let mut known: Vec<&str> = plans.iter().map(|(name, _)| name).collect();
        known.push(FREE_PLAN);
        known.dedup();
        let known = known.join("`, `");
        Err(ControlError::Refused(format!(
            "unknown plan `{plan}`; the setting `plans` has `{known}`"
        )))
    }

    /// Sets the retention of a workspace's results; `None` restores the server's setting.
    pub async fn set_retention(&self, keep: KeepResults) -> Result<(), ControlError> {
        let (least, most) = (limits::RETENTION_DAYS_MIN, limits::RETENTION_DAYS_MAX);
        if keep.days.is_some_and(|days| !(least..=most).contains(&days)) {
            let why = format!(
                "results are kept for {least} to {most} days, or as the server's setting says"
            );
            return Err(ControlError::Refused(why));
        }
        let workspace = self.workspace(&keep.workspace).await?;
        let most = self.store.plans().get(&workspace.plan).retention_days;
        if let Some(most) = most.filter(|most| keep.days.is_some_and(|days| days > *most)) {
            let plan = &workspace.plan;
            let why =
                format!("the plan `{plan}` keeps results for {} at most", counted(most, "day"));
            return Err(ControlError::Refused(why));
        }
        let history = self.store.history();
        history.set_retention(workspace.id, keep.days, self.change()).await.map_err(control_error)
    }

    /// Creates a key and returns its only copy.
    pub async fn create_key(&self, new: CreateKey) -> Result<CreatedKey, ControlError> {
        let mut validator = Validator::new(&tables::KEY);
        let name = validator.text("name", Some(new.name));
        let name = validator.finish(name)?;
        let workspace =
            self.store.workspaces().by_slug(&new.workspace).await.map_err(control_error)?;
        let expires_in = new.expires_in_seconds.map(Duration::from_secs);
        if expires_in.is_some_and(|time| time.is_zero() || time > limits::KEY_LIFETIME_MAX) {
            let days = limits::KEY_LIFETIME_MAX.as_secs() / 86_400;
            let why = format!("a key is valid for 1 second to {days} days, or without a limit");
            return Err(ControlError::Refused(why));
        }
        self.issue(workspace.id, name, Some(new.scope), expires_in).await
    }

    /// Creates a key without a scope, like those from before scopes (spec §5.6), for tests and imports.
    pub async fn create_legacy_key(
        &self,
        workspace: WorkspaceId,
        name: String,
    ) -> Result<CreatedKey, ControlError> {
        self.issue(workspace, name, None, None).await
    }

    /// Returns the keys of the workspace with this slug, or of all, newest first.
    pub async fn list_keys(&self, slug: Option<&str>) -> Result<Vec<KeyRow>, ControlError> {
        let workspaces = match slug {
            Some(slug) => vec![self.store.workspaces().by_slug(slug).await.map_err(control_error)?],
            None => self.store.workspaces().list().await.map_err(control_error)?,
        };
        let mut rows = Vec::new();
        for workspace in workspaces {
            let keys = self.store.keys().list(workspace.id).await.map_err(control_error)?;
            rows.extend(keys.into_iter().map(|key| row(key, &workspace.slug)));
        }
        rows.sort_unstable_by_key(|row: &KeyRow| Reverse(row.id));
        Ok(rows)
    }

    /// Revokes a key of any workspace. Revoking a revoked key has no effect.
    pub async fn revoke_key(&self, id: KeyId) -> Result<(), ControlError> {
        let change = self.change();
        for workspace in self.store.workspaces().list().await.map_err(control_error)? {
            match self.store.keys().revoke(workspace.id, id, change).await {
                Ok(_) => {
                    if let Some(auth) = &self.auth {
                        auth.evict(id);
                    }
                    return Ok(());
                }
                Err(StoreError::NotFound { .. }) => {}
                Err(error) => return Err(control_error(error)),
            }
        }
        Err(ControlError::Refused(format!("unknown key `{id}`; see `aloft keys list`")))
    }

    pub(super) fn into_store(self) -> Store {
        self.store
    }

    pub(super) async fn perform(
        &self,
        operation: Operation,
    ) -> Result<OperationReply, ControlError> {
        Ok(match operation {
            Operation::CreateWorkspace(new) => {
                OperationReply::Workspace(self.create_workspace(new).await?)
            }
            Operation::ListWorkspaces => OperationReply::Workspaces(self.list_workspaces().await?),
            Operation::ShowWorkspace { workspace } => {
                OperationReply::Details(Box::new(self.show_workspace(&workspace).await?))
            }
            Operation::RenameWorkspace(renamed) => {
                OperationReply::Workspace(self.rename_workspace(renamed).await?)
            }
            Operation::SetPlan { workspace, plan } => {
                OperationReply::Workspace(self.set_plan(&workspace, plan).await?)
            }
            Operation::SetOperator { workspace, is_operator } => {
                OperationReply::Details(Box::new(self.set_operator(&workspace, is_operator).await?))
            }
            Operation::DeleteWorkspace { workspace } => {
                self.delete_workspace(&workspace).await?;
                OperationReply::Deleted
            }
            Operation::Audit(query) => OperationReply::Audited(self.audit(query).await?),
            Operation::KeepResults(keep) => {
                self.set_retention(keep).await?;
                OperationReply::Keeps
            }
            Operation::CreateKey(new) => OperationReply::Created(self.create_key(new).await?),
            Operation::ListKeys { workspace } => {
                OperationReply::Keys(self.list_keys(workspace.as_deref()).await?)
            }
            Operation::RevokeKey { id } => {
                self.revoke_key(id).await?;
                OperationReply::Revoked
            }
            Operation::ListUsers => OperationReply::Users(self.list_users().await?),
            Operation::ResetUser { email, keeps_passkeys } => {
                OperationReply::Password(self.reset_user(&email, keeps_passkeys).await?)
            }
            Operation::Examine => {
                let rows = self.store.doctor().examine().await.map_err(control_error)?;
                OperationReply::Unreadable(rows.into_iter().map(UnreadableRow::from).collect())
            }
            Operation::PutBack => {
                OperationReply::PutBack(self.store.doctor().repair().await.map_err(control_error)?)
            }
            Operation::RemoveRow { table, key } => {
                self.store.doctor().remove(&table, &key).await.map_err(control_error)?;
                OperationReply::Removed
            }
            Operation::BackUp { file } => {
                OperationReply::BackedUp(self.store.back_up(&file).await.map_err(control_error)?)
            }
            Operation::Probe(operation) => {
                OperationReply::Probe(self.perform_on_probes(operation).await?)
            }
        })
    }

    async fn issue(
        &self,
        workspace: WorkspaceId,
        name: String,
        scope: Option<Scope>,
        expires_in: Option<Duration>,
    ) -> Result<CreatedKey, ControlError> {
        let issued =
            self.issue_key(IssuedKey { workspace, name, scope, expires_in }, self.change());
        issued.await.map_err(control_error)
    }

    /// Issues a key for the author of this change, and returns its only copy.
    pub(crate) async fn issue_key(
        &self,
        new: IssuedKey,
        change: AuditContext,
    ) -> Result<CreatedKey, StoreError> {
        let IssuedKey { workspace, name, scope, expires_in } = new;
        let id = self.ctx.new_id();
        let text = key::compose(id, &self.ctx.secret_bytes());
        let stored = ApiKey {
            id,
            workspace,
            name,
            scope,
            created_at: change.at,
            expires_at: expires_in.map(|time| change.at + time),
            last_used_at: None,
            revoked_at: None,
        };
        let hash = KeyHash::new(text.expose());
        self.store.keys().create(stored, hash, change).await?;
        Ok(CreatedKey { id, key: text })
    }

    pub(super) fn server_url(&self) -> Option<String> {
        self.server_url.clone()
    }

    pub(crate) const fn ctx(&self) -> &Context {
        &self.ctx
    }

    pub(super) fn change(&self) -> AuditContext {
        AuditContext::new(Actor::CommandLine, self.ctx.now())
    }
}

impl From<Workspace> for WorkspaceRow {
    fn from(workspace: Workspace) -> Self {
        let Workspace { id, slug, name, plan, created_at, deletes_at } = workspace;
        Self { id, slug, name, plan, created_at, deletes_at }
    }
}

impl From<DamagedRow> for UnreadableRow {
    fn from(row: DamagedRow) -> Self {
        let DamagedRow { table, key, why, columns } = row;
        Self { table, key, why, columns }
    }
}

impl From<Violations> for ControlError {
    fn from(violations: Violations) -> Self {
        Self::Refused(violations.to_string())
    }
}

fn row(key: ApiKey, workspace: &str) -> KeyRow {
    KeyRow {
        id: key.id,
        workspace: workspace.to_owned(),
        name: key.name,
        scope: key.scope,
        created_at: key.created_at,
        expires_at: key.expires_at,
        last_used_at: key.last_used_at,
        revoked_at: key.revoked_at,
    }
}

/// Converts an error of the store, for `map_err`.
#[expect(clippy::needless_pass_by_value, reason = "it is passed to `map_err`")]
pub(super) fn control_error(error: StoreError) -> ControlError {
    ControlError::Refused(error.to_string())
}
