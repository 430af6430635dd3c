//! People who sign in to the dashboard, and their roles in workspaces. The store never sees a
//! password, only its hash. `account` has the changes that people make to their own account.

mod account;
mod verified;

use rules::{Role, Secret, Timestamp, UserId, WorkspaceId};
use sha2::{Digest as _, Sha256};

use crate::audit::{self, NewAuditEntry};
use crate::db::{Row, query};
use crate::roles::{self, MemberRole};
use crate::row::{id, instant};
use crate::vault::{EncryptionContext, Vault};
use crate::workspaces::{self, Workspace};
use crate::writer::Session;
use crate::{AuditContext, Store, StoreError};

pub use self::account::AddressProof;
pub(crate) use self::verified::{mark_verified, remove_unproven_credentials, require_any};

/// A person with an account.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct User {
    pub id: UserId,
    pub email: String,
    /// Display name.
    pub name: String,
    pub created_at: Timestamp,
}

/// A new account.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewUser {
    pub id: UserId,
    pub email: String,
    /// Display name.
    pub name: String,
    /// Hash of the password, in the PHC format. Empty if the account has no password.
    pub password_hash: Secret<String>,
}

/// Role of a user in a workspace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Membership {
    pub workspace: Workspace,
    pub role: Role,
}

/// Handle of the users.
#[derive(Clone, Copy, Debug)]
pub struct Users<'s> {
    pub(crate) store: &'s Store,
}

impl Store {
    /// Returns the handle of the users.
    pub const fn users(&self) -> Users<'_> {
        Users { store: self }
    }
}

const SELECT: &str = "SELECT u.id AS user_id, u.email_sealed, u.name AS user_name, \
    u.created_at AS user_created_at, u.password_hash FROM users u";

impl Users<'_> {
    /// Returns whether any account exists.
    pub async fn exist(&self) -> Result<bool, StoreError> {
        let row = query("SELECT 1 FROM users LIMIT 1");
        Ok(row.fetch_optional(&mut self.store.read().await?).await?.is_some())
    }

    /// Creates the first account, as the owner of every workspace. `first` is created if there is no
    /// workspace. Fails with [`StoreError::AlreadyExists`] if any account exists.
    pub async fn create_first(
        &self,
        user: NewUser,
        first: Workspace,
        change: AuditContext,
    ) -> Result<(), StoreError> {
        // Before the commit: a crash between the two must not leave workspaces without the marker.
        self.store.marker().set()?;
        self.store
            .write(move |session| {
                Box::pin(async move {
                    let count: Option<i64> =
                        query("SELECT COUNT(*) FROM users").scalar(&mut session.db).await?;
                    if count.unwrap_or_default() > 0 {
                        return Err(StoreError::AlreadyExists {
                            what: "first user",
                            name: user.name.clone(),
                        });
                    }
                    let mut owned = workspace_ids(session).await?;
                    if owned.is_empty() {
                        workspaces::insert(session, &first, change).await?;
                        owned.push(first.id);
                    }
                    insert(session, &user, change).await?;
                    for workspace in owned {
                        let owner = MemberRole { workspace, user: user.id, role: Role::Owner };
                        roles::add(session, &owner, change).await?;
                    }
                    Ok(())
                })
            })
            .await
    }

    /// Returns the account with this address and the hash of its password.
    pub async fn find_for_sign_in(
        &self,
        email: &str,
    ) -> Result<Option<(User, Secret<String>)>, StoreError> {
        let vault = self.store.vault();
        let row = query(sqlx::AssertSqlSafe(format!("{SELECT} WHERE u.email_digest = $1")))
            .bind(hash_email(vault, email))
            .fetch_optional(&mut self.store.read().await?)
            .await?;
        row.map(|row| Ok((read(vault, &row)?, Secret::new(row.try_get("password_hash")?))))
            .transpose()
    }

    /// Returns an account and the hash of its password.
    pub async fn get(&self, user: UserId) -> Result<(User, Secret<String>), StoreError> {
        let row = query(sqlx::AssertSqlSafe(format!("{SELECT} WHERE u.id = $1")))
            .bind(user.to_string())
            .fetch_optional(&mut self.store.read().await?)
            .await?
            .ok_or_else(|| StoreError::not_found("user", &user))?;
        Ok((read(self.store.vault(), &row)?, Secret::new(row.try_get("password_hash")?)))
    }

    /// Returns every account, newest first: for the operator.
    pub async fn list(&self) -> Result<Vec<User>, StoreError> {
        let rows = query(sqlx::AssertSqlSafe(format!("{SELECT} ORDER BY u.id DESC")))
            .fetch_all(&mut self.store.read().await?)
            .await?;
        let vault = self.store.vault();
        self.store.quarantine().readable_rows("users", &rows, |row| read(vault, row))
    }

    /// Returns the workspaces of a user with the role in each, by name.
    pub async fn memberships(&self, user: UserId) -> Result<Vec<Membership>, StoreError> {
        let rows = query(
            "SELECT m.workspace_id || '/' || m.user_id AS key, w.id, w.slug, w.name, w.plan, \
             w.created_at, w.deletes_at, m.role FROM members m \
             JOIN workspaces w ON w.id = m.workspace_id \
             WHERE m.user_id = $1 AND w.deleted_at IS NULL ORDER BY w.name, w.id",
        )
        .bind(user.to_string())
        .fetch_all(&mut self.store.read().await?)
        .await?;
        let read = |row: &Row| {
            let role = id(row, "role", Role::parse)?;
            Ok(Membership { workspace: workspaces::read(row)?, role })
        };
        self.store.quarantine().readable_rows("members", &rows, read)
    }

    /// Changes the password of a user and ends all sessions.
    pub async fn set_password(
        &self,
        user: UserId,
        password_hash: Secret<String>,
        change: AuditContext,
    ) -> Result<(), StoreError> {
        self.store
            .write(move |session| {
                Box::pin(async move {
                    replace_password(session, user, &password_hash, ("", change)).await
                })
            })
            .await
    }
}

/// Changes the password of a user and ends all sessions. The audit log gets the detail.
pub(crate) async fn replace_password(
    session: &mut Session,
    user: UserId,
    password_hash: &Secret<String>,
    (detail, change): (&str, AuditContext),
) -> Result<(), StoreError> {
    let changed = query("UPDATE users SET password_hash = $2, updated_at = $3 WHERE id = $1")
        .bind(user.to_string())
        .bind(password_hash.expose())
        .bind(change.at.as_millis())
        .execute(&mut session.db)
        .await?;
    if changed == 0 {
        return Err(StoreError::not_found("user", &user));
    }
    query("DELETE FROM sessions WHERE user_id = $1")
        .bind(user.to_string())
        .execute(&mut session.db)
        .await?;
    use_up_reset_links(session, user, change.at).await?;
    record_for_workspaces(session, user, ("user.password", detail), change).await
}

/// Marks the open links for a new password of a user as used.
pub(crate) async fn use_up_reset_links(
    session: &mut Session,
    user: UserId,
    at: Timestamp,
) -> Result<(), StoreError> {
    query("UPDATE reset_links SET used_at = $2 WHERE user_id = $1 AND used_at IS NULL")
        .bind(user.to_string())
        .bind(at.as_millis())
        .execute(&mut session.db)
        .await?;
    Ok(())
}

/// Inserts an account.
pub(crate) async fn insert(
    session: &mut Session,
    user: &NewUser,
    change: AuditContext,
) -> Result<(), StoreError> {
    let row = user.id.to_string();
    let sealed = session.vault.seal(email_context(&row), &user.email)?;
    let digest = hash_email(&session.vault, &user.email);
    query(
        "INSERT INTO users (id, email_digest, email_sealed, name, password_hash, created_at, \
         updated_at) VALUES ($1, $2, $3, $4, $5, $6, $6)",
    )
    .bind(row)
    .bind(digest)
    .bind(sealed)
    .bind(&user.name)
    .bind(user.password_hash.expose())
    .bind(change.at.as_millis())
    .execute(&mut session.db)
    .await
    .map_err(|error| {
        let taken = StoreError::AlreadyExists { what: "user", name: user.name.clone() };
        StoreError::from_insert(error, taken, None)
    })?;
    Ok(())
}

/// Records an action of a user with its detail in the audit log of each of the user's workspaces.
pub(crate) async fn record_for_workspaces(
    session: &mut Session,
    user: UserId,
    (action, detail): (&'static str, &str),
    change: AuditContext,
) -> Result<(), StoreError> {
    let rows = query("SELECT workspace_id FROM members WHERE user_id = $1")
        .bind(user.to_string())
        .fetch_all(&mut session.db)
        .await?;
    for row in rows {
        let workspace = id(&row, "workspace_id", WorkspaceId::parse)?;
        let resource_id = user.to_string();
        let note = NewAuditEntry { workspace, change, action, resource_id, detail };
        audit::record(&mut session.db, note).await?;
    }
    Ok(())
}

/// Returns all readable workspaces, oldest first.
async fn workspace_ids(session: &mut Session) -> Result<Vec<WorkspaceId>, StoreError> {
    let rows = query("SELECT id FROM workspaces WHERE deleted_at IS NULL ORDER BY id");
    let rows = rows.fetch_all(&mut session.db).await?;
    let read = |row| id(row, "id", WorkspaceId::parse);
    session.quarantine.readable_rows("workspaces", &rows, read)
}

/// Reads the columns of [`SELECT`].
pub(crate) fn read(vault: &Vault, row: &Row) -> Result<User, StoreError> {
    let user = id(row, "user_id", UserId::parse)?;
    Ok(User {
        id: user,
        email: vault.open(email_context(&user.to_string()), row.try_get("email_sealed")?)?,
        name: row.try_get("user_name")?,
        created_at: instant(row, "user_created_at")?,
    })
}

/// Reads the columns of [`SELECT`] beside those of another table. Returns `None` if the user's own row is
/// unreadable, and records it.
pub(crate) fn readable(store: &Store, row: &Row) -> Result<Option<User>, StoreError> {
    let key = || row.try_get("user_id").unwrap_or_else(|_| "?".to_owned());
    store.quarantine().readable("users", key, read(store.vault(), row))
}

/// Hashes an address without regard to case, with a key.
pub(crate) fn hash_email(vault: &Vault, email: &str) -> Vec<u8> {
    Sha256::new()
        .chain_update(b"aloft user")
        .chain_update(vault.sessions().expose())
        .chain_update(email.to_lowercase())
        .finalize()
        .to_vec()
}

const fn email_context(row: &str) -> EncryptionContext<'_> {
    EncryptionContext { column: "users.email_sealed", row }
}
