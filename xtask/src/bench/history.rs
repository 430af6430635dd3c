//! Measures the speed of reads from a large history, and the size of a result on disk. The store's
//! example `history_cost` creates the history and times the reads. This module parses its figures.

use anyhow::{Context, Result};

use super::process::Target;
use super::sizes::Sizes;
use super::{Figure, Scenario};
use crate::shell;

pub(super) const HISTORY: &[Scenario] = &[("history", history)];

fn history(_: &Target, sizes: &Sizes) -> Result<Vec<Figure>> {
    let hours = sizes.history_hours.to_string();
    let example = ["run", "--profile", "dist", "--quiet", "--package", "aloft-store", "--example"];
    let printed =
        shell::output(&shell::cargo(), &[&example[..], &["history_cost", "--", &hours]].concat())?;
    let figures = read(&printed)?;
    anyhow::ensure!(!figures.is_empty(), "the example printed no figure: {printed}");
    Ok(figures)
}

/// Parses the output of the example: `what: middle 1.2ms, worst 3.4ms`, and bytes.
fn read(printed: &str) -> Result<Vec<Figure>> {
    let figure = |name: String, value, unit| Figure { name, monitors: None, value, unit };
    let mut figures = Vec::new();
    for line in printed.lines() {
        let Some((what, figure_text)) = line.split_once(": ") else { continue };
        let name = format!("history: {what}");
        if let Some((middle, worst)) = figure_text.split_once(", worst ") {
            let Some(middle) = middle.strip_prefix("middle ") else { continue };
            figures.push(figure(format!("{name}, middle"), millis(middle)?, "ms"));
            figures.push(figure(format!("{name}, worst"), millis(worst)?, "ms"));
        } else if what.starts_with("bytes") {
            figures.push(figure(name, figure_text.parse()?, "B"));
        }
    }
    Ok(figures)
}

/// Parses a duration as Rust prints it.
fn millis(text: &str) -> Result<f64> {
    let units = [("ns", 1e-6), ("µs", 1e-3), ("ms", 1.0), ("s", 1e3)];
    let found = units.iter().find_map(|(unit, factor)| Some((text.strip_suffix(unit)?, factor)));
    let (number, factor) = found.with_context(|| format!("`{text}` is not a duration"))?;
    Ok(number.parse::<f64>().with_context(|| format!("`{text}` is not a duration"))? * factor)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_parsed_with_units() {
        let printed = "commit, 80 at a time: 2.10 µs each, 3 CPU µs each\n\
            newest 25 logs: middle 812.5µs, worst 1.25ms\n\
            summary of 90 days: middle 2ms, worst 1.5s\n\
            bytes on disk for each: 31.4\n";
        let figures = read(printed).unwrap();
        let shown: Vec<_> =
            figures.iter().map(|it| (it.name.as_str(), it.value, it.unit)).collect();
        assert_eq!(
            shown,
            [
                ("history: newest 25 logs, middle", 0.8125, "ms"),
                ("history: newest 25 logs, worst", 1.25, "ms"),
                ("history: summary of 90 days, middle", 2.0, "ms"),
                ("history: summary of 90 days, worst", 1_500.0, "ms"),
                ("history: bytes on disk for each", 31.4, "B"),
            ]
        );
        assert!(read("a: middle soon, worst later").is_err());
    }
}
