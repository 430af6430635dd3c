//! `aloft open`: addresses of the dashboard, and the browser that opens them.

use std::os::unix::process::CommandExt as _;
use std::process::{Command, Stdio};

use anyhow::{Result, bail};
use clap::{Args, ValueEnum};
use serde_json::json;

use crate::incidents;
use crate::output;
use crate::output_args::OutputArgs;
use crate::resources::{self, CHANNELS, MONITORS, PAGES};
use crate::session::Session;

/// Program that opens an address in the browser of the user.
const OPENER: &str = if cfg!(target_os = "macos") { "open" } else { "xdg-open" };
/// Last part of a base URL, which the dashboard's addresses lack.
const PREFIX: &str = "/rpc";

/// Path of the keys, below the workspace.
pub(crate) const KEYS_SCREEN: &str = "/settings/keys";

/// Kind of screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Screen {
    /// A monitor, or all of them
    Monitor,
    /// A channel, or all of them
    Channel,
    /// A status page, or all of them
    Page,
    /// An incident, or all of them
    Incident,
    /// The members of the workspace
    Members,
    /// The API keys of the workspace
    Keys,
    /// The workspace
    Settings,
}

/// Arguments of `aloft open`.
#[derive(Debug, Args)]
pub(crate) struct OpenArgs {
    /// Kind of what to show; without it, the home of the workspace
    screen: Option<Screen>,
    /// ID or name; an incident also by the name of its monitor; without it, the list
    #[arg(requires = "screen")]
    name: Option<String>,
    /// Only print the address
    #[arg(long)]
    print: bool,
    #[command(flatten)]
    output_args: OutputArgs,
}

pub(crate) async fn run(args: OpenArgs) -> Result<()> {
    let session = Session::open(&args.output_args.service)?;
    let path = path(&session, args.screen, args.name.as_deref()).await?;
    show(&session, &path, args.print, &args.output_args).await
}

/// Prints the address of a path of the workspace and opens it, unless `print_only`.
pub(crate) async fn show(
    session: &Session<'_>,
    path: &str,
    print_only: bool,
    output_args: &OutputArgs,
) -> Result<()> {
    let address = address(session, path).await?;
    if !output_args.prints_data(&json!({ "url": address }), [&address])? {
        output::print_text(&address);
    }
    if !print_only && let Err(why) = open(&address) {
        output::print_stderr(&format!("no browser was opened: {why:#}"));
    }
    Ok(())
}

/// Returns the address of a path of the key's workspace in the dashboard, such as `/settings/keys`.
pub(crate) async fn address(session: &Session<'_>, path: &str) -> Result<String> {
    let workspace = session.whoami().await?.slug;
    Ok(format!("{}/w/{workspace}{path}", origin(session)?))
}

/// Returns the address of the server, without the path of its API.
pub(crate) fn origin(session: &Session<'_>) -> Result<String> {
    Ok(host_of(&session.service().address()?))
}

/// Returns a base URL without the path of the API and without credentials.
pub(crate) fn host_of(base_url: &str) -> String {
    let host = base_url.trim_end_matches('/');
    let host = host.strip_suffix(PREFIX).unwrap_or(host);
    crate::check::without_credentials(host).trim_end_matches('/').to_owned()
}

/// Opens an address in the browser of the user, without waiting for it.
pub(crate) fn open(address: &str) -> Result<()> {
    let mut opener = Command::new(OPENER);
    opener.arg(address).process_group(0);
    opener.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    match opener.spawn() {
        Ok(_) => Ok(()),
        Err(why) => bail!("failed to run `{OPENER}`: {why}"),
    }
}

/// Returns the path of a screen below the workspace.
async fn path(session: &Session<'_>, screen: Option<Screen>, name: Option<&str>) -> Result<String> {
    let Some(screen) = screen else { return Ok(String::new()) };
    let list = match screen {
        Screen::Monitor => "/monitors",
        Screen::Channel => "/channels",
        Screen::Page => "/pages",
        Screen::Incident => "/incidents",
        Screen::Members => "/settings/members",
        Screen::Keys => KEYS_SCREEN,
        Screen::Settings => "/settings",
    };
    let Some(name) = name else { return Ok(list.to_owned()) };
    let id = match screen {
        Screen::Monitor => resources::id(session, &MONITORS, name).await?,
        Screen::Channel => resources::id(session, &CHANNELS, name).await?,
        Screen::Page => resources::id(session, &PAGES, name).await?,
        Screen::Incident => incidents::id(session, name).await?,
        Screen::Members | Screen::Keys | Screen::Settings => {
            bail!(
                "`aloft open` has no name for this screen; leave out `{}`",
                output::one_line(name)
            )
        }
    };
    Ok(format!("{list}/{id}"))
}
