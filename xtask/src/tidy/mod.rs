//! `cargo xtask tidy`: the house rules that no compiler knows. Every file is read once, into a
//! [`Tree`]; a check is a function over it that returns findings, and stands in [`CHECKS`].

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

/// A named rule of the house.
struct Check {
    name: &'static str,
    run: fn(&Tree) -> Vec<Finding>,
}

/// Where a rule is broken, and the way out.
#[derive(Debug, PartialEq, Eq)]
struct Finding {
    path: String,
    /// Counted from one; none when the finding is about the whole file.
    line: Option<usize>,
    message: String,
}

const CHECKS: &[Check] = &[
    Check { name: "modules say what they are", run: modules::opening },
    Check { name: "files have room", run: modules::length },
    Check { name: "generated code says so", run: modules::generated },
    Check { name: "stages have the same names", run: modules::stages },
    Check { name: "dependencies follow the arrows", run: arrows::follow },
    Check { name: "limits stand in their tables", run: places::limits },
    Check { name: "sql stays in the store", run: places::sql },
    Check { name: "the environment is read in boot", run: places::environment },
    Check { name: "nothing is left unfinished", run: words::unfinished },
    Check { name: "tests do not sleep", run: words::sleeps },
    Check { name: "nothing names one machine", run: words::machines },
    Check { name: "files are small enough to clone", run: modules::weight },
    Check { name: "paths in documents exist", run: documents::paths },
    Check { name: "tests named in documents exist", run: documents::tests },
    Check { name: "gaps of the specification are held", run: documents::gaps },
    Check { name: "an index lists its pages", run: documents::listed },
    Check { name: "the map names every crate and stage", run: documents::map },
    Check { name: "the glossary has every noun", run: documents::glossary },
];

/// Reads the tree, runs every check and prints what it found.
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
    println!("tidy: {} checks over {} files, nothing found", CHECKS.len(), tree.files.len());
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
