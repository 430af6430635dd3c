//! `cargo xtask instructions`: how many instructions each hot path takes, counted by valgrind's
//! callgrind and held against `xtask/instructions.toml`, so that a regression is seen without a clock.
//! The work itself stands in `crates/hot-paths`. Counts are held where the compilers are those that
//! the numbers were counted with, and only told where they are others.

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
    /// How far a count may be from the number that holds, as a share of it.
    tolerance: f64,
    made_by: MadeBy,
}

/// Which compilers a path's instructions come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum MadeBy {
    Rust,
    /// SQLite is C.
    RustAndC,
}

/// The compilers of a count, as they name themselves.
#[derive(Debug, PartialEq, Eq)]
struct Compilers {
    rust: String,
    c: String,
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

/// Where the numbers stand that hold.
const HELD: &str = "xtask/instructions.toml";
/// Another processor takes other ways through the C library.
const CLOSE: f64 = 0.03;
/// Beside that hash maps are seeded by chance, and threads wait for each other.
const LOOSE: f64 = 0.05;
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
        let arguments = ["build", "--profile", "counted", "--package", "aloft-hot-paths"];
        shell::run(&shell::cargo(), &arguments)?;
    }
    let folder = tempfile::tempdir()?;
    let mut counts = Vec::new();
    for path in HOT_PATHS {
        let count = path.count(folder.path())?;
        counts.push((path, count.round() as u64));
    }
    let compilers = Compilers::here()?;
    if words.contains(&"--bless") {
        return write(&counts, &compilers);
    }
    let text = fs::read_to_string(shell::workspace().join(HELD))?;
    let held: toml::Table = toml::from_str(&text).with_context(|| format!("`{HELD}`"))?;
    let wrong = compare(&counts, &held, &compilers);
    ensure!(
        wrong.is_empty(),
        "{}; mend it, or say in the commit why it is right and run `cargo xtask instructions --bless`",
        wrong.join("; ")
    );
    Ok(())
}

/// As [`run`] without words: for the checks.
pub(crate) fn check() -> Result<()> {
    run(&[])
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
fn compare(counts: &[(&HotPath, u64)], held: &toml::Table, compilers: &Compilers) -> Vec<String> {
    let mut wrong = Vec::new();
    println!("\n{:<10} {:>12} {:>12} {:>7}  one time is", "hot path", "counted", "held", "ratio");
    for (path, count) in counts {
        let name = path.name;
        let number = held.get(name).and_then(toml::Value::as_integer);
        let Some(number) = number.filter(|number| *number > 0) else {
            wrong.push(format!("`{name}` has no number in `{HELD}`"));
            continue;
        };
        let ratio = *count as f64 / number as f64;
        println!("{name:<10} {count:>12} {number:>12} {ratio:>7.3}  {}", path.what);
        if let Some(other) = compilers.other_than(held, path.made_by) {
            println!("`{name}` was counted with {other}, and is not held against that");
        } else if ratio > 1.0 + path.tolerance {
            wrong.push(format!("`{name}` takes {ratio:.3} times the instructions it took"));
        } else if ratio < 1.0 - path.tolerance {
            println!("`{name}` got better: hold it there with `cargo xtask instructions --bless`");
        }
    }
    wrong
}

fn write(counts: &[(&HotPath, u64)], compilers: &Compilers) -> Result<()> {
    let mut lines = vec![
        "# Instructions of one time of each hot path: `cargo xtask instructions --bless` writes them,".to_owned(),
        "# `cargo xtask instructions` holds new counts against them.".to_owned(),
        format!("compiler = \"{}\"", compilers.rust),
        format!("c_compiler = \"{}\"", compilers.c),
    ];
    for (path, count) in counts {
        lines.push(format!("{} = {count}", path.name));
        println!("{:<10} {count:>12}", path.name);
    }
    let text = lines.join("\n") + "\n";
    fs::write(shell::workspace().join(HELD), text).with_context(|| format!("cannot write `{HELD}`"))
}

impl Compilers {
    /// Those that compile here, and what they compile for: others make other instructions.
    fn here() -> Result<Self> {
        let about = shell::output("rustc", &["--version", "--verbose"])?;
        let line = |prefix| about.lines().find_map(|line: &str| line.strip_prefix(prefix));
        let (Some(release), Some(host)) = (line("release: "), line("host: ")) else {
            bail!("rustc says neither its release nor its host");
        };
        let c = shell::output("cc", &["--version"])?;
        let c = c.lines().next().unwrap_or_default().replace(['"', '\\'], "");
        Ok(Self { rust: format!("rustc {release} {host}"), c })
    }

    /// The compiler that the numbers were counted with, where it is another for such a path.
    fn other_than<'h>(&self, held: &'h toml::Table, made_by: MadeBy) -> Option<&'h str> {
        let of = |key: &str| held.get(key).and_then(toml::Value::as_str).unwrap_or("none");
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
    let target = metadata["target_directory"].as_str().context("cargo names no target folder")?;
    Ok(Path::new(target).join("counted/aloft-hot-paths"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn held(text: &str) -> toml::Table {
        toml::from_str(&format!("compiler = \"rust\"\nc_compiler = \"c\"\n{text}")).unwrap()
    }

    fn path(name: &str) -> &'static HotPath {
        HOT_PATHS.iter().find(|path| path.name == name).unwrap()
    }

    fn compilers(rust: &str, c: &str) -> Compilers {
        Compilers { rust: rust.to_owned(), c: c.to_owned() }
    }

    #[test]
    fn more_instructions_than_the_tolerance_are_refused_with_name_and_ratio() {
        let (held, same) = (held("assess = 1000\ncommit = 1000"), compilers("rust", "c"));
        let (assess, commit) = (path("assess"), path("commit"));
        assert!(compare(&[(assess, 1_030), (commit, 900)], &held, &same).is_empty());
        assert_eq!(
            compare(&[(assess, 1_031), (commit, 1_051)], &held, &same),
            [
                "`assess` takes 1.031 times the instructions it took",
                "`commit` takes 1.051 times the instructions it took",
            ]
        );
    }

    #[test]
    fn what_another_compiler_made_is_not_held_against_the_numbers() {
        let held = held("assess = 1000\ncommit = 1000");
        let counts = [(path("assess"), 2_000), (path("commit"), 2_000)];
        assert_eq!(compare(&counts, &held, &compilers("rust", "another")).len(), 1);
        assert!(compare(&counts, &held, &compilers("another", "c")).is_empty());
    }

    #[test]
    fn a_hot_path_without_a_number_is_refused() {
        let counts = [(path("assess"), 1)];
        let refused = compare(&counts, &held("assess = 0"), &compilers("rust", "c"));
        assert_eq!(refused, ["`assess` has no number in `xtask/instructions.toml`"]);
    }

    #[test]
    fn every_hot_path_has_a_number_that_holds() {
        let text = fs::read_to_string(shell::workspace().join(HELD)).unwrap();
        let held: toml::Table = toml::from_str(&text).unwrap();
        for path in HOT_PATHS {
            assert!(held.get(path.name).is_some_and(toml::Value::is_integer), "{}", path.name);
        }
    }
}
