//! What `.ci/run` asks before the tests: format, lints, the contract, the house rules, the licences,
//! known vulnerabilities, and how many instructions the hot paths take.

use std::time::Instant;

use anyhow::{Result, bail};

use crate::{codegen, instructions, provider, reference, setup, shell, tidy};

/// A check's name as printed, and what runs it.
type Check = (&'static str, fn() -> Result<()>);

/// The quick ones first, so that a slip shows before the long builds.
const ALL: &[Check] = &[
    ("format", format),
    ("lints", lint),
    ("generated code", || codegen::run(true)),
    ("reference", || reference::run(true)),
    ("documentation", provider::check_docs),
    ("contract", proto),
    ("tidy", tidy::run),
    ("licences", licences),
    ("advisories", advisories),
    ("instructions", instructions::check),
];

/// All checks, each under its heading and with the time it took; every one runs, so that one look
/// at the output is enough.
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

/// Formatting, by rustfmt's own check.
pub(crate) fn format() -> Result<()> {
    shell::run(&shell::cargo(), &["fmt", "--all", "--check"])
}

/// Clippy on every target; warnings are errors here and only here.
pub(crate) fn lint() -> Result<()> {
    let args = ["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"];
    shell::run(&shell::cargo(), &args)
}

/// `buf lint`, and `buf breaking` against the last release once there is one.
pub(crate) fn proto() -> Result<()> {
    setup::for_proto()?;
    shell::run("buf", &["lint"])?;
    let Some(tag) = last_release()? else {
        println!("no release tag (v…) yet: nothing that could break");
        return Ok(());
    };
    let git = shell::output("git", &["rev-parse", "--git-common-dir"])?;
    let before = format!("{}#format=git,tag={tag}", git.trim());
    shell::run("buf", &["breaking", "--against", &before])
}

/// Licences, bans and sources by `deny.toml`.
pub(crate) fn licences() -> Result<()> {
    setup::for_licences()?;
    shell::run("cargo-deny", &["--workspace", "--locked", "check", "licenses", "bans", "sources"])
}

/// Known vulnerabilities of dependencies, from the database of `RustSec`. Prints a warning if it cannot be
/// fetched: a machine without the network must be able to run the checks.
pub(crate) fn advisories() -> Result<()> {
    setup::for_licences()?;
    let fetch = ["300", "cargo-deny", "--workspace", "--locked", "fetch", "db"];
    if let Err(why) = shell::run("timeout", &fetch) {
        println!(
            "warning: the advisories were not checked, the database cannot be fetched: {why:#}"
        );
        return Ok(());
    }
    let check = ["--workspace", "--locked", "--offline", "check", "advisories"];
    shell::run("cargo-deny", &check)
}

/// The newest tag of the form `v1.2.3` that is part of this history.
fn last_release() -> Result<Option<String>> {
    let tags =
        shell::output("git", &["tag", "--merged", "HEAD", "--sort=-v:refname", "--list", "v*"])?;
    Ok(tags.lines().next().map(str::to_owned))
}
