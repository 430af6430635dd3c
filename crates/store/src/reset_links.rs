//! New passwords of people who cannot sign in: with a link, or by the operator. The store holds only the
//! SHA-256 of a link's token.

use std::time::Duration;

use rules::{PasskeyId, Secret, Timestamp, UserId};

use crate::db::{Connection, query};
use crate::row::{id, instant, optional_instant};
use crate::sessions::SessionHash;
use crate::subject_watches::Subject;
use crate::users::{Users, mark_verified, record_for_workspaces, replace_password};
use crate::{AuditContext, Store, StoreError, passkeys};

/// Time for which a used or expired link is remembered.
const REMEMBERED: Duration = Duration::from_hours(24);

/// A new link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResetLink {
    /// Hash of the token.
    pub hash: SessionHash,
    pub user: UserId,
    pub expires_at: Timestamp,
}

/// New password of a link, and the passkeys to remove with it.
#[derive(Clone, Debug)]
pub struct ResetChoice {
    pub password_hash: Secret<String>,
    /// Passkeys to remove. Those of other users stay.
    pub removed_passkeys: Vec<PasskeyId>,
}

/// State of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResetLinkState {
    Valid(UserId),
    Used(UserId),
    Expired(UserId),
    /// No such link was created, or it was long ago.
    Unknown,
}

/// Handle of the links.
#[derive(Clone, Copy, Debug)]
pub struct ResetLinks<'s> {
    store: &'s Store,
}

impl Store {
    /// Returns the handle of the links for new passwords.
    pub const fn reset_links(&self) -> ResetLinks<'_> {
        ResetLinks { store: self }
    }
}

impl ResetLinks<'_> {
    /// Stores a link, and deletes old ones.
    pub async fn create(&self, new: ResetLink, change: AuditContext) -> Result<(), StoreError> {
        self.store
            .write(move |session| {
                session.declare_no_change();
                Box::pin(async move {
                    query("DELETE FROM reset_links WHERE expires_at < $1")
                        .bind((change.at - REMEMBERED).as_millis())
                        .execute(&mut session.db)
                        .await?;
                    query(
                        "INSERT INTO reset_links (hash, user_id, created_at, expires_at) \
                         VALUES ($1, $2, $3, $4)",
                    )
                    .bind(new.hash.bytes())
                    .bind(new.user.to_string())
                    .bind(change.at.as_millis())
                    .bind(new.expires_at.as_millis())
                    .execute(&mut session.db)
                    .await?;
                    let sent = ("user.reset_link", "");
                    record_for_workspaces(session, new.user, sent, change).await
                })
            })
            .await
    }

    /// Returns the state of a link.
    pub async fn find(
        &self,
        hash: SessionHash,
        now: Timestamp,
    ) -> Result<ResetLinkState, StoreError> {
        state(&mut self.store.read().await?, hash, now).await
    }

    /// Uses a valid link: sets the password, removes passkeys, and ends all sessions and all other links
    /// of the user. Returns the state before.
    pub async fn redeem(
        &self,
        hash: SessionHash,
        new: ResetChoice,
        change: impl FnOnce(UserId) -> AuditContext + Send + 'static,
        now: Timestamp,
    ) -> Result<ResetLinkState, StoreError> {
        let before = self
            .store
            .write(move |session| {
                session.declare_no_change();
                Box::pin(async move {
                    let state = state(&mut session.db, hash, now).await?;
                    let ResetLinkState::Valid(user) = state else { return Ok(state) };
                    // The link was in an email.
                    mark_verified(session, user, now).await?;
                    let (by_link, change) = ("with a link", change(user));
                    replace_password(session, user, &new.password_hash, (by_link, change)).await?;
                    for passkey in new.removed_passkeys {
                        passkeys::remove_one(session, user, passkey, change).await?;
                    }
                    Ok(state)
                })
            })
            .await?;
        if let ResetLinkState::Valid(user) = before {
            self.store.signal_change([Subject::Sessions(user)]);
        }
        Ok(before)
    }
}

impl Users<'_> {
    /// Changes the password of a user for the operator, ends all sessions, and removes the passkeys
    /// unless they are kept. Returns the number of removed passkeys.
    pub async fn reset(
        &self,
        user: UserId,
        password_hash: Secret<String>,
        keeps_passkeys: bool,
        change: AuditContext,
    ) -> Result<u32, StoreError> {
        self.store
            .write(move |session| {
                Box::pin(async move {
                    replace_password(session, user, &password_hash, ("", change)).await?;
                    if keeps_passkeys {
                        return Ok(0);
                    }
                    passkeys::remove_all(session, user, change).await
                })
            })
            .await
    }
}

async fn state(
    db: &mut Connection,
    hash: SessionHash,
    now: Timestamp,
) -> Result<ResetLinkState, StoreError> {
    let row = query("SELECT user_id, expires_at, used_at FROM reset_links WHERE hash = $1")
        .bind(hash.bytes())
        .fetch_optional(db)
        .await?;
    let Some(row) = row else { return Ok(ResetLinkState::Unknown) };
    let user = id(&row, "user_id", UserId::parse)?;
    if optional_instant(&row, "used_at")?.is_some() {
        return Ok(ResetLinkState::Used(user));
    }
    if instant(&row, "expires_at")? <= now {
        return Ok(ResetLinkState::Expired(user));
    }
    Ok(ResetLinkState::Valid(user))
}
