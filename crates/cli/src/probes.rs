//! `aloft probes`: an operator's commands on the probes of the server, which also work while it runs.
//! Leaves the operations to `server::control`. A probe itself is another command, `aloft probe`.

use std::process::ExitCode;

use anyhow::{Result, bail};
use clap::{Args, Subcommand};
use rules::{Region, is_local_url, limits, nearest};
use serde_json::json;
use server::config::Settings;
use server::control::{CreateProbe, CreatedProbe, ProbeRow};

use crate::database_args::DatabaseArgs;
use crate::output;
use crate::output_args::RemoteArgs;
use crate::remote_probes::{self, RemoteProbe};

/// Subcommands of `aloft probes`.
#[derive(Debug, Subcommand)]
pub(crate) enum ProbeAction {
    /// Create a probe for regions and print the command that starts it, with its token, once
    Create(NewProbeArgs),
    /// List all probes with their regions and their last sign of life, newest first
    List,
    /// Give a probe a new token and print it once; the previous one stays valid until the new one
    /// is used, or for 24 hours
    Rotate {
        /// Name or ID of the probe
        #[arg(value_name = "NAME|ID")]
        probe: String,
    },
    /// Delete a probe; its token ends at once, and the server checks from its regions, except
    /// private ones
    Delete {
        /// Name or ID of the probe
        #[arg(value_name = "NAME|ID")]
        probe: String,
        /// Delete without confirmation
        #[arg(long)]
        yes: bool,
    },
}

/// Arguments of `aloft probes create`.
#[derive(Debug, Args)]
pub(crate) struct NewProbeArgs {
    /// Region that the probe serves, such as fly-ams; repeat it for several. The regions private-1 to
    /// private-16 belong to a workspace
    #[arg(long = "region", value_name = "REGION", required = true, value_parser = region)]
    regions: Vec<Region>,
    /// Slug of the workspace whose private regions the probe serves
    #[arg(long, value_name = "SLUG")]
    workspace: Option<String>,
    /// Name of up to 40 characters: lower-case words joined by single hyphens [default: the
    /// regions]
    #[arg(long)]
    name: Option<String>,
}

/// Arguments of `aloft probes`: a database, or a service.
#[derive(Debug, Args)]
pub(crate) struct ProbesArgs {
    #[command(flatten)]
    database: DatabaseArgs,
    #[command(flatten)]
    remote: RemoteArgs,
}

pub(crate) async fn run(action: ProbeAction, args: ProbesArgs) -> Result<ExitCode> {
    let ProbesArgs { database, remote } = args;
    if !remote.is_given() && (database.is_available()? || !remote.has_key()?) {
        return run_in_database(action, database).await;
    }
    let output_args = remote.output_args(database.into_json());
    match action {
        ProbeAction::Create(NewProbeArgs { workspace: Some(_), .. }) => {
            bail!("`--workspace` selects in a database; a key creates probes of its own workspace");
        }
        ProbeAction::Create(NewProbeArgs { regions, workspace: None, name }) => {
            remote_probes::create(&RemoteProbe { regions, name }, &output_args).await?;
        }
        ProbeAction::List => remote_probes::list(&output_args).await?,
        ProbeAction::Rotate { probe } => remote_probes::rotate(&probe, &output_args).await?,
        ProbeAction::Delete { probe, yes } => {
            remote_probes::delete(&probe, yes, &output_args).await?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

async fn run_in_database(action: ProbeAction, database: DatabaseArgs) -> Result<ExitCode> {
    let (admin, settings) = database.open_with_settings().await?;
    match action {
        ProbeAction::Create(NewProbeArgs { regions, workspace, name }) => {
            let created = admin.create_probe(CreateProbe { workspace, name, regions }).await?;
            print_token(&database, &settings, &created, "")?;
        }
        ProbeAction::List => {
            let rows = admin.list_probes().await?;
            database.print_result(serde_json::to_value(&rows)?, || table(&rows))?;
        }
        ProbeAction::Rotate { probe } => {
            let created = admin.rotate_probe(probe).await?;
            let hours = limits::PROBE_TOKEN_OVERLAP.as_secs() / 3_600;
            let overlap = format!(
                " The previous token stays valid until this one is used, or for {hours} hours."
            );
            print_token(&database, &settings, &created, &overlap)?;
        }
        ProbeAction::Delete { probe, yes } => {
            if !yes {
                bail!(
                    "this ends the token of probe `{probe}`, and the server checks from its regions, \
                     except private ones; add --yes to confirm"
                );
            }
            let ProbeRow { id, name, .. } = admin.delete_probe(probe).await?;
            let words = || format!("deleted probe `{name}` ({id})");
            database.print_result(json!({ "id": id, "name": name, "deleted": true }), words)?;
        }
    }
    admin.close().await?;
    Ok(ExitCode::SUCCESS)
}

/// Prints the command that starts a probe with its new token.
fn print_token(
    database: &DatabaseArgs,
    settings: &Settings,
    created: &CreatedProbe,
    overlap: &str,
) -> Result<()> {
    let CreatedProbe { id, name, regions, token, server_url } = created;
    let url = server_url.clone().unwrap_or_else(|| url_of(settings));
    let command = remote::start_command(&url, token);
    let nats = settings.nats.as_ref().map(|urls| {
        let file = format!("{name}.creds");
        let urls = urls.to_string();
        // A shell may take a question mark for a pattern.
        let urls = if urls.contains('?') { format!("'{urls}'") } else { urls };
        format!("aloft probe --nats {urls} --credentials {file} --token {}", token.expose())
    });
    let words = || {
        let nats = nats.as_ref().map_or_else(String::new, |nats| {
            let subject = "with credentials for NATS that allow only its subjects";
            format!("\nOr connect it through NATS, {subject}:\n\n{nats}\n")
        });
        let hint = if is_local_url(&url) {
            format!("\nOther machines do not reach {url}: replace it, or set `public_url`.")
        } else {
            String::new()
        };
        format!(
            "{command}\n\nRun this where probe `{name}` ({id}) checks for {}. Its token is shown \
             only once.{overlap}{hint}{nats}",
            words_of(regions)
        )
    };
    let mut result = json!({
        "id": id,
        "name": name,
        "regions": regions,
        "token": token.expose(),
        "command": command,
    });
    if let Some(nats) = &nats {
        result["nats_command"] = json!(nats);
    }
    database.print_result(result, words)
}

/// Returns the URL of a server with these settings.
fn url_of(settings: &Settings) -> String {
    settings.public_url.clone().unwrap_or_else(|| format!("http://{}", settings.listen))
}

fn table(rows: &[ProbeRow]) -> String {
    let heads = ["NAME", "ID", "REGIONS", "WORKSPACE", "LAST SEEN", "VERSION", "ADDRESS"];
    let heads = heads.map(str::to_owned);
    let row = |row: &ProbeRow| {
        let seen = match row.connected {
            Some(true) => "connected".to_owned(),
            Some(false) | None => {
                row.last_seen_at.map_or_else(|| "never".to_owned(), output::moment)
            }
        };
        [
            row.name.clone(),
            row.id.to_string(),
            words_of(&row.regions),
            row.workspace.clone().unwrap_or_default(),
            seen,
            row.version.clone().unwrap_or_default(),
            row.address.clone().unwrap_or_default(),
        ]
    };
    output::table(&[heads].into_iter().chain(rows.iter().map(row)).collect::<Vec<_>>())
}

fn words_of(regions: &[Region]) -> String {
    regions.iter().map(|region| region.as_str()).collect::<Vec<_>>().join(", ")
}

/// Parses the name of a region.
fn region(text: &str) -> Result<Region> {
    match (Region::parse(text), nearest(text, Region::WORDS)) {
        (Ok(region), _) => Ok(region),
        (Err(_), Some(meant)) => bail!("unknown region `{text}`; did you mean `{meant}`?"),
        (Err(unknown), None) => Err(unknown.into()),
    }
}
