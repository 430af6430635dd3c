//! The source of a value: a flag, a variable, a place in the file, or the default.

use std::fmt;
use std::path::PathBuf;

/// The source of a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    Flag,
    Environment,
    File { path: PathBuf, position: FilePosition },
    Default,
}

/// A position in the file, by line and column, which count from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FilePosition {
    line: usize,
    column: usize,
}

impl FilePosition {
    /// Returns the position of a byte in a text.
    pub(super) fn of_byte(text: &str, at: usize) -> Self {
        let before = text.get(..at).unwrap_or(text);
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
        Self { line, column }
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Flag => f.write_str("from a flag"),
            Self::Environment => f.write_str("from the environment"),
            Self::File { path, position } => write!(f, "from `{}` {position}", path.display()),
            Self::Default => f.write_str("default"),
        }
    }
}

impl fmt::Display for FilePosition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "at line {}, column {}", self.line, self.column)
    }
}
