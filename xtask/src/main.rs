//! The project's own commands, as `cargo xtask <command>`. Dispatches each command to its module.
//! Every program that a command runs is printed first.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a tool for a terminal")]
#![expect(clippy::disallowed_methods, reason = "a tool reads the environment and the clock itself")]

mod bench;
mod chaos;
mod checks;
mod codegen;
mod compress;
mod dist;
mod fuzz;
mod highlight;
mod instructions;
mod packaging;
mod provider;
mod reference;
mod release;
mod setup;
mod shell;
mod test;
mod tidy;

use std::process::ExitCode;

use anyhow::{Result, bail};

const USAGE: &str = "\
usage: cargo xtask <command>

  setup              install the tools of tests and checks (apt, npm, Go modules, cargo)
  test [ARGS…]       setup, then every test of the workspace; ARGS go to `cargo test`
  bench alerts|dashboard|engine|history|pages|probe|rpc
                     measure alerts, the dashboard, the check engine, the history, status pages, a
                     probe or calls on this machine, and print a table and JSON:
                     [SCENARIO…] [--quick] [--built] [--json FILE] [--compare FILE]
  chaos [--kills N]  kill the server while monitors flip and receivers fail, and check that no
                     alert is lost (100 kills, on both databases)
  instructions [--bless] [--built]
                     count the instructions of the hot paths, and compare or write the counts
  fuzz [TARGET…] [--seconds N]
                     fuzz each target for a minute
  packaging [--check]
                     check the files of `packaging/`, and write or compare the list of what they use
  image --binary FILE [--into FILE]
                     build an image of the program for containers, without a daemon
  dist [--target x86_64|aarch64]… [--binary FILE]… [--documents-from FILE] [--out FOLDER]
                     build the program for old systems, and write a release: archives, packages,
                     images, an SBOM, checksums and a signature
  dist --verify [FOLDER]
                     check a release, and install, upgrade and remove its packages
  dist --sign FOLDER sign a release with the key of ALOFT_SIGNING_KEY or ALOFT_SIGNING_KEY_FILE
  dist --check       verify packages of a program that does nothing
  provider install|package
                     build the Terraform provider, and install it on this machine or package a release:
                     [--into FOLDER] [--built] [--target TRIPLE]
  provider docs [--check]
                     write the provider's documentation from its schemas, or compare it
  docs [--check]     write the reference from the contract, the tables and the scenarios, and the tokens
                     of code examples, or compare them
  tidy               check the house rules that no compiler checks
  fmt                check the formatting
  lint               run clippy on everything, with warnings as errors
  codegen [--check]  write the code that comes from `proto/`, or compare it
  proto              lint the contract, and compare it with the last release
  openapi            lint the OpenAPI description
  licences           check licences, bans and sources of all dependencies
  advisories         check dependencies for known vulnerabilities (RustSec)
  checks             fmt, lint, codegen --check, docs --check, provider docs --check, proto, openapi,
                     packaging --check, dist --check, tidy, licences, advisories and instructions, in this order
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
        ("packaging", []) => packaging::run(false).and_then(|()| dist::check_packages()),
        ("packaging", ["--check"]) => packaging::run(true).and_then(|()| dist::check_packages()),
        ("image", words) => packaging::run_image(words),
        ("dist", words) => dist::run(words),
        ("setup", []) => setup::for_all(),
        ("tidy", []) => tidy::run(),
        ("codegen", []) => codegen::run(false),
        ("codegen", ["--check"]) => codegen::run(true),
        ("docs", []) => reference::run(false).and_then(|()| highlight::run(false)),
        ("docs", ["--check"]) => reference::run(true).and_then(|()| highlight::run(true)),
        ("fmt", []) => checks::format(),
        ("lint", []) => checks::lint(),
        ("proto", []) => checks::proto(),
        ("openapi", []) => checks::openapi(),
        ("licences", []) => checks::licences(),
        ("advisories", []) => checks::advisories(),
        ("checks", []) => checks::run(),
        ("ci", []) => checks::run().and_then(|()| test::run(&[])),
        ("help" | "--help" | "-h", _) => {
            println!("{USAGE}");
            Ok(())
        }
        ("", _) => bail!("missing command\n\n{USAGE}"),
        (unknown, args) => bail!("unknown command `{unknown} {}`\n\n{USAGE}", args.join(" ")),
    }
}
