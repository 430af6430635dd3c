//! `aloft terraform export`: exports a workspace as a Terraform configuration with import blocks.
//! Leaves reading to `workspace`, the content to `export`, and the syntax to `hcl`.

mod export;
mod hcl;
mod names;
mod variables;

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context as _, Result, bail};
use clap::{Args, Subcommand};

use self::export::Export;
use crate::service::{KEY_HELP, Service};
use crate::{content, output};

/// File of the secrets, which Terraform reads by default.
const SECRETS_FILE: &str = "terraform.tfvars";
/// Mode of the file with secrets: only its owner may read it.
const SECRETS_MODE: u32 = 0o600;
/// Mode of the other files, before the umask.
const FILE_MODE: u32 = 0o666;

/// Subcommands of `aloft terraform`.
#[derive(Debug, Subcommand)]
pub(crate) enum TerraformCommand {
    /// Export the workspace of a key as a configuration with import blocks
    Export(ExportArgs),
}

/// Source and destination of an export.
#[derive(Debug, Args)]
#[command(after_help = KEY_HELP)]
pub(crate) struct ExportArgs {
    #[command(flatten)]
    service: Service,
    /// Folder for the files, none of which may exist [default: standard output]
    #[arg(long, value_name = "FOLDER")]
    out: Option<PathBuf>,
    /// Also write the values of secrets, into terraform.tfvars, which only you may read
    #[arg(long, requires = "out")]
    with_secrets: bool,
}

pub(crate) async fn run(TerraformCommand::Export(args): TerraformCommand) -> Result<ExitCode> {
    export(args.service, args.out, args.with_secrets).await?;
    Ok(ExitCode::SUCCESS)
}

/// Exports the workspace to a folder, or to standard output.
pub(crate) async fn export(
    service: Service,
    out: Option<PathBuf>,
    with_secrets: bool,
) -> Result<()> {
    let client = service.client()?;
    let base_url = service.address()?;
    let workspace = content::read(&client).await.with_context(|| {
        format!("reading the workspace at {}", crate::check::without_credentials(&base_url))
    })?;
    if with_secrets && workspace.reads_only {
        bail!("`--with-secrets` needs a key with the scope write; this key has the scope read");
    }
    let export = export::export_workspace(&workspace, &base_url);
    match &out {
        Some(folder) => write(&export, folder, with_secrets)?,
        None => output::print_text(&export.text()),
    }
    output::print_stderr(&export.summary(with_secrets));
    Ok(())
}

/// Writes the files to a folder. Fails if one of them exists, to protect existing work.
fn write(export: &Export, folder: &Path, with_secrets: bool) -> Result<()> {
    let files = export.files.iter().map(|(name, text)| (*name, text, FILE_MODE));
    let secrets = export.secrets.expose();
    let secrets =
        (with_secrets && !secrets.is_empty()).then_some((SECRETS_FILE, secrets, SECRETS_MODE));
    let files: Vec<_> = files.chain(secrets).filter(|(_, text, _)| !text.is_empty()).collect();
    fs::create_dir_all(folder).with_context(|| format!("creating `{}`", folder.display()))?;
    for (name, ..) in &files {
        let path = folder.join(name);
        if path.exists() {
            bail!("`{}` already exists; choose another folder", path.display());
        }
    }
    for (name, text, mode) in files {
        let path = folder.join(name);
        let file = fs::OpenOptions::new().write(true).create_new(true).mode(mode).open(&path);
        file.and_then(|mut file| file.write_all(text.as_bytes()))
            .with_context(|| format!("writing `{}`", path.display()))?;
    }
    Ok(())
}
