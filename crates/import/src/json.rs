//! Reads JSON files with places in errors, bounded in size.

use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use serde_json::Value;

use crate::ImportError;

/// Maximum size of a text file (ours). Answers of an interface come in pages of some kilobytes.
pub(crate) const FILE_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// Reads a file of UTF-8 text.
pub(crate) fn read_text(path: &Path) -> Result<String, ImportError> {
    let refused = |error| ImportError::read(path, error);
    let file = File::open(path).map_err(refused)?;
    let mut bytes = Vec::new();
    file.take(FILE_BYTES_MAX + 1).read_to_end(&mut bytes).map_err(refused)?;
    if bytes.len() as u64 > FILE_BYTES_MAX {
        let problem = format!("has more than {} MiB", FILE_BYTES_MAX / 1024 / 1024);
        return Err(ImportError::unusable(path, problem, "split it into several files"));
    }
    let text = String::from_utf8(bytes).map_err(|error| {
        let line = lines_before(error.as_bytes(), error.utf8_error().valid_up_to());
        let problem = format!("is not UTF-8 text (line {line})");
        ImportError::unusable(path, problem, "give the file that the documentation names")
    })?;
    Ok(text.strip_prefix('\u{feff}').map_or(text.clone(), str::to_owned))
}

/// Parses the text of a file.
pub(crate) fn parse(path: &Path, text: &str) -> Result<Value, ImportError> {
    if text.trim().is_empty() {
        return Err(ImportError::unusable(path, "is empty", "save the answer again"));
    }
    serde_json::from_str(text).map_err(|error| syntax(path, &error))
}

/// Creates the error of a text that is not JSON.
pub(crate) fn syntax(path: &Path, error: &serde_json::Error) -> ImportError {
    let whole = error.to_string();
    let problem = whole.split(" at line ").next().unwrap_or(&whole).to_owned();
    let (line, column) = (error.line(), error.column());
    ImportError::Syntax { path: path.to_owned(), line, column, problem }
}

fn lines_before(bytes: &[u8], end: usize) -> usize {
    bytes.iter().take(end).filter(|byte| **byte == b'\n').count() + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn broken_json_names_its_place() {
        let path = Path::new("a.json");
        let error = |text: &str| parse(path, text).unwrap_err().to_string();
        assert_eq!(error("{\n  \"a\": 1,\n}"), "`a.json`, line 3, column 1: trailing comma");
        assert!(error(&"[".repeat(1_000_000)).contains("recursion limit exceeded"));
        assert_eq!(error(" \n"), "`a.json` is empty; save the answer again");
    }
}
