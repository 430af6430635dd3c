//! `cargo xtask bench`: measures the service with our own target on this machine, each in its own
//! process. Results are stored durably, and every check uses a new connection. Prints a table with
//! each figure next to its threshold, and writes and compares JSON. `scenario`, `calls`, `history`,
//! `alerts`, `dashboard`, `pages` and `probe` define the figures. `process` measures a process.

mod alerts;
mod api;
mod baseline;
mod calls;
mod dashboard;
mod history;
mod observe;
mod pages;
mod probe;
mod process;
mod scenario;
mod sizes;
mod thresholds;

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail, ensure};
use serde_json::{Value, json};

use crate::shell;

const USAGE: &str = "usage: cargo xtask bench alerts|dashboard|engine|history|pages|probe|rpc… [SCENARIO…] [--quick] [--built] [--json FILE] [--compare FILE]";

/// Sets of scenarios by name.
const SETS: &[(&str, &[Scenario])] = &[
    ("alerts", alerts::ALERTS),
    ("dashboard", dashboard::DASHBOARD),
    ("engine", scenario::ENGINE),
    ("history", history::HISTORY),
    ("pages", pages::PAGES),
    ("probe", probe::PROBE),
    ("rpc", calls::RPC),
];

/// A measured figure.
struct Figure {
    /// Name of the figure.
    name: String,
    /// Number of monitors, if it matters.
    monitors: Option<usize>,
    value: f64,
    unit: &'static str,
}

/// A scenario: its name and its measurement.
type Scenario = (&'static str, fn(&process::Target, &sizes::Sizes) -> Result<Vec<Figure>>);

/// Parsed arguments.
#[derive(Debug, Default, PartialEq, Eq)]
struct BenchOptions<'a> {
    sets: Vec<&'a str>,
    scenarios: Vec<&'a str>,
    quick: bool,
    built: bool,
    json: Option<&'a str>,
    compare: Option<&'a str>,
}

/// Runs the benches that `words` name: sets, and scenarios of them or all. `--quick` runs a short
/// version, and `--built` measures existing binaries.
pub(crate) fn run(words: &[&str]) -> Result<()> {
    let asked = BenchOptions::parse(words)?;
    let chosen = choose(&asked.sets, &asked.scenarios)?;
    let earlier = asked.compare.map(read).transpose()?;
    if !asked.built {
        let packages = ["--package", "aloft", "--package", "aloft-testkit"];
        shell::run(
            &shell::cargo(),
            &[&["build", "--profile", "dist", "--bins"][..], &packages].concat(),
        )?;
    }
    let files = process::open_files()?;
    let checks = rules::limits::checks_for_files(files);
    let files = files.map_or_else(|| "unlimited".to_owned(), |files| files.to_string());
    println!("open files allowed: {files}; the service runs at most {checks} checks at a time");
    let sizes = if asked.quick { &sizes::Sizes::QUICK } else { &sizes::Sizes::FULL };
    let target = process::Target::start()?;
    let (mut figures, mut failed) = (Vec::new(), Vec::new());
    for (name, measure) in chosen {
        println!("== {name}");
        match measure(&target, sizes) {
            Ok(measured) => figures.extend(measured),
            // The other scenarios are still worth measuring.
            Err(why) => {
                println!("   FAILED: {why:#}");
                failed.push(name);
            }
        }
    }
    print(&figures, earlier.as_ref());
    if let Some(file) = asked.json {
        write(&figures, Path::new(file))?;
    }
    ensure!(failed.is_empty(), "failed scenarios: {}", failed.join(", "));
    Ok(())
}

impl<'a> BenchOptions<'a> {
    fn parse(words: &[&'a str]) -> Result<Self> {
        let mut asked = Self::default();
        let mut words = words.iter().copied();
        while let Some(word) = words.next() {
            match word {
                "--quick" => asked.quick = true,
                "--built" => asked.built = true,
                "--json" => asked.json = Some(words.next().context(USAGE)?),
                "--compare" => asked.compare = Some(words.next().context(USAGE)?),
                flag if flag.starts_with('-') => bail!("unknown flag `{flag}`; {USAGE}"),
                set if SETS.iter().any(|it| it.0 == set) && asked.scenarios.is_empty() => {
                    asked.sets.push(set);
                }
                name => asked.scenarios.push(name),
            }
        }
        ensure!(!asked.sets.is_empty(), "{USAGE}");
        Ok(asked)
    }
}

/// Returns the scenarios with these names in the sets, or all of the sets if no name is given.
fn choose(sets: &[&str], names: &[&str]) -> Result<Vec<Scenario>> {
    let asked = SETS.iter().filter(|(set, _)| sets.contains(set));
    let all: Vec<&Scenario> = asked.flat_map(|(_, scenarios)| *scenarios).collect();
    let known: Vec<&str> = all.iter().map(|(name, _)| *name).collect();
    for name in names {
        ensure!(
            known.contains(name),
            "unknown scenario `{name}`; expected one of {}",
            known.join(", ")
        );
    }
    let chosen = all.into_iter().filter(|(name, _)| names.is_empty() || names.contains(name));
    Ok(chosen.copied().collect())
}

fn print(figures: &[Figure], earlier: Option<&Value>) {
    print!(
        "\n{:<56} {:>8} {:>12} {:<5} {:>9} {:<6}",
        "figure", "monitors", "value", "unit", "bar", ""
    );
    println!("{}", if earlier.is_some() { "     earlier  ratio" } else { "" });
    for figure in figures {
        let monitors = figure.monitors.map_or_else(|| "-".to_owned(), |count| count.to_string());
        let Figure { name, value, unit, .. } = figure;
        let (bar, is_met) = thresholds::for_figure(figure).map_or((String::new(), ""), |bar| {
            (bar.to_string(), if bar.is_met(*value) { "met" } else { "MISSED" })
        });
        print!("{name:<56} {monitors:>8} {value:>12.2} {unit:<5} {bar:>9} {is_met:<6}");
        match earlier.map(|earlier| value_of(earlier, figure)) {
            None => println!(),
            Some(None) => println!("{:>12}", "-"),
            Some(Some(before)) => println!("{before:>12.2} {:>6.3}", value / before),
        }
    }
}

/// Returns the value of the same figure, with the same number of monitors, from an earlier file.
fn value_of(earlier: &Value, figure: &Figure) -> Option<f64> {
    let same = |row: &&Value| {
        row["name"] == figure.name.as_str() && row["monitors"] == json!(figure.monitors)
    };
    earlier["figures"].as_array()?.iter().find(same)?["value"].as_f64()
}

fn read(file: &str) -> Result<Value> {
    let text = fs::read_to_string(file).with_context(|| format!("cannot read `{file}`"))?;
    serde_json::from_str(&text).with_context(|| format!("`{file}` was not written by --json"))
}

fn write(figures: &[Figure], file: &Path) -> Result<()> {
    let row = |figure: &Figure| json!({"name": figure.name, "monitors": figure.monitors, "value": figure.value, "unit": figure.unit, "bar": thresholds::for_figure(figure).map(thresholds::Threshold::to_json)});
    let rows: Vec<Value> = figures.iter().map(row).collect();
    let text = format!("{:#}\n", json!({ "figures": rows }));
    fs::write(file, text).with_context(|| format!("cannot write `{}`", file.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_scenario_name_selects_all() {
        let words = ["engine", "tcp", "--quick", "saturated", "--json", "now.json"];
        let asked = BenchOptions::parse(&words).unwrap();
        assert_eq!((asked.quick, asked.built, asked.json), (true, false, Some("now.json")));
        let names: Vec<&str> =
            choose(&asked.sets, &asked.scenarios).unwrap().iter().map(|it| it.0).collect();
        assert_eq!(names, ["saturated", "tcp"]);
        let all = choose(&["rpc", "engine"], &[]).unwrap();
        assert_eq!(all.len(), calls::RPC.len() + scenario::ENGINE.len());
        let one = choose(&["rpc", "engine"], &["list"]).unwrap();
        assert_eq!(one.iter().map(|it| it.0).collect::<Vec<_>>(), ["list"]);
        assert!(choose(&["rpc"], &["tcp"]).is_err() && choose(&["rpc"], &["history"]).is_err());
        for refused in [&["engine", "--fast"][..], &["engine", "--json"], &["tcp"], &[]] {
            assert!(BenchOptions::parse(refused).is_err(), "{refused:?}");
        }
    }

    #[test]
    fn figures_are_compared_by_name_and_monitor_count() {
        let figure =
            |monitors| Figure { name: "checks".to_owned(), monitors, value: 2.0, unit: "/s" };
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("earlier.json");
        write(&[figure(Some(10)), figure(None)], &file).unwrap();
        let earlier = read(file.to_str().unwrap()).unwrap();
        assert_eq!(value_of(&earlier, &figure(Some(10))), Some(2.0));
        assert_eq!(value_of(&earlier, &figure(None)), Some(2.0));
        assert_eq!(value_of(&earlier, &figure(Some(20))), None);
    }
}
