//! Members of workspaces: users with a role. Every change is decided in its transaction, because
//! the role of its actor and the number of owners may have changed since a check.

use rules::{Role, Timestamp, UserId, WorkspaceId};

use crate::db::{Row, query};
use crate::list::{Listed, Page};
use crate::quarantine::row_key;
use crate::roles::{self, MemberRole};
use crate::row::{id, instant, optional_instant, to_count};
use crate::users::{self, User};
use crate::writer::Session;
use crate::{Actor, AuditContext, Store, StoreError};

/// Member of a workspace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    pub user: User,
    pub role: Role,
    /// Start of the membership.
    pub since: Timestamp,
    /// Time of the last sign-in, to any workspace.
    pub last_sign_in_at: Option<Timestamp>,
}

/// Handle of the members.
#[derive(Clone, Copy, Debug)]
pub struct Members<'s> {
    pub(crate) store: &'s Store,
}

impl Store {
    /// Returns the handle of the members.
    pub const fn members(&self) -> Members<'_> {
        Members { store: self }
    }
}

/// Selects the columns that [`read`] reads. The argument extends the `WHERE` clause.
macro_rules! select {
    ($which:literal) => {
        concat!(
            "SELECT u.id AS user_id, u.email_sealed, u.name AS user_name, ",
            "u.created_at AS user_created_at, u.last_sign_in_at, m.role, m.created_at AS since, ",
            "m.workspace_id || '/' || m.user_id AS key ",
            "FROM members m JOIN users u ON u.id = m.user_id WHERE m.workspace_id = $1 ",
            $which
        )
    };
}

impl Members<'_> {
    /// Returns a part of the workspace's members, the newest accounts first.
    pub async fn list(
        &self,
        workspace: WorkspaceId,
        page: Page<UserId>,
    ) -> Result<Listed<Member>, StoreError> {
        let mut db = self.store.read().await?;
        let total: Option<i64> = query("SELECT COUNT(*) FROM members WHERE workspace_id = $1")
            .bind(workspace.to_string())
            .scalar(&mut db)
            .await?;
        let rows = query(select!("AND m.user_id < $2 ORDER BY m.user_id DESC LIMIT $3 OFFSET $4"))
            .bind(workspace.to_string())
            .bind(page.before())
            .bind(i64::from(page.limit))
            .bind(i64::from(page.offset))
            .fetch_all(&mut db)
            .await?;
        drop(db);
        let (mut found, mut omitted) = (Vec::with_capacity(rows.len()), Vec::new());
        for row in &rows {
            match readable(self.store, row)? {
                Some(member) => found.push(member),
                None => omitted.push(row_key(row)),
            }
        }
        Ok(Listed { rows: found, omitted, total: to_count(total) })
    }

    /// Returns the owners of the workspace.
    pub async fn owners(&self, workspace: WorkspaceId) -> Result<Vec<User>, StoreError> {
        let rows = query(select!("AND m.role = $2"))
            .bind(workspace.to_string())
            .bind(Role::Owner.as_str())
            .fetch_all(&mut self.store.read().await?)
            .await?;
        let user = |row| Ok(readable(self.store, row)?.map(|member| member.user));
        rows.iter().filter_map(|row| user(row).transpose()).collect()
    }

    /// Returns a member of the workspace.
    pub async fn get(&self, workspace: WorkspaceId, user: UserId) -> Result<Member, StoreError> {
        let row = query(select!("AND m.user_id = $2"))
            .bind(workspace.to_string())
            .bind(user.to_string())
            .fetch_optional(&mut self.store.read().await?)
            .await?
            .ok_or_else(|| StoreError::not_found("member", &user))?;
        read(users::read(self.store.vault(), &row)?, &row)
    }

    /// Returns the role of a user in a workspace, or `None` for others than members and in a deleted
    /// workspace.
    pub async fn role(
        &self,
        workspace: WorkspaceId,
        user: UserId,
    ) -> Result<Option<Role>, StoreError> {
        roles::find(&mut self.store.read().await?, workspace, user).await
    }

    /// Changes the role of a member, at once. Only an owner may make an owner or change the role of
    /// one; for other roles an admin suffices. A member with a lower role has no open invitations.
    ///
    /// # Errors
    /// `NotFound`, `RoleRequired`, `LastOwner`.
    pub async fn change_role(
        &self,
        new: MemberRole,
        change: AuditContext,
    ) -> Result<(), StoreError> {
        let MemberRole { workspace, user, role } = new;
        self.store
            .write_in(workspace, move |session| {
                Box::pin(async move {
                    let old = require_member(session, workspace, user).await?;
                    for role in [old, role] {
                        roles::require(session, workspace, change, role.needed_to_grant()).await?;
                    }
                    if old == role {
                        return Ok(());
                    }
                    if old == Role::Owner {
                        require_other_owner(session, workspace, user).await?;
                    }
                    query("UPDATE members SET role = $3 WHERE workspace_id = $1 AND user_id = $2")
                        .bind(workspace.to_string())
                        .bind(user.to_string())
                        .bind(role.as_str())
                        .execute(&mut session.db)
                        .await?;
                    if !role.includes(old) {
                        revoke_invitations(session, workspace, user).await?;
                    }
                    let detail = format!("{old} to {role}");
                    roles::record(session, &new, change, ("member.update", &detail)).await
                })
            })
            .await
    }

    /// Removes a member, at once, with the invitations that the member sent. Everybody may leave a
    /// workspace; removing others needs an admin, and removing an owner an owner.
    ///
    /// # Errors
    /// `NotFound`, `RoleRequired`, `LastOwner`.
    pub async fn remove(
        &self,
        workspace: WorkspaceId,
        user: UserId,
        change: AuditContext,
    ) -> Result<(), StoreError> {
        self.store
            .write_in(workspace, move |session| {
                Box::pin(async move {
                    let role = require_member(session, workspace, user).await?;
                    if change.actor != Actor::User(user) {
                        roles::require(session, workspace, change, role.needed_to_grant()).await?;
                    }
                    if role == Role::Owner {
                        require_other_owner(session, workspace, user).await?;
                    }
                    query("DELETE FROM members WHERE workspace_id = $1 AND user_id = $2")
                        .bind(workspace.to_string())
                        .bind(user.to_string())
                        .execute(&mut session.db)
                        .await?;
                    revoke_invitations(session, workspace, user).await?;
                    let old = MemberRole { workspace, user, role };
                    roles::record(session, &old, change, ("member.delete", role.as_str())).await
                })
            })
            .await
    }
}

async fn require_member(
    session: &mut Session,
    workspace: WorkspaceId,
    user: UserId,
) -> Result<Role, StoreError> {
    let role = roles::find(&mut session.db, workspace, user).await?;
    role.ok_or_else(|| StoreError::not_found("member", &user))
}

/// Rejects the change of an owner without whom the workspace would have none.
async fn require_other_owner(
    session: &mut Session,
    workspace: WorkspaceId,
    owner: UserId,
) -> Result<(), StoreError> {
    let other = query(
        "SELECT 1 FROM members WHERE workspace_id = $1 AND user_id <> $2 AND role = $3 LIMIT 1",
    )
    .bind(workspace.to_string())
    .bind(owner.to_string())
    .bind(Role::Owner.as_str())
    .fetch_optional(&mut session.db)
    .await?;
    other.map(|_| ()).ok_or(StoreError::LastOwner)
}

/// Deletes the invitations that a user sent. The user could otherwise come back with one.
pub(crate) async fn revoke_invitations(
    session: &mut Session,
    workspace: WorkspaceId,
    user: UserId,
) -> Result<(), StoreError> {
    query("DELETE FROM invitations WHERE workspace_id = $1 AND invited_by = $2")
        .bind(workspace.to_string())
        .bind(user.to_string())
        .execute(&mut session.db)
        .await?;
    Ok(())
}

/// Returns the member, or `None` if the row of the user or of the membership is unreadable.
fn readable(store: &Store, row: &Row) -> Result<Option<Member>, StoreError> {
    let Some(user) = users::readable(store, row)? else { return Ok(None) };
    let key = || row.try_get("key").unwrap_or_else(|_| row_key(row));
    store.quarantine().readable("members", key, read(user, row))
}

fn read(user: User, row: &Row) -> Result<Member, StoreError> {
    Ok(Member {
        user,
        role: id(row, "role", Role::parse)?,
        since: instant(row, "since")?,
        last_sign_in_at: optional_instant(row, "last_sign_in_at")?,
    })
}
