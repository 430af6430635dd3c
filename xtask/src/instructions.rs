//! `cargo xtask instructions`: how many instructions each hot path takes, counted by valgrind's
//! callgrind and held against `xtask/instructions.toml`, so that a regression is seen without a clock.
//! The work itself stands in `hot-paths` of the test kit.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};

use crate::{setup, shell};

/// A hot path, and how its instructions are counted.
struct HotPath {
    name: &'static str,
    /// What one of its times is.
    what: &'static str,
    times: u64,
    how: How,
}

enum How {
    /// Those between entry and exit of the function of this name.
    Within(&'static str),
    /// Those of the whole process with `times` less those with this many fewer: the path has threads
    /// of its own.
    Beyond(u64),
}

const HOT_PATHS: &[HotPath] = &[
    HotPath {
        name: "assess",
        what: "an HTTP success without assertions",
        times: 10_000,
        how: How::Within("*counted_assess*"),
    },
    HotPath {
        name: "judge",
        what: "a success of one of three regions",
        times: 9_000,
        how: How::Within("*counted_judge*"),
    },
    HotPath {
        name: "schedule",
        what: "a slot of 1,000 monitors in three regions, taken and finished",
        times: 30_000,
        how: How::Within("*counted_schedule*"),
    },
    HotPath {
        name: "list",
        what: "50 HTTP monitors as JSON",
        times: 40,
        how: How::Within("*counted_list*"),
    },
    HotPath { name: "commit", what: "512 results into SQLite", times: 14, how: How::Beyond(10) },
];

/// Where the numbers stand that hold.
const HELD: &str = "xtask/instructions.toml";
/// How far a count may be from the number that holds, as a share of it: another CPU takes other ways
/// through the C library, and hash maps are seeded by chance.
const TOLERANCE: f64 = 0.03;
/// Processors differ in what the C library chooses for them; valgrind passes their features on.
const TUNABLES: &str = "glibc.cpu.hwcaps=-AVX2,-AVX2_Usable,-AVX512F,-AVX512VL,-ERMS,-FSRM,-BMI2";

/// Counts all hot paths, and compares them with the numbers that hold or, with `--bless`, writes
/// them; `--built` counts the binary that is there.
pub(crate) fn run(words: &[&str]) -> Result<()> {
    if let Some(unknown) = words.iter().find(|word| !["--bless", "--built"].contains(*word)) {
        bail!("no `{unknown}`; usage: cargo xtask instructions [--bless] [--built]");
    }
    setup::for_instructions()?;
    if !words.contains(&"--built") {
        let arguments = ["build", "--release", "--package", "aloft-testkit", "--bin", "hot-paths"];
        shell::run(&shell::cargo(), &arguments)?;
    }
    let folder = tempfile::tempdir()?;
    let mut counts = Vec::new();
    for path in HOT_PATHS {
        let count = path.count(folder.path())?;
        counts.push((path.name, count.round() as u64));
    }
    let compiler = compiler()?;
    if words.contains(&"--bless") {
        return write(&counts, &compiler);
    }
    let text = fs::read_to_string(shell::workspace().join(HELD))?;
    let held: toml::Table = toml::from_str(&text).with_context(|| format!("`{HELD}`"))?;
    let slower = compare(&counts, &held);
    let counted_by = held.get("compiler").and_then(toml::Value::as_str).unwrap_or_default();
    if counted_by != compiler {
        println!(
            "`{HELD}` was counted with {counted_by} and this is {compiler}: nothing is held against it"
        );
        return Ok(());
    }
    ensure!(
        slower.is_empty(),
        "{}; mend it, or say why it is right and run `cargo xtask instructions --bless`",
        slower.join("; ")
    );
    Ok(())
}

impl HotPath {
    /// Instructions of one time.
    fn count(&self, folder: &Path) -> Result<f64> {
        let (all, times) = match self.how {
            How::Within(function) => {
                let toggle = format!("--toggle-collect={function}");
                (self.callgrind(folder, self.times, &[&toggle])?, self.times)
            }
            How::Beyond(times) => {
                let most = self.callgrind(folder, self.times, &[])?;
                (most.saturating_sub(self.callgrind(folder, self.times - times, &[])?), times)
            }
        };
        ensure!(all > 0, "nothing was counted for `{}`", self.name);
        Ok(all as f64 / times as f64)
    }

    fn callgrind(&self, folder: &Path, times: u64, more: &[&str]) -> Result<u64> {
        let out = folder.join(format!("{}.{times}", self.name));
        let mut command = shell::command("valgrind")?;
        command
            .args(["--tool=callgrind", "--quiet"])
            .arg(format!("--callgrind-out-file={}", out.display()))
            .args(more)
            .arg(program()?)
            .args([self.name, &times.to_string()])
            .env("GLIBC_TUNABLES", TUNABLES);
        shell::finish(&mut command)?;
        let profile = fs::read_to_string(&out)?;
        let totals = profile.lines().find_map(|line| line.strip_prefix("totals: "));
        totals
            .with_context(|| format!("callgrind wrote no totals for `{}`", self.name))?
            .trim()
            .parse()
            .context("the totals of callgrind are one number")
    }
}

/// Prints each count beside the number that holds; returns what is wrong.
fn compare(counts: &[(&str, u64)], held: &toml::Table) -> Vec<String> {
    let mut wrong = Vec::new();
    println!("\n{:<10} {:>12} {:>12} {:>7}  one time is", "hot path", "counted", "held", "ratio");
    for (name, count) in counts {
        let number = held.get(*name).and_then(toml::Value::as_integer);
        let Some(number) = number.filter(|number| *number > 0) else {
            wrong.push(format!("`{name}` has no number in `{HELD}`"));
            continue;
        };
        let ratio = *count as f64 / number as f64;
        let what = HOT_PATHS.iter().find(|path| path.name == *name).map_or("", |path| path.what);
        println!("{name:<10} {count:>12} {number:>12} {ratio:>7.3}  {what}");
        if ratio > 1.0 + TOLERANCE {
            wrong.push(format!("`{name}` takes {ratio:.3} times the instructions it took"));
        } else if ratio < 1.0 - TOLERANCE {
            println!("`{name}` got better: hold it there with `cargo xtask instructions --bless`");
        }
    }
    wrong
}

fn write(counts: &[(&str, u64)], compiler: &str) -> Result<()> {
    let mut lines = vec![
        "# Instructions of one time of each hot path: `cargo xtask instructions --bless` writes them,".to_owned(),
        "# `cargo xtask instructions` holds new counts against them.".to_owned(),
        format!("compiler = \"{compiler}\""),
    ];
    for (name, count) in counts {
        lines.push(format!("{name} = {count}"));
        println!("{name:<10} {count:>12}");
    }
    let text = lines.join("\n") + "\n";
    fs::write(shell::workspace().join(HELD), text).with_context(|| format!("cannot write `{HELD}`"))
}

/// The compiler and what it compiles for: another one makes other instructions.
fn compiler() -> Result<String> {
    let about = shell::output("rustc", &["--version", "--verbose"])?;
    let line = |prefix| about.lines().find_map(|line: &str| line.strip_prefix(prefix));
    match (line("release: "), line("host: ")) {
        (Some(release), Some(host)) => Ok(format!("rustc {release} {host}")),
        _ => bail!("rustc says neither its release nor its host"),
    }
}

fn program() -> Result<PathBuf> {
    let metadata =
        shell::output(&shell::cargo(), &["metadata", "--no-deps", "--format-version=1"])?;
    let metadata: serde_json::Value = serde_json::from_str(&metadata)?;
    let target = metadata["target_directory"].as_str().context("cargo names no target folder")?;
    Ok(Path::new(target).join("release/hot-paths"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn held(text: &str) -> toml::Table {
        toml::from_str(text).unwrap()
    }

    #[test]
    fn more_instructions_than_the_tolerance_are_refused_with_name_and_ratio() {
        let held = held("assess = 1000\njudge = 1000");
        assert!(compare(&[("assess", 1_030), ("judge", 900)], &held).is_empty());
        assert_eq!(
            compare(&[("assess", 1_031), ("judge", 2_000)], &held),
            [
                "`assess` takes 1.031 times the instructions it took",
                "`judge` takes 2.000 times the instructions it took",
            ]
        );
    }

    #[test]
    fn a_hot_path_without_a_number_is_refused() {
        let refused = compare(&[("assess", 1)], &held("assess = 0"));
        assert_eq!(refused, ["`assess` has no number in `xtask/instructions.toml`"]);
    }

    #[test]
    fn every_hot_path_has_a_number_that_holds() {
        let text = fs::read_to_string(shell::workspace().join(HELD)).unwrap();
        let held = held(&text);
        for path in HOT_PATHS {
            assert!(held.get(path.name).is_some_and(toml::Value::is_integer), "{}", path.name);
        }
    }
}
