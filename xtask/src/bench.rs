//! `cargo xtask bench engine`: the service and a target of ours on this machine, each its own
//! process, results stored durably and every check on a fresh connection. Prints a table and JSON.
//! What a figure means stands beside it in `scenario`; how a process is measured, in `process`.

mod api;
mod process;
mod scenario;

use anyhow::{Result, bail};
use serde_json::{Value, json};

use crate::shell;

/// One measured figure.
pub(crate) struct Figure {
    /// What was measured.
    name: &'static str,
    /// How many monitors ran, where that matters.
    monitors: Option<usize>,
    value: f64,
    unit: &'static str,
}

/// Runs the benches that `words` name.
pub(crate) fn run(words: &[&str]) -> Result<()> {
    match words {
        ["engine"] => engine(&scenario::Sizes::FULL),
        ["engine", "--quick"] => engine(&scenario::Sizes::QUICK),
        _ => bail!("usage: cargo xtask bench engine [--quick]"),
    }
}

fn engine(sizes: &scenario::Sizes) -> Result<()> {
    shell::run("cargo", &["build", "--release", "--package", "aloft", "--package", "aloft-testkit", "--bins"])?;
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
