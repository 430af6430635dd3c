//! The files of a configuration, merged as Gatus merges them: mappings by key, lists one after the other.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::variables;
use crate::{ImportError, json, yaml};

/// Maximum number of files in a folder (ours).
const FILES_MAX: usize = 1_000;
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
    for file in files {
        let text = variables::mark(&json::read_text(&file)?);
        let value = yaml::read(&file, &text)?;
        merge(&file, &mut merged, value, "")?;
    }
    Ok(merged)
}

/// Adds the files below a folder, in the order of their names.
fn collect(folder: &Path, depth: usize, files: &mut Vec<PathBuf>) -> Result<(), ImportError> {
    let refused = |error| ImportError::read(folder, error);
    let entries: Result<Vec<_>, _> = fs::read_dir(folder).map_err(refused)?.collect();
    let mut paths: Vec<PathBuf> =
        entries.map_err(refused)?.into_iter().map(|entry| entry.path()).collect();
    paths.sort();
    for path in paths {
        if path.is_dir() && depth < FOLDERS_MAX {
            collect(&path, depth + 1, files)?;
        } else if path.extension().is_some_and(|end| end == "yaml" || end == "yml") {
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
