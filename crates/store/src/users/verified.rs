//! Verified addresses: users who proved to read the mailbox of their address. Only such a user is
//! surely the person that the provider of single sign-on knows by this address.

use rules::{Timestamp, UserId};

use super::{record_for_workspaces, use_up_reset_links};
use crate::db::query;
use crate::row::optional_instant;
use crate::writer::Session;
use crate::{AuditContext, StoreError};

/// Rejects a change on a server without any user.
pub(crate) async fn require_any(session: &mut Session) -> Result<(), StoreError> {
    let row = query("SELECT 1 FROM users LIMIT 1").fetch_optional(&mut session.db).await?;
    row.map(drop).ok_or(StoreError::NotSetUp)
}

/// Records that a user proved to read their mailbox.
pub(crate) async fn mark_verified(
    session: &mut Session,
    user: UserId,
    at: Timestamp,
) -> Result<(), StoreError> {
    query("UPDATE users SET email_verified_at = $2 WHERE id = $1 AND email_verified_at IS NULL")
        .bind(user.to_string())
        .bind(at.as_millis())
        .execute(&mut session.db)
        .await?;
    Ok(())
}

/// Removes every way to sign in of a user who never proved to read their mailbox: somebody else may
/// have created the account with this address.
pub(crate) async fn remove_unproven_credentials(
    session: &mut Session,
    user: UserId,
    change: AuditContext,
) -> Result<(), StoreError> {
    let row = query("SELECT email_verified_at FROM users WHERE id = $1")
        .bind(user.to_string())
        .fetch_optional(&mut session.db)
        .await?
        .ok_or_else(|| StoreError::not_found("user", &user))?;
    if optional_instant(&row, "email_verified_at")?.is_some() {
        return Ok(());
    }
    for statement in [
        "UPDATE users SET password_hash = '' WHERE id = $1",
        "DELETE FROM sessions WHERE user_id = $1",
        "DELETE FROM passkeys WHERE user_id = $1",
        "DELETE FROM second_factors WHERE user_id = $1",
        "DELETE FROM recovery_codes WHERE user_id = $1",
        "DELETE FROM identities WHERE user_id = $1",
    ] {
        query(statement).bind(user.to_string()).execute(&mut session.db).await?;
    }
    use_up_reset_links(session, user, change.at).await?;
    let what = ("user.credentials_remove", "the address was not verified");
    record_for_workspaces(session, user, what, change).await
}
