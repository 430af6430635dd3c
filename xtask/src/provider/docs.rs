//! Generates the provider's documentation in the registry's layout. A separate program next to the
//! provider does it, so that other commands need not build the provider.

use anyhow::Result;

use crate::shell;

/// Name of the generating program.
const PROGRAM: &str = "provider-docs";
/// Folder of the documentation and its examples. The registry expects it as `docs/` (decision
/// 0018).
const FOLDER: &str = "docs/terraform";

/// Writes the pages that differ.
pub(super) fn write() -> Result<()> {
    run(&[FOLDER])
}

/// Fails if a page differs from the schemas and examples.
pub(crate) fn check() -> Result<()> {
    run(&["--check", FOLDER])
}

fn run(words: &[&str]) -> Result<()> {
    let mut arguments = vec!["run", "--quiet", "--locked", "--package", "aloft-provider"];
    arguments.extend(["--bin", PROGRAM, "--"]);
    arguments.extend(words);
    shell::run(&shell::cargo(), &arguments)
}
