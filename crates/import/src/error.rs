//! Reasons for which a source cannot be read at all. The preview has the losses of single objects.

use std::io;
use std::path::{Path, PathBuf};

/// Error of an import. Nothing was written.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    /// The operating system refused to read a file.
    #[error("failed to read `{}`: {source}", path.display())]
    Read { path: PathBuf, source: io::Error },
    /// A file breaks the syntax of its format.
    #[error("`{}`, line {line}, column {column}: {problem}", path.display())]
    Syntax { path: PathBuf, line: usize, column: usize, problem: String },
    /// A file is readable, but is not what the import needs.
    #[error("`{}` {problem}; {remedy}", path.display())]
    Unusable { path: PathBuf, problem: String, remedy: String },
    /// The operating system refused to write a file.
    #[error("failed to write `{}`: {source}", path.display())]
    Write { path: PathBuf, source: io::Error },
    /// The history could not be written.
    #[error("failed to write the history: {0}")]
    History(#[source] io::Error),
}

impl ImportError {
    /// Creates an error about a file with a way out. `problem` continues the path.
    pub(crate) fn unusable(
        path: &Path,
        problem: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Self {
        Self::Unusable { path: path.to_owned(), problem: problem.into(), remedy: remedy.into() }
    }

    /// Creates the error of a file that cannot be written.
    pub(crate) fn write(path: &Path, source: io::Error) -> Self {
        Self::Write { path: path.to_owned(), source }
    }

    /// Creates the error of a file that cannot be read.
    pub(crate) fn read(path: &Path, source: io::Error) -> Self {
        Self::Read { path: path.to_owned(), source }
    }
}
