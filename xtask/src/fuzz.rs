//! `cargo xtask fuzz [TARGET…] [--seconds N]`: inputs that nobody thought of, found by libFuzzer from
//! what they make the code do. Works on the stable compiler: the coverage pass is LLVM's own, and
//! the targets lie in `fuzz/`, a package of its own, so that no other build pays for them.
//! What must hold is said in the crates, in `src/**/fuzz.rs`, and replayed by their tests.

use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result, bail};

use crate::shell;

/// The binaries of `fuzz/Cargo.toml`; each needs the feature of its name.
const TARGETS: [&str; 6] =
    ["answers", "assertions", "configuration", "conversions", "egress", "wire"];
const USAGE: &str = "usage: cargo xtask fuzz [TARGET…] [--seconds N]";
/// For how long each target runs where nobody says.
const SECONDS: u32 = 60;
/// What makes a build tell libFuzzer where it goes, and compile the entries in the crates.
const FLAGS: &str = "--cfg aloft_fuzz -Cpasses=sancov-module \
    -Cllvm-args=-sanitizer-coverage-level=4 \
    -Cllvm-args=-sanitizer-coverage-inline-8bit-counters \
    -Cllvm-args=-sanitizer-coverage-pc-table \
    -Cllvm-args=-sanitizer-coverage-trace-compares \
    -Cllvm-args=-simplifycfg-branch-fold-threshold=0";
/// An input that takes longer is a finding, in seconds.
const SECONDS_PER_INPUT: u32 = 10;
/// Memory past which an input is a finding, in MiB.
const MEMORY: u32 = 1024;

/// Builds and runs the targets that `words` name, or all, one after the other; fails at the first
/// finding.
pub(crate) fn run(words: &[&str]) -> Result<()> {
    let Wish { targets, seconds } = Wish::read(words)?;
    let binaries = build(&targets)?;
    for target in targets {
        let found = found_by(target);
        let grown = shell::workspace().join("target/fuzz/corpus").join(target);
        for folder in [&grown, &found] {
            fs::create_dir_all(folder)
                .with_context(|| format!("cannot make {}", folder.display()))?;
        }
        let mut command = shell::command(&binaries.join(target).to_string_lossy())?;
        command.arg(format!("-max_total_time={seconds}"));
        command.args([format!("-timeout={SECONDS_PER_INPUT}"), format!("-rss_limit_mb={MEMORY}")]);
        command.args(["-print_final_stats=1", "-verbosity=1"]);
        command.arg(format!("-artifact_prefix={}/", found.display()));
        command.arg(&grown).arg(format!("fuzz/corpus/{target}"));
        shell::finish(&mut command).with_context(|| {
            let folder = found.display();
            format!("`{target}` found an input, in {folder}: mend the code, and keep the input in fuzz/corpus/{target}")
        })?;
    }
    Ok(())
}

/// What to run, and for how long each.
#[derive(Debug, PartialEq)]
struct Wish {
    targets: Vec<&'static str>,
    seconds: u32,
}

impl Wish {
    fn read(words: &[&str]) -> Result<Self> {
        let mut wish = Self { targets: Vec::new(), seconds: SECONDS };
        let mut words = words.iter();
        while let Some(word) = words.next() {
            if *word == "--seconds" {
                let seconds = words.next().and_then(|text| text.parse().ok());
                // libFuzzer takes 0 for "without an end".
                wish.seconds = seconds.filter(|seconds| *seconds > 0).context(USAGE)?;
            } else if let Some(target) = TARGETS.iter().find(|target| *target == word) {
                wish.targets.push(target);
            } else {
                bail!("no target `{word}`; there are {}\n{USAGE}", TARGETS.join(", "));
            }
        }
        if wish.targets.is_empty() {
            wish.targets.extend(TARGETS);
        }
        Ok(wish)
    }
}

/// Where the inputs lie at which a target panicked.
fn found_by(target: &str) -> PathBuf {
    shell::workspace().join("target/fuzz/found").join(target)
}

/// Builds the targets with what the product is built from, and tells where they are.
fn build(targets: &[&str]) -> Result<PathBuf> {
    let root = shell::workspace();
    // The lock is the product's, so that what is fuzzed is what is shipped.
    fs::copy(root.join("Cargo.lock"), root.join("fuzz/Cargo.lock"))
        .context("cannot copy the lock of the workspace")?;
    let host = shell::output("rustc", &["--print", "host-tuple"])?;
    let host = host.trim();
    let mut command = shell::command(&shell::cargo())?;
    command.args(["build", "--manifest-path", "fuzz/Cargo.toml", "--target-dir", "target/fuzz"]);
    // With a target named, build scripts and macros are spared the flags.
    command.args(["--target", host, "--features", &targets.join(",")]);
    command.env("RUSTFLAGS", FLAGS);
    for target in targets {
        command.args(["--bin", target]);
    }
    shell::finish(&mut command)?;
    Ok(root.join("target/fuzz").join(host).join("debug"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wish(words: &[&str]) -> Result<Wish, String> {
        Wish::read(words).map_err(|error| error.to_string())
    }

    #[test]
    fn without_a_name_each_target_runs_for_a_minute() {
        assert_eq!(wish(&[]), Ok(Wish { targets: TARGETS.to_vec(), seconds: 60 }));
        let one = Wish { targets: vec!["egress"], seconds: 5 };
        assert_eq!(wish(&["egress", "--seconds", "5"]), Ok(one));
    }

    #[test]
    fn unknown_targets_and_no_time_are_refused() {
        assert!(wish(&["egres"]).unwrap_err().contains("there are answers, assertions"));
        for words in [&["--seconds"][..], &["--seconds", "0"], &["--seconds", "soon"]] {
            assert_eq!(wish(words), Err(USAGE.to_owned()));
        }
    }

    #[test]
    fn every_target_is_built_and_has_a_corpus() {
        let manifest = fs::read_to_string(shell::workspace().join("fuzz/Cargo.toml")).unwrap();
        let bins: Vec<&str> =
            manifest.lines().filter_map(|line| line.strip_prefix("name = ")).skip(1).collect();
        assert_eq!(bins, TARGETS.map(|target| format!("\"{target}\"")));
        for target in TARGETS {
            let corpus = shell::workspace().join("fuzz/corpus").join(target);
            assert!(fs::read_dir(corpus).unwrap().count() > 0, "{target} has no corpus");
        }
    }
}
