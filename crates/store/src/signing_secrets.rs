//! Secrets that sign a workspace's webhooks. They are created with the workspace, stored sealed,
//! and rotated with an overlap in which the previous secret also signs. `notify` formats and uses
//! them.

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rules::{Secret, SigningSecretId, Timestamp, WorkspaceId, limits};

use crate::audit::{self, NewAuditEntry};
use crate::db::{Connection, Row, query};
use crate::quarantine::Quarantine;
use crate::row::{id, instant, optional_instant};
use crate::vault::{self, EncryptionContext, Vault};
use crate::{AuditContext, Store, StoreError};

/// Handle of the signing secrets.
#[derive(Clone, Copy, Debug)]
pub struct SigningSecrets<'s> {
    pub(crate) store: &'s Store,
}

impl Store {
    /// Returns the handle of the secrets that sign webhooks.
    pub const fn signing_secrets(&self) -> SigningSecrets<'_> {
        SigningSecrets { store: self }
    }
}

/// Public data of a secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SigningSecret {
    pub id: SigningSecretId,
    pub created_at: Timestamp,
    /// Time until which it signs beside the newest secret. `None` for the newest.
    pub expires_at: Option<Timestamp>,
}

/// Outcome of a rotation.
#[derive(Clone, Debug)]
pub struct Rotated {
    /// New secret. It is not returned again.
    pub secret: Secret<Vec<u8>>,
    /// Readable secrets that sign from now on, newest first.
    pub signing: Vec<SigningSecret>,
}

const TABLE: &str = "signing_secrets";
const NEWEST_FIRST: &str = "SELECT id, created_at, expires_at, sealed FROM signing_secrets \
    WHERE workspace_id = $1 AND (expires_at IS NULL OR expires_at > $2) \
    ORDER BY expires_at IS NOT NULL, created_at DESC, id DESC";

impl SigningSecrets<'_> {
    /// Returns the secrets that sign the workspace's webhooks at `now`: the newest first, then the
    /// replaced ones whose overlap is not over. Fails if none of them is readable.
    pub async fn active(
        &self,
        workspace: WorkspaceId,
        now: Timestamp,
    ) -> Result<Vec<Secret<Vec<u8>>>, StoreError> {
        let rows = signing(&mut self.store.read().await?, workspace, now).await?;
        let open = |row| open(self.store.vault(), row);
        let readable = self.store.quarantine().readable_rows(TABLE, &rows, open)?;
        match rows.first() {
            // A webhook without a signature could come from anybody.
            Some(newest) if readable.is_empty() => open(newest).map(|secret| vec![secret]),
            _ => Ok(readable),
        }
    }

    /// Returns the public data of the secrets that sign at `now`, newest first.
    pub async fn list(
        &self,
        workspace: WorkspaceId,
        now: Timestamp,
    ) -> Result<Vec<SigningSecret>, StoreError> {
        let rows = signing(&mut self.store.read().await?, workspace, now).await?;
        self.store.quarantine().readable_rows(TABLE, &rows, read)
    }

    /// Adds a secret to the workspace. The previous ones sign for at most `overlap` longer. If more
    /// than [`limits::SIGNING_SECRETS_MAX`] would sign, those with the earliest expiry expire now.
    pub async fn rotate(
        &self,
        workspace: WorkspaceId,
        new: SigningSecretId,
        overlap: Duration,
        change: AuditContext,
    ) -> Result<Rotated, StoreError> {
        let (secret, rows) = self
            .store
            .write_in(workspace, move |session| {
                Box::pin(async move {
                    let db = &mut session.db;
                    end_others(db, workspace, change.at, overlap).await?;
                    let secret = insert(db, &session.vault, workspace, (new, change.at)).await?;
                    let detail =
                        format!("the one before signs for {} h", overlap.as_secs() / 3_600);
                    let note = NewAuditEntry {
                        workspace,
                        change,
                        action: "signing_secret.rotate",
                        resource_id: new.to_string(),
                        detail: &detail,
                    };
                    audit::record(db, note).await?;
                    Ok((secret, signing(db, workspace, change.at).await?))
                })
            })
            .await?;
        let signing = self.store.quarantine().readable_rows(TABLE, &rows, read)?;
        Ok(Rotated { secret, signing })
    }
}

/// Creates the first secret of a new workspace, in the transaction that creates the workspace. Its
/// identifier has the bits of the workspace's, because there is only one first secret.
pub(crate) async fn create_first(
    db: &mut Connection,
    vault: &Vault,
    workspace: WorkspaceId,
    at: Timestamp,
) -> Result<(), StoreError> {
    let first = SigningSecretId::from_bits(workspace.bits());
    insert(db, vault, workspace, (first, at)).await?;
    Ok(())
}

/// Creates the first secret of each workspace without one. Such workspaces are older than the
/// secrets.
pub(crate) async fn create_missing(
    db: &mut Connection,
    vault: &Vault,
    quarantine: &Quarantine,
) -> Result<(), StoreError> {
    let without = query(
        "SELECT id, created_at FROM workspaces w WHERE NOT EXISTS \
         (SELECT 1 FROM signing_secrets s WHERE s.workspace_id = w.id) ORDER BY id",
    )
    .fetch_all(&mut *db)
    .await?;
    let read = |row| Ok((id(row, "id", WorkspaceId::parse)?, instant(row, "created_at")?));
    for (workspace, created_at) in quarantine.readable_rows("workspaces", &without, read)? {
        let first = SigningSecretId::from_bits(workspace.bits()).to_string();
        let held = query("SELECT 1 FROM signing_secrets WHERE id = $1").bind(&first);
        if held.fetch_optional(&mut *db).await?.is_some() {
            let why = format!("it belongs to workspace `{workspace}`, but names another one");
            quarantine.record(TABLE, first, &why);
            continue;
        }
        create_first(db, vault, workspace, created_at).await?;
    }
    Ok(())
}

/// Limits the previous secrets to the overlap, and deletes those beyond the maximum number.
async fn end_others(
    db: &mut Connection,
    workspace: WorkspaceId,
    now: Timestamp,
    overlap: Duration,
) -> Result<(), StoreError> {
    query(
        "UPDATE signing_secrets SET expires_at = $1 \
         WHERE workspace_id = $2 AND (expires_at IS NULL OR expires_at > $1)",
    )
    .bind((now + overlap).as_millis())
    .bind(workspace.to_string())
    .execute(&mut *db)
    .await?;
    query(
        "DELETE FROM signing_secrets WHERE workspace_id = $1 AND (expires_at <= $2 OR id NOT IN \
         (SELECT id FROM signing_secrets WHERE workspace_id = $1 \
         ORDER BY expires_at DESC, created_at DESC, id DESC LIMIT $3))",
    )
    .bind(workspace.to_string())
    .bind(now.as_millis())
    .bind(i64::from(limits::SIGNING_SECRETS_MAX) - 1)
    .execute(db)
    .await?;
    Ok(())
}

async fn insert(
    db: &mut Connection,
    vault: &Vault,
    workspace: WorkspaceId,
    (id, at): (SigningSecretId, Timestamp),
) -> Result<Secret<Vec<u8>>, StoreError> {
    let secret = vault::fresh_secret();
    let row = id.to_string();
    let sealed = vault.seal(secret_context(&row), &STANDARD.encode(secret.expose()))?;
    query(
        "INSERT INTO signing_secrets (id, workspace_id, sealed, created_at, expires_at) \
         VALUES ($1, $2, $3, $4, NULL)",
    )
    .bind(&row)
    .bind(workspace.to_string())
    .bind(sealed)
    .bind(at.as_millis())
    .execute(db)
    .await
    .map_err(|error| {
        let taken = StoreError::AlreadyExists { what: "signing secret", name: row };
        StoreError::from_insert(error, taken, Some(workspace))
    })?;
    Ok(secret)
}

async fn signing(
    db: &mut Connection,
    workspace: WorkspaceId,
    now: Timestamp,
) -> Result<Vec<Row>, StoreError> {
    let rows = query(NEWEST_FIRST).bind(workspace.to_string()).bind(now.as_millis());
    Ok(rows.fetch_all(db).await?)
}

fn read(row: &Row) -> Result<SigningSecret, StoreError> {
    Ok(SigningSecret {
        id: id(row, "id", SigningSecretId::parse)?,
        created_at: instant(row, "created_at")?,
        expires_at: optional_instant(row, "expires_at")?,
    })
}

fn open(vault: &Vault, row: &Row) -> Result<Secret<Vec<u8>>, StoreError> {
    let id: &str = row.try_get("id")?;
    let text = Secret::new(vault.open::<String>(secret_context(id), row.try_get("sealed")?)?);
    let bytes = STANDARD.decode(text.expose());
    bytes.map(Secret::new).map_err(|why| StoreError::corrupt(id, why.to_string()))
}

/// Returns the location for which a secret is sealed.
const fn secret_context(id: &str) -> EncryptionContext<'_> {
    EncryptionContext { column: "signing_secrets.sealed", row: id }
}
