//! `cargo xtask tidy`: checks the house rules that no compiler checks. Every file is read once into
//! a [`Tree`]. A check is a function that returns findings, listed in [`CHECKS`].

mod arrows;
mod code;
mod documents;
mod modules;
mod places;
mod tree;
mod words;

use std::fmt;

use anyhow::{Result, bail};

use tree::Tree;

/// A named rule.
struct Check {
    name: &'static str,
    run: fn(&Tree) -> Vec<Finding>,
}

/// A violation: its position and the fix.
#[derive(Debug, PartialEq, Eq)]
struct Finding {
    path: String,
    /// Line from one. `None` if the finding is about the whole file.
    line: Option<usize>,
    message: String,
}

const CHECKS: &[Check] = &[
    Check { name: "modules have a header", run: modules::opening },
    Check { name: "files are short", run: modules::length },
    Check { name: "generated code is marked", run: modules::generated },
    Check { name: "stages have the same names", run: modules::stages },
    Check { name: "dependencies between crates are allowed", run: arrows::follow },
    Check { name: "limits are in tables", run: places::limits },
    Check { name: "SQL is in the store", run: places::sql },
    Check { name: "only boot reads the environment", run: places::environment },
    Check { name: "nothing is left unfinished", run: words::unfinished },
    Check { name: "tests do not sleep", run: words::sleeps },
    Check { name: "nothing names one machine", run: words::machines },
    Check { name: "files are small enough to clone", run: modules::weight },
    Check { name: "paths in documents exist", run: documents::paths },
    Check { name: "tests named in documents exist", run: documents::tests },
    Check { name: "gaps of the specification have tests", run: documents::gaps },
    Check { name: "an index lists its pages", run: documents::listed },
    Check { name: "the map names every crate and stage", run: documents::map },
    Check { name: "the glossary has every noun", run: documents::glossary },
];

/// Reads the tree, runs every check and prints the findings.
pub(crate) fn run() -> Result<()> {
    let tree = Tree::read()?;
    let mut findings = 0;
    for check in CHECKS {
        for finding in (check.run)(&tree) {
            println!("{finding}  [{}]", check.name);
            findings += 1;
        }
    }
    if findings > 0 {
        bail!("tidy: {findings} findings in {} files", tree.files.len());
    }
    println!("tidy: {} checks over {} files, no findings", CHECKS.len(), tree.files.len());
    Ok(())
}

impl Finding {
    fn file(path: &str, message: impl Into<String>) -> Self {
        Self { path: path.to_owned(), line: None, message: message.into() }
    }

    fn line(path: &str, line: usize, message: impl Into<String>) -> Self {
        Self { path: path.to_owned(), line: Some(line), message: message.into() }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(out, "{}:{line}: {}", self.path, self.message),
            None => write!(out, "{}: {}", self.path, self.message),
        }
    }
}
