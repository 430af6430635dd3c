//! Invitations to workspaces, by a link, for one address or for anybody who has it. The store holds
//! only the SHA-256 of a link's token. An accepted or revoked invitation is deleted.

use rules::{InvitationId, Role, Timestamp, UserId, Violation, WorkspaceId, limits};
use sha2::{Digest as _, Sha256};

use crate::audit::{self, NewAuditEntry};
use crate::db::{Row, query};
use crate::list::{Listed, Page};
use crate::roles::{self, MemberRole};
use crate::row::{id, instant};
use crate::users::{self, NewUser};
use crate::vault::{EncryptionContext, Vault};
use crate::workspaces::{self, Workspace};
use crate::writer::Session;
use crate::{AuditContext, Store, StoreError};

/// SHA-256 of an invitation's token.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct InvitationHash([u8; 32]);

/// A new invitation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewInvitation {
    pub id: InvitationId,
    pub workspace: WorkspaceId,
    /// Address of the only user who may accept. `None` for anybody with the link.
    pub email: Option<String>,
    pub role: Role,
    pub expires_at: Timestamp,
}

/// Open invitation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Invitation {
    pub id: InvitationId,
    pub workspace: WorkspaceId,
    /// Address of the only user who may accept. `None` for anybody with the link.
    pub email: Option<String>,
    pub role: Role,
    /// Author, as the audit log names actors.
    pub invited_by: String,
    /// Name of that user.
    pub invited_by_name: Option<String>,
    pub created_at: Timestamp,
    pub expires_at: Timestamp,
}

/// Handle of the invitations.
#[derive(Clone, Copy, Debug)]
pub struct Invitations<'s> {
    pub(crate) store: &'s Store,
}

impl Store {
    /// Returns the handle of the invitations.
    pub const fn invitations(&self) -> Invitations<'_> {
        Invitations { store: self }
    }
}

/// Selects the columns that [`read`] reads, after other columns. The last argument begins with the
/// joins of the invitations `i`.
macro_rules! select {
    ($before:literal, $after:literal) => {
        concat!(
            "SELECT ",
            $before,
            "i.id AS invitation_id, i.workspace_id, i.email_sealed, i.role, i.invited_by, ",
            "u.name AS invited_by_name, i.created_at AS invited_at, i.expires_at ",
            "FROM invitations i LEFT JOIN users u ON u.id = i.invited_by ",
            $after
        )
    };
}

impl InvitationHash {
    /// Computes the hash of a token.
    pub fn new(token: &str) -> Self {
        Self(Sha256::digest(token.as_bytes()).into())
    }
}

impl std::fmt::Debug for InvitationHash {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("InvitationHash")
    }
}

impl Invitations<'_> {
    /// Stores a new invitation. An earlier one for the same address is deleted. Only an owner may
    /// invite owners; for other roles an admin suffices.
    ///
    /// # Errors
    /// `RoleRequired`; `AlreadyExists` for the address of a member; `Refused` if many are open.
    pub async fn create(
        &self,
        new: NewInvitation,
        hash: InvitationHash,
        change: AuditContext,
    ) -> Result<(), StoreError> {
        self.store
            .write_in(new.workspace, move |session| {
                Box::pin(async move {
                    let needed = new.role.needed_to_grant();
                    roles::require(session, new.workspace, change, needed).await?;
                    replace_earlier(session, &new).await?;
                    require_room(session, new.workspace, change.at).await?;
                    insert(session, &new, hash, change).await?;
                    let target = (new.workspace, new.id);
                    record(session, target, change, ("invitation.create", new.role.as_str())).await
                })
            })
            .await
    }

    /// Returns a part of the invitations that are open at `now`, newest first.
    pub async fn list(
        &self,
        workspace: WorkspaceId,
        page: Page<InvitationId>,
        now: Timestamp,
    ) -> Result<Listed<Invitation>, StoreError> {
        let mut db = self.store.read().await?;
        let total: Option<i64> =
            query("SELECT COUNT(*) FROM invitations WHERE workspace_id = $1 AND expires_at > $2")
                .bind(workspace.to_string())
                .bind(now.as_millis())
                .scalar(&mut db)
                .await?;
        let rows = query(select!(
            "",
            "WHERE i.workspace_id = $1 AND i.expires_at > $2 AND i.id < $3 \
             ORDER BY i.id DESC LIMIT $4 OFFSET $5"
        ))
        .bind(workspace.to_string())
        .bind(now.as_millis())
        .bind(page.before())
        .bind(i64::from(page.limit))
        .bind(i64::from(page.offset))
        .fetch_all(&mut db)
        .await?;
        drop(db);
        let vault = self.store.vault();
        let table = (self.store.quarantine(), "invitations");
        Listed::from_rows(table, &rows, total, |row| read(vault, row))
    }

    /// Returns the invitation with this token that is open at `now`, and its workspace. An
    /// invitation to a workspace that is about to be deleted is not open.
    pub async fn find(
        &self,
        hash: InvitationHash,
        now: Timestamp,
    ) -> Result<Option<(Invitation, Workspace)>, StoreError> {
        let row = query(select!(
            "w.id, w.slug, w.name, w.plan, w.created_at, w.deletes_at, ",
            "JOIN workspaces w ON w.id = i.workspace_id WHERE i.hash = $1 AND i.expires_at > $2 \
             AND w.deleted_at IS NULL AND w.deletes_at IS NULL"
        ))
        .bind(&hash.0[..])
        .bind(now.as_millis())
        .fetch_optional(&mut self.store.read().await?)
        .await?;
        let vault = self.store.vault();
        row.map(|row| Ok((read(vault, &row)?, workspaces::read(&row)?))).transpose()
    }

    /// Deletes an invitation, so that its link no longer works. Needs an admin.
    ///
    /// # Errors
    /// `NotFound`, `RoleRequired`.
    pub async fn revoke(
        &self,
        workspace: WorkspaceId,
        id: InvitationId,
        change: AuditContext,
    ) -> Result<(), StoreError> {
        self.store
            .write_in(workspace, move |session| {
                Box::pin(async move {
                    roles::require(session, workspace, change, Role::Admin).await?;
                    let deleted =
                        query("DELETE FROM invitations WHERE workspace_id = $1 AND id = $2")
                            .bind(workspace.to_string())
                            .bind(id.to_string())
                            .execute(&mut session.db)
                            .await?;
                    if deleted == 0 {
                        return Err(StoreError::not_found("invitation", &id));
                    }
                    record(session, (workspace, id), change, ("invitation.revoke", "")).await
                })
            })
            .await
    }

    /// Makes an existing user a member with the role of the invitation, and deletes the invitation.
    /// Returns the workspace.
    ///
    /// # Errors
    /// `NotFound` if the invitation is not open; `InvitationForOther`; `AlreadyExists` if the user is
    /// a member.
    pub async fn accept(
        &self,
        hash: InvitationHash,
        user: UserId,
        change: AuditContext,
    ) -> Result<WorkspaceId, StoreError> {
        self.store
            .write(move |session| {
                Box::pin(async move {
                    let digest: Option<Vec<u8>> =
                        query("SELECT email_digest FROM users WHERE id = $1")
                            .bind(user.to_string())
                            .scalar(&mut session.db)
                            .await?;
                    let digest = digest.ok_or_else(|| StoreError::not_found("user", &user))?;
                    redeem(session, hash, (user, &digest), change).await
                })
            })
            .await
    }

    /// Creates an account and makes it a member as [`Self::accept`] does, in one transaction.
    ///
    /// # Errors
    /// As [`Self::accept`]; `AlreadyExists` if an account has the address.
    pub async fn accept_with_new_user(
        &self,
        hash: InvitationHash,
        user: NewUser,
        change: AuditContext,
    ) -> Result<WorkspaceId, StoreError> {
        self.store
            .write(move |session| {
                Box::pin(async move {
                    users::insert(session, &user, change).await?;
                    let digest = users::hash_email(&session.vault, &user.email);
                    redeem(session, hash, (user.id, &digest), change).await
                })
            })
            .await
    }

    /// Deletes the invitations that expired before `now`.
    pub async fn delete_expired(&self, now: Timestamp) -> Result<(), StoreError> {
        self.store
            .write(move |session| {
                session.declare_no_change();
                Box::pin(async move {
                    query("DELETE FROM invitations WHERE expires_at <= $1")
                        .bind(now.as_millis())
                        .execute(&mut session.db)
                        .await?;
                    Ok(())
                })
            })
            .await
    }
}

async fn redeem(
    session: &mut Session,
    hash: InvitationHash,
    (user, digest): (UserId, &[u8]),
    change: AuditContext,
) -> Result<WorkspaceId, StoreError> {
    let row = query(
        "SELECT i.id, i.workspace_id, i.email_digest, i.role FROM invitations i \
         JOIN workspaces w ON w.id = i.workspace_id WHERE i.hash = $1 AND i.expires_at > $2 \
         AND w.deleted_at IS NULL AND w.deletes_at IS NULL",
    )
    .bind(&hash.0[..])
    .bind(change.at.as_millis())
    .fetch_optional(&mut session.db)
    .await?
    .ok_or_else(|| StoreError::not_found("invitation", "of this link"))?;
    let invited: Option<Vec<u8>> = row.try_get("email_digest")?;
    if invited.is_some_and(|invited| invited != digest) {
        return Err(StoreError::InvitationForOther);
    }
    let workspace = id(&row, "workspace_id", WorkspaceId::parse)?;
    let invitation = id(&row, "id", InvitationId::parse)?;
    let role = id(&row, "role", Role::parse)?;
    roles::add(session, &MemberRole { workspace, user, role }, change).await?;
    query("DELETE FROM invitations WHERE id = $1")
        .bind(invitation.to_string())
        .execute(&mut session.db)
        .await?;
    let detail = user.to_string();
    record(session, (workspace, invitation), change, ("invitation.accept", &detail)).await?;
    Ok(workspace)
}

/// Rejects the address of a member, and deletes an earlier invitation for the address.
async fn replace_earlier(session: &mut Session, new: &NewInvitation) -> Result<(), StoreError> {
    let Some(email) = &new.email else { return Ok(()) };
    let digest = users::hash_email(&session.vault, email);
    let member = query(
        "SELECT 1 FROM members m JOIN users u ON u.id = m.user_id \
         WHERE m.workspace_id = $1 AND u.email_digest = $2",
    )
    .bind(new.workspace.to_string())
    .bind(digest.clone())
    .fetch_optional(&mut session.db)
    .await?;
    if member.is_some() {
        return Err(StoreError::AlreadyExists { what: "member", name: email.clone() });
    }
    query("DELETE FROM invitations WHERE workspace_id = $1 AND email_digest = $2")
        .bind(new.workspace.to_string())
        .bind(digest)
        .execute(&mut session.db)
        .await?;
    Ok(())
}

/// Rejects another invitation of a workspace with as many open ones as it may have.
async fn require_room(
    session: &mut Session,
    workspace: WorkspaceId,
    now: Timestamp,
) -> Result<(), StoreError> {
    let open: Option<i64> =
        query("SELECT COUNT(*) FROM invitations WHERE workspace_id = $1 AND expires_at > $2")
            .bind(workspace.to_string())
            .bind(now.as_millis())
            .scalar(&mut session.db)
            .await?;
    let most = limits::OPEN_INVITATIONS_MAX;
    if open.unwrap_or_default() < i64::from(most) {
        return Ok(());
    }
    let allowed = format!("cannot be invited: {most} invitations are open; revoke one first");
    Err(StoreError::Refused(Violation::without_value("email", allowed)))
}

async fn insert(
    session: &mut Session,
    new: &NewInvitation,
    hash: InvitationHash,
    change: AuditContext,
) -> Result<(), StoreError> {
    let row = new.id.to_string();
    let email = new.email.as_ref();
    let sealed = email.map(|email| session.vault.seal(email_context(&row), email)).transpose()?;
    let digest = email.map(|email| users::hash_email(&session.vault, email));
    query(
        "INSERT INTO invitations (id, workspace_id, hash, email_digest, email_sealed, role, \
         invited_by, created_at, expires_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)",
    )
    .bind(&row)
    .bind(new.workspace.to_string())
    .bind(&hash.0[..])
    .bind(digest)
    .bind(sealed)
    .bind(new.role.as_str())
    .bind(change.actor.to_string())
    .bind(change.at.as_millis())
    .bind(new.expires_at.as_millis())
    .execute(&mut session.db)
    .await
    .map_err(|error| {
        let taken = StoreError::AlreadyExists { what: "invitation", name: row.clone() };
        StoreError::from_insert(error, taken, Some(new.workspace))
    })?;
    Ok(())
}

async fn record(
    session: &mut Session,
    (workspace, id): (WorkspaceId, InvitationId),
    change: AuditContext,
    (action, detail): (&'static str, &str),
) -> Result<(), StoreError> {
    let note = NewAuditEntry { workspace, change, action, resource_id: id.to_string(), detail };
    audit::record(&mut session.db, note).await
}

fn read(vault: &Vault, row: &Row) -> Result<Invitation, StoreError> {
    let invitation = id(row, "invitation_id", InvitationId::parse)?;
    let sealed: Option<&[u8]> = row.try_get("email_sealed")?;
    let row_name = invitation.to_string();
    let email = sealed.map(|sealed| vault.open(email_context(&row_name), sealed)).transpose()?;
    Ok(Invitation {
        id: invitation,
        workspace: id(row, "workspace_id", WorkspaceId::parse)?,
        email,
        role: id(row, "role", Role::parse)?,
        invited_by: row.try_get("invited_by")?,
        invited_by_name: row.try_get("invited_by_name")?,
        created_at: instant(row, "invited_at")?,
        expires_at: instant(row, "expires_at")?,
    })
}

const fn email_context(row: &str) -> EncryptionContext<'_> {
    EncryptionContext { column: "invitations.email_sealed", row }
}
