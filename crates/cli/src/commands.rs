//! The commands of the program, and the module that runs each.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use clap::{CommandFactory as _, Subcommand};
use server::control::DatabaseUrl;

use crate::database_args::{ConfigArg, DatabaseArgs};
use crate::flags::Flags;
use crate::output_args::OutputArgs;
use crate::{
    Cli, admin, apply, channels, check, components, config, dashboard, database, doctor, export,
    import, incidents, init, keys, login, maintenance, manual, members, missed, monitors, pages,
    probe, probes, regions, reports, runtime, serve, subscribers, terraform, usage, users, wait,
    watch,
};

/// Meaning of the exit codes of most commands.
pub(crate) const EXIT_CODES: &str = "Exit codes: 0, success; 1, failure, with the reason on standard error; \
2, invalid command line. `aloft check`, `aloft monitors trigger` and `aloft apply` have more; see \
their help.";
const CHECK_EXIT_CODES: &str = "Exit codes: 0, success; 3, degraded; 1, failure; \
2, the check could not run, with the reason on standard error.";
/// Exit code of `check` if the check could not run.
const UNUSABLE: u8 = 2;

/// The commands of the program.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
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
    /// Create, list and revoke API keys: in the database of a server, or of the workspace in use
    Keys {
        #[command(subcommand)]
        action: keys::KeyCommand,
        #[command(flatten)]
        args: Box<keys::KeyArgs>,
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
        args: Box<probes::ProbesArgs>,
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
    /// Set up a first alert: a monitor, channels, a test message and a first check
    Init {
        #[command(flatten)]
        args: Box<init::InitArgs>,
    },
    /// Watch monitors and open incidents live in the terminal
    Watch {
        #[command(flatten)]
        args: Box<watch::WatchArgs>,
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
    /// Create, list, change, preview, publish and delete status pages
    Pages {
        #[command(subcommand)]
        action: pages::PageCommand,
    },
    /// Create, list, change, move and delete the components of status pages
    Components {
        #[command(subcommand)]
        action: components::ComponentCommand,
    },
    /// Create, list, change, move and delete the groups of components of status pages
    Groups {
        #[command(subcommand)]
        action: components::GroupCommand,
    },
    /// List the members of the workspace and its open invitations
    #[command(after_help = members::HELP)]
    Members {
        #[command(subcommand)]
        action: members::MemberCommand,
    },
    /// Show the workspace in use with the limits of its plan and its usage
    Usage {
        #[command(flatten)]
        output_args: Box<OutputArgs>,
    },
    /// Print the address of a screen of the dashboard, and open it in a browser
    Open {
        #[command(flatten)]
        args: Box<dashboard::OpenArgs>,
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

impl Command {
    /// Returns the exit code of a failure. A check that fails is a result, so that one that could not run
    /// has another code.
    pub(crate) fn failure_code(&self) -> ExitCode {
        if matches!(self, Self::Check { .. }) {
            ExitCode::from(UNUSABLE)
        } else {
            ExitCode::FAILURE
        }
    }
}

/// Runs a command until it ends.
pub(crate) fn run(command: Command) -> Result<ExitCode> {
    match command {
        Command::Serve { start, flags } => runtime(None)?.block_on(serve::run(flags, &start)),
        Command::Probe { args } => runtime(None)?.block_on(probe::run(*args)),
        Command::Check { target, output_args } => wait(check::run(target, output_args)),
        Command::Keys { action, args } => wait(keys::run(action, *args)),
        Command::Users { action, database } => wait(users::users(action, database)),
        Command::Workspaces { action, database } => wait(admin::workspaces(action, database)),
        Command::Probes { action, args } => wait(probes::run(action, *args)),
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
        Command::Init { args } => wait(init::run(*args)),
        Command::Watch { args } => wait(watch::run(*args)).map(|()| ExitCode::SUCCESS),
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
        Command::Components { action } => {
            wait(components::components(action)).map(|()| ExitCode::SUCCESS)
        }
        Command::Groups { action } => wait(components::groups(action)).map(|()| ExitCode::SUCCESS),
        Command::Members { action } => wait(members::run(action)).map(|()| ExitCode::SUCCESS),
        Command::Usage { output_args } => {
            wait(usage::run(&output_args)).map(|()| ExitCode::SUCCESS)
        }
        Command::Open { args } => wait(dashboard::run(*args)).map(|()| ExitCode::SUCCESS),
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
