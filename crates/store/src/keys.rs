//! API keys. The store holds only the SHA-256 of a key (design §4). `server`'s auth creates keys
//! and decides what they may do.

use std::collections::HashSet;
use std::net::IpAddr;

use rules::{KeyId, Role, Scope, Timestamp, WorkspaceId};
use sha2::{Digest, Sha256};

use crate::audit::{self, NewAuditEntry};
use crate::db::{Row, query};
use crate::list::{Listed, Page};
use crate::roles;
use crate::row::{id, instant, optional, optional_instant};
use crate::workspaces::{self, Workspace};
use crate::{AuditContext, Store, StoreError};

/// SHA-256 of a key, or of the token of a probe.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct KeyHash([u8; 32]);

/// Stored data of a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApiKey {
    pub id: KeyId,
    pub workspace: WorkspaceId,
    /// Display name.
    pub name: String,
    /// Scope. `None` for a key from before scopes existed, which may write (spec §5.6).
    pub scope: Option<Scope>,
    pub created_at: Timestamp,
    /// Time of expiry.
    pub expires_at: Option<Timestamp>,
    /// Time of the last use, to the minute.
    pub last_used_at: Option<Timestamp>,
    /// Time of revocation. The row stays, so that the workspace can still list the key.
    pub revoked_at: Option<Timestamp>,
}

/// Key as its workspace lists it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyDetails {
    pub key: ApiKey,
    /// Author of the key, as the audit log names actors. `None` for older keys.
    pub created_by: Option<String>,
    /// Name of that user.
    pub created_by_name: Option<String>,
    /// Address of the last use.
    pub last_used_from: Option<String>,
}

/// Use of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeyUsage {
    pub key: KeyId,
    pub at: Timestamp,
    /// Address of the client.
    pub from: IpAddr,
}

/// Handle of the API keys.
#[derive(Clone, Copy, Debug)]
pub struct Keys<'s> {
    pub(crate) store: &'s Store,
}

impl Store {
    /// Returns the handle of the API keys.
    pub const fn keys(&self) -> Keys<'_> {
        Keys { store: self }
    }
}

/// Builds a `SELECT` of the columns that [`read`] reads, after other columns.
macro_rules! select {
    ($before:literal, $after:literal) => {
        concat!(
            "SELECT ", $before,
            "k.id AS key_id, k.workspace_id, k.name AS key_name, k.scope, k.created_at AS key_created_at, ",
            "k.expires_at, k.last_used_at, k.revoked_at",
            $after
        )
    };
}

impl KeyHash {
    /// Computes the hash of a key's text.
    pub fn new(key: &str) -> Self {
        Self(Sha256::digest(key.as_bytes()).into())
    }

    /// Reads a hash from a column.
    pub(crate) fn read(row: &Row, column: &str) -> Result<Self, StoreError> {
        let bytes: Vec<u8> = row.try_get(column)?;
        let hash = bytes.try_into().map_err(|bytes: Vec<u8>| {
            let why = format!("a hash has 32 bytes, not {}", bytes.len());
            StoreError::corrupt(format!("column `{column}`"), why)
        })?;
        Ok(Self(hash))
    }

    /// Returns the bytes of the hash.
    pub(crate) const fn bytes(&self) -> &[u8] {
        &self.0
    }
}

impl std::fmt::Debug for KeyHash {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("KeyHash")
    }
}

impl Keys<'_> {
    /// Stores a new key. A person needs the role of an admin, and a key cannot create one.
    ///
    /// # Errors
    /// `AlreadyExists`, `RoleRequired`, `DeletionScheduled`.
    pub async fn create(
        &self,
        key: ApiKey,
        hash: KeyHash,
        change: AuditContext,
    ) -> Result<(), StoreError> {
        self.store
            .write_in(key.workspace, move |session| {
                Box::pin(async move {
                    roles::require(session, key.workspace, change, Role::Admin).await?;
                    query(
                        "INSERT INTO keys (id, workspace_id, name, scope, hash, created_at, \
                         expires_at, created_by) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)",
                    )
                    .bind(key.id.to_string())
                    .bind(key.workspace.to_string())
                    .bind(&key.name)
                    .bind(key.scope.map(Scope::as_str))
                    .bind(&hash.0[..])
                    .bind(key.created_at.as_millis())
                    .bind(key.expires_at.map(Timestamp::as_millis))
                    .bind(change.actor.to_string())
                    .execute(&mut session.db)
                    .await
                    .map_err(|error| {
                        let taken =
                            StoreError::AlreadyExists { what: "key", name: key.name.clone() };
                        StoreError::from_insert(error, taken, Some(key.workspace))
                    })?;
                    let note = NewAuditEntry {
                        workspace: key.workspace,
                        change,
                        action: "key.create",
                        resource_id: key.id.to_string(),
                        detail: &key.name,
                    };
                    audit::record(&mut session.db, note).await
                })
            })
            .await
    }

    /// Returns the key with this hash and its workspace, even if the key is revoked or expired. For
    /// auth.
    pub async fn find_for_auth(
        &self,
        hash: KeyHash,
    ) -> Result<Option<(ApiKey, Workspace)>, StoreError> {
        let row = query(select!(
            "w.id, w.slug, w.name, w.plan, w.created_at, w.deletes_at, ",
            " FROM keys k JOIN workspaces w ON w.id = k.workspace_id WHERE k.hash = $1"
        ))
        .bind(&hash.0[..])
        .fetch_optional(&mut self.store.read().await?)
        .await?;
        row.map(|row| Ok((read(&row)?, workspaces::read(&row)?))).transpose()
    }

    /// Returns a key of the workspace, even if it is revoked.
    pub async fn get(&self, workspace: WorkspaceId, key: KeyId) -> Result<ApiKey, StoreError> {
        let row = query(select!("", " FROM keys k WHERE k.workspace_id = $1 AND k.id = $2"))
            .bind(workspace.to_string())
            .bind(key.to_string())
            .fetch_optional(&mut self.store.read().await?)
            .await?
            .ok_or_else(|| StoreError::not_found("key", &key))?;
        read(&row)
    }

    /// Returns the identifiers of all unrevoked keys of all workspaces.
    pub async fn active_ids(&self) -> Result<HashSet<KeyId>, StoreError> {
        let rows = query("SELECT id FROM keys WHERE revoked_at IS NULL")
            .fetch_all(&mut self.store.read().await?)
            .await?;
        let read = |row| id(row, "id", KeyId::parse);
        Ok(self.store.quarantine().readable_rows("keys", &rows, read)?.into_iter().collect())
    }

    /// Returns every key of the workspace, revoked ones too, newest first.
    pub async fn list(&self, workspace: WorkspaceId) -> Result<Vec<ApiKey>, StoreError> {
        let rows = query(select!("", " FROM keys k WHERE k.workspace_id = $1 ORDER BY k.id DESC"))
            .bind(workspace.to_string())
            .fetch_all(&mut self.store.read().await?)
            .await?;
        self.store.quarantine().readable_rows("keys", &rows, read)
    }

    /// Returns a part of the workspace's keys with their authors and uses, newest first. Revoked keys
    /// are included.
    pub async fn details(
        &self,
        workspace: WorkspaceId,
        page: Page<KeyId>,
    ) -> Result<Listed<KeyDetails>, StoreError> {
        let mut db = self.store.read().await?;
        let total: Option<i64> = query("SELECT COUNT(*) FROM keys WHERE workspace_id = $1")
            .bind(workspace.to_string())
            .scalar(&mut db)
            .await?;
        let rows = query(select!(
            "",
            ", k.created_by, u.name AS created_by_name, k.last_used_from FROM keys k \
             LEFT JOIN users u ON u.id = k.created_by WHERE k.workspace_id = $1 AND k.id < $2 \
             ORDER BY k.id DESC LIMIT $3 OFFSET $4"
        ))
        .bind(workspace.to_string())
        .bind(page.before())
        .bind(i64::from(page.limit))
        .bind(i64::from(page.offset))
        .fetch_all(&mut db)
        .await?;
        drop(db);
        let read = |row: &Row| {
            Ok(KeyDetails {
                key: read(row)?,
                created_by: row.try_get("created_by")?,
                created_by_name: row.try_get("created_by_name")?,
                last_used_from: row.try_get("last_used_from")?,
            })
        };
        Listed::from_rows((self.store.quarantine(), "keys"), &rows, total, read)
    }

    /// Revokes a key from the time of the change. Revoking a revoked key has no effect. A person needs
    /// the role of an admin.
    pub async fn revoke(
        &self,
        workspace: WorkspaceId,
        key: KeyId,
        change: AuditContext,
    ) -> Result<Revoked, StoreError> {
        self.store
            .write_in(workspace, move |session| {
                Box::pin(async move {
                    let revoked: Option<Option<i64>> =
                        query("SELECT revoked_at FROM keys WHERE workspace_id = $1 AND id = $2")
                            .bind(workspace.to_string())
                            .bind(key.to_string())
                            .scalar(&mut session.db)
                            .await?;
                    match revoked {
                        None => return Err(StoreError::not_found("key", &key)),
                        Some(Some(_)) => return Ok(Revoked::Before),
                        Some(None) => {}
                    }
                    roles::require_of_person(session, workspace, change, Role::Admin).await?;
                    query("UPDATE keys SET revoked_at = $1 WHERE id = $2")
                        .bind(change.at.as_millis())
                        .bind(key.to_string())
                        .execute(&mut session.db)
                        .await?;
                    let note = NewAuditEntry {
                        workspace,
                        change,
                        action: "key.revoke",
                        resource_id: key.to_string(),
                        detail: "",
                    };
                    audit::record(&mut session.db, note).await?;
                    Ok(Revoked::Now)
                })
            })
            .await
    }

    /// Records the last use of keys, with the address of the client. The server calls this every few
    /// seconds.
    pub async fn record_uses(&self, uses: Vec<KeyUsage>) -> Result<(), StoreError> {
        self.store
            .write(move |session| {
                session.declare_no_change();
                Box::pin(async move {
                    for KeyUsage { key, at, from } in uses {
                        query(
                            "UPDATE keys SET last_used_at = $1, last_used_from = $3 \
                             WHERE id = $2 AND (last_used_at IS NULL OR last_used_at < $1)",
                        )
                        .bind(at.as_millis())
                        .bind(key.to_string())
                        .bind(from.to_string())
                        .execute(&mut session.db)
                        .await?;
                    }
                    Ok(())
                })
            })
            .await
    }
}

/// Outcome of a revocation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Revoked {
    /// The key was active until now.
    Now,
    /// The key was revoked before.
    Before,
}

fn read(row: &Row) -> Result<ApiKey, StoreError> {
    Ok(ApiKey {
        id: id(row, "key_id", KeyId::parse)?,
        workspace: id(row, "workspace_id", WorkspaceId::parse)?,
        name: row.try_get("key_name")?,
        scope: optional(row, "scope", Scope::parse)?,
        created_at: instant(row, "key_created_at")?,
        expires_at: optional_instant(row, "expires_at")?,
        last_used_at: optional_instant(row, "last_used_at")?,
        revoked_at: optional_instant(row, "revoked_at")?,
    })
}
