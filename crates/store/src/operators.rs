//! Workspaces of the server's operator: they manage what all workspaces share, such as probes. The
//! first workspace is one, and the command line names others. `probes` calls it.

use rules::{Role, WorkspaceId};

use crate::audit::{self, NewAuditEntry};
use crate::db::{Connection, query};
use crate::row::id;
use crate::workspaces::Workspaces;
use crate::writer::Session;
use crate::{AuditContext, StoreError, roles};

/// Author and time of a change of what all workspaces share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OperatorContext {
    pub change: AuditContext,
    /// Workspace of the author. `None` for the command line.
    pub workspace: Option<WorkspaceId>,
}

impl OperatorContext {
    /// Creates the context of a change by the command line or the server itself.
    pub const fn of_server(change: AuditContext) -> Self {
        Self { change, workspace: None }
    }

    /// Creates the context of a change by a key or a person in this workspace.
    pub const fn in_workspace(workspace: WorkspaceId, change: AuditContext) -> Self {
        Self { change, workspace: Some(workspace) }
    }
}

impl Workspaces<'_> {
    /// Returns whether the workspace is one of the operator's.
    pub async fn is_operator(&self, workspace: WorkspaceId) -> Result<bool, StoreError> {
        is_operator(&mut self.store.read().await?, workspace).await
    }
}

/// Rejects a change whose author does not belong to the operator, or is a person below the role of
/// an admin.
pub(crate) async fn require(
    session: &mut Session,
    author: OperatorContext,
) -> Result<(), StoreError> {
    let Some(workspace) = author.workspace else { return Ok(()) };
    if !is_operator(&mut session.db, workspace).await? {
        return Err(StoreError::OperatorRequired);
    }
    roles::require_of_person(session, workspace, author.change, Role::Admin).await
}

/// Records a change in the audit log of each of the operator's workspaces.
pub(crate) async fn record(
    session: &mut Session,
    author: OperatorContext,
    (action, resource_id, detail): (&'static str, String, &str),
) -> Result<(), StoreError> {
    // A workspace that rests before its deletion rejects entries: only its own members learn why.
    let rows = query(
        "SELECT id FROM workspaces WHERE is_operator = 1 AND deleted_at IS NULL \
         AND (deletes_at IS NULL OR id = $1) ORDER BY id",
    )
    .bind(author.workspace.map(|id| id.to_string()).unwrap_or_default())
    .fetch_all(&mut session.db)
    .await?;
    let change = author.change;
    for row in rows {
        let workspace = id(&row, "id", WorkspaceId::parse)?;
        session.declare_change(workspace);
        let resource_id = resource_id.clone();
        let note = NewAuditEntry { workspace, change, action, resource_id, detail };
        audit::record(&mut session.db, note).await?;
    }
    Ok(())
}

async fn is_operator(db: &mut Connection, workspace: WorkspaceId) -> Result<bool, StoreError> {
    let found: Option<i64> =
        query("SELECT is_operator FROM workspaces WHERE id = $1 AND deleted_at IS NULL")
            .bind(workspace.to_string())
            .scalar(db)
            .await?;
    Ok(found == Some(1))
}
