//! Checks that `.ci/run` runs before the tests: format, lints, the contract, packaging, the house
//! rules, licences, advisories, and instruction counts of the hot paths.

use std::time::Instant;

use anyhow::{Result, bail};

use crate::{
    codegen, dist, highlight, instructions, packaging, provider, reference, setup, shell, tidy,
};

/// A check: its printed name and its function.
type NamedCheck = (&'static str, fn() -> Result<()>);

/// Quick checks first, so that a mistake shows before the long builds.
const ALL: &[NamedCheck] = &[
    ("format", format),
    ("lints", lint),
    ("generated code", || codegen::run(true)),
    ("reference", || reference::run(true)),
    ("code examples", || highlight::run(true)),
    ("documentation", provider::check_docs),
    ("contract", proto),
    ("OpenAPI", openapi),
    ("packaging", || packaging::run(true)),
    ("packages", dist::check_packages),
    ("tidy", tidy::run),
    ("licences", licences),
    ("advisories", advisories),
    ("instructions", instructions::check),
];

/// Runs all checks and prints each with its duration. A failed check does not stop the others, so
/// that one run shows everything.
pub(crate) fn run() -> Result<()> {
    let mut failed = Vec::new();
    for (name, check) in ALL {
        println!("\n== {name}");
        let started = Instant::now();
        let outcome = check();
        let seconds = started.elapsed().as_secs_f32();
        match outcome {
            Ok(()) => println!("== {name}: fine after {seconds:.1} s"),
            Err(why) => {
                println!("== {name}: FAILED after {seconds:.1} s: {why:#}");
                failed.push(*name);
            }
        }
    }
    if !failed.is_empty() {
        bail!("{} of {} checks failed: {}", failed.len(), ALL.len(), failed.join(", "));
    }
    Ok(())
}

/// Checks formatting with rustfmt.
pub(crate) fn format() -> Result<()> {
    shell::run(&shell::cargo(), &["fmt", "--all", "--check"])
}

/// Runs Clippy on every target. Warnings are errors here, and only here.
pub(crate) fn lint() -> Result<()> {
    let args = ["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"];
    shell::run(&shell::cargo(), &args)
}

/// Runs `buf lint`, and `buf breaking` against the last release if there is one.
pub(crate) fn proto() -> Result<()> {
    setup::for_proto()?;
    shell::run("buf", &["lint"])?;
    let Some(tag) = last_release()? else {
        println!("no release tag (v…) yet; skipped the check for breaking changes");
        return Ok(());
    };
    let git = shell::output("git", &["rev-parse", "--git-common-dir"])?;
    let before = format!("{}#format=git,tag={tag}", git.trim());
    shell::run("buf", &["breaking", "--against", &before])
}

/// Lints the OpenAPI description by Redocly's recommended rules; warnings are errors.
pub(crate) fn openapi() -> Result<()> {
    let linter = setup::for_openapi()?;
    let mut command = shell::command(&linter.to_string_lossy())?;
    command.args(["lint", "docs/reference/openapi.json", "--extends", "recommended-strict"]);
    command.env("REDOCLY_TELEMETRY", "off").env("REDOCLY_SUPPRESS_UPDATE_NOTICE", "true");
    shell::finish(&mut command)
}

/// Checks licences, bans and sources by `deny.toml`.
pub(crate) fn licences() -> Result<()> {
    setup::for_licences()?;
    shell::run("cargo-deny", &["--workspace", "--locked", "check", "licenses", "bans", "sources"])
}

/// Checks dependencies against the database of `RustSec`. Prints a warning if it cannot be fetched,
/// because the checks must also run without a network.
pub(crate) fn advisories() -> Result<()> {
    setup::for_licences()?;
    let fetch = ["300", "cargo-deny", "--workspace", "--locked", "fetch", "db"];
    if let Err(why) = shell::run("timeout", &fetch) {
        println!("warning: skipped the advisories; failed to fetch the database: {why:#}");
        return Ok(());
    }
    let check = ["--workspace", "--locked", "--offline", "check", "advisories"];
    shell::run("cargo-deny", &check)
}

/// Returns the newest tag of the form `v1.2.3` in this history.
fn last_release() -> Result<Option<String>> {
    let tags =
        shell::output("git", &["tag", "--merged", "HEAD", "--sort=-v:refname", "--list", "v*"])?;
    Ok(tags.lines().next().map(str::to_owned))
}
