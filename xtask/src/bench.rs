//! `cargo xtask bench engine`: the service and a target of ours on this machine, each its own
//! process, results stored durably and every check on a fresh connection. Prints a table and JSON.
//! What a figure means stands beside it in `scenario`; how a process is measured, in `process`.

mod api;
mod process;
mod scenario;

use anyhow::{Result, bail};
use serde_json::{Value, json};

use crate::shell;

const USAGE: &str = "usage: cargo xtask bench engine [--quick] [--built]";

/// One measured figure.
pub(crate) struct Figure {
    /// What was measured.
    name: &'static str,
    /// How many monitors ran, where that matters.
    monitors: Option<usize>,
    value: f64,
    unit: &'static str,
}

/// Runs the benches that `words` name: `engine`, with `--quick` for a look in a minute and `--built`
/// to measure the binaries that are there.
pub(crate) fn run(words: &[&str]) -> Result<()> {
    let ["engine", flags @ ..] = words else { bail!("{USAGE}") };
    if flags.iter().any(|flag| !["--quick", "--built"].contains(flag)) {
        bail!("{USAGE}");
    }
    if !flags.contains(&"--built") {
        let packages = ["--package", "aloft", "--package", "aloft-testkit"];
        shell::run("cargo", &[&["build", "--release", "--bins"][..], &packages].concat())?;
    }
    let sizes =
        if flags.contains(&"--quick") { &scenario::Sizes::QUICK } else { &scenario::Sizes::FULL };
    engine(sizes)
}

fn engine(sizes: &scenario::Sizes) -> Result<()> {
    let target = process::Target::start()?;
    let mut figures = scenario::idle()?;
    figures.extend(scenario::scheduled(&target, sizes)?);
    figures.extend(scenario::saturated(&target, scenario::Wire::Plain, sizes)?);
    figures.extend(scenario::saturated(&target, scenario::Wire::Tls, sizes)?);
    print(&figures);
    Ok(())
}

fn print(figures: &[Figure]) {
    println!("\n{:<44} {:>9} {:>12} unit", "figure", "monitors", "value");
    for figure in figures {
        let monitors = figure.monitors.map_or_else(|| "-".to_owned(), |count| count.to_string());
        println!("{:<44} {monitors:>9} {:>12.2} {}", figure.name, figure.value, figure.unit);
    }
    let rows: Vec<Value> = figures
        .iter()
        .map(|figure| {
            json!({"name": figure.name, "monitors": figure.monitors, "value": figure.value, "unit": figure.unit})
        })
        .collect();
    println!("\n{}", json!({ "figures": rows }));
}
