//! Encrypts secrets at rest with one master key and an envelope for each secret. The envelope binds
//! a secret to its table, column and row, so that it cannot be moved elsewhere. The aggregates
//! define which columns are secret.

mod unlock;

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use chacha20poly1305::aead::{Aead, Generate, KeyInit, Payload};
use chacha20poly1305::{XChaCha20Poly1305, XNonce};
use rules::Secret;
use serde::Serialize;
use serde::de::DeserializeOwned;
use sha2::{Digest, Sha256};
use zeroize::Zeroize;

pub(crate) use unlock::{check_master_key, unlock_vault};

use crate::{StoreError, data_dir};

const KEY_FILE: &str = "aloft.key";
const KEY_BYTES: usize = 32;
/// First byte of an envelope: the version of its format.
const ENVELOPE: u8 = 1;
const KEY_ID_BYTES: usize = 4;
const NONCE_BYTES: usize = 24;
const HEAD_BYTES: usize = 1 + KEY_ID_BYTES + NONCE_BYTES;

/// Source of the master key.
#[derive(Clone, Debug)]
pub enum MasterKeySource {
    /// The file `aloft.key` in the data folder, created at the first start.
    File,
    /// 32 bytes from the operator.
    Bytes(Secret<[u8; 32]>),
}

/// Encrypts and decrypts with the master key.
pub(crate) struct Vault {
    cipher: XChaCha20Poly1305,
    key_id: [u8; KEY_ID_BYTES],
    sessions: Secret<[u8; KEY_BYTES]>,
    replicas: Secret<[u8; KEY_BYTES]>,
}

/// Location of a secret. An envelope only opens at the location it was sealed for.
#[derive(Clone, Copy)]
pub(crate) struct EncryptionContext<'a> {
    /// `table.column`.
    pub(crate) column: &'static str,
    /// Key of the row.
    pub(crate) row: &'a str,
}

impl Vault {
    pub(crate) fn new(key: &Secret<[u8; 32]>) -> Self {
        let digest = Sha256::new().chain_update(b"aloft master key").chain_update(key.expose());
        let digest = digest.finalize();
        let mut key_id = [0; KEY_ID_BYTES];
        key_id.copy_from_slice(&digest[..KEY_ID_BYTES]);
        let [sessions, replicas] = ["aloft sessions", "aloft replicas"].map(|purpose| {
            let derived = Sha256::new().chain_update(purpose).chain_update(key.expose());
            Secret::new(derived.finalize().into())
        });
        Self { cipher: XChaCha20Poly1305::new(key.expose().into()), key_id, sessions, replicas }
    }

    /// Returns the key with which servers of one database recognise each other.
    pub(crate) fn replicas(self) -> Secret<[u8; KEY_BYTES]> {
        self.replicas
    }

    /// Returns the key that signs visitors' session tokens. It is derived from the master key, so
    /// it survives restarts.
    pub(crate) const fn sessions(&self) -> &Secret<[u8; KEY_BYTES]> {
        &self.sessions
    }

    /// Encrypts the JSON of `value`.
    pub(crate) fn seal<T: Serialize>(
        &self,
        context: EncryptionContext<'_>,
        value: &T,
    ) -> Result<Vec<u8>, StoreError> {
        let mut plain = serde_json::to_vec(value)
            .map_err(|why| StoreError::corrupt(context.column, why.to_string()))?;
        let nonce = XNonce::generate();
        let aad = context.associated_data();
        let sealed = self
            .cipher
            .encrypt(&nonce, Payload { msg: &plain, aad: &aad })
            .map_err(|why| StoreError::corrupt(context.column, why.to_string()));
        plain.zeroize();
        let sealed = sealed?;
        let mut envelope = Vec::with_capacity(HEAD_BYTES + sealed.len());
        envelope.push(ENVELOPE);
        envelope.extend_from_slice(&self.key_id);
        envelope.extend_from_slice(&nonce);
        envelope.extend_from_slice(&sealed);
        Ok(envelope)
    }

    /// Rejects an envelope that another master key sealed.
    fn check_key(&self, envelope: &[u8]) -> Result<(), StoreError> {
        match envelope.get(1..=KEY_ID_BYTES) {
            Some(key_id) if key_id != self.key_id => Err(StoreError::WrongMasterKey),
            _ => Ok(()),
        }
    }

    /// Decrypts an envelope that [`Self::seal`] created for the same location.
    pub(crate) fn open<T: DeserializeOwned>(
        &self,
        context: EncryptionContext<'_>,
        envelope: &[u8],
    ) -> Result<T, StoreError> {
        let corrupt = |why: String| {
            StoreError::corrupt(format!("{} of `{}`", context.column, context.row), why)
        };
        if envelope.len() < HEAD_BYTES || envelope[0] != ENVELOPE {
            return Err(corrupt("not an envelope of a secret".to_owned()));
        }
        let (head, sealed) = envelope.split_at(HEAD_BYTES);
        let (key_id, nonce) = head[1..].split_at(KEY_ID_BYTES);
        if key_id != self.key_id {
            // The key was checked when the vault was unlocked.
            return Err(corrupt("it names another master key".to_owned()));
        }
        let nonce = XNonce::try_from(nonce).map_err(|why| corrupt(why.to_string()))?;
        let aad = context.associated_data();
        let mut plain = self
            .cipher
            .decrypt(&nonce, Payload { msg: sealed, aad: &aad })
            .map_err(|_| corrupt("it was altered, or belongs to another row".to_owned()))?;
        let value = serde_json::from_slice(&plain).map_err(|why| corrupt(why.to_string()));
        plain.zeroize();
        value
    }
}

/// Returns a new random secret.
pub(crate) fn fresh_secret() -> Secret<Vec<u8>> {
    Secret::new(<[u8; KEY_BYTES]>::generate().to_vec())
}

impl EncryptionContext<'_> {
    fn associated_data(self) -> Vec<u8> {
        let mut bound = Vec::with_capacity(self.column.len() + 1 + self.row.len());
        bound.extend_from_slice(self.column.as_bytes());
        bound.push(0);
        bound.extend_from_slice(self.row.as_bytes());
        bound
    }
}

impl MasterKeySource {
    /// Returns the key. Creates a missing key file, unless `encrypted` says that the database needs
    /// the old key.
    pub(crate) fn key(
        &self,
        folder: &Path,
        encrypted: bool,
    ) -> Result<Secret<[u8; 32]>, StoreError> {
        let path = folder.join(KEY_FILE);
        match self {
            Self::Bytes(key) => Ok(key.clone()),
            Self::File => match fs::metadata(&path) {
                Ok(metadata) => read_key(path, metadata.permissions().mode()),
                Err(error) if error.kind() == io::ErrorKind::NotFound && !encrypted => {
                    make_key(&path).map_err(data_dir::at(&path))
                }
                Err(error) if error.kind() == io::ErrorKind::NotFound => Err(StoreError::KeyFile {
                    path,
                    why: "is missing, and the database is encrypted with it; put it back"
                        .to_owned(),
                }),
                Err(error) => Err(data_dir::at(&path)(error)),
            },
        }
    }
}

fn read_key(path: PathBuf, mode: u32) -> Result<Secret<[u8; 32]>, StoreError> {
    if mode & 0o077 != 0 {
        let why = format!("is readable by others (mode {:o}); chmod it to 600", mode & 0o777);
        return Err(StoreError::KeyFile { path, why });
    }
    let mut text = fs::read_to_string(&path).map_err(data_dir::at(&path))?;
    let bytes = STANDARD.decode(text.trim()).ok().map(Secret::new);
    text.zeroize();
    bytes
        .and_then(|bytes| <[u8; KEY_BYTES]>::try_from(bytes.expose().as_slice()).ok())
        .map(Secret::new)
        .ok_or_else(|| StoreError::KeyFile {
            path,
            why: "does not contain 32 bytes in Base64; restore it from a copy".to_owned(),
        })
}

fn make_key(path: &Path) -> io::Result<Secret<[u8; 32]>> {
    let key = Secret::new(<[u8; KEY_BYTES]>::generate());
    let mut text = STANDARD.encode(key.expose());
    text.push('\n');
    // Under its final name the file must be complete: half a key would lock the data folder for
    // good.
    let unfinished = path.with_extension("key.new");
    let write = || {
        // Created from scratch, so that its mode is ours.
        match fs::remove_file(&unfinished) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            Ok(()) | Err(_) => {}
        }
        let mut file =
            OpenOptions::new().write(true).create_new(true).mode(0o600).open(&unfinished)?;
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
        fs::rename(&unfinished, path)
    };
    let written = write();
    text.zeroize();
    written.map(|()| key)
}

#[cfg(test)]
mod tests {
    use super::*;

    const HERE: EncryptionContext<'static> =
        EncryptionContext { column: "monitors.check", row: "mon_1" };

    fn vault(byte: u8) -> Vault {
        Vault::new(&Secret::new([byte; 32]))
    }

    #[test]
    fn sealed_secret_opens_in_its_place() {
        let envelope = vault(1).seal(HERE, &"hunter2").unwrap();
        assert_eq!(vault(1).open::<String>(HERE, &envelope).unwrap(), "hunter2");
    }

    #[test]
    fn secret_opens_in_no_other_row_or_column() {
        let envelope = vault(1).seal(HERE, &"hunter2").unwrap();
        for context in [
            EncryptionContext { row: "mon_2", ..HERE },
            EncryptionContext { column: "evidence.sealed", ..HERE },
        ] {
            let refusal = vault(1).open::<String>(context, &envelope).unwrap_err();
            assert!(matches!(refusal, StoreError::Corrupt { .. }), "{refusal}");
        }
    }

    #[test]
    fn tampered_envelope_is_rejected() {
        let mut envelope = vault(1).seal(HERE, &"hunter2").unwrap();
        *envelope.last_mut().unwrap() ^= 1;
        assert!(matches!(
            vault(1).open::<String>(HERE, &envelope),
            Err(StoreError::Corrupt { .. })
        ));
        assert!(matches!(
            vault(1).open::<String>(HERE, &envelope[..8]),
            Err(StoreError::Corrupt { .. })
        ));
    }

    #[test]
    fn other_master_key_fails_with_that_reason() {
        let envelope = vault(1).seal(HERE, &"hunter2").unwrap();
        assert!(matches!(vault(2).check_key(&envelope), Err(StoreError::WrongMasterKey)));
        vault(1).check_key(&envelope).unwrap();
        // One such value among others is damage.
        let refusal = vault(2).open::<String>(HERE, &envelope).unwrap_err();
        assert!(matches!(refusal, StoreError::Corrupt { .. }), "{refusal}");
    }
}
