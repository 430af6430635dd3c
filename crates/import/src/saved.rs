//! Saved answers of an interface: a file or a folder of files with JSON. A file may hold several answers
//! one after the other, as `curl … >>file` writes them.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Deserializer, Value};

use crate::record::Record;
use crate::{ImportError, json};

/// Maximum number of files (ours).
const FILES_MAX: usize = 10_000;

/// An answer and its file.
pub(crate) struct Document {
    pub(crate) path: PathBuf,
    pub(crate) value: Value,
}

/// Reads a file, or all files of a folder that end in `.json`, in the order of their names.
pub(crate) fn read(path: &Path) -> Result<Vec<Document>, ImportError> {
    let mut documents = Vec::new();
    for file in files(path)? {
        let text = json::read_text(&file)?;
        let answers = Deserializer::from_str(&text).into_iter::<Value>();
        let before = documents.len();
        for answer in answers {
            let value = answer.map_err(|error| json::syntax(&file, &error))?;
            documents.push(Document { path: file.clone(), value });
        }
        if documents.len() == before {
            return Err(ImportError::unusable(&file, "is empty", "save the answer again"));
        }
    }
    Ok(documents)
}

fn files(path: &Path) -> Result<Vec<PathBuf>, ImportError> {
    if !path.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let refused = |error| ImportError::read(path, error);
    let entries: Result<Vec<_>, _> = fs::read_dir(path).map_err(refused)?.collect();
    let entries = entries.map_err(refused)?.into_iter().map(|entry| entry.path());
    let mut files: Vec<PathBuf> =
        entries.filter(|path| path.extension().is_some_and(|end| end == "json")).collect();
    files.sort();
    if files.is_empty() {
        let remedy = "save each answer there as a file of its own";
        return Err(ImportError::unusable(path, "has no file `.json`", remedy));
    }
    if files.len() > FILES_MAX {
        let problem = format!("has more than {FILES_MAX} files");
        return Err(ImportError::unusable(path, problem, "join some answers in one file"));
    }
    Ok(files)
}

/// Returns the error of an answer in which nothing is known.
pub(crate) fn unknown(document: &Document, expected: &str) -> ImportError {
    let found = match &document.value {
        Value::Object(fields) => {
            let names: Vec<&str> = fields.keys().take(5).map(String::as_str).collect();
            format!("an object with {}", names.join(", "))
        }
        Value::Array(_) => "a list of unknown objects".to_owned(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => "a value".to_owned(),
    };
    let problem = format!("has {found}, but no {expected}");
    ImportError::unusable(
        &document.path,
        problem,
        "save the answer of a method that the guide lists",
    )
}

/// Returns the objects in a list.
pub(crate) fn records(value: Value) -> Vec<Record> {
    match value {
        Value::Array(items) => items.into_iter().filter_map(Record::of).collect(),
        other @ Value::Object(_) => Record::of(other).into_iter().collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Vec::new(),
    }
}
