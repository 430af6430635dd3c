//! Runs the real `terraform`, or OpenTofu's `tofu`, against a provider, for tests. It provides a
//! folder with a configuration, runs commands in it, and returns typed results. A missing program
//! is an error and never a reason to skip. The assertions belong to the tests.
//!
//! ```no_run
//! use terraform_plugin::harness::{PlannedAction, ProviderUnderTest, Terraform};
//!
//! # async fn test() -> Result<(), terraform_plugin::harness::HarnessError> {
//! let provider = ProviderUnderTest::new("registry.terraform.io/acme/cloud", env!("CARGO"));
//! let mut terraform = Terraform::new(&[provider])?;
//! terraform.set("CLOUD_TOKEN", "secret");
//! terraform.configure(r#"
//!     terraform {
//!       required_providers {
//!         cloud = { source = "acme/cloud" }
//!       }
//!     }
//!     resource "cloud_disk" "main" {
//!       size = 10
//!     }
//! "#)?;
//! let applied = terraform.apply().await?;
//! assert_eq!(applied.state.value("cloud_disk.main", "size"), 10);
//! assert!(terraform.plan().await?.is_empty());
//! terraform.destroy().await?;
//! # Ok(())
//! # }
//! ```

mod diagnostics;
mod error;
mod process;
mod results;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use tempfile::TempDir;

pub use diagnostics::{RenderedDiagnostic, SourceRange};
pub use error::HarnessError;
pub use process::Output;
pub use results::{Applied, PlanOutput, PlannedAction, ResourceChange, StateOutput};

/// File name of the configuration that [`Terraform::configure`] writes.
const MAIN: &str = "main.tf";
/// File name of the local backend's state.
const STATE: &str = "terraform.tfstate";
/// File name of a plan between its creation and its reading.
const PLAN: &str = "made.tfplan";
/// Exit code of a plan with changes.
const CHANGES: i32 = 2;

/// The default registries of Terraform and of OpenTofu, used for sources without a host.
const REGISTRIES: [&str; 2] = ["registry.terraform.io", "registry.opentofu.org"];

/// A provider under test, used in place of an installed one.
#[derive(Debug, Clone)]
pub struct ProviderUnderTest {
    /// Source address with the registry, such as `registry.terraform.io/acme/cloud`.
    pub source: String,
    /// Path of the provider's program.
    pub program: PathBuf,
}

impl ProviderUnderTest {
    /// Creates an override of a source by a program.
    pub fn new(source: impl Into<String>, program: impl Into<PathBuf>) -> Self {
        Self { source: source.into(), program: program.into() }
    }
}

/// A temporary folder in which `terraform` runs. Dropping this value removes it.
#[derive(Debug)]
pub struct Terraform {
    folder: TempDir,
    program: PathBuf,
    variables: BTreeMap<String, String>,
}

impl Terraform {
    /// Creates a folder. `providers` run from their programs, and nothing is downloaded.
    pub fn new(providers: &[ProviderUnderTest]) -> Result<Self, HarnessError> {
        let folder = tempfile::tempdir().map_err(HarnessError::Folder)?;
        let made = Self { folder, program: "terraform".into(), variables: BTreeMap::new() };
        fs::create_dir(made.folder()).map_err(HarnessError::Folder)?;
        let overrides = providers.iter().map(|provider| made.create_stub(provider));
        let overrides = overrides.collect::<Result<String, HarnessError>>()?;
        let text = format!(
            "provider_installation {{\n  dev_overrides {{\n{overrides}  }}\n  direct {{}}\n}}\n"
        );
        fs::write(made.cli_configuration(), text).map_err(HarnessError::Folder)?;
        Ok(made)
    }

    /// Returns a line of the development overrides. An override names a folder in which the program
    /// has the name of the provider.
    fn create_stub(&self, provider: &ProviderUnderTest) -> Result<String, HarnessError> {
        let name = provider.source.rsplit('/').next().unwrap_or(&provider.source);
        let program = provider
            .program
            .canonicalize()
            .map_err(|why| HarnessError::Provider { program: provider.program.clone(), why })?;
        let folder = self.folder.path().join("providers").join(name);
        fs::create_dir_all(&folder).map_err(HarnessError::Folder)?;
        let file = format!("terraform-provider-{name}{}", std::env::consts::EXE_SUFFIX);
        link(&program, &folder.join(file)).map_err(HarnessError::Folder)?;
        let path = REGISTRIES.iter().find_map(|it| provider.source.strip_prefix(it));
        let sources = match path {
            Some(path) => REGISTRIES.map(|registry| format!("{registry}{path}")).to_vec(),
            None => vec![provider.source.clone()],
        };
        let folder = quoted(&folder.to_string_lossy());
        let lines = sources.iter().map(|it| format!("    {} = {folder}\n", quoted(it)));
        Ok(lines.collect::<Vec<_>>().concat())
    }

    /// Uses another program from now on: another version of `terraform`, or `tofu`. The default is
    /// the `terraform` of the `PATH`.
    pub fn with_program(&mut self, program: impl Into<PathBuf>) -> &mut Self {
        self.program = program.into();
        self
    }

    /// Returns the folder of the configuration and its state.
    pub fn folder(&self) -> PathBuf {
        self.folder.path().join("configuration")
    }

    fn cli_configuration(&self) -> PathBuf {
        self.folder.path().join("terraform.rc")
    }

    /// Sets an environment variable for all later commands.
    pub fn set(&mut self, name: impl Into<String>, value: impl Into<String>) -> &mut Self {
        self.variables.insert(name.into(), value.into());
        self
    }

    /// Writes the configuration and replaces an earlier one.
    pub fn configure(&self, text: &str) -> Result<(), HarnessError> {
        self.write(MAIN, text)
    }

    /// Writes a file below the folder, such as `module/main.tf`.
    pub fn write(&self, name: &str, text: &str) -> Result<(), HarnessError> {
        let file = self.folder().join(name);
        let folder = file.parent().unwrap_or(&file);
        fs::create_dir_all(folder).map_err(HarnessError::Folder)?;
        fs::write(&file, text).map_err(HarnessError::Folder)
    }

    /// Removes the state file, as if nothing had been applied. Created objects remain.
    pub fn remove_state(&self) -> Result<(), HarnessError> {
        match fs::remove_file(self.folder().join(STATE)) {
            Err(why) if why.kind() != std::io::ErrorKind::NotFound => {
                Err(HarnessError::Folder(why))
            }
            Ok(()) | Err(_) => Ok(()),
        }
    }

    /// Runs `terraform validate` and returns its diagnostics, even if the configuration is invalid.
    pub async fn validate(&self) -> Result<Vec<RenderedDiagnostic>, HarnessError> {
        let output = self.execute(&["validate", "-json"]).await?;
        let answer: Value = output.json()?;
        Ok(diagnostics::parse_list(&answer["diagnostics"]))
    }

    /// Runs `terraform plan` with a refresh.
    pub async fn plan(&self) -> Result<PlanOutput, HarnessError> {
        self.plan_with(&[]).await
    }

    /// Runs [`plan`](Self::plan) with further arguments, such as `-refresh-only` or `-destroy`.
    pub async fn plan_with(&self, further: &[&str]) -> Result<PlanOutput, HarnessError> {
        let out = format!("-out={PLAN}");
        let mut arguments = vec!["plan", "-json", "-input=false", "-detailed-exitcode", &out];
        arguments.extend(further);
        let output = self.execute(&arguments).await?;
        let changes = output.code == Some(CHANGES);
        let shown = diagnostics::parse_lines(&output.stdout);
        if !changes && output.code != Some(0) {
            return Err(output.failed(shown));
        }
        let made = self.run(&["show", "-json", PLAN]).await?;
        Ok(PlanOutput::from_json(made.json()?, changes, shown))
    }

    /// Runs `terraform apply` without a prompt.
    pub async fn apply(&self) -> Result<Applied, HarnessError> {
        self.apply_with(&[]).await
    }

    /// Runs [`apply`](Self::apply) with further arguments, such as `-replace=…` or `-refresh-only`.
    pub async fn apply_with(&self, further: &[&str]) -> Result<Applied, HarnessError> {
        let mut arguments = vec!["apply", "-json", "-input=false", "-auto-approve"];
        arguments.extend(further);
        let output = self.execute(&arguments).await?;
        let shown = diagnostics::parse_lines(&output.stdout);
        if output.code != Some(0) {
            return Err(output.failed(shown));
        }
        Ok(Applied { state: self.state().await?, diagnostics: shown })
    }

    /// Runs `terraform destroy` without a prompt.
    pub async fn destroy(&self) -> Result<Applied, HarnessError> {
        self.apply_with(&["-destroy"]).await
    }

    /// Runs `terraform import`: adds the object with this id to the state. The configuration must
    /// contain the resource.
    pub async fn import(&self, address: &str, id: &str) -> Result<StateOutput, HarnessError> {
        self.run(&["import", "-input=false", "-no-color", address, id]).await?;
        self.state().await
    }

    /// Runs `terraform show` and returns the state.
    pub async fn state(&self) -> Result<StateOutput, HarnessError> {
        Ok(StateOutput::from_json(self.run(&["show", "-json"]).await?.json()?))
    }

    /// Runs any command, and fails if the command fails.
    pub async fn run(&self, arguments: &[&str]) -> Result<Output, HarnessError> {
        let output = self.execute(arguments).await?;
        if output.code == Some(0) { Ok(output) } else { Err(output.failed(Vec::new())) }
    }

    /// Runs any command, whatever its exit code.
    pub async fn execute(&self, arguments: &[&str]) -> Result<Output, HarnessError> {
        let configuration = self.cli_configuration();
        let run = process::TerraformRun {
            program: &self.program,
            folder: &self.folder(),
            configuration: &configuration,
            variables: &self.variables,
        };
        run.execute(arguments).await
    }
}

/// Quotes a text as an HCL string.
fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\"").replace("${", "$${"))
}

#[cfg(unix)]
fn link(program: &Path, at: &Path) -> std::io::Result<()> {
    std::os::unix::fs::symlink(program, at)
}

#[cfg(not(unix))]
fn link(program: &Path, at: &Path) -> std::io::Result<()> {
    fs::copy(program, at).map(drop)
}
