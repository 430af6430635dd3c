//! Checksums of the files of a release, in the format of `sha256sum`.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use sha2::{Digest as _, Sha256};

/// Returns a line per file of a folder that `is_part` accepts by its name, sorted by name.
pub(crate) fn sums_of(folder: &Path, is_part: impl Fn(&str) -> bool) -> Result<String> {
    let mut names = Vec::new();
    let entries = fs::read_dir(folder);
    for entry in entries.with_context(|| format!("failed to read {}", folder.display()))? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        if is_part(&name) {
            names.push(name);
        }
    }
    names.sort();
    let mut lines = String::new();
    for name in names {
        let file = folder.join(&name);
        let bytes =
            fs::read(&file).with_context(|| format!("failed to read {}", file.display()))?;
        for byte in Sha256::digest(bytes) {
            write!(lines, "{byte:02x}")?;
        }
        writeln!(lines, "  {name}")?;
    }
    Ok(lines)
}
