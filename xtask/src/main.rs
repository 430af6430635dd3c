//! The project's own commands, as `cargo xtask <command>`: each is a module, and this file only
//! tells them apart. What a command runs is printed before it runs.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a tool for a terminal")]
#![expect(clippy::disallowed_methods, reason = "a tool reads the environment and the clock itself")]

mod bench;
mod chaos;
mod checks;
mod codegen;
mod fuzz;
mod instructions;
mod provider;
mod reference;
mod setup;
mod shell;
mod test;
mod tidy;

use std::process::ExitCode;

use anyhow::{Result, bail};

const USAGE: &str = "\
usage: cargo xtask <command>

  setup              install what the tests and the checks need (apt, npm, Go modules, cargo)
  test [ARGS…]       setup, then every test of the workspace; ARGS go to `cargo test`
  bench alerts|engine|history|pages|rpc
                     the figures of alerts, the check engine, what is kept of the past, status pages
                     or calls on this machine, as a table and as JSON:
                     [SCENARIO…] [--quick] [--built] [--json FILE] [--compare FILE]
  chaos [--kills N]  kill -9 while monitors flip and receivers fail: no alert is lost (100 kills,
                     on both databases)
  instructions [--bless] [--built]
                     count the instructions of the hot paths, and compare or write the numbers
  fuzz [TARGET…] [--seconds N]
                     inputs that nobody thought of, a minute for each target
  provider install|package
                     the Terraform provider for `terraform init` on this machine, or as a release:
                     [--into FOLDER] [--built] [--target TRIPLE]
  provider docs [--check]
                     write the provider's documentation from its schemas, or compare it
  docs [--check]     write the reference from the contract, the tables and the scenarios, or compare it
  tidy               the house rules that no compiler knows
  fmt                check the formatting
  lint               clippy on everything, warnings are errors
  codegen [--check]  write the code that comes from `proto/`, or compare it
  proto              lint the contract, and compare it with that of the last release
  licences           licences, bans and sources of all dependencies
  advisories         known vulnerabilities of all dependencies (RustSec)
  checks             fmt, lint, codegen --check, docs --check, provider docs --check, proto, tidy,
                     licences, advisories and instructions, in this order
  ci                 checks, then test";

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("error: {why:#}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<()> {
    let mut words = std::env::args().skip(1);
    let command = words.next().unwrap_or_default();
    let rest: Vec<String> = words.collect();
    let rest: Vec<&str> = rest.iter().map(String::as_str).collect();
    match (command.as_str(), rest.as_slice()) {
        ("test", args) => test::run(args),
        ("bench", words) => bench::run(words),
        ("chaos", words) => chaos::run(words),
        ("instructions", words) => instructions::run(words),
        ("fuzz", words) => fuzz::run(words),
        ("provider", words) => provider::run(words),
        ("setup", []) => setup::for_all(),
        ("tidy", []) => tidy::run(),
        ("codegen", []) => codegen::run(false),
        ("codegen", ["--check"]) => codegen::run(true),
        ("docs", []) => reference::run(false),
        ("docs", ["--check"]) => reference::run(true),
        ("fmt", []) => checks::format(),
        ("lint", []) => checks::lint(),
        ("proto", []) => checks::proto(),
        ("licences", []) => checks::licences(),
        ("advisories", []) => checks::advisories(),
        ("checks", []) => checks::run(),
        ("ci", []) => checks::run().and_then(|()| test::run(&[])),
        ("help" | "--help" | "-h", _) => {
            println!("{USAGE}");
            Ok(())
        }
        ("", _) => bail!("no command\n\n{USAGE}"),
        (unknown, args) => bail!("no command `{unknown} {}`\n\n{USAGE}", args.join(" ")),
    }
}
