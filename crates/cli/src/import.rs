//! `aloft import`: writes a configuration file of `aloft apply` from another monitoring program or service.
//! The crate `import` reads the sources, and `live` the interfaces over HTTPS.

mod live;

use std::fs::{self, OpenOptions};
use std::io::{BufWriter, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context as _, Result, bail};
use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use import::{Import, Peer, SecretStyle};
use server::boot;

use crate::output;

/// Mode of files with secrets: only their owner may read them.
const SECRETS_MODE: u32 = 0o600;
/// Mode of other files, before the umask.
const FILE_MODE: u32 = 0o666;
/// End of the help.
const SOURCES: &str = "\
Sources:
  uptime-kuma   the database kuma.db, or a JSON backup of 1.x
  gatus         its YAML file, or the folder of its files
  openstatus, better-stack, uptimerobot, statuspage
                a JSON file with answers of the interface, a folder of such files, or `--live`

The preview goes to standard error. An import changes nothing in the source or the service: check the
file, and apply it with `aloft apply`.";

/// Source and destination of an import.
#[derive(Debug, Args)]
#[command(after_help = SOURCES)]
pub(crate) struct ImportArgs {
    /// Program or service to import from
    #[arg(value_name = "PEER", value_parser = peers())]
    peer: Peer,
    /// File or folder to read
    #[arg(value_name = "SOURCE", required_unless_present = "live")]
    source: Option<PathBuf>,
    /// File for the configuration; it must not exist [default: standard output]
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// File for the values of secrets as NAME=value, which only you may read; it must not exist
    #[arg(long, value_name = "FILE", conflicts_with = "with_secrets")]
    secrets: Option<PathBuf>,
    /// Write secrets into the configuration, instead of the names of environment variables
    #[arg(long)]
    with_secrets: bool,
    /// File for past results and incidents as JSON Lines; it must not exist
    #[arg(long, value_name = "FILE")]
    history: Option<PathBuf>,
    /// Replace files that exist
    #[arg(long)]
    force: bool,
    /// Print the preview as JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    live: live::LiveArgs,
}

/// Returns a parser of the names of peers.
fn peers() -> impl TypedValueParser<Value = Peer> {
    let words = Peer::ALL.iter().map(|peer| PossibleValue::new(peer.word()).help(peer.title()));
    PossibleValuesParser::new(words).map(|word| {
        let named = Peer::ALL.iter().copied().find(|peer| peer.word() == word);
        named.expect("the parser only allows the names of peers")
    })
}

/// Imports a source. Fails without writing anything if it cannot be read.
pub(crate) async fn run(args: &ImportArgs) -> Result<ExitCode> {
    let files = [&args.output, &args.secrets, &args.history];
    for path in files.into_iter().flatten().filter(|_| !args.force) {
        if path.exists() {
            bail!("`{}` already exists; choose another file, or add `--force`", path.display());
        }
    }
    let import = match &args.source {
        Some(source) => import::read(args.peer, source, &boot::variable)?,
        None => live::read(args.peer, &args.live).await?,
    };
    let style = if args.with_secrets { SecretStyle::Inline } else { SecretStyle::Named };
    let written = import.write(style);
    if let Some(path) = &args.secrets {
        write(path, SECRETS_MODE, &written.secrets)?;
    }
    if let Some(path) = &args.history {
        write_history(&import, path, args.json)?;
    }
    let mode = if args.with_secrets { SECRETS_MODE } else { FILE_MODE };
    match &args.output {
        Some(path) => write(path, mode, &written.text)?,
        None => output::print_text(&written.text),
    }
    let preview = if args.json {
        serde_json::to_string(&written.preview).context("writing the preview")?
    } else {
        written.preview.to_text()
    };
    output::print_stderr(preview.trim_end());
    Ok(ExitCode::SUCCESS)
}

/// Writes a file at once: a reader never sees half of it.
fn write(path: &Path, mode: u32, text: &str) -> Result<()> {
    let part = part_of(path);
    let mut file = create(&part, mode)?;
    file.write_all(text.as_bytes())
        .and_then(|()| file.sync_all())
        .and_then(|()| fs::rename(&part, path))
        .with_context(|| format!("writing `{}`", path.display()))
}

fn write_history(import: &Import, path: &Path, json: bool) -> Result<()> {
    let part = part_of(path);
    let mut file = BufWriter::new(create(&part, FILE_MODE)?);
    let totals = import.write_history(&mut file)?;
    fs::rename(&part, path).with_context(|| format!("writing `{}`", path.display()))?;
    if !json {
        output::print_stderr(&format!(
            "history: {} results and {} incidents in `{}`, {} rows skipped; the service cannot take them yet",
            totals.results,
            totals.incidents,
            path.display(),
            totals.skipped,
        ));
    }
    Ok(())
}

/// Returns the path of an unfinished file.
fn part_of(path: &Path) -> PathBuf {
    let mut part = path.as_os_str().to_owned();
    part.push(".part");
    part.into()
}

fn create(path: &Path, mode: u32) -> Result<fs::File> {
    // An old unfinished file may have another mode.
    let _ = fs::remove_file(path);
    let file = OpenOptions::new().write(true).create_new(true).mode(mode).open(path);
    file.with_context(|| format!("creating `{}`", path.display()))
}
