//! Unlocks the vault of a database, and recognises a master key that did not create it.

use std::path::Path;

use super::{EncryptionContext, MasterKeySource, Vault};
use crate::StoreError;
use crate::db::{Connection, query};

/// Text of the key check. The vault seals it first, to recognise its key later.
const KEY_CHECK: &str = "aloft";
const KEY_CHECK_CONTEXT: EncryptionContext<'static> =
    EncryptionContext { column: "vault.canary", row: "1" };

/// Rejects a key that did not create the database. Changes nothing.
pub(crate) async fn check_master_key(
    master_key: &MasterKeySource,
    folder: &Path,
    db: &mut Connection,
) -> Result<(), StoreError> {
    let sealed: Option<Vec<u8>> = query("SELECT canary FROM vault").scalar(db).await?;
    let Some(sealed) = sealed else { return Ok(()) };
    let vault = Vault::new(&master_key.key(folder, true)?);
    check(&vault, &sealed)
}

/// Returns the vault, unlocked with the master key. Rejects a key that did not create the database.
pub(crate) async fn unlock_vault(
    master_key: &MasterKeySource,
    folder: &Path,
    db: &mut Connection,
) -> Result<Vault, StoreError> {
    let sealed: Option<Vec<u8>> = query("SELECT canary FROM vault").scalar(db).await?;
    let vault = Vault::new(&master_key.key(folder, sealed.is_some())?);
    match sealed {
        Some(sealed) => check(&vault, &sealed)?,
        None => {
            query("INSERT INTO vault (one, canary) VALUES (1, $1)")
                .bind(vault.seal(KEY_CHECK_CONTEXT, &KEY_CHECK)?)
                .execute(db)
                .await?;
        }
    }
    Ok(vault)
}

/// Rejects a vault whose key did not seal the key check.
fn check(vault: &Vault, sealed: &[u8]) -> Result<(), StoreError> {
    vault.check_key(sealed)?;
    vault.open::<String>(KEY_CHECK_CONTEXT, sealed).map(drop)
}
