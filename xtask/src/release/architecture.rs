//! The processors that the program is released for, and their names in each kind of package.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};

/// First bytes of an ELF file, the format of Linux programs.
const ELF: &[u8] = b"\x7fELF";
/// Place of the processor in the header of an ELF file.
const MACHINE: std::ops::Range<usize> = 18..20;

/// A processor architecture.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Architecture {
    X86_64,
    Aarch64,
}

impl Architecture {
    pub(crate) const ALL: [Self; 2] = [Self::X86_64, Self::Aarch64];

    /// Returns the name of Linux (`uname -m`), Rust and rpm.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::X86_64 => "x86_64",
            Self::Aarch64 => "aarch64",
        }
    }

    /// Returns the name of Debian, Go and images for containers.
    pub(crate) fn debian(self) -> &'static str {
        match self {
            Self::X86_64 => "amd64",
            Self::Aarch64 => "arm64",
        }
    }

    /// Returns the target of Rust.
    pub(crate) fn triple(self) -> String {
        format!("{}-unknown-linux-gnu", self.name())
    }

    /// Returns the number in the header of a program.
    fn machine(self) -> u16 {
        match self {
            Self::X86_64 => 62,
            Self::Aarch64 => 183,
        }
    }

    /// Parses the name of Linux.
    pub(crate) fn parse(name: &str) -> Result<Self> {
        let found = Self::ALL.into_iter().find(|it| it.name() == name);
        found.with_context(|| format!("unknown target `{name}`; use x86_64 or aarch64"))
    }

    /// Returns the architecture of this machine, or `None` if the program is not released for it.
    pub(crate) fn of_this_machine() -> Option<Self> {
        Self::parse(std::env::consts::ARCH).ok()
    }

    /// Reads the architecture of a program of Linux from its header.
    pub(crate) fn of_program(program: &Path) -> Result<Self> {
        let bytes =
            fs::read(program).with_context(|| format!("failed to read {}", program.display()))?;
        let machine = bytes.get(MACHINE).filter(|_| bytes.starts_with(ELF));
        let Some(&[low, high]) = machine else {
            bail!("{} is not a program of Linux", program.display());
        };
        let machine = u16::from_le_bytes([low, high]);
        let found = Self::ALL.into_iter().find(|it| it.machine() == machine);
        found.with_context(|| {
            format!(
                "{} is a program for another processor (number {machine}); releases are for x86_64 \
                 and aarch64",
                program.display()
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(bytes: &[u8]) -> tempfile::NamedTempFile {
        let file = tempfile::NamedTempFile::new().unwrap();
        fs::write(file.path(), bytes).unwrap();
        file
    }

    #[test]
    fn architecture_is_read_from_the_header() {
        for (machine, expected) in [(62, Architecture::X86_64), (183, Architecture::Aarch64)] {
            let file = written(&[ELF, &[0; 14], &[machine, 0]].concat());
            assert_eq!(Architecture::of_program(file.path()).unwrap(), expected);
        }
    }

    #[test]
    fn other_files_are_refused() {
        let riscv = [ELF, &[0; 14], &[243, 0]].concat();
        for (bytes, reason) in [(&b"#!/bin/sh\n"[..], "not a program"), (&riscv, "number 243")] {
            let refused = Architecture::of_program(written(bytes).path()).unwrap_err().to_string();
            assert!(refused.contains(reason), "{refused}");
        }
        assert!(Architecture::parse("arm64").unwrap_err().to_string().contains("aarch64"));
    }
}
