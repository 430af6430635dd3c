//! `aloft export`: writes a workspace as a file for `aloft apply`, or as a Terraform configuration.

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context as _, Result, bail};
use clap::{Args, ValueEnum};
use configuration::ExportOptions;
use rules::counted;

use crate::apply;
use crate::output;
use crate::service::{KEY_HELP, Service};
use crate::session::Session;
use crate::terraform;

/// Mode of a file with secrets: only its owner may read it.
const SECRETS_MODE: u32 = 0o600;
/// Mode of other files, before the umask.
const FILE_MODE: u32 = 0o666;

/// Format and destination of an export.
#[derive(Debug, Args)]
#[command(after_help = KEY_HELP)]
pub(crate) struct WorkspaceExportArgs {
    #[command(flatten)]
    service: Service,
    /// Format of the export
    #[arg(long = "output", short = 'o', value_name = "FORMAT", default_value = "yaml")]
    format: ExportFormat,
    /// File of the YAML, or folder of Terraform's files; it must not exist [default: standard output]
    #[arg(long, value_name = "PATH")]
    out: Option<PathBuf>,
    /// Also write the values of secrets, into files that only you may read
    #[arg(long)]
    with_secrets: bool,
}

/// Format of an export.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum ExportFormat {
    /// A file for `aloft apply`
    Yaml,
    /// A configuration with import blocks
    Terraform,
}

pub(crate) async fn run(args: WorkspaceExportArgs) -> Result<ExitCode> {
    match args.format {
        ExportFormat::Yaml => yaml(&args).await?,
        ExportFormat::Terraform => {
            if args.with_secrets && args.out.is_none() {
                bail!("`--with-secrets` needs a folder for Terraform's files; add `--out FOLDER`");
            }
            terraform::export(args.service, args.out, args.with_secrets).await?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

async fn yaml(args: &WorkspaceExportArgs) -> Result<()> {
    let session = Session::open(&args.service)?;
    let owners = apply::owners(&session).await?;
    let workspace = session.read_content().await?;
    let reads_only = workspace.reads_only;
    if args.with_secrets && reads_only {
        bail!("`--with-secrets` needs a key with the scope write; this key has the scope read");
    }
    let options = ExportOptions { owners: &owners, with_secrets: args.with_secrets, reads_only };
    let export = configuration::export(&apply::existing(workspace), options);
    match &args.out {
        Some(path) => write(path, &export.text, args.with_secrets)?,
        None => output::print_text(&export.text),
    }
    let exported = format!("exported {}", counted(export.resources, "resource"));
    let variables = match export.variables.len() {
        0 => String::new(),
        count => format!(
            "; set {} before `aloft apply`, or export with --with-secrets: {}",
            counted(count, "environment variable"),
            export.variables.join(" ")
        ),
    };
    output::print_stderr(&format!("{exported}{variables}"));
    Ok(())
}

/// Writes a file. Fails if it exists, to protect existing work.
fn write(path: &Path, text: &str, with_secrets: bool) -> Result<()> {
    let mode = if with_secrets { SECRETS_MODE } else { FILE_MODE };
    let file = fs::OpenOptions::new().write(true).create_new(true).mode(mode).open(path);
    file.and_then(|mut file| file.write_all(text.as_bytes()))
        .with_context(|| format!("writing `{}`; choose a file that does not exist", path.display()))
}
