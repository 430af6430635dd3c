//! The arguments of `cargo xtask dist`.

use std::path::PathBuf;

use anyhow::{Context, Result, bail};

use crate::release::Architecture;

const USAGE: &str = "\
usage: cargo xtask dist [--target x86_64|aarch64]… [--out FOLDER]
       cargo xtask dist --binary FILE… [--documents-from FILE] [--out FOLDER]
       cargo xtask dist --verify [FOLDER]
       cargo xtask dist --sign FOLDER
       cargo xtask dist --check";

/// Message without a program that runs on this machine.
pub(super) const NO_DOCUMENTS: &str = "no program runs on this machine to print completions and manual pages; name one with \
     --documents-from FILE";

/// Parsed arguments.
#[derive(Debug, Default, PartialEq)]
pub(super) struct DistOptions {
    targets: Vec<Architecture>,
    pub(super) binaries: Vec<PathBuf>,
    /// Program of this machine that prints the documents.
    pub(super) documents_from: Option<PathBuf>,
    pub(super) into: Option<PathBuf>,
}

impl DistOptions {
    pub(super) fn read(words: &[&str]) -> Result<Self> {
        let mut options = Self::default();
        let mut words = words.iter();
        while let Some(word) = words.next() {
            let value = words.next().with_context(|| format!("`{word}` needs a value\n{USAGE}"))?;
            match *word {
                "--target" => options.targets.push(Architecture::parse(value)?),
                "--binary" => options.binaries.push(value.into()),
                "--documents-from" => options.documents_from = Some(value.into()),
                "--out" => options.into = Some(value.into()),
                unknown => bail!("unknown option `{unknown}`\n{USAGE}"),
            }
        }
        if !options.targets.is_empty() && !options.binaries.is_empty() {
            bail!("--binary packs a built program, whose header names its target: omit --target");
        }
        Ok(options)
    }

    /// Checks that a program to build will run on this machine, or that another one prints the documents.
    pub(super) fn check_documents(&self) -> Result<()> {
        let builds_here =
            Architecture::of_this_machine().is_some_and(|it| self.targets().contains(&it));
        if self.binaries.is_empty() && self.documents_from.is_none() && !builds_here {
            bail!(NO_DOCUMENTS);
        }
        Ok(())
    }

    /// Returns what to build: the given targets, or all.
    pub(super) fn targets(&self) -> Vec<Architecture> {
        let mut targets = self.targets.clone();
        if targets.is_empty() {
            targets.extend(Architecture::ALL);
        }
        targets.sort();
        targets.dedup();
        targets
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_are_all_unless_given() {
        assert_eq!(DistOptions::read(&[]).unwrap().targets(), Architecture::ALL);
        let given = ["--target", "aarch64", "--target", "aarch64"];
        assert_eq!(DistOptions::read(&given).unwrap().targets(), [Architecture::Aarch64]);
    }

    #[test]
    fn foreign_target_needs_another_program() {
        let foreign = Architecture::ALL.into_iter();
        let foreign = foreign.filter(|it| Some(*it) != Architecture::of_this_machine());
        let words = ["--target", foreign.map(Architecture::name).next().unwrap()];
        let refused = DistOptions::read(&words).unwrap().check_documents().unwrap_err();
        assert!(refused.to_string().contains("--documents-from"), "{refused}");
        let words = [&words[..], &["--documents-from", "aloft"]].concat();
        assert!(DistOptions::read(&words).unwrap().check_documents().is_ok());
    }

    #[test]
    fn contradicting_and_unknown_arguments_are_refused() {
        for (words, reason) in [
            (&["--target", "x86_64", "--binary", "a"][..], "omit --target"),
            (&["--target", "riscv64"], "use x86_64 or aarch64"),
            (&["--binary"], "needs a value"),
            (&["--into", "a"], "unknown option"),
        ] {
            let refused = DistOptions::read(words).unwrap_err().to_string();
            assert!(refused.contains(reason), "{refused}");
        }
    }
}
