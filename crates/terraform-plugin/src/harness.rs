//! Drives the real `terraform`, or OpenTofu's `tofu`, against a provider, for tests: a folder with a
//! configuration, commands run in it, and their results as types. A program that is missing is an error
//! and never a reason to skip. What a provider should answer belongs to the tests.
//!
//! ```no_run
//! use terraform_plugin::harness::{Action, Provider, Terraform};
//!
//! # async fn test() -> Result<(), terraform_plugin::harness::Error> {
//! let provider = Provider::new("registry.terraform.io/acme/cloud", env!("CARGO"));
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

mod error;
mod process;
mod results;
mod shown;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use tempfile::TempDir;

pub use error::Error;
pub use process::Output;
pub use results::{Action, Applied, Change, Plan, State};
pub use shown::{Place, Shown};

/// The name of the configuration that [`Terraform::configure`] writes.
const MAIN: &str = "main.tf";
/// The name of the state, of the local backend.
const STATE: &str = "terraform.tfstate";
/// Where a plan is kept between making and reading it.
const PLAN: &str = "made.tfplan";
/// The exit code of a plan that changes something.
const CHANGES: i32 = 2;

/// The registries of Terraform and of OpenTofu, which are where each looks if a source names none.
const REGISTRIES: [&str; 2] = ["registry.terraform.io", "registry.opentofu.org"];

/// A provider to use in place of one that is installed.
#[derive(Debug, Clone)]
pub struct Provider {
    /// Its source with the registry, as `registry.terraform.io/acme/cloud`.
    pub source: String,
    /// The program.
    pub program: PathBuf,
}

impl Provider {
    /// A program that stands for a source.
    pub fn new(source: impl Into<String>, program: impl Into<PathBuf>) -> Self {
        Self { source: source.into(), program: program.into() }
    }
}

/// A folder in which `terraform` runs, removed with this value.
#[derive(Debug)]
pub struct Terraform {
    folder: TempDir,
    program: PathBuf,
    variables: BTreeMap<String, String>,
}

impl Terraform {
    /// A new folder, where `providers` are used from their programs and nothing is downloaded.
    pub fn new(providers: &[Provider]) -> Result<Self, Error> {
        let folder = tempfile::tempdir().map_err(Error::Folder)?;
        let made = Self { folder, program: "terraform".into(), variables: BTreeMap::new() };
        fs::create_dir(made.folder()).map_err(Error::Folder)?;
        let overrides = providers.iter().map(|provider| made.stand_in(provider));
        let overrides = overrides.collect::<Result<String, Error>>()?;
        let text = format!(
            "provider_installation {{\n  dev_overrides {{\n{overrides}  }}\n  direct {{}}\n}}\n"
        );
        fs::write(made.cli_configuration(), text).map_err(Error::Folder)?;
        Ok(made)
    }

    /// A line of the overrides. They name folders, in which programs have the names of providers.
    fn stand_in(&self, provider: &Provider) -> Result<String, Error> {
        let name = provider.source.rsplit('/').next().unwrap_or(&provider.source);
        let program = provider
            .program
            .canonicalize()
            .map_err(|why| Error::Provider { program: provider.program.clone(), why })?;
        let folder = self.folder.path().join("providers").join(name);
        fs::create_dir_all(&folder).map_err(Error::Folder)?;
        let file = format!("terraform-provider-{name}{}", std::env::consts::EXE_SUFFIX);
        link(&program, &folder.join(file)).map_err(Error::Folder)?;
        let path = REGISTRIES.iter().find_map(|it| provider.source.strip_prefix(it));
        let sources = match path {
            Some(path) => REGISTRIES.map(|registry| format!("{registry}{path}")).to_vec(),
            None => vec![provider.source.clone()],
        };
        let folder = quoted(&folder.to_string_lossy());
        let lines = sources.iter().map(|it| format!("    {} = {folder}\n", quoted(it)));
        Ok(lines.collect::<Vec<_>>().concat())
    }

    /// Runs this program from now on: another version of `terraform`, or `tofu`. Without it, the
    /// `terraform` of the `PATH` runs.
    pub fn run_by(&mut self, program: impl Into<PathBuf>) -> &mut Self {
        self.program = program.into();
        self
    }

    /// The folder of the configuration and its state.
    pub fn folder(&self) -> PathBuf {
        self.folder.path().join("configuration")
    }

    fn cli_configuration(&self) -> PathBuf {
        self.folder.path().join("terraform.rc")
    }

    /// Sets a variable of the environment for the commands that follow.
    pub fn set(&mut self, name: impl Into<String>, value: impl Into<String>) -> &mut Self {
        self.variables.insert(name.into(), value.into());
        self
    }

    /// Writes the configuration, in place of the one before.
    pub fn configure(&self, text: &str) -> Result<(), Error> {
        self.write(MAIN, text)
    }

    /// Writes a file into the folder, or into a folder within, as `module/main.tf`.
    pub fn write(&self, name: &str, text: &str) -> Result<(), Error> {
        let file = self.folder().join(name);
        let folder = file.parent().unwrap_or(&file);
        fs::create_dir_all(folder).map_err(Error::Folder)?;
        fs::write(&file, text).map_err(Error::Folder)
    }

    /// Removes the state, as if nothing had been applied. What was made stays in the world.
    pub fn forget(&self) -> Result<(), Error> {
        match fs::remove_file(self.folder().join(STATE)) {
            Err(why) if why.kind() != std::io::ErrorKind::NotFound => Err(Error::Folder(why)),
            Ok(()) | Err(_) => Ok(()),
        }
    }

    /// `terraform validate`: what it says of the configuration, also where it is not valid.
    pub async fn validate(&self) -> Result<Vec<Shown>, Error> {
        let output = self.execute(&["validate", "-json"]).await?;
        let answer: Value = output.json()?;
        Ok(shown::listed(&answer["diagnostics"]))
    }

    /// `terraform plan`: what would change, after reading what there is.
    pub async fn plan(&self) -> Result<Plan, Error> {
        self.plan_with(&[]).await
    }

    /// As [`plan`](Self::plan) with further arguments, as `-refresh-only` or `-destroy`.
    pub async fn plan_with(&self, further: &[&str]) -> Result<Plan, Error> {
        let out = format!("-out={PLAN}");
        let mut arguments = vec!["plan", "-json", "-input=false", "-detailed-exitcode", &out];
        arguments.extend(further);
        let output = self.execute(&arguments).await?;
        let changes = output.code == Some(CHANGES);
        let shown = shown::in_lines(&output.stdout);
        if !changes && output.code != Some(0) {
            return Err(output.failed(shown));
        }
        let made = self.run(&["show", "-json", PLAN]).await?;
        Ok(Plan::of(made.json()?, changes, shown))
    }

    /// `terraform apply`, without asking.
    pub async fn apply(&self) -> Result<Applied, Error> {
        self.apply_with(&[]).await
    }

    /// As [`apply`](Self::apply) with further arguments, as `-replace=…` or `-refresh-only`.
    pub async fn apply_with(&self, further: &[&str]) -> Result<Applied, Error> {
        let mut arguments = vec!["apply", "-json", "-input=false", "-auto-approve"];
        arguments.extend(further);
        let output = self.execute(&arguments).await?;
        let shown = shown::in_lines(&output.stdout);
        if output.code != Some(0) {
            return Err(output.failed(shown));
        }
        Ok(Applied { state: self.state().await?, shown })
    }

    /// `terraform destroy`, without asking.
    pub async fn destroy(&self) -> Result<Applied, Error> {
        self.apply_with(&["-destroy"]).await
    }

    /// `terraform import`: takes what has this id into the state. The resource must be configured.
    pub async fn import(&self, address: &str, id: &str) -> Result<State, Error> {
        self.run(&["import", "-input=false", "-no-color", address, id]).await?;
        self.state().await
    }

    /// `terraform show`: the state as it is.
    pub async fn state(&self) -> Result<State, Error> {
        Ok(State::of(self.run(&["show", "-json"]).await?.json()?))
    }

    /// Any command; fails if it fails.
    pub async fn run(&self, arguments: &[&str]) -> Result<Output, Error> {
        let output = self.execute(arguments).await?;
        if output.code == Some(0) { Ok(output) } else { Err(output.failed(Vec::new())) }
    }

    /// Any command, however it ends.
    pub async fn execute(&self, arguments: &[&str]) -> Result<Output, Error> {
        let configuration = self.cli_configuration();
        let run = process::Run {
            program: &self.program,
            folder: &self.folder(),
            configuration: &configuration,
            variables: &self.variables,
        };
        run.to_the_end(arguments).await
    }
}

/// A text in quotes, as HCL reads it.
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
