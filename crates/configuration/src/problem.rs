//! Problems of configuration files, each with its position.

use std::fmt;
use std::sync::Arc;

/// Maximum number of problems in a message.
const SHOWN_MAX: usize = 25;

/// Position of a value in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Position {
    /// Name of the file, as the user gave it.
    pub file: Arc<str>,
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
}

/// A mistake in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Position of the value. `None` if the whole input is the problem.
    pub at: Option<Position>,
    /// Path of the value, such as `monitors.shop.url`. Empty for a whole file.
    pub path: String,
    /// The rule and the way out, as the end of a sentence: `must be given`.
    pub message: String,
}

/// All problems of an input; never empty when returned as an error.
#[derive(Clone, Debug, Default, PartialEq, Eq, thiserror::Error)]
pub struct Problems(pub Vec<Problem>);

impl Problem {
    /// Creates a problem of the value at a position.
    pub fn new(at: &Position, path: impl Into<String>, message: impl Into<String>) -> Self {
        Self { at: Some(at.clone()), path: path.into(), message: message.into() }
    }

    /// Creates a problem without a position.
    pub fn of_input(message: impl Into<String>) -> Self {
        Self { at: None, path: String::new(), message: message.into() }
    }
}

impl Problems {
    /// Creates the problems in the order of their positions.
    pub(crate) fn sorted(mut problems: Vec<Problem>) -> Self {
        let position = |problem: &Problem| {
            problem.at.as_ref().map(|at| (Arc::clone(&at.file), at.line, at.column))
        };
        problems.sort_by_key(position);
        Self(problems)
    }
}

impl From<Problem> for Problems {
    fn from(problem: Problem) -> Self {
        Self(vec![problem])
    }
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.file, self.line, self.column)
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(at) = &self.at {
            write!(f, "{at}: ")?;
        }
        if !self.path.is_empty() {
            write!(f, "`{}` ", self.path)?;
        }
        f.write_str(&self.message)
    }
}

impl fmt::Display for Problems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, problem) in self.0.iter().take(SHOWN_MAX).enumerate() {
            if index > 0 {
                f.write_str("\n")?;
            }
            problem.fmt(f)?;
        }
        match self.0.len().saturating_sub(SHOWN_MAX) {
            0 => Ok(()),
            more => write!(f, "\nand {more} more"),
        }
    }
}
