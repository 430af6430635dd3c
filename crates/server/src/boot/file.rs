//! Finds and reads the configuration file. `config` parses it.

use std::path::{Component, Path, PathBuf};
use std::{fs, io};

use crate::config::{ConfigError, Origin};

/// Name of the configuration file that is used if none is given.
const FILE_NAME: &str = "aloft.toml";

/// Reads the file that the user named.
pub(super) fn read(path: &Path) -> Result<(PathBuf, String), ConfigError> {
    let path = normalize(path)?;
    let text = fs::read_to_string(&path).map_err(|error| unreadable(&path, &error))?;
    Ok((path, text))
}

/// Makes the path of a setting absolute. Paths in a file are relative to its folder, all others to
/// the current folder. An empty path stays empty.
pub(super) fn absolute(text: &str, origin: &Origin) -> Result<String, ConfigError> {
    if text.is_empty() {
        return Ok(String::new());
    }
    let path = match origin {
        Origin::File { path, .. } => normalize(&path.parent().unwrap_or(Path::new("")).join(text))?,
        Origin::Flag | Origin::Environment | Origin::Default => normalize(Path::new(text))?,
    };
    Ok(path.display().to_string())
}

/// Returns an absolute path without `.` and redundant slashes, and without `..` if it exists.
fn normalize(path: &Path) -> Result<PathBuf, ConfigError> {
    let path = std::path::absolute(path).map_err(|error| unreadable(path, &error))?;
    if path.components().any(|part| part == Component::ParentDir)
        && let Ok(path) = fs::canonicalize(&path)
    {
        return Ok(path);
    }
    Ok(path.components().collect())
}

/// Returns the file in the current folder, else the one in the data folder, if there is one.
pub(super) fn find(data: &str) -> Result<Option<(PathBuf, String)>, ConfigError> {
    let here = normalize(Path::new(FILE_NAME))?;
    let text = fs::read_to_string(&here);
    // The current folder is only a default. If it is not accessible, such as another user's, skip
    // it.
    let is_closed = fs::metadata(&here).is_err_and(|error| is_denied(&error));
    if let Some(text) = read_if_present(&here, text, is_closed)? {
        return Ok(Some((here, text)));
    }
    let beside = normalize(&Path::new(data).join(FILE_NAME))?;
    let text = read_if_present(&beside, fs::read_to_string(&beside), false)?;
    Ok(text.map(|text| (beside, text)))
}

/// Reads a default file, if there is one. Skips a folder that `is_closed`. A file that exists and
/// cannot be read is an error, because its settings would be ignored silently.
fn read_if_present(
    path: &Path,
    read: io::Result<String>,
    is_closed: bool,
) -> Result<Option<String>, ConfigError> {
    match read {
        Ok(text) => Ok(Some(text)),
        Err(error) if is_not_found(&error) || is_closed && is_denied(&error) => Ok(None),
        Err(error) => Err(unreadable(path, &error)),
    }
}

fn is_denied(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::PermissionDenied
}

/// Returns whether the file or its folder does not exist.
fn is_not_found(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

fn unreadable(path: &Path, error: &io::Error) -> ConfigError {
    ConfigError::Unreadable { path: path.display().to_string(), why: error.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    // Tests may run as root, which can read everything, so inject the system's error.
    #[test]
    fn closed_folder_is_skipped_but_closed_file_fails() {
        let denied = || Err(io::ErrorKind::PermissionDenied.into());
        let of = |read, is_closed| read_if_present(Path::new(FILE_NAME), read, is_closed);
        assert!(matches!(of(denied(), true), Ok(None)), "a private home is nowhere");
        let refused = of(denied(), false).unwrap_err().to_string();
        assert!(refused.contains(FILE_NAME), "{refused}");
        assert!(matches!(of(Err(io::ErrorKind::NotFound.into()), false), Ok(None)));
        assert!(of(Err(io::ErrorKind::IsADirectory.into()), true).is_err());
        assert!(matches!(of(Ok("x".to_owned()), false), Ok(Some(text)) if text == "x"));
    }
}
