//! The files of a configuration, merged as Gatus merges them: mappings by key, lists one after the other.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::variables;
use crate::{ImportError, json, yaml};

/// Maximum number of files in a folder (ours).
const FILES_MAX: usize = 1_000;
/// Maximum size of all files (ours).
const BYTES_MAX: usize = 64 * 1024 * 1024;
/// Maximum depth of folders (ours).
const FOLDERS_MAX: usize = 16;

/// Reads a file, or all files of a folder that end in `.yaml` or `.yml`.
pub(super) fn read(path: &Path) -> Result<Value, ImportError> {
    let mut files = Vec::new();
    if path.is_dir() {
        collect(path, 0, &mut files)?;
        if files.is_empty() {
            let remedy = "give the file that `GATUS_CONFIG_PATH` names";
            return Err(ImportError::unusable(path, "has no file `.yaml` or `.yml`", remedy));
        }
    } else {
        files.push(path.to_owned());
    }
    let mut merged = Value::Null;
    let mut bytes = 0_usize;
    for file in files {
        let text = variables::mark(&json::read_text(&file)?);
        bytes += text.len();
        if bytes > BYTES_MAX {
            let problem = format!("has more than {} MiB in its files", BYTES_MAX / 1024 / 1024);
            return Err(ImportError::unusable(path, problem, "import its parts one by one"));
        }
        let value = yaml::read(&file, &text)?;
        merge(&file, &mut merged, value, "")?;
    }
    Ok(merged)
}

/// Returns the folder that relative paths in a configuration belong to.
pub(super) fn folder(path: &Path) -> PathBuf {
    if path.is_dir() {
        return path.to_owned();
    }
    path.parent().map(Path::to_owned).unwrap_or_default()
}

/// Adds the files below a folder, in the order of their names.
fn collect(folder: &Path, depth: usize, files: &mut Vec<PathBuf>) -> Result<(), ImportError> {
    let refused = |error| ImportError::read(folder, error);
    let entries: Result<Vec<_>, _> = fs::read_dir(folder).map_err(refused)?.collect();
    let mut entries = entries.map_err(refused)?;
    // As Gatus does: Kubernetes keeps older files in folders such as `..data`, and links to them.
    entries.retain(|entry| !entry.file_name().to_string_lossy().contains(".."));
    entries.sort_by_key(fs::DirEntry::path);
    for entry in entries {
        let path = entry.path();
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            if depth >= FOLDERS_MAX {
                let problem = format!("has more than {FOLDERS_MAX} levels of folders");
                return Err(ImportError::unusable(folder, problem, "import its parts one by one"));
            }
            collect(&path, depth + 1, files)?;
        } else if path.is_file()
            && path.extension().is_some_and(|end| end == "yaml" || end == "yml")
        {
            files.push(path);
        }
        if files.len() > FILES_MAX {
            let problem = format!("has more than {FILES_MAX} files");
            return Err(ImportError::unusable(folder, problem, "import its parts one by one"));
        }
    }
    Ok(())
}

fn merge(file: &Path, into: &mut Value, from: Value, path: &str) -> Result<(), ImportError> {
    match (into, from) {
        (_, Value::Null) => Ok(()),
        (into @ Value::Null, from) => {
            *into = from;
            Ok(())
        }
        (Value::Object(fields), Value::Object(more)) => {
            for (name, value) in more {
                let path = format!("{path}.{name}");
                merge(file, fields.entry(name).or_insert(Value::Null), value, &path)?;
            }
            Ok(())
        }
        (Value::Array(items), Value::Array(more)) => {
            items.extend(more);
            Ok(())
        }
        (
            Value::Bool(_)
            | Value::Number(_)
            | Value::String(_)
            | Value::Object(_)
            | Value::Array(_),
            _,
        ) => {
            let path = path.trim_start_matches('.');
            let problem = format!("sets `{path}`, which another file sets too");
            Err(ImportError::unusable(file, problem, "keep it in one of the files"))
        }
    }
}
