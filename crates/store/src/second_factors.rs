//! Second factors of users: the secret of an authenticator app, sealed, and the recovery codes that
//! replace it once each. The dashboard computes codes; this decides whether one was used before.

use rules::{Secret, Timestamp, UserId};
use sha2::{Digest as _, Sha256};

use crate::db::query;
use crate::row::{instant, to_count};
use crate::users::record_for_workspaces;
use crate::vault::{EncryptionContext, Vault};
use crate::writer::Session;
use crate::{AuditContext, Store, StoreError};

/// Code that replaces the app once, without spaces and hyphens.
pub type RecoveryCode = Secret<String>;

/// Second factor of a user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SecondFactor {
    pub secret: Secret<Vec<u8>>,
    pub created_at: Timestamp,
    /// Number of recovery codes that were not used.
    pub recovery_codes: u32,
}

/// A new second factor.
#[derive(Clone, Debug)]
pub struct NewSecondFactor {
    pub user: UserId,
    pub secret: Secret<Vec<u8>>,
    /// Step of the code that confirmed it (RFC 6238).
    pub step: i64,
    pub recovery_codes: Vec<RecoveryCode>,
}

/// Handle of the second factors.
#[derive(Clone, Copy, Debug)]
pub struct SecondFactors<'s> {
    store: &'s Store,
}

impl Store {
    /// Returns the handle of the second factors.
    pub const fn second_factors(&self) -> SecondFactors<'_> {
        SecondFactors { store: self }
    }
}

impl SecondFactors<'_> {
    /// Returns the second factor of a user.
    pub async fn find(&self, user: UserId) -> Result<Option<SecondFactor>, StoreError> {
        let user = user.to_string();
        let row = query(
            "SELECT f.secret_sealed, f.created_at, \
             (SELECT COUNT(*) FROM recovery_codes c WHERE c.user_id = f.user_id) AS codes \
             FROM second_factors f WHERE f.user_id = $1",
        )
        .bind(user.clone())
        .fetch_optional(&mut self.store.read().await?)
        .await?;
        let Some(row) = row else { return Ok(None) };
        let sealed: &[u8] = row.try_get("secret_sealed")?;
        Ok(Some(SecondFactor {
            secret: Secret::new(self.store.vault().open(context(&user), sealed)?),
            created_at: instant(&row, "created_at")?,
            recovery_codes: to_count(Some(row.try_get("codes")?)),
        }))
    }

    /// Stores a second factor. Fails with [`StoreError::AlreadyExists`] if the user has one.
    pub async fn enable(
        &self,
        new: NewSecondFactor,
        change: AuditContext,
    ) -> Result<(), StoreError> {
        self.store
            .write(move |session| {
                session.declare_no_change();
                Box::pin(async move {
                    let user = new.user.to_string();
                    let sealed = session.vault.seal(context(&user), new.secret.expose())?;
                    let taken =
                        StoreError::AlreadyExists { what: "second factor", name: user.clone() };
                    query(
                        "INSERT INTO second_factors (user_id, secret_sealed, last_step, created_at) \
                         VALUES ($1, $2, $3, $4)",
                    )
                    .bind(user)
                    .bind(sealed)
                    .bind(new.step)
                    .bind(change.at.as_millis())
                    .execute(&mut session.db)
                    .await
                    .map_err(|error| StoreError::from_insert(error, taken, None))?;
                    replace_codes(session, new.user, &new.recovery_codes).await?;
                    let action = "user.second_factor_enable";
                    record_for_workspaces(session, new.user, (action, ""), change).await
                })
            })
            .await
    }

    /// Accepts the code of a step, unless a code of it or of a later one was accepted before. Returns
    /// whether it was accepted. A refused one is in the audit log.
    pub async fn use_step(
        &self,
        user: UserId,
        step: i64,
        change: AuditContext,
    ) -> Result<bool, StoreError> {
        self.store
            .write(move |session| {
                session.declare_no_change();
                Box::pin(async move {
                    let accepted = query(
                        "UPDATE second_factors SET last_step = $2 \
                         WHERE user_id = $1 AND last_step < $2",
                    )
                    .bind(user.to_string())
                    .bind(step)
                    .execute(&mut session.db)
                    .await?;
                    if accepted == 0 {
                        let refused = ("user.second_factor_replay", "");
                        record_for_workspaces(session, user, refused, change).await?;
                    }
                    Ok(accepted > 0)
                })
            })
            .await
    }

    /// Deletes a recovery code and returns whether it existed.
    pub async fn use_recovery_code(
        &self,
        user: UserId,
        code: RecoveryCode,
        change: AuditContext,
    ) -> Result<bool, StoreError> {
        self.store
            .write(move |session| {
                session.declare_no_change();
                Box::pin(async move {
                    let deleted =
                        query("DELETE FROM recovery_codes WHERE user_id = $1 AND hash = $2")
                            .bind(user.to_string())
                            .bind(hash(&session.vault, user, &code))
                            .execute(&mut session.db)
                            .await?;
                    if deleted > 0 {
                        let used = ("user.recovery_code", "");
                        record_for_workspaces(session, user, used, change).await?;
                    }
                    Ok(deleted > 0)
                })
            })
            .await
    }

    /// Replaces all recovery codes of a user.
    pub async fn replace_recovery_codes(
        &self,
        user: UserId,
        codes: Vec<RecoveryCode>,
        change: AuditContext,
    ) -> Result<(), StoreError> {
        self.store
            .write(move |session| {
                session.declare_no_change();
                Box::pin(async move {
                    replace_codes(session, user, &codes).await?;
                    let replaced = ("user.recovery_codes", "");
                    record_for_workspaces(session, user, replaced, change).await
                })
            })
            .await
    }

    /// Removes the second factor of a user, with its recovery codes. Removing none has no effect.
    pub async fn remove(&self, user: UserId, change: AuditContext) -> Result<(), StoreError> {
        self.store
            .write(move |session| {
                session.declare_no_change();
                Box::pin(async move {
                    let deleted = query("DELETE FROM second_factors WHERE user_id = $1")
                        .bind(user.to_string())
                        .execute(&mut session.db)
                        .await?;
                    if deleted == 0 {
                        return Ok(());
                    }
                    replace_codes(session, user, &[]).await?;
                    let action = "user.second_factor_remove";
                    record_for_workspaces(session, user, (action, ""), change).await
                })
            })
            .await
    }
}

async fn replace_codes(
    session: &mut Session,
    user: UserId,
    codes: &[RecoveryCode],
) -> Result<(), StoreError> {
    query("DELETE FROM recovery_codes WHERE user_id = $1")
        .bind(user.to_string())
        .execute(&mut session.db)
        .await?;
    for code in codes {
        query("INSERT INTO recovery_codes (user_id, hash) VALUES ($1, $2)")
            .bind(user.to_string())
            .bind(hash(&session.vault, user, code))
            .execute(&mut session.db)
            .await?;
    }
    Ok(())
}

/// Hashes a recovery code with a key, so that the database alone does not suffice to guess it.
fn hash(vault: &Vault, user: UserId, code: &RecoveryCode) -> Vec<u8> {
    Sha256::new()
        .chain_update(b"aloft recovery code")
        .chain_update(vault.sessions().expose())
        .chain_update(user.to_string())
        .chain_update(code.expose())
        .finalize()
        .to_vec()
}

const fn context(row: &str) -> EncryptionContext<'_> {
    EncryptionContext { column: "second_factors.secret_sealed", row }
}
