//! Passkeys of users. Public key and state are opaque here: the dashboard encodes and verifies them.

use rules::{PasskeyId, Timestamp, UserId};

use crate::db::{Row, query};
use crate::row::{id, instant, optional_instant, to_count};
use crate::users::record_for_workspaces;
use crate::writer::Session;
use crate::{AuditContext, Store, StoreError};

/// Passkey of a user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Passkey {
    pub id: PasskeyId,
    pub user: UserId,
    /// ID that the authenticator chose.
    pub credential_id: Vec<u8>,
    pub public_key: Vec<u8>,
    /// The part that changes with each use, such as the counter of signatures.
    pub state: Vec<u8>,
    /// Name that the person chose.
    pub name: String,
    pub created_at: Timestamp,
    pub last_used_at: Option<Timestamp>,
}

/// A new passkey.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewPasskey {
    pub id: PasskeyId,
    pub user: UserId,
    pub credential_id: Vec<u8>,
    pub public_key: Vec<u8>,
    pub state: Vec<u8>,
    pub name: String,
}

/// Outcome of adding a passkey.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AddedPasskey {
    Stored,
    /// The user has [`Passkeys::MAX`] already.
    LimitReached,
}

/// Handle of the passkeys.
#[derive(Clone, Copy, Debug)]
pub struct Passkeys<'s> {
    store: &'s Store,
}

impl Store {
    /// Returns the handle of the passkeys.
    pub const fn passkeys(&self) -> Passkeys<'_> {
        Passkeys { store: self }
    }
}

impl Passkeys<'_> {
    /// Maximum number of passkeys of a user.
    pub const MAX: u32 = 20;

    /// Returns the passkeys of a user, newest first.
    pub async fn list(&self, user: UserId) -> Result<Vec<Passkey>, StoreError> {
        let rows = query("SELECT * FROM passkeys WHERE user_id = $1 ORDER BY id DESC")
            .bind(user.to_string())
            .fetch_all(&mut self.store.read().await?)
            .await?;
        self.store.quarantine().readable_rows("passkeys", &rows, read)
    }

    /// Returns the passkey with this credential.
    pub async fn find(&self, credential_id: &[u8]) -> Result<Option<Passkey>, StoreError> {
        let row = query("SELECT * FROM passkeys WHERE credential_id = $1")
            .bind(credential_id)
            .fetch_optional(&mut self.store.read().await?)
            .await?;
        row.as_ref().map(read).transpose()
    }

    /// Stores a passkey. Fails with [`StoreError::AlreadyExists`] if somebody has its credential.
    pub async fn add(
        &self,
        new: NewPasskey,
        change: AuditContext,
    ) -> Result<AddedPasskey, StoreError> {
        self.store
            .write(move |session| {
                session.declare_no_change();
                Box::pin(async move {
                    let count = query("SELECT COUNT(*) FROM passkeys WHERE user_id = $1")
                        .bind(new.user.to_string())
                        .scalar(&mut session.db)
                        .await?;
                    if to_count(count) >= Self::MAX {
                        return Ok(AddedPasskey::LimitReached);
                    }
                    let taken = StoreError::AlreadyExists { what: "passkey", name: new.name.clone() };
                    query(
                        "INSERT INTO passkeys (id, user_id, credential_id, public_key, state, name, \
                         created_at) VALUES ($1, $2, $3, $4, $5, $6, $7)",
                    )
                    .bind(new.id.to_string())
                    .bind(new.user.to_string())
                    .bind(&new.credential_id[..])
                    .bind(&new.public_key[..])
                    .bind(&new.state[..])
                    .bind(&new.name)
                    .bind(change.at.as_millis())
                    .execute(&mut session.db)
                    .await
                    .map_err(|error| StoreError::from_insert(error, taken, None))?;
                    let added = ("user.passkey_add", new.name.as_str());
                    record_for_workspaces(session, new.user, added, change).await?;
                    Ok(AddedPasskey::Stored)
                })
            })
            .await
    }

    /// Renames a passkey of a user.
    pub async fn rename(
        &self,
        user: UserId,
        renamed: PasskeyId,
        name: String,
        change: AuditContext,
    ) -> Result<(), StoreError> {
        self.store
            .write(move |session| {
                session.declare_no_change();
                Box::pin(async move {
                    let changed =
                        query("UPDATE passkeys SET name = $3 WHERE user_id = $1 AND id = $2")
                            .bind(user.to_string())
                            .bind(renamed.to_string())
                            .bind(&name)
                            .execute(&mut session.db)
                            .await?;
                    if changed == 0 {
                        return Err(StoreError::not_found("passkey", &renamed));
                    }
                    let entry = ("user.passkey_rename", name.as_str());
                    record_for_workspaces(session, user, entry, change).await
                })
            })
            .await
    }

    /// Removes a passkey of a user. Removing a removed one has no effect.
    pub async fn remove(
        &self,
        user: UserId,
        removed: PasskeyId,
        change: AuditContext,
    ) -> Result<(), StoreError> {
        self.store
            .write(move |session| {
                session.declare_no_change();
                Box::pin(async move { remove_one(session, user, removed, change).await })
            })
            .await
    }

    /// Records a use of a passkey with its new state.
    pub async fn record_use(
        &self,
        used: PasskeyId,
        state: Vec<u8>,
        at: Timestamp,
    ) -> Result<(), StoreError> {
        self.store
            .write(move |session| {
                session.declare_no_change();
                Box::pin(async move {
                    query("UPDATE passkeys SET state = $2, last_used_at = $3 WHERE id = $1")
                        .bind(used.to_string())
                        .bind(&state[..])
                        .bind(at.as_millis())
                        .execute(&mut session.db)
                        .await?;
                    Ok(())
                })
            })
            .await
    }
}

/// Removes a passkey of a user. Removing a removed one has no effect.
pub(crate) async fn remove_one(
    session: &mut Session,
    user: UserId,
    removed: PasskeyId,
    change: AuditContext,
) -> Result<(), StoreError> {
    let name: Option<String> = query("SELECT name FROM passkeys WHERE user_id = $1 AND id = $2")
        .bind(user.to_string())
        .bind(removed.to_string())
        .scalar(&mut session.db)
        .await?;
    let Some(name) = name else { return Ok(()) };
    query("DELETE FROM passkeys WHERE id = $1")
        .bind(removed.to_string())
        .execute(&mut session.db)
        .await?;
    record_for_workspaces(session, user, ("user.passkey_remove", name.as_str()), change).await
}

/// Removes all passkeys of a user and returns their number.
pub(crate) async fn remove_all(
    session: &mut Session,
    user: UserId,
    change: AuditContext,
) -> Result<u32, StoreError> {
    let rows = query("SELECT id FROM passkeys WHERE user_id = $1")
        .bind(user.to_string())
        .fetch_all(&mut session.db)
        .await?;
    for row in &rows {
        remove_one(session, user, id(row, "id", PasskeyId::parse)?, change).await?;
    }
    Ok(u32::try_from(rows.len()).unwrap_or(u32::MAX))
}

fn read(row: &Row) -> Result<Passkey, StoreError> {
    Ok(Passkey {
        id: id(row, "id", PasskeyId::parse)?,
        user: id(row, "user_id", UserId::parse)?,
        credential_id: row.try_get("credential_id")?,
        public_key: row.try_get("public_key")?,
        state: row.try_get("state")?,
        name: row.try_get("name")?,
        created_at: instant(row, "created_at")?,
        last_used_at: optional_instant(row, "last_used_at")?,
    })
}
