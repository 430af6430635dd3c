//! Signs the checksums of a release with minisign. One signature covers all files, because the checksums do. The
//! key comes from the environment and never from the repository.
//! Format: <https://jedisct1.github.io/minisign/>

use std::fs::Permissions;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use anyhow::{Context, Result, bail};

use crate::shell;

/// Variables with the secret key, with the path of a file that has it, and with its password.
const KEY: &str = "ALOFT_SIGNING_KEY";
const KEY_FILE: &str = "ALOFT_SIGNING_KEY_FILE";
const PASSWORD: &str = "ALOFT_SIGNING_PASSWORD";
/// Those with secrets, which no build script of a library may read.
pub(super) const SECRETS: [&str; 2] = [KEY, PASSWORD];

/// Where the secret key is, and its password.
#[derive(Default)]
pub(super) struct SigningKey {
    key: Option<String>,
    file: Option<PathBuf>,
    password: String,
}

/// Whether a release was signed.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Signed {
    Yes,
    /// No variable names a key.
    WithoutKey,
}

impl SigningKey {
    /// Reads the variables. An empty one counts as absent, as in workflows without the secret.
    pub(super) fn from_environment() -> Result<Self> {
        let read = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
        let found = Self {
            key: read(KEY),
            file: read(KEY_FILE).map(PathBuf::from),
            password: read(PASSWORD).unwrap_or_default(),
        };
        if found.key.is_some() && found.file.is_some() {
            bail!("{KEY} and {KEY_FILE} both name a key; unset one");
        }
        Ok(found)
    }

    /// Names a file with a key without a password.
    pub(super) fn from_file(file: PathBuf) -> Self {
        Self { key: None, file: Some(file), password: String::new() }
    }

    /// Returns whether a variable names a key.
    pub(super) fn is_given(&self) -> bool {
        self.key.is_some() || self.file.is_some()
    }

    /// Writes the signature of a file next to it, with the ending `.minisig`. The trusted comment is part of what
    /// is signed.
    pub(super) fn sign(&self, file: &Path, comment: &str) -> Result<Signed> {
        let folder = tempfile::tempdir()?;
        let key = match (&self.key, &self.file) {
            (Some(text), _) => {
                let path = folder.path().join("key");
                std::fs::write(&path, text)?;
                std::fs::set_permissions(&path, Permissions::from_mode(0o600))?;
                path
            }
            (None, Some(path)) => std::path::absolute(path)?,
            (None, None) => return Ok(Signed::WithoutKey),
        };
        if !key.is_file() {
            bail!("{KEY_FILE} names {}, which is not a file", key.display());
        }
        let mut minisign = shell::command("minisign")?;
        minisign.args(["-S", "-t", comment, "-s"]).arg(key).arg("-m").arg(file);
        let mut signing = minisign
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .context("failed to start minisign")?;
        let mut input = signing.stdin.take().context("minisign has no input")?;
        // A key without a password makes minisign end without reading.
        let _ = writeln!(input, "{}", self.password);
        drop(input);
        let output = signing.wait_with_output()?;
        if !output.status.success() {
            bail!(
                "minisign did not sign {}: {}{}; check {KEY}, {KEY_FILE} and {PASSWORD}",
                file.display(),
                String::from_utf8_lossy(&output.stdout).trim(),
                String::from_utf8_lossy(&output.stderr).trim()
            );
        }
        Ok(Signed::Yes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder_with_sums() -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let sums = folder.path().join("SHA256SUMS");
        std::fs::write(&sums, "0  a\n").unwrap();
        (folder, sums)
    }

    #[test]
    fn without_key_nothing_is_signed() {
        let (folder, sums) = folder_with_sums();
        let signed = SigningKey::default().sign(&sums, "aloft").unwrap();
        assert_eq!(signed, Signed::WithoutKey);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn missing_key_file_is_named() {
        let (folder, sums) = folder_with_sums();
        let file = Some(folder.path().join("gone"));
        let key = SigningKey { file, ..SigningKey::default() };
        let refused = key.sign(&sums, "aloft").unwrap_err().to_string();
        assert!(refused.contains("gone, which is not a file"), "{refused}");
    }
}
