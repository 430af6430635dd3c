//! The provider's documentation in the registry's layout. A program beside the provider makes it, so
//! that no other command has to build the provider.

use anyhow::Result;

use crate::shell;

/// The program that makes it.
const PROGRAM: &str = "provider-docs";
/// Where it lies, with the examples; the registry wants it as `docs/` (decision 0018).
const FOLDER: &str = "docs/terraform";

/// Writes the pages that differ.
pub(super) fn write() -> Result<()> {
    run(&[FOLDER])
}

/// Fails if a page is not what the schemas and examples say.
pub(crate) fn check() -> Result<()> {
    run(&["--check", FOLDER])
}

fn run(words: &[&str]) -> Result<()> {
    let mut arguments = vec!["run", "--quiet", "--locked", "--package", "aloft-provider"];
    arguments.extend(["--bin", PROGRAM, "--"]);
    arguments.extend(words);
    shell::run(&shell::cargo(), &arguments)
}
