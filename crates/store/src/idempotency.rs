//! Idempotency keys: a create records its result under the caller's key, so that a repeated request
//! returns the first one's result. The aggregate reads that result.

use rules::{Timestamp, WorkspaceId};
use sha2::{Digest, Sha256};

use crate::StoreError;
use crate::db::{Connection, query};

/// Identifies a create and its retries: the method and a random key of the caller.
#[derive(Clone, Debug)]
pub struct Idempotency {
    pub method: &'static str,
    /// Key that the caller chose.
    pub key: String,
    /// SHA-256 of the request. A retry has the same one.
    pub request: [u8; 32],
}

/// Outcome of a create.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Created<T> {
    /// Newly created object.
    Now(T),
    /// Object that an earlier request created, in its current state.
    Before(T),
}

impl<T> Created<T> {
    /// Returns the created object in either case.
    pub fn into_inner(self) -> T {
        match self {
            Self::Now(created) | Self::Before(created) => created,
        }
    }
}

/// Returns the identifier of the object that an earlier request created. Rejects the key if it
/// belongs to another request.
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
    let request: Option<Vec<u8>> = row.try_get("request")?;
    if request.is_some_and(|request| request != call.request) {
        return Err(StoreError::KeyReused { method: call.method });
    }
    Ok(Some(row.try_get("result_id")?))
}

/// Converts the error of a repeated create whose result was deleted since. The caller does not want
/// a new object.
pub(crate) fn gone(error: StoreError) -> StoreError {
    if let StoreError::NotFound { what, id } = error {
        return StoreError::Gone { what, id };
    }
    error
}

/// Records what the request created and when, in the transaction that creates it.
pub(crate) async fn record(
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
