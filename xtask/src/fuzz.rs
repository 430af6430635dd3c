//! `cargo xtask fuzz [TARGET…] [--seconds N]`: fuzzes the targets with libFuzzer, guided by code
//! coverage. Works with the stable compiler, because the coverage pass is part of LLVM. The targets
//! are in `fuzz/`, a separate package, so that other builds need not compile them. The entry points
//! are in the crates (`src/**/fuzz.rs`), whose tests replay the corpus.

use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result, bail};

use crate::shell;

/// Binaries of `fuzz/Cargo.toml`. Each needs the feature with its name.
const TARGETS: [&str; 6] =
    ["answers", "assertions", "configuration", "conversions", "egress", "wire"];
const USAGE: &str = "usage: cargo xtask fuzz [TARGET…] [--seconds N]";
/// Default duration for each target.
const SECONDS: u32 = 60;
/// Flags that instrument the build for libFuzzer and compile the entry points in the crates.
const FLAGS: &str = "--cfg aloft_fuzz -Cpasses=sancov-module \
    -Cllvm-args=-sanitizer-coverage-level=4 \
    -Cllvm-args=-sanitizer-coverage-inline-8bit-counters \
    -Cllvm-args=-sanitizer-coverage-pc-table \
    -Cllvm-args=-sanitizer-coverage-trace-compares \
    -Cllvm-args=-simplifycfg-branch-fold-threshold=0";
/// Time in seconds above which an input counts as a finding.
const SECONDS_PER_INPUT: u32 = 10;
/// Memory in MiB above which an input counts as a finding.
const MEMORY: u32 = 1024;

/// Builds and runs the targets that `words` name, or all, in sequence. Fails at the first finding.
pub(crate) fn run(words: &[&str]) -> Result<()> {
    let Options { targets, seconds } = Options::read(words)?;
    let binaries = build(&targets)?;
    for target in targets {
        let found = found_by(target);
        let grown = shell::workspace().join("target/fuzz/corpus").join(target);
        for folder in [&grown, &found] {
            fs::create_dir_all(folder)
                .with_context(|| format!("failed to create {}", folder.display()))?;
        }
        let mut command = shell::command(&binaries.join(target).to_string_lossy())?;
        command.arg(format!("-max_total_time={seconds}"));
        command.args([format!("-timeout={SECONDS_PER_INPUT}"), format!("-rss_limit_mb={MEMORY}")]);
        command.args(["-print_final_stats=1", "-verbosity=1"]);
        command.arg(format!("-artifact_prefix={}/", found.display()));
        command.arg(&grown).arg(format!("fuzz/corpus/{target}"));
        shell::finish(&mut command).with_context(|| {
            let folder = found.display();
            format!("`{target}` found an input in {folder}; fix the code and add the input to fuzz/corpus/{target}")
        })?;
    }
    Ok(())
}

/// Parsed arguments.
#[derive(Debug, PartialEq)]
struct Options {
    targets: Vec<&'static str>,
    seconds: u32,
}

impl Options {
    fn read(words: &[&str]) -> Result<Self> {
        let mut options = Self { targets: Vec::new(), seconds: SECONDS };
        let mut words = words.iter();
        while let Some(word) = words.next() {
            if *word == "--seconds" {
                let seconds = words.next().and_then(|text| text.parse().ok());
                // libFuzzer interprets 0 as unlimited.
                options.seconds = seconds.filter(|seconds| *seconds > 0).context(USAGE)?;
            } else if let Some(target) = TARGETS.iter().find(|target| *target == word) {
                options.targets.push(target);
            } else {
                bail!("unknown target `{word}`; expected one of {}\n{USAGE}", TARGETS.join(", "));
            }
        }
        if options.targets.is_empty() {
            options.targets.extend(TARGETS);
        }
        Ok(options)
    }
}

/// Returns the folder for inputs that made a target panic.
fn found_by(target: &str) -> PathBuf {
    shell::workspace().join("target/fuzz/found").join(target)
}

/// Builds the targets with the product's dependencies and returns their folder.
fn build(targets: &[&str]) -> Result<PathBuf> {
    let root = shell::workspace();
    // Use the product's lock file, to fuzz the same versions as it ships.
    fs::copy(root.join("Cargo.lock"), root.join("fuzz/Cargo.lock"))
        .context("failed to copy the lock file of the workspace")?;
    let host = shell::output("rustc", &["--print", "host-tuple"])?;
    let host = host.trim();
    let mut command = shell::command(&shell::cargo())?;
    command.args(["build", "--manifest-path", "fuzz/Cargo.toml", "--target-dir", "target/fuzz"]);
    // With an explicit target, the flags do not apply to build scripts and macros.
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

    fn options(words: &[&str]) -> Result<Options, String> {
        Options::read(words).map_err(|error| error.to_string())
    }

    #[test]
    fn default_runs_each_target_for_a_minute() {
        assert_eq!(options(&[]), Ok(Options { targets: TARGETS.to_vec(), seconds: 60 }));
        let one = Options { targets: vec!["egress"], seconds: 5 };
        assert_eq!(options(&["egress", "--seconds", "5"]), Ok(one));
    }

    #[test]
    fn unknown_targets_and_zero_time_are_rejected() {
        assert!(options(&["egres"]).unwrap_err().contains("expected one of answers, assertions"));
        for words in [&["--seconds"][..], &["--seconds", "0"], &["--seconds", "soon"]] {
            assert_eq!(options(words), Err(USAGE.to_owned()));
        }
    }

    #[test]
    fn every_target_has_a_binary_and_a_corpus() {
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
