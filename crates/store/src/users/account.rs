//! Changes that people make to their own account, and the audit entries of signing in.

use rules::{SessionId, UserId};

use super::{
    Users, email_context, hash_email, mark_verified, record_for_workspaces, use_up_reset_links,
    workspace_ids,
};
use crate::audit::{self, NewAuditEntry};
use crate::db::query;
use crate::{AuditContext, StoreError};

/// Proof that a user reads the mailbox of an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AddressProof {
    /// The user opened a link in an email.
    Link,
    /// The server cannot send emails.
    None,
}

impl Users<'_> {
    /// Changes the display name of a user.
    pub async fn rename(&self, user: UserId, name: String) -> Result<(), StoreError> {
        self.store
            .write(move |session| {
                Box::pin(async move {
                    let changed = query("UPDATE users SET name = $2 WHERE id = $1")
                        .bind(user.to_string())
                        .bind(&name)
                        .execute(&mut session.db)
                        .await?;
                    if changed == 0 {
                        return Err(StoreError::not_found("user", &user));
                    }
                    Ok(())
                })
            })
            .await
    }

    /// Changes the address of a user. Ends all sessions except `kept`, and all links that were sent to
    /// the old address. Fails with [`StoreError::AlreadyExists`] if another user has it.
    pub async fn set_email(
        &self,
        (user, kept): (UserId, SessionId),
        email: String,
        proof: AddressProof,
        change: AuditContext,
    ) -> Result<(), StoreError> {
        self.store
            .write(move |session| {
                Box::pin(async move {
                    let row = user.to_string();
                    let sealed = session.vault.seal(email_context(&row), &email)?;
                    let digest = hash_email(&session.vault, &email);
                    let taken = StoreError::AlreadyExists { what: "user", name: email.clone() };
                    let changed = query(
                        "UPDATE users SET email_sealed = $2, email_digest = $3, updated_at = $4, \
                         email_verified_at = NULL WHERE id = $1",
                    )
                    .bind(row)
                    .bind(sealed)
                    .bind(digest)
                    .bind(change.at.as_millis())
                    .execute(&mut session.db)
                    .await
                    .map_err(|error| StoreError::from_insert(error, taken, None))?;
                    if changed == 0 {
                        return Err(StoreError::not_found("user", &user));
                    }
                    if proof == AddressProof::Link {
                        mark_verified(session, user, change.at).await?;
                    }
                    query("DELETE FROM sessions WHERE user_id = $1 AND id <> $2")
                        .bind(user.to_string())
                        .bind(kept.to_string())
                        .execute(&mut session.db)
                        .await?;
                    use_up_reset_links(session, user, change.at).await?;
                    record_for_workspaces(session, user, ("user.email", ""), change).await
                })
            })
            .await
    }

    /// Records an action of a user, or one that was refused, in the audit log of each of their
    /// workspaces.
    pub async fn record(
        &self,
        user: UserId,
        action: &'static str,
        detail: String,
        change: AuditContext,
    ) -> Result<(), StoreError> {
        self.store
            .write(move |session| {
                session.declare_no_change();
                Box::pin(async move {
                    record_for_workspaces(session, user, (action, &detail), change).await
                })
            })
            .await
    }

    /// Records a refused request of an unknown person in the audit log of the oldest workspace, which
    /// belongs to the person who set this server up.
    pub async fn record_of_stranger(
        &self,
        action: &'static str,
        detail: String,
        change: AuditContext,
    ) -> Result<(), StoreError> {
        self.store
            .write(move |session| {
                session.declare_no_change();
                Box::pin(async move {
                    let all = workspace_ids(session).await?;
                    let Some(workspace) = all.first().copied() else { return Ok(()) };
                    let note = NewAuditEntry {
                        workspace,
                        change,
                        action,
                        resource_id: workspace.to_string(),
                        detail: &detail,
                    };
                    audit::record(&mut session.db, note).await
                })
            })
            .await
    }
}
