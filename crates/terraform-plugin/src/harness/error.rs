//! Errors of commands. Their text includes what Terraform printed.

use std::fmt;
use std::io;
use std::path::PathBuf;

use super::diagnostics::RenderedDiagnostic;

/// A command that could not run, or that failed.
#[derive(Debug, thiserror::Error)]
pub enum HarnessError {
    #[error(
        "`{}` not found: install Terraform 1.8 or newer (https://developer.hashicorp.com/terraform/install)",
        program.display()
    )]
    Missing { program: PathBuf },
    #[error("cannot run the provider {}: {why}", program.display())]
    Provider {
        program: PathBuf,
        #[source]
        why: io::Error,
    },
    /// A file of the harness could not be written.
    #[error("cannot write the folder of the configuration: {0}")]
    Folder(#[source] io::Error),
    #[error("cannot start `terraform {command}`: {why}")]
    Start {
        /// Arguments, separated by spaces.
        command: String,
        #[source]
        why: io::Error,
    },
    #[error("`terraform {command}` did not finish within {seconds} s")]
    Late {
        /// Arguments, separated by spaces.
        command: String,
        seconds: u64,
    },
    /// The command failed.
    #[error("{0}")]
    Failed(Box<Failure>),
    #[error("`terraform {command}` did not print valid JSON: {why}")]
    Json {
        /// Arguments, separated by spaces.
        command: String,
        #[source]
        why: serde_json::Error,
    },
}

/// A failed command with its diagnostics.
#[derive(Debug)]
pub struct Failure {
    /// Arguments, separated by spaces.
    pub command: String,
    pub code: Option<i32>,
    /// Diagnostics, if the command printed them as JSON.
    pub diagnostics: Vec<RenderedDiagnostic>,
    pub stderr: String,
}

impl HarnessError {
    /// Returns the diagnostics of a failed command.
    pub fn diagnostics(&self) -> &[RenderedDiagnostic] {
        match self {
            Self::Failed(failure) => &failure.diagnostics,
            Self::Missing { .. }
            | Self::Provider { .. }
            | Self::Folder(_)
            | Self::Start { .. }
            | Self::Late { .. }
            | Self::Json { .. } => &[],
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let code = self.code.map_or_else(|| "a signal".to_owned(), |code| format!("code {code}"));
        write!(out, "`terraform {}` ended with {code}", self.command)?;
        for shown in &self.diagnostics {
            write!(out, "\n{shown}")?;
        }
        if self.stderr.is_empty() { Ok(()) } else { write!(out, "\n{}", self.stderr.trim_end()) }
    }
}
