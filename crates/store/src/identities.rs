//! Accounts of users at a provider of single sign-on. Signing in with one finds or creates the user
//! and gives the roles that the provider's groups map to, in one transaction.

use rules::{Role, UserId, WorkspaceId};

use crate::audit::{self, NewAuditEntry};
use crate::db::query;
use crate::members;
use crate::roles::{self, MemberRole};
use crate::row::id;
use crate::users::{self, NewUser, record_for_workspaces};
use crate::writer::Session;
use crate::{AuditContext, Store, StoreError};

/// A person as the provider describes them.
#[derive(Clone, Debug)]
pub struct ProviderAccount {
    pub issuer: String,
    /// Identifier of the person at the issuer.
    pub subject: String,
    /// Account to create if no user has the identity or the address. The address is verified.
    pub user: NewUser,
    /// Role in each workspace for which the provider decides.
    pub roles: Vec<MappedRole>,
}

/// Role that the provider's groups map to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MappedRole {
    /// Slug of the workspace.
    pub workspace: String,
    /// `None` if no group of the person maps to a role.
    pub role: Option<Role>,
}

/// User who signed in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SignedInAccount {
    pub user: UserId,
    /// Whether the account is new.
    pub is_new: bool,
}

/// Handle of the identities.
#[derive(Clone, Copy, Debug)]
pub struct Identities<'s> {
    store: &'s Store,
}

impl Store {
    /// Returns the handle of the identities.
    pub const fn identities(&self) -> Identities<'_> {
        Identities { store: self }
    }
}

impl Identities<'_> {
    /// Finds or creates the user of an account, and applies its roles. A user with the same address
    /// is linked. If that user never proved to read the mailbox, somebody else may have created the
    /// account, so its password, devices and sessions are removed. `change` gets the user as its
    /// actor.
    ///
    /// # Errors
    /// `NotSetUp` for a new user of a server without one: the set-up link creates the owner.
    pub async fn sign_in(
        &self,
        account: ProviderAccount,
        change: impl Fn(UserId) -> AuditContext + Send + 'static,
    ) -> Result<SignedInAccount, StoreError> {
        self.store
            .write(move |session| {
                Box::pin(async move {
                    let found = find(session, &account).await?;
                    let is_new = matches!(found, Found::Nobody);
                    let user = match found {
                        Found::Nobody => account.user.id,
                        Found::ByIdentity(user) | Found::ByAddress(user) => user,
                    };
                    let change = change(user);
                    match found {
                        Found::Nobody => {
                            users::require_any(session).await?;
                            users::insert(session, &account.user, change).await?;
                        }
                        Found::ByAddress(user) => {
                            users::remove_unproven_credentials(session, user, change).await?;
                        }
                        Found::ByIdentity(_) => {}
                    }
                    if !matches!(found, Found::ByIdentity(_)) {
                        users::mark_verified(session, user, change.at).await?;
                    }
                    for mapped in &account.roles {
                        apply_role(session, user, mapped, change).await?;
                    }
                    link(session, &account, user, change).await?;
                    Ok(SignedInAccount { user, is_new })
                })
            })
            .await
    }
}

/// User of an account.
#[derive(Clone, Copy, Debug)]
enum Found {
    ByIdentity(UserId),
    ByAddress(UserId),
    Nobody,
}

/// Finds the user with this identity, or else with this address.
async fn find(session: &mut Session, account: &ProviderAccount) -> Result<Found, StoreError> {
    let row = query("SELECT user_id AS id FROM identities WHERE issuer = $1 AND subject = $2")
        .bind(&account.issuer)
        .bind(&account.subject)
        .fetch_optional(&mut session.db)
        .await?;
    if let Some(row) = row {
        return Ok(Found::ByIdentity(id(&row, "id", UserId::parse)?));
    }
    let row = query("SELECT id FROM users WHERE email_digest = $1")
        .bind(users::hash_email(&session.vault, &account.user.email))
        .fetch_optional(&mut session.db)
        .await?;
    row.map_or(Ok(Found::Nobody), |row| Ok(Found::ByAddress(id(&row, "id", UserId::parse)?)))
}

async fn link(
    session: &mut Session,
    account: &ProviderAccount,
    user: UserId,
    change: AuditContext,
) -> Result<(), StoreError> {
    let linked = query(
        "INSERT INTO identities (issuer, subject, user_id, created_at) VALUES ($1, $2, $3, $4) \
         ON CONFLICT (issuer, subject) DO NOTHING",
    )
    .bind(&account.issuer)
    .bind(&account.subject)
    .bind(user.to_string())
    .bind(change.at.as_millis())
    .execute(&mut session.db)
    .await?;
    if linked == 0 {
        return Ok(());
    }
    record_for_workspaces(session, user, ("user.identity_link", &account.issuer), change).await
}

/// Gives the user the role that the provider decided. The only owner of a workspace stays its owner.
async fn apply_role(
    session: &mut Session,
    user: UserId,
    mapped: &MappedRole,
    change: AuditContext,
) -> Result<(), StoreError> {
    let row = query("SELECT id FROM workspaces WHERE slug = $1 AND deleted_at IS NULL")
        .bind(&mapped.workspace)
        .fetch_optional(&mut session.db)
        .await?;
    let Some(row) = row else {
        tracing::warn!("single sign-on maps to workspace `{}`, not found", mapped.workspace);
        return Ok(());
    };
    let workspace = id(&row, "id", WorkspaceId::parse)?;
    let current = role(session, workspace, user).await?;
    let (action, detail) = match (current, mapped.role) {
        (None, None) => return Ok(()),
        (Some(old), Some(new)) if old == new => return Ok(()),
        (None, Some(role)) => {
            let member = MemberRole { workspace, user, role };
            return roles::add(session, &member, change).await;
        }
        (Some(Role::Owner), _) if !has_other_owner(session, workspace, user).await? => {
            return Ok(());
        }
        (Some(old), Some(new)) => {
            if !new.includes(old) {
                members::revoke_invitations(session, workspace, user).await?;
            }
            query("UPDATE members SET role = $3 WHERE workspace_id = $1 AND user_id = $2")
                .bind(workspace.to_string())
                .bind(user.to_string())
                .bind(new.as_str())
                .execute(&mut session.db)
                .await?;
            ("member.update", new.as_str())
        }
        (Some(_), None) => {
            members::revoke_invitations(session, workspace, user).await?;
            query("DELETE FROM members WHERE workspace_id = $1 AND user_id = $2")
                .bind(workspace.to_string())
                .bind(user.to_string())
                .execute(&mut session.db)
                .await?;
            ("member.delete", "")
        }
    };
    let resource_id = user.to_string();
    let note = NewAuditEntry { workspace, change, action, resource_id, detail };
    audit::record(&mut session.db, note).await
}

async fn role(
    session: &mut Session,
    workspace: WorkspaceId,
    user: UserId,
) -> Result<Option<Role>, StoreError> {
    let row = query("SELECT role FROM members WHERE workspace_id = $1 AND user_id = $2")
        .bind(workspace.to_string())
        .bind(user.to_string())
        .fetch_optional(&mut session.db)
        .await?;
    row.map(|row| id(&row, "role", Role::parse)).transpose()
}

async fn has_other_owner(
    session: &mut Session,
    workspace: WorkspaceId,
    user: UserId,
) -> Result<bool, StoreError> {
    let other = query(
        "SELECT 1 FROM members WHERE workspace_id = $1 AND user_id <> $2 AND role = 'owner' LIMIT 1",
    )
    .bind(workspace.to_string())
    .bind(user.to_string())
    .fetch_optional(&mut session.db)
    .await?;
    Ok(other.is_some())
}
