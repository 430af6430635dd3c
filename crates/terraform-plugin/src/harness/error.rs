//! Why a command did not do what a test wanted; its text shows what Terraform said.

use std::fmt;
use std::io;
use std::path::PathBuf;

use super::shown::Shown;

/// A command that could not be run, or that failed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// There is no `terraform` to test with.
    #[error(
        "`{}` is not there: install Terraform 1.8 or newer (https://developer.hashicorp.com/terraform/install)",
        program.display()
    )]
    Missing {
        /// What was to run.
        program: PathBuf,
    },
    /// The provider's program is not there.
    #[error("the provider {} cannot be used: {why}", program.display())]
    Provider {
        /// The path that was given.
        program: PathBuf,
        /// What the system says of it.
        #[source]
        why: io::Error,
    },
    /// A file of the harness.
    #[error("cannot write the folder of the configuration: {0}")]
    Folder(#[source] io::Error),
    /// `terraform` could not be started.
    #[error("cannot start `terraform {command}`: {why}")]
    Start {
        /// Its arguments.
        command: String,
        /// What the system says of it.
        #[source]
        why: io::Error,
    },
    /// `terraform` did not end.
    #[error("`terraform {command}` did not finish within {seconds} s")]
    Late {
        /// Its arguments.
        command: String,
        /// How long it had.
        seconds: u64,
    },
    /// `terraform` said no.
    #[error("{0}")]
    Failed(Box<Failure>),
    /// `terraform` printed something else than JSON.
    #[error("`terraform {command}` printed no JSON: {why}")]
    Json {
        /// Its arguments.
        command: String,
        /// Where the JSON ends to be one.
        #[source]
        why: serde_json::Error,
    },
}

/// A command that failed, and why.
#[derive(Debug)]
pub struct Failure {
    /// Its arguments.
    pub command: String,
    /// Its exit code.
    pub code: Option<i32>,
    /// What it said as diagnostics, where it has them as JSON.
    pub shown: Vec<Shown>,
    /// What it printed on stderr.
    pub stderr: String,
}

impl Error {
    /// What Terraform said as diagnostics, where a command failed.
    pub fn shown(&self) -> &[Shown] {
        match self {
            Self::Failed(failure) => &failure.shown,
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
        for shown in &self.shown {
            write!(out, "\n{shown}")?;
        }
        if self.stderr.is_empty() { Ok(()) } else { write!(out, "\n{}", self.stderr.trim_end()) }
    }
}
