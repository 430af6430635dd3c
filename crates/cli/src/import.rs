//! `aloft import`: writes a configuration file of `aloft apply` from another monitoring program or service.
//! The crate `import` reads the sources, and `live` the interfaces over HTTPS.

mod live;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context as _, Result};
use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use import::{Destinations, Peer, SecretStyle};
use server::boot;

use crate::json_args::JsonArgs;
use crate::output;

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
    #[command(flatten)]
    json: JsonArgs,
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
    let destinations = Destinations {
        output: args.output.clone(),
        secrets: args.secrets.clone(),
        history: args.history.clone(),
        force: args.force,
    };
    destinations.check(args.peer, args.source.as_deref())?;
    let import = match &args.source {
        Some(source) => import::read(args.peer, source, &boot::variable)?,
        None => live::read(args.peer, &args.live).await?,
    };
    let style = if args.with_secrets { SecretStyle::Inline } else { SecretStyle::Named };
    let written = import.write(style);
    let totals = destinations.write(&import, &written, style)?;
    if args.output.is_none() {
        output::print_text(&written.text);
    }
    if let (Some(totals), Some(path), false) = (totals, &args.history, args.json.is_wanted()) {
        output::print_stderr(&format!(
            "history: {} results and {} incidents in `{}`, {} rows skipped; the service cannot take them yet",
            totals.results,
            totals.incidents,
            path.display(),
            totals.skipped,
        ));
    }
    if args.json.is_wanted() {
        let preview = serde_json::to_value(&written.preview).context("writing the preview")?;
        args.json.print_unchanged(&preview, |text| {
            output::print_stderr(text);
            true
        })?;
    } else {
        output::print_stderr(written.preview.to_text().trim_end());
    }
    Ok(ExitCode::SUCCESS)
}
