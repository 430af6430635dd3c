//! Workspaces, which own all other resources (spec §1: a name, a slug and a plan).

use rules::{Timestamp, WorkspaceId};

use crate::audit::{self, NewAuditEntry};
use crate::db::{Connection, Row, query};
use crate::row::{id, instant};
use crate::writer::Session;
use crate::{AuditContext, Store, StoreError, signing_secrets};

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
}

/// Change of a workspace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Edit {
    /// New slug and name.
    Rename {
        /// Unique name in URLs.
        slug: String,
        /// Display name.
        name: String,
    },
    /// New plan.
    Plan(String),
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

    /// Changes a workspace. A deleted workspace is not found.
    pub async fn edit(
        &self,
        id: WorkspaceId,
        edit: Edit,
        change: AuditContext,
    ) -> Result<(), StoreError> {
        self.store
            .write_in(id, move |session| {
                Box::pin(async move { apply(session, id, edit, change).await })
            })
            .await
    }

    /// Returns the workspace with this identifier.
    pub async fn get(&self, id: WorkspaceId) -> Result<Workspace, StoreError> {
        query("SELECT id, slug, name, plan, created_at FROM workspaces WHERE id = $1")
            .bind(id.to_string())
            .fetch_optional(&mut self.store.read().await?)
            .await?
            .map(|row| read(&row))
            .transpose()?
            .ok_or_else(|| StoreError::not_found("workspace", &id))
    }

    /// Returns the workspace with this slug.
    pub async fn by_slug(&self, slug: &str) -> Result<Workspace, StoreError> {
        query(
            "SELECT id, slug, name, plan, created_at FROM workspaces \
             WHERE slug = $1 AND deleted_at IS NULL",
        )
        .bind(slug)
        .fetch_optional(&mut self.store.read().await?)
        .await?
        .map(|row| read(&row))
        .transpose()?
        .ok_or_else(|| StoreError::not_found("workspace", slug))
    }

    /// Returns every workspace, newest first: for the operator.
    pub async fn list(&self) -> Result<Vec<Workspace>, StoreError> {
        let rows = query(
            "SELECT id, slug, name, plan, created_at FROM workspaces WHERE deleted_at IS NULL \
             ORDER BY id DESC",
        )
        .fetch_all(&mut self.store.read().await?)
        .await?;
        self.store.quarantine().readable_rows("workspaces", &rows, read)
    }
}

/// Inserts a workspace with its first signing secret.
pub(crate) async fn insert(
    session: &mut Session,
    workspace: &Workspace,
    change: AuditContext,
) -> Result<(), StoreError> {
    query("INSERT INTO workspaces (id, slug, name, plan, created_at) VALUES ($1, $2, $3, $4, $5)")
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
    let (statement, action, detail) = match &edit {
        Edit::Rename { slug, name } => (
            query(
                "UPDATE workspaces SET slug = $2, name = $3 WHERE id = $1 AND deleted_at IS NULL",
            )
            .bind(id.to_string())
            .bind(slug)
            .bind(name),
            "workspace.rename",
            slug.as_str(),
        ),
        Edit::Plan(plan) => (
            query("UPDATE workspaces SET plan = $2 WHERE id = $1 AND deleted_at IS NULL")
                .bind(id.to_string())
                .bind(plan),
            "workspace.plan",
            plan.as_str(),
        ),
        Edit::Delete => (
            query(
                "UPDATE workspaces SET slug = id, deleted_at = $2 \
                 WHERE id = $1 AND deleted_at IS NULL",
            )
            .bind(id.to_string())
            .bind(change.at.as_millis()),
            "workspace.delete",
            "",
        ),
    };
    let changed = statement.execute(&mut session.db).await.map_err(|error| {
        let name = detail.to_owned();
        StoreError::from_insert(error, StoreError::AlreadyExists { what: "workspace", name }, None)
    })?;
    if changed == 0 {
        return Err(StoreError::not_found("workspace", &id));
    }
    let note = NewAuditEntry { workspace: id, change, action, resource_id: id.to_string(), detail };
    audit::record(&mut session.db, note).await
}

/// Returns the number of workspaces in the database.
pub(crate) async fn count(db: &mut Connection) -> Result<u64, StoreError> {
    let count: Option<i64> = query("SELECT COUNT(*) FROM workspaces").scalar(db).await?;
    Ok(count.unwrap_or_default().unsigned_abs())
}

/// Reads a row that begins with these five columns.
pub(crate) fn read(row: &Row) -> Result<Workspace, StoreError> {
    Ok(Workspace {
        id: id(row, "id", WorkspaceId::parse)?,
        slug: row.try_get("slug")?,
        name: row.try_get("name")?,
        plan: row.try_get("plan")?,
        created_at: instant(row, "created_at")?,
    })
}
