//! `cargo xtask instructions`: counts the instructions of each hot path with valgrind's callgrind
//! and compares them with `xtask/instructions.toml`. This detects regressions without a clock.
//! `crates/hot-paths` contains the work itself. With other compilers than those of the file,
//! differences are only printed.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};

use crate::{setup, shell};

/// A hot path, and how to count its instructions.
struct HotPath {
    name: &'static str,
    /// Description of one iteration.
    what: &'static str,
    times: u64,
    how: How,
    /// Allowed deviation from the expected count, as a share of it.
    tolerance: f64,
    made_by: MadeBy,
}

/// Compilers that influence a path's instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum MadeBy {
    Rust,
    /// Rust and C, because SQLite is written in C.
    RustAndC,
}

/// Compilers of a count, as they identify themselves.
#[derive(Debug, PartialEq, Eq)]
struct Compilers {
    rust: String,
    c: String,
}

enum How {
    /// Instructions between entry and exit of the function with this name.
    Within(&'static str),
    /// Difference between whole processes with `times` iterations and with this many fewer, because
    /// the path has its own threads.
    Beyond(u64),
}

const HOT_PATHS: &[HotPath] = &[
    HotPath {
        name: "assess",
        what: "an HTTP success without assertions",
        times: 10_000,
        how: How::Within("*counted_assess*"),
        tolerance: CLOSE,
        made_by: MadeBy::Rust,
    },
    HotPath {
        name: "judge",
        what: "a success of one of three regions",
        times: 9_000,
        how: How::Within("*counted_judge*"),
        tolerance: CLOSE,
        made_by: MadeBy::Rust,
    },
    HotPath {
        name: "schedule",
        what: "a slot of 1,000 monitors in three regions, taken and finished",
        times: 30_000,
        how: How::Within("*counted_schedule*"),
        tolerance: CLOSE,
        made_by: MadeBy::Rust,
    },
    HotPath {
        name: "list",
        what: "50 HTTP monitors as JSON",
        times: 40,
        how: How::Within("*counted_list*"),
        tolerance: CLOSE,
        made_by: MadeBy::Rust,
    },
    HotPath {
        name: "commit",
        what: "512 results into SQLite",
        times: 14,
        how: How::Beyond(10),
        tolerance: LOOSE,
        made_by: MadeBy::RustAndC,
    },
];

/// File with the expected counts.
const EXPECTED_COUNTS: &str = "xtask/instructions.toml";
/// Tolerance, because other processors take other paths through the C library.
const CLOSE: f64 = 0.03;
/// Tolerance for paths that also depend on random seeds of hash maps and on threads that wait for
/// each other.
const LOOSE: f64 = 0.05;
/// Disables processor features for which the C library has special code. valgrind passes the
/// processor's features on.
const TUNABLES: &str = "glibc.cpu.hwcaps=-AVX2,-AVX2_Usable,-AVX512F,-AVX512VL,-ERMS,-FSRM,-BMI2";

/// Counts all hot paths and compares them with the expected counts. `--bless` writes the counts
/// instead, and `--built` uses an existing binary.
pub(crate) fn run(words: &[&str]) -> Result<()> {
    if let Some(unknown) = words.iter().find(|word| !["--bless", "--built"].contains(*word)) {
        bail!("unknown argument `{unknown}`; usage: cargo xtask instructions [--bless] [--built]");
    }
    setup::for_instructions()?;
    if !words.contains(&"--built") {
        let arguments = ["build", "--profile", "counted", "--package", "aloft-hot-paths"];
        shell::run(&shell::cargo(), &arguments)?;
    }
    let folder = tempfile::tempdir()?;
    let mut counts = Vec::new();
    for path in HOT_PATHS {
        let count = path.count(folder.path())?;
        counts.push((path, count.round() as u64));
    }
    let compilers = Compilers::detect()?;
    if words.contains(&"--bless") {
        return write(&counts, &compilers);
    }
    let text = fs::read_to_string(shell::workspace().join(EXPECTED_COUNTS))?;
    let held: toml::Table =
        toml::from_str(&text).with_context(|| format!("`{EXPECTED_COUNTS}`"))?;
    let wrong = compare(&counts, &held, &compilers);
    ensure!(
        wrong.is_empty(),
        "{}; fix it, or give the reason in the commit and run `cargo xtask instructions --bless`",
        wrong.join("; ")
    );
    Ok(())
}

/// Runs [`run`] without arguments, for the checks.
pub(crate) fn check() -> Result<()> {
    run(&[])
}

impl HotPath {
    /// Returns the instructions of one iteration.
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
        ensure!(all > 0, "callgrind counted no instructions for `{}`", self.name);
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
            .context("the totals of callgrind are not a number")
    }
}

/// Prints each count next to the expected one. Returns the violations.
fn compare(
    counts: &[(&HotPath, u64)],
    expected: &toml::Table,
    compilers: &Compilers,
) -> Vec<String> {
    let mut wrong = Vec::new();
    println!("\n{:<10} {:>12} {:>12} {:>7}  one time is", "hot path", "counted", "held", "ratio");
    for (path, count) in counts {
        let name = path.name;
        let number = expected.get(name).and_then(toml::Value::as_integer);
        let Some(number) = number.filter(|number| *number > 0) else {
            wrong.push(format!("`{name}` has no count in `{EXPECTED_COUNTS}`"));
            continue;
        };
        let ratio = *count as f64 / number as f64;
        println!("{name:<10} {count:>12} {number:>12} {ratio:>7.3}  {}", path.what);
        if let Some(other) = compilers.other_than(expected, path.made_by) {
            println!("`{name}` was counted with {other}; skipped the comparison");
        } else if ratio > 1.0 + path.tolerance {
            wrong.push(format!("`{name}` takes {ratio:.3} times the expected instructions"));
        } else if ratio < 1.0 - path.tolerance {
            println!("`{name}` improved; record it with `cargo xtask instructions --bless`");
        }
    }
    wrong
}

fn write(counts: &[(&HotPath, u64)], compilers: &Compilers) -> Result<()> {
    let mut lines = vec![
        "# Instructions of one iteration of each hot path: `cargo xtask instructions --bless` writes them,".to_owned(),
        "# `cargo xtask instructions` compares new counts with them.".to_owned(),
        format!("compiler = \"{}\"", compilers.rust),
        format!("c_compiler = \"{}\"", compilers.c),
    ];
    for (path, count) in counts {
        lines.push(format!("{} = {count}", path.name));
        println!("{:<10} {count:>12}", path.name);
    }
    let text = lines.join("\n") + "\n";
    fs::write(shell::workspace().join(EXPECTED_COUNTS), text)
        .with_context(|| format!("failed to write `{EXPECTED_COUNTS}`"))
}

impl Compilers {
    /// Returns the compilers of this machine and their target. Others generate other instructions.
    fn detect() -> Result<Self> {
        let about = shell::output("rustc", &["--version", "--verbose"])?;
        let line = |prefix| about.lines().find_map(|line: &str| line.strip_prefix(prefix));
        let (Some(release), Some(host)) = (line("release: "), line("host: ")) else {
            bail!("rustc reports no release or no host");
        };
        let c = shell::output("cc", &["--version"])?;
        let c = c.lines().next().unwrap_or_default().replace(['"', '\\'], "");
        Ok(Self { rust: format!("rustc {release} {host}"), c })
    }

    /// Returns the recorded compiler if it differs from this machine's for such a path.
    fn other_than<'h>(&self, expected: &'h toml::Table, made_by: MadeBy) -> Option<&'h str> {
        let of = |key: &str| expected.get(key).and_then(toml::Value::as_str).unwrap_or("none");
        let (rust, c) = (of("compiler"), of("c_compiler"));
        match made_by {
            MadeBy::Rust | MadeBy::RustAndC if rust != self.rust => Some(rust),
            MadeBy::RustAndC if c != self.c => Some(c),
            MadeBy::Rust | MadeBy::RustAndC => None,
        }
    }
}

fn program() -> Result<PathBuf> {
    let metadata =
        shell::output(&shell::cargo(), &["metadata", "--no-deps", "--format-version=1"])?;
    let metadata: serde_json::Value = serde_json::from_str(&metadata)?;
    let target = metadata["target_directory"].as_str().context("cargo reports no target folder")?;
    Ok(Path::new(target).join("counted/aloft-hot-paths"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn expected(text: &str) -> toml::Table {
        toml::from_str(&format!("compiler = \"rust\"\nc_compiler = \"c\"\n{text}")).unwrap()
    }

    fn path(name: &str) -> &'static HotPath {
        HOT_PATHS.iter().find(|path| path.name == name).unwrap()
    }

    fn compilers(rust: &str, c: &str) -> Compilers {
        Compilers { rust: rust.to_owned(), c: c.to_owned() }
    }

    #[test]
    fn excess_instructions_are_reported_with_ratio() {
        let (held, same) = (expected("assess = 1000\ncommit = 1000"), compilers("rust", "c"));
        let (assess, commit) = (path("assess"), path("commit"));
        assert!(compare(&[(assess, 1_030), (commit, 900)], &held, &same).is_empty());
        assert_eq!(
            compare(&[(assess, 1_031), (commit, 1_051)], &held, &same),
            [
                "`assess` takes 1.031 times the expected instructions",
                "`commit` takes 1.051 times the expected instructions",
            ]
        );
    }

    #[test]
    fn other_compilers_are_not_compared() {
        let held = expected("assess = 1000\ncommit = 1000");
        let counts = [(path("assess"), 2_000), (path("commit"), 2_000)];
        assert_eq!(compare(&counts, &held, &compilers("rust", "another")).len(), 1);
        assert!(compare(&counts, &held, &compilers("another", "c")).is_empty());
    }

    #[test]
    fn hot_path_without_a_count_is_reported() {
        let counts = [(path("assess"), 1)];
        let refused = compare(&counts, &expected("assess = 0"), &compilers("rust", "c"));
        assert_eq!(refused, ["`assess` has no count in `xtask/instructions.toml`"]);
    }

    #[test]
    fn every_hot_path_has_an_expected_count() {
        let text = fs::read_to_string(shell::workspace().join(EXPECTED_COUNTS)).unwrap();
        let held: toml::Table = toml::from_str(&text).unwrap();
        for path in HOT_PATHS {
            assert!(held.get(path.name).is_some_and(toml::Value::is_integer), "{}", path.name);
        }
    }
}
