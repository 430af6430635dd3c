//! Workspaces, which own all other resources (spec §1: a name, a slug and a plan).

use domain::history::UptimeTarget;
use rules::{PageId, Role, Timestamp, UserId, Violation, WorkspaceId, limits};
use serde_json::{Value, json};
use sqlx::AssertSqlSafe;

use crate::audit::{self, NewAuditEntry};
use crate::db::{Connection, Query, Row, query};
use crate::roles::{self, MemberRole};
use crate::row::{id, instant, optional_instant, optional_narrow};
use crate::writer::Session;
use crate::{AuditContext, FieldChanges, ResourceVersions, Store, StoreError, signing_secrets};

/// Plan of a workspace without a plan.
pub const FREE_PLAN: &str = "free";

/// Workspace with its plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Workspace {
    pub id: WorkspaceId,
    /// Unique name in URLs.
    pub slug: String,
    /// Display name.
    pub name: String,
    pub plan: String,
    pub created_at: Timestamp,
    /// Time of its deletion, if it is scheduled. Until then, the workspace changes nothing: its
    /// monitors rest and its pages are not found.
    pub deletes_at: Option<Timestamp>,
}

/// Change of a workspace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Edit {
    /// New slug and name. A person needs the role of an admin.
    Rename {
        /// Unique name in URLs.
        slug: String,
        /// Display name.
        name: String,
    },
    /// New target for uptime, with which reports compare figures. A person needs the role of an admin.
    UptimeTarget(UptimeTarget),
    /// New plan.
    Plan(String),
    /// Whether the workspace is one of the operator's, which manage what all workspaces share.
    Operator(bool),
    /// Deletion at this time, until which it can be cancelled. Needs an owner.
    ScheduleDeletion(Timestamp),
    /// No deletion. Needs an owner. Has no effect if none is scheduled.
    CancelDeletion,
    /// Deletion. The row stays for the audit log, and its slug becomes free.
    Delete,
}

/// Handle of the workspaces.
#[derive(Clone, Copy, Debug)]
pub struct Workspaces<'s> {
    pub(crate) store: &'s Store,
}

impl Store {
    /// Returns the handle of the workspaces.
    pub const fn workspaces(&self) -> Workspaces<'_> {
        Workspaces { store: self }
    }
}

impl Workspaces<'_> {
    /// Stores a new workspace, created at the time of the change, with its first signing secret.
    pub async fn create(
        &self,
        workspace: Workspace,
        change: AuditContext,
    ) -> Result<(), StoreError> {
        // Before the commit: a crash between the two must not leave workspaces without the marker.
        self.store.marker().set()?;
        self.store
            .write(move |session| {
                Box::pin(async move { insert(session, &workspace, change).await })
            })
            .await
    }

    /// Stores a new workspace, whose owner is `owner`. Fails with [`StoreError::Refused`] if that person
    /// owns as many as one may own.
    pub async fn create_owned(
        &self,
        workspace: Workspace,
        owner: UserId,
        change: AuditContext,
    ) -> Result<(), StoreError> {
        self.store.marker().set()?;
        self.store
            .write(move |session| {
                Box::pin(async move {
                    require_room(session, owner).await?;
                    insert(session, &workspace, change).await?;
                    let (workspace, role) = (workspace.id, Role::Owner);
                    let owner = MemberRole { workspace, user: owner, role };
                    roles::add(session, &owner, change).await
                })
            })
            .await
    }

    /// Changes a workspace. A deleted workspace is not found.
    pub async fn edit(
        &self,
        id: WorkspaceId,
        edit: Edit,
        change: AuditContext,
    ) -> Result<(), StoreError> {
        let opens_pages = matches!(edit, Edit::ScheduleDeletion(_) | Edit::CancelDeletion);
        let pages = if opens_pages { self.pages(id).await? } else { Vec::new() };
        let is_deletion = matches!(edit, Edit::Delete);
        let edited = self
            .store
            .write_in(id, move |session| {
                Box::pin(async move { apply(session, id, edit, change).await })
            })
            .await;
        if edited.as_ref().err().is_none_or(StoreError::may_be_stored) && opens_pages {
            for page in pages {
                self.store.record_access_change(page);
            }
            self.store.record_page_change();
        }
        if is_deletion {
            self.store.record_probe_change();
        }
        edited
    }

    async fn pages(&self, workspace: WorkspaceId) -> Result<Vec<PageId>, StoreError> {
        let rows = query("SELECT id FROM pages WHERE workspace_id = $1")
            .bind(workspace.to_string())
            .fetch_all(&mut self.store.read().await?)
            .await?;
        let read = |row| id(row, "id", PageId::parse);
        self.store.quarantine().readable_rows("pages", &rows, read)
    }

    /// Returns the workspace with this identifier.
    pub async fn get(&self, id: WorkspaceId) -> Result<Workspace, StoreError> {
        query("SELECT id, slug, name, plan, created_at, deletes_at FROM workspaces WHERE id = $1")
            .bind(id.to_string())
            .fetch_optional(&mut self.store.read().await?)
            .await?
            .map(|row| read(&row))
            .transpose()?
            .ok_or_else(|| StoreError::not_found("workspace", &id))
    }

    /// Returns the target for uptime of a workspace: the default if it is unreadable.
    pub async fn uptime_target(&self, id: WorkspaceId) -> Result<UptimeTarget, StoreError> {
        let row = query("SELECT uptime_target FROM workspaces WHERE id = $1")
            .bind(id.to_string())
            .fetch_optional(&mut self.store.read().await?)
            .await?
            .ok_or_else(|| StoreError::not_found("workspace", &id))?;
        let target = stored_target(&row);
        let target = self.store.quarantine().readable("workspaces", || id.to_string(), target)?;
        Ok(target.unwrap_or(UptimeTarget::DEFAULT))
    }

    /// Returns the workspace with this slug.
    pub async fn by_slug(&self, slug: &str) -> Result<Workspace, StoreError> {
        query(
            "SELECT id, slug, name, plan, created_at, deletes_at FROM workspaces \
             WHERE slug = $1 AND deleted_at IS NULL",
        )
        .bind(slug)
        .fetch_optional(&mut self.store.read().await?)
        .await?
        .map(|row| read(&row))
        .transpose()?
        .ok_or_else(|| StoreError::not_found("workspace", slug))
    }

    /// Returns the workspaces whose deletion is due at `now`.
    pub async fn due_for_deletion(&self, now: Timestamp) -> Result<Vec<Workspace>, StoreError> {
        let rows = query(
            "SELECT id, slug, name, plan, created_at, deletes_at FROM workspaces \
             WHERE deleted_at IS NULL AND deletes_at <= $1 ORDER BY id",
        )
        .bind(now.as_millis())
        .fetch_all(&mut self.store.read().await?)
        .await?;
        self.store.quarantine().readable_rows("workspaces", &rows, read)
    }

    /// Returns every workspace, newest first: for the operator.
    pub async fn list(&self) -> Result<Vec<Workspace>, StoreError> {
        let rows = query(
            "SELECT id, slug, name, plan, created_at, deletes_at FROM workspaces WHERE deleted_at IS NULL \
             ORDER BY id DESC",
        )
        .fetch_all(&mut self.store.read().await?)
        .await?;
        self.store.quarantine().readable_rows("workspaces", &rows, read)
    }
}

/// Rejects another workspace of a person who owns as many as one may own.
async fn require_room(session: &mut Session, owner: UserId) -> Result<(), StoreError> {
    let owned: Option<i64> = query(
        "SELECT COUNT(*) FROM members m JOIN workspaces w ON w.id = m.workspace_id \
         WHERE m.user_id = $1 AND m.role = $2 AND w.deleted_at IS NULL",
    )
    .bind(owner.to_string())
    .bind(Role::Owner.as_str())
    .scalar(&mut session.db)
    .await?;
    let most = limits::OWNED_WORKSPACES_MAX;
    if owned.unwrap_or_default() < i64::from(most) {
        return Ok(());
    }
    let allowed = format!("cannot be another one: a person owns at most {most} workspaces");
    Err(StoreError::Refused(Violation::without_value("name", allowed)))
}

/// Inserts a workspace with its first signing secret. The first workspace is the operator's.
pub(crate) async fn insert(
    session: &mut Session,
    workspace: &Workspace,
    change: AuditContext,
) -> Result<(), StoreError> {
    query(
        "INSERT INTO workspaces (id, slug, name, plan, created_at, is_operator) VALUES \
         ($1, $2, $3, $4, $5, CASE WHEN EXISTS (SELECT 1 FROM workspaces) THEN 0 ELSE 1 END)",
    )
    .bind(workspace.id.to_string())
    .bind(&workspace.slug)
    .bind(&workspace.name)
    .bind(&workspace.plan)
    .bind(workspace.created_at.as_millis())
    .execute(&mut session.db)
    .await
    .map_err(|error| {
        let name = workspace.slug.clone();
        let taken = StoreError::AlreadyExists { what: "workspace", name };
        StoreError::from_insert(error, taken, None)
    })?;
    let (id, made_at) = (workspace.id, workspace.created_at);
    signing_secrets::create_first(&mut session.db, &session.vault, id, made_at).await?;
    let note = NewAuditEntry {
        workspace: workspace.id,
        change,
        action: "workspace.create",
        resource_id: workspace.id.to_string(),
        detail: &workspace.slug,
    };
    audit::record(&mut session.db, note).await
}

async fn apply(
    session: &mut Session,
    id: WorkspaceId,
    edit: Edit,
    change: AuditContext,
) -> Result<(), StoreError> {
    match edit {
        Edit::ScheduleDeletion(_) | Edit::CancelDeletion => {
            roles::require(session, id, change, Role::Owner).await?;
        }
        Edit::Rename { .. }
        | Edit::UptimeTarget(_)
        | Edit::Plan(_)
        | Edit::Operator(_)
        | Edit::Delete => {
            roles::require_of_person(session, id, change, Role::Admin).await?;
        }
    }
    let before = edited_fields(session, id).await?;
    let is_deletion = matches!(edit, Edit::Delete);
    let EditStatement { statement, action, detail } = edit.statement(id, change);
    let changed = statement.execute(&mut session.db).await.map_err(|error| {
        let name = detail.clone();
        StoreError::from_insert(error, StoreError::AlreadyExists { what: "workspace", name }, None)
    })?;
    if changed == 0 {
        return Err(StoreError::not_found("workspace", &id));
    }
    if is_deletion {
        // One may have been created since the others were deleted.
        for statement in [
            "DELETE FROM probes WHERE workspace_id = $1",
            "DELETE FROM configured_resources WHERE workspace_id = $1",
        ] {
            query(statement).bind(id.to_string()).execute(&mut session.db).await?;
        }
    }
    let (resource_id, detail) = (id.to_string(), detail.as_str());
    let about = (id, &*id.to_string());
    let note = NewAuditEntry { workspace: id, change, action, resource_id, detail };
    audit::record(&mut session.db, note).await?;
    // A deleted workspace has no fields any more.
    let Some((before, after)) = before.zip(edited_fields(session, id).await?) else {
        return Ok(());
    };
    let versions = [&before, &after];
    let versions = ResourceVersions { complete: versions, redacted: versions };
    audit::attach_changes(session, about, &FieldChanges::between(&versions)).await
}

fn stored_target(row: &Row) -> Result<UptimeTarget, StoreError> {
    let stored: Option<u32> = optional_narrow(row, "uptime_target")?;
    Ok(stored.and_then(UptimeTarget::from_millionths).unwrap_or(UptimeTarget::DEFAULT))
}

/// Returns the fields of a workspace that edits change, for the audit log. `None` if it is deleted.
async fn edited_fields(
    session: &mut Session,
    id: WorkspaceId,
) -> Result<Option<Value>, StoreError> {
    let row = query(
        "SELECT slug, name, plan, uptime_target FROM workspaces \
         WHERE id = $1 AND deleted_at IS NULL",
    )
    .bind(id.to_string())
    .fetch_optional(&mut session.db)
    .await?;
    let Some(row) = row else { return Ok(None) };
    let (slug, name): (String, String) = (row.try_get("slug")?, row.try_get("name")?);
    let plan: String = row.try_get("plan")?;
    let target = stored_target(&row);
    let target = session.quarantine.readable("workspaces", || id.to_string(), target)?;
    let target = target.unwrap_or(UptimeTarget::DEFAULT).to_string();
    let fields = json!({ "slug": slug, "name": name, "plan": plan, "uptimeTarget": target });
    Ok(Some(fields))
}

/// Statement of an edit, with its entry in the audit log.
struct EditStatement {
    statement: Query,
    action: &'static str,
    detail: String,
}

impl Edit {
    fn statement(&self, id: WorkspaceId, change: AuditContext) -> EditStatement {
        let update = |set: &str| {
            let statement =
                format!("UPDATE workspaces SET {set} WHERE id = $1 AND deleted_at IS NULL");
            query(AssertSqlSafe(statement)).bind(id.to_string())
        };
        let (statement, action, detail) = match self {
            Self::Rename { slug, name } => (
                update("slug = $2, name = $3").bind(slug).bind(name),
                "workspace.rename",
                slug.clone(),
            ),
            Self::UptimeTarget(target) => (
                update("uptime_target = $2").bind(i64::from(target.millionths())),
                "workspace.uptime_target",
                target.to_string(),
            ),
            Self::Plan(plan) => (update("plan = $2").bind(plan), "workspace.plan", plan.clone()),
            Self::Operator(is_operator) => (
                update("is_operator = $2").bind(i64::from(*is_operator)),
                "workspace.operator",
                if *is_operator { "granted" } else { "revoked" }.to_owned(),
            ),
            Self::ScheduleDeletion(due) => (
                update("deletes_at = $2").bind(due.as_millis()),
                "workspace.schedule_deletion",
                String::new(),
            ),
            Self::CancelDeletion => {
                (update("deletes_at = NULL"), "workspace.cancel_deletion", String::new())
            }
            Self::Delete => (
                update("slug = id, deleted_at = $2, deletes_at = NULL").bind(change.at.as_millis()),
                "workspace.delete",
                String::new(),
            ),
        };
        EditStatement { statement, action, detail }
    }
}

/// Returns the number of workspaces in the database.
pub(crate) async fn count(db: &mut Connection) -> Result<u64, StoreError> {
    let count: Option<i64> = query("SELECT COUNT(*) FROM workspaces").scalar(db).await?;
    Ok(count.unwrap_or_default().unsigned_abs())
}

/// Reads a row that begins with these six columns.
pub(crate) fn read(row: &Row) -> Result<Workspace, StoreError> {
    Ok(Workspace {
        id: id(row, "id", WorkspaceId::parse)?,
        slug: row.try_get("slug")?,
        name: row.try_get("name")?,
        plan: row.try_get("plan")?,
        created_at: instant(row, "created_at")?,
        deletes_at: optional_instant(row, "deletes_at")?,
    })
}
