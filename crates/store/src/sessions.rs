//! Sessions of users. The store holds only the SHA-256 of a session's secret, which is in a cookie.

use rules::{SessionId, Timestamp, UserId};
use sha2::{Digest as _, Sha256};

use crate::db::{Row, query};
use crate::row::{id, instant};
use crate::subject_watches::Subject;
use crate::users::{self, User};
use crate::{AuditContext, Store, StoreError};

/// SHA-256 of a secret that only a browser has: that of a session, or of a link for a new password.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct SessionHash([u8; 32]);

impl SessionHash {
    /// Returns the first bits, which tell sessions apart in memory.
    pub fn bits(self) -> u64 {
        self.0.first_chunk().map_or(0, |first| u64::from_be_bytes(*first))
    }
}

/// Session of a user in one browser.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UserSession {
    pub id: SessionId,
    pub user: UserId,
    pub created_at: Timestamp,
    pub last_used_at: Timestamp,
    pub expires_at: Timestamp,
    /// Address of the client that signed in.
    pub address: String,
    /// Browser that signed in, as it calls itself.
    pub user_agent: String,
}

/// Handle of the sessions.
#[derive(Clone, Copy, Debug)]
pub struct Sessions<'s> {
    pub(crate) store: &'s Store,
}

impl Store {
    /// Returns the handle of the users' sessions.
    pub const fn sessions(&self) -> Sessions<'_> {
        Sessions { store: self }
    }
}

const COLUMNS: &str = "s.id, s.user_id, s.created_at, s.last_used_at, s.expires_at, s.address, \
    s.user_agent";

impl SessionHash {
    /// Computes the hash of a secret.
    pub fn new(secret: &[u8]) -> Self {
        Self(Sha256::digest(secret).into())
    }

    /// Returns the bytes of the hash.
    pub(crate) const fn bytes(&self) -> &[u8] {
        &self.0
    }
}

impl std::fmt::Debug for SessionHash {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("SessionHash")
    }
}

impl Sessions<'_> {
    /// Stores a new session, which is the last sign-in of its user.
    pub async fn create(&self, new: UserSession, hash: SessionHash) -> Result<(), StoreError> {
        self.store
            .write(move |session| {
                session.declare_no_change();
                Box::pin(async move {
                    query(
                        "INSERT INTO sessions (id, hash, user_id, created_at, last_used_at, \
                         expires_at, address, user_agent) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)",
                    )
                    .bind(new.id.to_string())
                    .bind(&hash.0[..])
                    .bind(new.user.to_string())
                    .bind(new.created_at.as_millis())
                    .bind(new.last_used_at.as_millis())
                    .bind(new.expires_at.as_millis())
                    .bind(&new.address)
                    .bind(&new.user_agent)
                    .execute(&mut session.db)
                    .await?;
                    query("UPDATE users SET last_sign_in_at = $2 WHERE id = $1")
                        .bind(new.user.to_string())
                        .bind(new.created_at.as_millis())
                        .execute(&mut session.db)
                        .await?;
                    Ok(())
                })
            })
            .await
    }

    /// Returns the session with this hash that is valid at `now`, and its user.
    pub async fn find(
        &self,
        hash: SessionHash,
        now: Timestamp,
    ) -> Result<Option<(UserSession, User)>, StoreError> {
        let statement = format!(
            "SELECT {COLUMNS}, u.email_sealed, u.name AS user_name, u.created_at AS user_created_at \
             FROM sessions s JOIN users u ON u.id = s.user_id \
             WHERE s.hash = $1 AND s.expires_at > $2"
        );
        let row = query(sqlx::AssertSqlSafe(statement))
            .bind(&hash.0[..])
            .bind(now.as_millis())
            .fetch_optional(&mut self.store.read().await?)
            .await?;
        row.map(|row| Ok((read(&row)?, users::read(self.store.vault(), &row)?))).transpose()
    }

    /// Returns up to `max` sessions that are valid at `now`: those that were used last, latest last.
    pub async fn recent(&self, now: Timestamp, max: usize) -> Result<Vec<SessionHash>, StoreError> {
        let rows = query(
            "SELECT s.id, s.hash FROM sessions s WHERE s.expires_at > $1 \
             ORDER BY s.last_used_at DESC LIMIT $2",
        )
        .bind(now.as_millis())
        .bind(max as i64)
        .fetch_all(&mut self.store.read().await?)
        .await?;
        let read = |row: &Row| {
            let hash: Vec<u8> = row.try_get("hash")?;
            let hash = hash.try_into().map_err(|_| {
                StoreError::corrupt("session", "its hash has another length".to_owned())
            })?;
            Ok(SessionHash(hash))
        };
        let mut recent = self.store.quarantine().readable_rows("sessions", &rows, read)?;
        recent.reverse();
        Ok(recent)
    }

    /// Returns the sessions of a user that are valid at `now`, newest first.
    pub async fn list(&self, user: UserId, now: Timestamp) -> Result<Vec<UserSession>, StoreError> {
        let statement = format!(
            "SELECT {COLUMNS} FROM sessions s WHERE s.user_id = $1 AND s.expires_at > $2 \
             ORDER BY s.id DESC"
        );
        let rows = query(sqlx::AssertSqlSafe(statement))
            .bind(user.to_string())
            .bind(now.as_millis())
            .fetch_all(&mut self.store.read().await?)
            .await?;
        self.store.quarantine().readable_rows("sessions", &rows, read)
    }

    /// Ends a session of a user. Ending one that has ended has no effect.
    pub async fn end(
        &self,
        user: UserId,
        ended: SessionId,
        change: AuditContext,
    ) -> Result<(), StoreError> {
        let written = self
            .store
            .write(move |session| {
                session.declare_no_change();
                Box::pin(async move {
                    let deleted = query("DELETE FROM sessions WHERE user_id = $1 AND id = $2")
                        .bind(user.to_string())
                        .bind(ended.to_string())
                        .execute(&mut session.db)
                        .await?;
                    if deleted == 0 {
                        return Ok(());
                    }
                    let entry = ("user.session_end", "");
                    users::record_for_workspaces(session, user, entry, change).await
                })
            })
            .await;
        self.store.signal_change([Subject::Sessions(user)]);
        written
    }

    /// Ends all sessions of a user except one.
    pub async fn end_others(
        &self,
        user: UserId,
        kept: SessionId,
        change: AuditContext,
    ) -> Result<(), StoreError> {
        let written = self
            .store
            .write(move |session| {
                session.declare_no_change();
                Box::pin(async move {
                    query("DELETE FROM sessions WHERE user_id = $1 AND id <> $2")
                        .bind(user.to_string())
                        .bind(kept.to_string())
                        .execute(&mut session.db)
                        .await?;
                    let ended = ("user.sessions_end", "");
                    users::record_for_workspaces(session, user, ended, change).await
                })
            })
            .await;
        self.store.signal_change([Subject::Sessions(user)]);
        written
    }

    /// Records the last use of a session.
    pub async fn record_use(&self, used: SessionId, at: Timestamp) -> Result<(), StoreError> {
        self.store
            .write(move |session| {
                session.declare_no_change();
                Box::pin(async move {
                    query("UPDATE sessions SET last_used_at = $2 WHERE id = $1")
                        .bind(used.to_string())
                        .bind(at.as_millis())
                        .execute(&mut session.db)
                        .await?;
                    Ok(())
                })
            })
            .await
    }

    /// Deletes the sessions that expired before `now`.
    pub async fn delete_expired(&self, now: Timestamp) -> Result<(), StoreError> {
        self.store
            .write(move |session| {
                session.declare_no_change();
                Box::pin(async move {
                    query("DELETE FROM sessions WHERE expires_at <= $1")
                        .bind(now.as_millis())
                        .execute(&mut session.db)
                        .await?;
                    Ok(())
                })
            })
            .await
    }
}

fn read(row: &Row) -> Result<UserSession, StoreError> {
    Ok(UserSession {
        id: id(row, "id", SessionId::parse)?,
        user: id(row, "user_id", UserId::parse)?,
        created_at: instant(row, "created_at")?,
        last_used_at: instant(row, "last_used_at")?,
        expires_at: instant(row, "expires_at")?,
        address: row.try_get("address")?,
        user_agent: row.try_get("user_agent")?,
    })
}
