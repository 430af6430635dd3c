//! Errors in the settings, with the source of the value.

use super::origin::{FilePosition, Origin};

/// An error in the settings.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// Unknown setting.
    #[error("unknown setting `{given}` ({origin}); {expected}")]
    Unknown {
        /// Name as given.
        given: String,
        origin: Origin,
        /// Suggested name, or all names.
        expected: String,
    },
    /// Invalid value. Never contains the value of a secret.
    #[error("`{name}` {why} ({origin})")]
    Invalid {
        name: &'static str,
        /// Defect and allowed values, as the end of a sentence.
        why: String,
        /// Source of the value.
        origin: Origin,
    },
    /// File that is not TOML.
    #[error("the configuration file `{path}` is not valid TOML{}: {why}", shown(*.position))]
    Syntax {
        path: String,
        /// Position in the file, if known.
        position: Option<FilePosition>,
        /// Message of the parser.
        why: String,
    },
    /// Requested file that cannot be read.
    #[error("the configuration file `{path}` cannot be read: {why}")]
    Unreadable {
        path: String,
        /// Message of the operating system.
        why: String,
    },
}

fn shown(position: Option<FilePosition>) -> String {
    position.map(|position| format!(" {position}")).unwrap_or_default()
}
