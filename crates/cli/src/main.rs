//! The binary `aloft`: tells the commands apart. What a command does stands in the module of its
//! name; the server, the checks and the store are libraries.

mod admin;
mod check;
mod config;
mod flags;
mod serve;

use std::io::Write as _;
use std::process::ExitCode;

use anyhow::Result;
use clap::{Parser, Subcommand};

use crate::flags::Flags;

/// Many small allocations that live as long as a check: this allocator takes less time and less
/// memory for them than the system's (docs/decisions/0009-allocator.md).
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Uptime monitoring in one binary.
#[derive(Debug, Parser)]
#[command(name = "aloft", version, about, propagate_version = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Run the server: API, checks and verdicts in one process
    Serve {
        /// Begin with a workspace, a key and monitors of targets that the demo itself serves
        #[arg(long)]
        demo: bool,
        #[command(flatten)]
        flags: Flags,
    },
    /// Run one check from here and draw its phases
    Check {
        #[command(subcommand)]
        target: check::Target,
        #[command(flatten)]
        manner: check::Manner,
    },
    /// Make, list and revoke API keys
    Keys {
        #[command(subcommand)]
        action: admin::KeyAction,
        #[command(flatten)]
        place: admin::Place,
    },
    /// Make and list workspaces
    Workspaces {
        #[command(subcommand)]
        action: admin::WorkspaceAction,
        #[command(flatten)]
        place: admin::Place,
    },
    /// Print the settings that hold, and where each came from
    Config {
        #[command(flatten)]
        flags: Flags,
    },
}

fn main() -> ExitCode {
    let cli = Cli::parse();
    match run(cli.command) {
        Ok(code) => code,
        Err(why) => {
            complain(&format!("error: {why:#}"));
            ExitCode::FAILURE
        }
    }
}

fn run(command: Command) -> Result<ExitCode> {
    match command {
        Command::Serve { demo, flags } => runtime(None)?.block_on(serve::run(flags, demo)),
        Command::Check { target, manner } => runtime(Some(1))?.block_on(check::run(target, manner)),
        Command::Keys { action, place } => runtime(Some(1))?.block_on(admin::keys(action, place)),
        Command::Workspaces { action, place } => {
            runtime(Some(1))?.block_on(admin::workspaces(action, place))
        }
        Command::Config { flags } => config::run(flags),
    }
}

/// A runtime with this many threads; `None` takes one per core.
fn runtime(threads: Option<usize>) -> Result<tokio::runtime::Runtime> {
    let mut builder = tokio::runtime::Builder::new_multi_thread();
    if let Some(threads) = threads {
        builder.worker_threads(threads);
    }
    Ok(builder.enable_all().build()?)
}

/// Prints for people; a reader that went away, such as `head`, is no error.
fn say(text: &str) {
    let _ = writeln!(std::io::stdout(), "{}", text.trim_end_matches('\n'));
}

/// Prints for programs.
fn print(value: &serde_json::Value) {
    say(&value.to_string());
}

fn complain(text: &str) {
    let _ = writeln!(std::io::stderr(), "{text}");
}
