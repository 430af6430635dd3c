//! Calls that are made again: what a create made is remembered under the caller's own key of it, so
//! that the same call once more answers the first one's result. Reading that result is the
//! aggregate's matter.

use rules::{Timestamp, WorkspaceId};
use sha2::{Digest, Sha256};

use crate::StoreError;
use crate::db::{Connection, query};

/// Identifies a create and its retries: the method and the key that the caller chose at random.
#[derive(Clone, Debug)]
pub struct Idempotency {
    /// Name of the method.
    pub method: &'static str,
    /// The caller's key.
    pub key: String,
    /// SHA-256 of the request. A retry has the same one.
    pub request: [u8; 32],
}

/// What a create came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Created<T> {
    /// It is new.
    Now(T),
    /// The same call created it before; this is what it is today.
    Before(T),
}

impl<T> Created<T> {
    /// What was created, whenever that was.
    pub fn into_inner(self) -> T {
        match self {
            Self::Now(created) | Self::Before(created) => created,
        }
    }
}

/// Returns the identifier of what the same call created before. Refuses the key if it belongs to another
/// request.
pub(crate) async fn created_before(
    db: &mut Connection,
    workspace: WorkspaceId,
    call: Option<&Idempotency>,
) -> Result<Option<String>, StoreError> {
    let Some(call) = call else { return Ok(None) };
    let row = query(
        "SELECT result_id, request FROM idempotency_keys \
         WHERE workspace_id = $1 AND method = $2 AND hash = $3",
    )
    .bind(workspace.to_string())
    .bind(call.method)
    .bind(call.hash())
    .fetch_optional(db)
    .await?;
    let Some(row) = row else { return Ok(None) };
    // Rows of older versions have no digest.
    let request: Option<Vec<u8>> = row.try_get(1)?;
    if request.is_some_and(|request| request != call.request) {
        return Err(StoreError::KeyReused { method: call.method });
    }
    Ok(Some(row.try_get(0)?))
}

/// What a repeated create comes to whose result is not found any more: it was deleted since, and
/// creating it again is not what the caller means.
pub(crate) fn gone(error: StoreError) -> StoreError {
    if let StoreError::NotFound { what, id } = error {
        return StoreError::Gone { what, id };
    }
    error
}

/// Remembers what the call created and when, in the transaction that creates it.
pub(crate) async fn remember(
    db: &mut Connection,
    workspace: WorkspaceId,
    call: Option<&Idempotency>,
    (id, at): (&str, Timestamp),
) -> Result<(), StoreError> {
    let Some(call) = call else { return Ok(()) };
    query(
        "INSERT INTO idempotency_keys (workspace_id, method, hash, result_id, created_at, request) \
         VALUES ($1, $2, $3, $4, $5, $6)",
    )
    .bind(workspace.to_string())
    .bind(call.method)
    .bind(call.hash())
    .bind(id)
    .bind(at.as_millis())
    .bind(call.request.to_vec())
    .execute(db)
    .await?;
    Ok(())
}

impl Idempotency {
    fn hash(&self) -> Vec<u8> {
        Sha256::digest(self.key.as_bytes()).to_vec()
    }
}
