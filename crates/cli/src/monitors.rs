//! `aloft monitors`: creates, reads, changes, checks and deletes monitors, by ID or name. Calls a
//! running service with a key.

mod checks;
mod find;
mod list;
mod logs;
mod show;
mod write;

use std::process::ExitCode;

use anyhow::Result;
use clap::{Args, Subcommand};
use rules::MonitorKind;

use self::write::{AnyKind, DnsKind, HeartbeatKind, HttpKind, TcpKind};
use crate::output_args::OutputArgs;
use crate::resources::InputArgs;
use crate::service::KEY_HELP;

const TRIGGER_EXIT_CODES: &str = "Exit codes: 0, all checks succeeded; 3, the worst one is degraded; \
1, one failed, or they could not run; 2, invalid command line.";

/// Subcommands of `aloft monitors`.
#[derive(Debug, Subcommand)]
pub(crate) enum MonitorCommand {
    /// List monitors with their status and tags, newest first
    List {
        #[command(flatten)]
        which: list::MonitorFilterArgs,
        #[command(flatten)]
        output_args: OutputArgs,
    },
    /// Show the arguments of a monitor, without secrets unless --json
    Get {
        #[command(flatten)]
        monitor: MonitorArg,
        #[command(flatten)]
        output_args: OutputArgs,
    },
    /// Create a monitor; it is paused without --active
    Create {
        #[command(subcommand)]
        kind: CreateCommand,
    },
    /// Change the given arguments of a monitor
    Update {
        #[command(flatten)]
        monitor: MonitorArg,
        #[command(flatten)]
        changes: Box<InputArgs<AnyKind>>,
    },
    /// Delete a monitor; asks on a terminal, and needs --yes elsewhere
    Delete {
        #[command(flatten)]
        monitor: MonitorArg,
        /// Delete without a question
        #[arg(long, short)]
        yes: bool,
        #[command(flatten)]
        output_args: OutputArgs,
    },
    /// Stop the checks of a monitor
    Pause {
        #[command(flatten)]
        monitor: MonitorArg,
        #[command(flatten)]
        output_args: OutputArgs,
    },
    /// Run the checks of a monitor
    Resume {
        #[command(flatten)]
        monitor: MonitorArg,
        #[command(flatten)]
        output_args: OutputArgs,
    },
    /// Check a monitor now in each of its regions and wait for the results
    #[command(after_help = format!("{TRIGGER_EXIT_CODES} {KEY_HELP}"))]
    Trigger {
        #[command(flatten)]
        monitor: MonitorArg,
        #[command(flatten)]
        output_args: OutputArgs,
    },
    /// Show the status of a monitor, overall and by region
    Status {
        #[command(flatten)]
        monitor: MonitorArg,
        #[command(flatten)]
        output_args: OutputArgs,
    },
    /// Replace the URL of a heartbeat monitor; the previous one ends at once
    RotateUrl {
        #[command(flatten)]
        monitor: MonitorArg,
        #[command(flatten)]
        output_args: OutputArgs,
    },
    /// List the checks of a monitor, newest first
    Logs {
        #[command(flatten)]
        monitor: MonitorArg,
        #[command(flatten)]
        which: Box<logs::LogFilterArgs>,
        #[command(flatten)]
        output_args: OutputArgs,
    },
    /// Print the address of a monitor's page in the dashboard, and open it in a browser
    Open {
        #[command(flatten)]
        monitor: MonitorArg,
        /// Only print the address
        #[arg(long)]
        print: bool,
        #[command(flatten)]
        output_args: OutputArgs,
    },
}

/// Subcommands of `aloft monitors create`, by kind.
#[derive(Debug, Subcommand)]
pub(crate) enum CreateCommand {
    /// Create a monitor that sends HTTP requests
    Http(InputArgs<HttpKind>),
    /// Create a monitor that opens TCP connections
    Tcp(InputArgs<TcpKind>),
    /// Create a monitor that looks up a domain name
    Dns(InputArgs<DnsKind>),
    /// Create a monitor that waits for calls of its URL, which a job makes
    Heartbeat(InputArgs<HeartbeatKind>),
}

/// The monitor to work on.
#[derive(Debug, Args)]
pub(crate) struct MonitorArg {
    /// ID (mon_…) or name of the monitor
    #[arg(value_name = "MONITOR")]
    monitor: String,
}

pub(crate) async fn run(action: MonitorCommand) -> Result<ExitCode> {
    match action {
        MonitorCommand::List { which, output_args } => list::list(which, &output_args).await?,
        MonitorCommand::Get { monitor, output_args } => {
            show::get(&monitor.monitor, &output_args).await?;
        }
        MonitorCommand::Create { kind } => match kind {
            CreateCommand::Http(args) => write::create(MonitorKind::Http, args).await?,
            CreateCommand::Tcp(args) => write::create(MonitorKind::Tcp, args).await?,
            CreateCommand::Dns(args) => write::create(MonitorKind::Dns, args).await?,
            CreateCommand::Heartbeat(args) => write::create(MonitorKind::Heartbeat, args).await?,
        },
        MonitorCommand::Update { monitor, changes } => {
            write::update(&monitor.monitor, *changes).await?;
        }
        MonitorCommand::Delete { monitor, yes, output_args } => {
            write::delete(&monitor.monitor, yes, &output_args).await?;
        }
        MonitorCommand::Pause { monitor, output_args } => {
            write::activate(&monitor.monitor, write::Running::Paused, &output_args).await?;
        }
        MonitorCommand::Resume { monitor, output_args } => {
            write::activate(&monitor.monitor, write::Running::Active, &output_args).await?;
        }
        MonitorCommand::Trigger { monitor, output_args } => {
            return checks::trigger(&monitor.monitor, &output_args).await;
        }
        MonitorCommand::Status { monitor, output_args } => {
            checks::status(&monitor.monitor, &output_args).await?;
        }
        MonitorCommand::RotateUrl { monitor, output_args } => {
            write::rotate_url(&monitor.monitor, &output_args).await?;
        }
        MonitorCommand::Logs { monitor, which, output_args } => {
            logs::logs(&monitor.monitor, &which, &output_args).await?;
        }
        MonitorCommand::Open { monitor, print, output_args } => {
            show::open(&monitor.monitor, print, &output_args).await?;
        }
    }
    Ok(ExitCode::SUCCESS)
}
