//! Roles of users in workspaces. The transaction of a change decides whether its actor may make it.
//! `members`, `users`, `workspaces`, `keys` and `invitations` call it.

use rules::{Role, UserId, WorkspaceId};

use crate::audit::{self, NewAuditEntry};
use crate::db::{Connection, query};
use crate::row::id;
use crate::writer::Session;
use crate::{Actor, AuditContext, StoreError};

/// Role of a user in a workspace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemberRole {
    pub workspace: WorkspaceId,
    pub user: UserId,
    pub role: Role,
}

/// Adds a member, in the transaction of the caller, who decided that the user may have the role.
pub(crate) async fn add(
    session: &mut Session,
    new: &MemberRole,
    change: AuditContext,
) -> Result<(), StoreError> {
    query("INSERT INTO members (workspace_id, user_id, role, created_at) VALUES ($1, $2, $3, $4)")
        .bind(new.workspace.to_string())
        .bind(new.user.to_string())
        .bind(new.role.as_str())
        .bind(change.at.as_millis())
        .execute(&mut session.db)
        .await
        .map_err(|error| {
            let name = new.user.to_string();
            let taken = StoreError::AlreadyExists { what: "member", name };
            StoreError::from_insert(error, taken, Some(new.workspace))
        })?;
    record(session, new, change, ("member.create", new.role.as_str())).await
}

/// Rejects a change whose actor has a lower role than `needed`. Keys have no role. The operator and
/// the server itself may do everything.
pub(crate) async fn require(
    session: &mut Session,
    workspace: WorkspaceId,
    change: AuditContext,
    needed: Role,
) -> Result<(), StoreError> {
    let user = match change.actor {
        Actor::CommandLine | Actor::Server => return Ok(()),
        Actor::Key(_) => return Err(StoreError::RoleRequired { role: needed }),
        Actor::User(user) => user,
    };
    match find(&mut session.db, workspace, user).await? {
        Some(role) if role.includes(needed) => Ok(()),
        Some(_) | None => Err(StoreError::RoleRequired { role: needed }),
    }
}

/// Works like [`require`] for people. A key with the scope `write` may make the change too.
pub(crate) async fn require_of_person(
    session: &mut Session,
    workspace: WorkspaceId,
    change: AuditContext,
    needed: Role,
) -> Result<(), StoreError> {
    match change.actor {
        Actor::Key(_) => Ok(()),
        Actor::User(_) | Actor::CommandLine | Actor::Server => {
            require(session, workspace, change, needed).await
        }
    }
}

/// Returns the role of a user in a workspace that is not deleted.
pub(crate) async fn find(
    db: &mut Connection,
    workspace: WorkspaceId,
    user: UserId,
) -> Result<Option<Role>, StoreError> {
    let row = query(
        "SELECT m.role FROM members m JOIN workspaces w ON w.id = m.workspace_id \
         WHERE m.workspace_id = $1 AND m.user_id = $2 AND w.deleted_at IS NULL",
    )
    .bind(workspace.to_string())
    .bind(user.to_string())
    .fetch_optional(db)
    .await?;
    row.map(|row| id(&row, "role", Role::parse)).transpose()
}

/// Records the change of a role in the audit log.
pub(crate) async fn record(
    session: &mut Session,
    member: &MemberRole,
    change: AuditContext,
    (action, detail): (&'static str, &str),
) -> Result<(), StoreError> {
    let (workspace, resource_id) = (member.workspace, member.user.to_string());
    let note = NewAuditEntry { workspace, change, action, resource_id, detail };
    audit::record(&mut session.db, note).await
}
