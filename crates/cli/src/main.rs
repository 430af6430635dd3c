//! The binary `aloft`: parses the command line. Leaves each command to the module with its name.
//! The server, the checks and the store are libraries.

mod admin;
mod apply;
mod channels;
mod check;
mod config;
mod content;
mod contexts;
mod database;
mod database_args;
mod doctor;
mod export;
mod field_flags;
mod flags;
mod import;
mod incidents;
mod json_input;
mod key_input;
mod login;
mod maintenance;
mod manual;
mod memory;
#[cfg(test)]
mod methods;
mod missed;
mod monitors;
mod named;
mod output;
#[cfg(test)]
mod packaging;
mod pages;
mod paging;
mod probe;
mod probes;
mod regions;
mod reports;
mod rows;
mod serve;
mod service;
mod session;
mod subscribers;
mod terraform;
mod time;
mod users;
mod workspaces;

use std::path::PathBuf;
use std::pin::Pin;
use std::process::ExitCode;

use anyhow::Result;
use clap::{CommandFactory as _, Parser, Subcommand};
use server::control::DatabaseUrl;

use crate::database_args::{ConfigArg, DatabaseArgs};
use crate::flags::Flags;

/// Allocator for many small allocations with the lifetime of a check. It needs less time and memory
/// for them than the system's (docs/decisions/0009-allocator.md).
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Meaning of the exit codes of most commands.
const EXIT_CODES: &str = "Exit codes: 0, success; 1, failure, with the reason on standard error; \
2, invalid command line. `aloft check`, `aloft monitors trigger` and `aloft apply` have more; see \
their help.";
const CHECK_EXIT_CODES: &str = "Exit codes: 0, success; 3, degraded; 1, failure; \
2, the check could not run, with the reason on standard error.";
/// Exit code of `check` if the check could not run.
const UNUSABLE: u8 = 2;

/// Uptime monitoring in one binary
#[derive(Debug, Parser)]
#[command(name = "aloft", version, about, after_help = EXIT_CODES)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Run the server: API, checks and verdicts in one process
    Serve {
        #[command(flatten)]
        start: serve::StartArgs,
        #[command(flatten)]
        flags: Flags,
    },
    /// Run the checks of a region from this machine, for a server elsewhere
    Probe {
        #[command(flatten)]
        args: Box<probe::ProbeArgs>,
    },
    /// Run one check from this machine and show its phases
    #[command(after_help = CHECK_EXIT_CODES)]
    Check {
        #[command(subcommand)]
        target: check::Target,
        #[command(flatten)]
        output_args: check::CheckArgs,
    },
    /// Create, list and revoke API keys
    Keys {
        #[command(subcommand)]
        action: admin::KeyAction,
        #[command(flatten)]
        database: DatabaseArgs,
    },
    /// List the users of the dashboard, or give one a new password
    Users {
        #[command(subcommand)]
        action: users::UserAction,
        #[command(flatten)]
        database: DatabaseArgs,
    },
    /// Create, list, show, change and delete workspaces
    Workspaces {
        #[command(subcommand)]
        action: admin::WorkspaceAction,
        #[command(flatten)]
        database: DatabaseArgs,
    },
    /// Create, list and delete probes, and rotate their tokens
    Probes {
        #[command(subcommand)]
        action: probes::ProbeAction,
        #[command(flatten)]
        database: DatabaseArgs,
    },
    /// Print who changed what in a workspace, newest first
    Audit {
        #[command(flatten)]
        args: admin::AuditArgs,
        #[command(flatten)]
        database: DatabaseArgs,
    },
    /// Back up the embedded database; works while the server runs
    Backup {
        /// File to create; it must not exist
        file: PathBuf,
        #[command(flatten)]
        database: DatabaseArgs,
    },
    /// Restore a backup of the embedded database while no server runs
    Restore {
        /// A file written by `aloft backup`
        file: PathBuf,
        #[command(flatten)]
        database: DatabaseArgs,
    },
    /// Find unreadable database rows, export them, repair or remove them
    Doctor {
        #[command(flatten)]
        treatment: doctor::Treatment,
        #[command(flatten)]
        database: DatabaseArgs,
    },
    /// Copy all data from one database to another, empty one, while no server runs
    Migrate {
        /// Source: sqlite:DIR or postgres://…
        #[arg(long, value_name = "DATABASE")]
        from: DatabaseUrl,
        /// Destination: postgres://… or sqlite:DIR
        #[arg(long, value_name = "DATABASE")]
        to: DatabaseUrl,
        #[command(flatten)]
        config: ConfigArg,
    },
    /// Store a key of a service for later commands, after a check
    Login {
        #[command(flatten)]
        args: login::LoginArgs,
    },
    /// Remove the context in use, with its key
    Logout {
        #[command(flatten)]
        args: login::LogoutArgs,
    },
    /// List, select and remove contexts: services with a stored key
    Context {
        #[command(subcommand)]
        action: login::ContextCommand,
    },
    /// Create, list, change, check and delete monitors
    Monitors {
        #[command(subcommand)]
        action: monitors::MonitorCommand,
    },
    /// List, read, acknowledge and resolve incidents
    Incidents {
        #[command(subcommand)]
        action: incidents::IncidentCommand,
    },
    /// List the slots of a monitor that nobody ran, newest first
    Missed {
        #[command(flatten)]
        args: missed::MissedArgs,
    },
    /// List, plan, end and delete maintenance
    Maintenance {
        #[command(subcommand)]
        action: maintenance::MaintenanceCommand,
    },
    /// Create, list, change, test and delete channels, list deliveries and replay them
    #[command(alias = "notifications")]
    Channels {
        #[command(subcommand)]
        action: channels::ChannelCommand,
    },
    /// List the regions that monitors can use
    Regions {
        #[command(subcommand)]
        action: regions::RegionCommand,
    },
    /// Create, update, resolve, list and delete status reports and their templates
    Reports {
        #[command(subcommand)]
        action: reports::ReportCommand,
    },
    /// List, add and remove subscribers of status pages
    Subscribers {
        #[command(subcommand)]
        action: subscribers::SubscriberCommand,
    },
    /// List, preview, publish and hide status pages
    Pages {
        #[command(subcommand)]
        action: pages::PageCommand,
    },
    /// Make a workspace match configuration files: show the plan, ask, apply
    Apply {
        #[command(flatten)]
        args: Box<apply::ApplyArgs>,
    },
    /// Export a workspace as a configuration file or for Terraform
    Export {
        #[command(flatten)]
        args: export::WorkspaceExportArgs,
    },
    /// Export a workspace as a Terraform configuration
    Terraform {
        #[command(subcommand)]
        action: terraform::TerraformCommand,
    },
    /// Write a configuration file from Uptime Kuma, Gatus and other programs and services
    Import {
        #[command(flatten)]
        args: Box<import::ImportArgs>,
    },
    /// Print the completions for a shell
    Completions {
        /// Shell to complete commands in
        shell: manual::CompletionShell,
    },
    /// Write the manual pages of all commands
    Man {
        /// Folder for the pages, such as ~/.local/share/man/man1
        #[arg(long, value_name = "FOLDER")]
        into: PathBuf,
    },
    /// Print all settings and the source of each
    Config {
        #[command(flatten)]
        flags: Flags,
    },
}

fn main() -> ExitCode {
    // Huge pages allocate 2 MiB for a few KiB that the allocator needs. Disabling them halves the
    // memory of an idle server. A kernel without them ignores the call.
    let _ = rustix::thread::disable_transparent_huge_pages(true);
    let cli = Cli::try_parse().unwrap_or_else(|error| refuse(&error));
    let on_error = match &cli.command {
        Command::Check { .. } => ExitCode::from(UNUSABLE),
        Command::Serve { .. }
        | Command::Probe { .. }
        | Command::Keys { .. }
        | Command::Users { .. }
        | Command::Workspaces { .. }
        | Command::Probes { .. }
        | Command::Audit { .. }
        | Command::Backup { .. }
        | Command::Restore { .. }
        | Command::Doctor { .. }
        | Command::Migrate { .. }
        | Command::Login { .. }
        | Command::Logout { .. }
        | Command::Context { .. }
        | Command::Monitors { .. }
        | Command::Incidents { .. }
        | Command::Missed { .. }
        | Command::Maintenance { .. }
        | Command::Channels { .. }
        | Command::Regions { .. }
        | Command::Reports { .. }
        | Command::Subscribers { .. }
        | Command::Pages { .. }
        | Command::Apply { .. }
        | Command::Export { .. }
        | Command::Terraform { .. }
        | Command::Import { .. }
        | Command::Completions { .. }
        | Command::Man { .. }
        | Command::Config { .. } => ExitCode::FAILURE,
    };
    run(cli.command).unwrap_or_else(|why| {
        output::print_stderr(&format!("error: {why:#}"));
        on_error
    })
}

/// Prints an error of the command line, or the help, and exits. With `--detailed-exitcode`, 2 means
/// changes, so that a script must not see it for an error.
fn refuse(error: &clap::Error) -> ! {
    // A closed standard error is not a reason for another exit code.
    let _ = error.print();
    let is_detailed = std::env::args_os().any(|arg| arg == "--detailed-exitcode");
    let code = if error.use_stderr() && is_detailed { 1 } else { error.exit_code() };
    std::process::exit(code)
}

fn run(command: Command) -> Result<ExitCode> {
    match command {
        Command::Serve { start, flags } => runtime(None)?.block_on(serve::run(flags, &start)),
        Command::Probe { args } => runtime(None)?.block_on(probe::run(*args)),
        Command::Check { target, output_args } => wait(check::run(target, output_args)),
        Command::Keys { action, database } => wait(admin::keys(action, database)),
        Command::Users { action, database } => wait(users::users(action, database)),
        Command::Workspaces { action, database } => wait(admin::workspaces(action, database)),
        Command::Probes { action, database } => wait(probes::run(action, database)),
        Command::Audit { args, database } => wait(admin::audit(args, database)),
        Command::Backup { file, database } => wait(database::back_up(&file, database)),
        Command::Restore { file, database } => wait(database::restore(&file, &database)),
        Command::Doctor { treatment, database } => wait(doctor::doctor(treatment, database)),
        Command::Migrate { from, to, config } => wait(database::migrate(from, to, &config)),
        Command::Maintenance { action } => {
            wait(maintenance::run(action)).map(|()| ExitCode::SUCCESS)
        }
        Command::Login { args } => wait(login::login(args)).map(|()| ExitCode::SUCCESS),
        Command::Logout { args } => login::logout(args).map(|()| ExitCode::SUCCESS),
        Command::Context { action } => login::context(action).map(|()| ExitCode::SUCCESS),
        Command::Monitors { action } => wait(monitors::run(action)),
        Command::Incidents { action } => wait(incidents::run(action)).map(|()| ExitCode::SUCCESS),
        Command::Missed { args } => wait(missed::run(args)).map(|()| ExitCode::SUCCESS),
        Command::Reports { action } => wait(reports::run(action)).map(|()| ExitCode::SUCCESS),
        Command::Subscribers { action } => {
            wait(subscribers::run(action)).map(|()| ExitCode::SUCCESS)
        }
        Command::Channels { action } => wait(channels::run(action)),
        Command::Regions { action } => wait(regions::run(action)).map(|()| ExitCode::SUCCESS),
        Command::Pages { action } => wait(pages::run(action)).map(|()| ExitCode::SUCCESS),
        Command::Apply { args } => wait(apply::run(*args)),
        Command::Export { args } => wait(export::run(args)),
        Command::Terraform { action } => wait(terraform::run(action)),
        Command::Import { args } => wait(import::run(&args)),
        Command::Completions { shell } => {
            manual::completions(shell, Cli::command());
            Ok(ExitCode::SUCCESS)
        }
        Command::Man { into } => manual::man(&into, Cli::command()).map(|()| ExitCode::SUCCESS),
        Command::Config { flags } => config::run(flags),
    }
}

/// Runs a command on one thread until it ends. The future is boxed, because the runtime would
/// otherwise contain three copies of its code.
fn wait<T>(command: impl Future<Output = Result<T>>) -> Result<T> {
    let command: Pin<Box<dyn Future<Output = Result<T>> + '_>> = Box::pin(command);
    runtime(Some(1))?.block_on(command)
}

/// Creates a runtime with this many threads. `None` means one per core.
fn runtime(threads: Option<usize>) -> Result<tokio::runtime::Runtime> {
    let mut builder = tokio::runtime::Builder::new_multi_thread();
    if let Some(threads) = threads {
        builder.worker_threads(threads);
    }
    Ok(builder.enable_all().on_thread_park(memory::return_freed).build()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_commands_are_consistent() {
        // Clap detects contradictions only in debug builds and per command.
        Cli::command().debug_assert();
    }
}
