//! Saved answers of an interface: a file or a folder of files with JSON. A file may hold several answers
//! one after the other, as `curl … >>file` writes them.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Deserializer, Value};

use crate::record::Record;
use crate::{ImportError, json};

/// Maximum number of files (ours).
const FILES_MAX: usize = 10_000;

/// Maximum size of all files (ours).
const BYTES_MAX: usize = 256 * 1024 * 1024;

/// An answer and its file.
pub(crate) struct Document {
    pub(crate) path: PathBuf,
    pub(crate) value: Value,
}

/// Reads a file, or all files of a folder that end in `.json`, in the order of their names.
pub(crate) fn read(path: &Path) -> Result<Vec<Document>, ImportError> {
    let mut documents = Vec::new();
    let mut bytes = 0_usize;
    for file in files(path)? {
        let text = json::read_text(&file)?;
        bytes += text.len();
        if bytes > BYTES_MAX {
            let problem = format!("has more than {} MiB in its files", BYTES_MAX / 1024 / 1024);
            return Err(ImportError::unusable(path, problem, "import its parts one by one"));
        }
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

/// Returns the objects, each identifier once: pages of lists overlap, and some answers repeat objects.
pub(crate) fn unique(records: Vec<Record>) -> Vec<Record> {
    let mut seen = HashSet::new();
    let is_new = |record: &Record| record.clone().id("id").is_none_or(|id| seen.insert(id));
    records.into_iter().filter(is_new).collect()
}

/// Returns the objects in a list, or the one object. Fails for an item that is not an object.
pub(crate) fn records(document: &Document, value: Value) -> Result<Vec<Record>, ImportError> {
    let items = match value {
        Value::Array(items) => items,
        other @ Value::Object(_) => vec![other],
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Vec::new(),
    };
    let record = |(number, item): (usize, Value)| {
        Record::of(item).ok_or_else(|| {
            let problem = format!("has an item that is not an object, at place {}", number + 1);
            ImportError::unusable(&document.path, problem, "save the answer again")
        })
    };
    items.into_iter().enumerate().map(record).collect()
}
