//! The crates that the program `aloft` links: neither tests, nor build scripts, nor macros.

use std::collections::BTreeSet;

use anyhow::{Context, Result};
use serde_json::Value;

use super::Architecture;
use crate::shell;

/// Crates by name and version.
pub(crate) type LinkedCrates = BTreeSet<(String, String)>;

/// Returns the crates that the program links on one of these processors. `cargo metadata` also lists crates behind
/// features that nobody turned on, so `cargo tree` decides.
pub(crate) fn linked_crates(architectures: &[Architecture]) -> Result<LinkedCrates> {
    let mut crates = LinkedCrates::new();
    for architecture in architectures {
        let triple = architecture.triple();
        let arguments = ["tree", "--locked", "--package", "aloft", "--edges"];
        let form = ["normal,no-proc-macro", "--prefix", "none", "--target", &triple];
        let listed = shell::output(&shell::cargo(), &[&arguments[..], &form].concat())?;
        crates.extend(read(&listed)?);
    }
    Ok(crates)
}

/// Returns what cargo knows about all crates.
pub(crate) fn metadata() -> Result<Value> {
    let arguments = ["metadata", "--format-version=1", "--locked"];
    Ok(serde_json::from_str(&shell::output(&shell::cargo(), &arguments)?)?)
}

/// Reads lines such as `serde v1.0.0 (*)`.
fn read(listed: &str) -> Result<LinkedCrates> {
    let lines = listed.lines().filter(|line| !line.is_empty());
    let read = |line: &str| {
        let mut words = line.split_whitespace();
        let version = |word: &str| Some(word.strip_prefix('v')?.to_owned());
        Some((words.next()?.to_owned(), version(words.next()?)?))
    };
    lines
        .map(|line| {
            read(line).with_context(|| format!("cargo lists a crate in an unknown form: {line}"))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn crates_are_read_from_the_tree() {
        let listed = "aloft v0.1.0 (/crates/cli)\nserde v1.0.2\n\nserde v1.0.2 (*)\n";
        let expected = [("aloft", "0.1.0"), ("serde", "1.0.2")];
        let expected = expected.map(|(name, version)| (name.to_owned(), version.to_owned()));
        assert_eq!(read(listed).unwrap(), expected.into());
        assert!(read("what is this").unwrap_err().to_string().contains("what is this"));
    }
}
