//! Runs `terraform` or `tofu` once, isolated from the environment of the tests and with a time
//! limit.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use serde_json::Value;
use tokio::process::Command;

use super::diagnostics::RenderedDiagnostic;
use super::error::{Failure, HarnessError};

/// Maximum duration of a command. A provider that hangs fails its test.
const LIMIT: Duration = Duration::from_mins(5);
/// Environment variables that people set for their own work and that would influence a test.
const OUTSIDE: [&str; 12] = [
    "TF_CLI_ARGS",
    "TF_CLI_ARGS_apply",
    "TF_CLI_ARGS_import",
    "TF_CLI_ARGS_plan",
    "TF_CLI_ARGS_show",
    "TF_DATA_DIR",
    "TF_INPUT",
    "TF_LOG_PATH",
    "TF_PLUGIN_CACHE_DIR",
    "TF_REATTACH_PROVIDERS",
    "TF_VAR_FILE",
    "TF_WORKSPACE",
];

/// Exit code and output of a command.
#[derive(Debug, Clone)]
pub struct Output {
    /// Arguments, separated by spaces.
    pub command: String,
    /// Exit code. `None` after a signal.
    pub code: Option<i32>,
    pub stdout: String,
    /// Messages for people, and the log.
    pub stderr: String,
}

impl Output {
    pub(super) fn json(&self) -> Result<Value, HarnessError> {
        serde_json::from_str(&self.stdout)
            .map_err(|why| HarnessError::Json { command: self.command.clone(), why })
    }

    pub(super) fn failed(self, diagnostics: Vec<RenderedDiagnostic>) -> HarnessError {
        let Self { command, code, stdout: _, stderr } = self;
        HarnessError::Failed(Box::new(Failure { command, code, diagnostics, stderr }))
    }
}

/// A command's program, folder and environment.
pub(super) struct TerraformRun<'a> {
    /// Path of `terraform` or `tofu`.
    pub(super) program: &'a Path,
    /// Folder with the configuration of resources.
    pub(super) folder: &'a Path,
    /// File with the configuration of the program itself.
    pub(super) configuration: &'a Path,
    /// Environment variables.
    pub(super) variables: &'a BTreeMap<String, String>,
}

impl TerraformRun<'_> {
    /// Runs a command and returns its output, whatever its exit code.
    pub(super) async fn execute(&self, arguments: &[&str]) -> Result<Output, HarnessError> {
        let mut command = Command::new(self.program);
        command.args(arguments).current_dir(self.folder).stdin(Stdio::null()).kill_on_drop(true);
        for name in OUTSIDE {
            command.env_remove(name);
        }
        command.env("TF_CLI_CONFIG_FILE", self.configuration);
        command.envs([("TF_IN_AUTOMATION", "1"), ("CHECKPOINT_DISABLE", "1")]).envs(self.variables);
        let spelled = arguments.join(" ");
        let ended = tokio::time::timeout(LIMIT, command.output()).await;
        let Ok(output) = ended else {
            return Err(HarnessError::Late { command: spelled, seconds: LIMIT.as_secs() });
        };
        let output = output.map_err(|why| {
            if why.kind() == std::io::ErrorKind::NotFound {
                return HarnessError::Missing { program: self.program.to_owned() };
            }
            HarnessError::Start { command: spelled.clone(), why }
        })?;
        Ok(Output {
            command: spelled,
            code: output.status.code(),
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        })
    }
}
