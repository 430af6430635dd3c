//! `cargo xtask tidy`: checks the house rules that no compiler checks. Every file is read once into
//! a [`Tree`]. A check is a function that returns findings, listed in [`CHECKS`].

mod circles;
mod code;
mod dependencies;
mod documents;
mod english;
mod imports;
mod modules;
mod places;
mod tree;
mod types;
mod words;

use std::fmt;

use anyhow::{Result, bail};

use tree::Tree;

/// A named rule.
struct TidyRule {
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

const CHECKS: &[TidyRule] = &[
    TidyRule { name: "modules have a header", run: modules::opening },
    TidyRule { name: "files are short", run: modules::length },
    TidyRule { name: "generated code is marked", run: modules::generated },
    TidyRule { name: "stages have the same names", run: modules::stages },
    TidyRule {
        name: "dependencies between crates are allowed",
        run: dependencies::check_dependencies,
    },
    TidyRule { name: "modules form no circle", run: circles::circles },
    TidyRule { name: "limits are in tables", run: places::limits },
    TidyRule { name: "SQL is in the store", run: places::sql },
    TidyRule { name: "only boot reads the environment", run: places::environment },
    TidyRule { name: "routes are in lists", run: places::routes },
    TidyRule { name: "nothing is left unfinished", run: words::unfinished },
    TidyRule { name: "tests do not sleep", run: words::sleeps },
    TidyRule { name: "nothing names one machine", run: words::machines },
    TidyRule { name: "files are small enough to clone", run: modules::weight },
    TidyRule { name: "paths in documents exist", run: documents::paths },
    TidyRule { name: "tests named in documents exist", run: documents::tests },
    TidyRule { name: "gaps of the specification have tests", run: documents::gaps },
    TidyRule { name: "limits beyond the specification are listed", run: documents::limits },
    TidyRule { name: "an index lists its pages", run: documents::listed },
    TidyRule { name: "the map names every crate and stage", run: documents::map },
    TidyRule { name: "the glossary has every noun", run: documents::glossary },
    TidyRule { name: "the glossary has only nouns of the code", run: types::entries },
    TidyRule { name: "the glossary explains public types", run: types::nouns },
    TidyRule { name: "a type name exists once per crate", run: types::unique },
    TidyRule { name: "lib.rs explains its modules", run: types::modules_explained },
    TidyRule { name: "texts are plain English", run: english::expressions },
    TidyRule { name: "test names are short and plain", run: english::test_names },
    TidyRule { name: "commit subjects are imperative", run: english::subjects },
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
