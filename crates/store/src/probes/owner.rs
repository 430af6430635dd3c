//! Owner of a probe: the server's operator, or the workspace whose private regions it serves. The owner
//! decides who may change the probe, and whose audit log records it.

use rules::{ProbeId, Role, WorkspaceId};

use crate::audit::{self, NewAuditEntry};
use crate::db::{Row, query};
use crate::row::optional;
use crate::writer::Session;
use crate::{OperatorContext, StoreError, operators, roles};

/// Owner of a probe.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ProbeOwner {
    /// The server's operator: the probe serves regions of all workspaces.
    Operator,
    /// A workspace: the probe serves private regions, only for this workspace's monitors.
    Workspace(WorkspaceId),
}

impl ProbeOwner {
    /// Returns the column of the probe: NULL for the operator.
    pub(super) fn column(self) -> Option<String> {
        match self {
            Self::Operator => None,
            Self::Workspace(workspace) => Some(workspace.to_string()),
        }
    }

    pub(super) fn read(row: &Row) -> Result<Self, StoreError> {
        let workspace = optional(row, "workspace_id", WorkspaceId::parse)?;
        Ok(workspace.map_or(Self::Operator, Self::Workspace))
    }

    /// Reads the owner of a stored probe.
    pub(super) async fn of(session: &mut Session, probe: ProbeId) -> Result<Self, StoreError> {
        let row = query("SELECT workspace_id FROM probes WHERE id = $1")
            .bind(probe.to_string())
            .fetch_optional(&mut session.db)
            .await?;
        Self::read(&row.ok_or_else(|| StoreError::not_found("probe", &probe))?)
    }

    /// Rejects a change by an author who is not the owner. Probes of other workspaces do not exist for
    /// the author.
    pub(super) async fn require(
        self,
        session: &mut Session,
        probe: ProbeId,
        author: OperatorContext,
    ) -> Result<(), StoreError> {
        match (self, author.workspace) {
            (Self::Operator, _) => operators::require(session, author).await,
            (Self::Workspace(_), None) => Ok(()),
            (Self::Workspace(owner), Some(workspace)) if owner == workspace => {
                roles::require_of_person(session, owner, author.change, Role::Admin).await
            }
            (Self::Workspace(_), Some(_)) => Err(StoreError::not_found("probe", &probe)),
        }
    }

    /// Records a change in the audit logs of the owner.
    pub(super) async fn record(
        self,
        session: &mut Session,
        author: OperatorContext,
        entry: (&'static str, String, &str),
    ) -> Result<(), StoreError> {
        let Self::Workspace(workspace) = self else {
            return operators::record(session, author, entry).await;
        };
        let (action, resource_id, detail) = entry;
        session.declare_change(workspace);
        let change = author.change;
        let note = NewAuditEntry { workspace, change, action, resource_id, detail };
        audit::record(&mut session.db, note).await
    }
}
