//! The binary `aloft`: parses the command line. Leaves each command to the module with its name.
//! The server, the checks and the store are libraries.

mod admin;
mod apply;
mod arrangement;
mod channel_flags;
mod channels;
mod check;
mod commands;
mod components;
mod config;
mod content;
mod contexts;
mod dashboard;
mod database;
mod database_args;
mod doctor;
mod export;
mod field_flags;
mod flags;
mod import;
mod incidents;
mod init;
mod jq;
mod json_args;
mod json_input;
mod key_input;
mod keys;
mod login;
mod maintenance;
mod manual;
mod members;
mod memory;
#[cfg(test)]
mod methods;
mod missed;
mod monitors;
mod named;
mod network_errors;
mod output;
mod output_args;
#[cfg(test)]
mod packaging;
mod pages;
mod paging;
mod probe;
mod probes;
mod regions;
mod remote_probes;
mod reports;
mod resources;
mod rows;
mod serve;
mod service;
mod session;
mod subscribers;
mod terraform;
mod time;
mod usage;
mod users;
mod watch;
mod workspaces;

use std::pin::Pin;
use std::process::ExitCode;

use anyhow::Result;
use clap::Parser;

/// Allocator for many small allocations with the lifetime of a check. It needs less time and memory
/// for them than the system's (docs/decisions/0009-allocator.md).
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Uptime monitoring in one binary
#[derive(Debug, Parser)]
#[command(name = "aloft", version, about, after_help = commands::EXIT_CODES)]
struct Cli {
    #[command(subcommand)]
    command: commands::Command,
}

fn main() -> ExitCode {
    // Huge pages allocate 2 MiB for a few KiB that the allocator needs. Disabling them halves the
    // memory of an idle server. A kernel without them ignores the call.
    let _ = rustix::thread::disable_transparent_huge_pages(true);
    let cli = Cli::try_parse().unwrap_or_else(|error| refuse(&error));
    let on_error = cli.command.failure_code();
    commands::run(cli.command).unwrap_or_else(|why| {
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
    use clap::CommandFactory as _;

    use super::*;

    #[test]
    fn all_commands_are_consistent() {
        // Clap detects contradictions only in debug builds and per command.
        Cli::command().debug_assert();
    }

    // issue 20, point 2: "`--json` (the contract's JSON), `--jq`"
    #[test]
    fn each_command_with_json_has_jq() {
        let mut commands = vec![Cli::command()];
        while let Some(command) = commands.pop() {
            let has = |id: &str| command.get_arguments().any(|arg| arg.get_id() == id);
            assert_eq!(has("json"), has("jq"), "{}", command.get_name());
            commands.extend(command.get_subcommands().cloned());
        }
    }
}
