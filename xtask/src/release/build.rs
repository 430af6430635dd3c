//! Builds a program of the workspace for others. With Zig it runs on old systems: with an old glibc, or as a
//! static program with musl, whose standard library is built from its source if the toolchain lacks it.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use super::GlibcVersion;
use crate::shell;

/// Ends of the names of targets.
const GLIBC: &str = "-linux-gnu";
const MUSL: &str = "-linux-musl";
/// Parts of the standard library that are built.
const STANDARD_LIBRARY: &str = "build-std=std,panic_unwind";

/// A program to build, and for which systems.
#[derive(Debug)]
pub(crate) struct BuildPlan<'a> {
    pub(crate) package: &'a str,
    pub(crate) program: &'a str,
    pub(crate) profile: &'a str,
    pub(crate) triple: &'a str,
    /// Oldest glibc of the systems that run it, if Zig builds it for glibc.
    pub(crate) glibc: GlibcVersion,
    /// Whether cargo gets the target, even if it is that of this machine.
    pub(crate) names_target: bool,
}

impl BuildPlan<'_> {
    /// Builds the program with the command of Zig, or with cargo for this machine.
    pub(crate) fn build(&self, zig: Option<Command>) -> Result<()> {
        let with_zig = zig.is_some();
        let mut command = if let Some(command) = zig {
            command
        } else {
            let mut command = shell::command(&shell::cargo())?;
            command.arg("build");
            command
        };
        command.args(["--locked", "--package", self.package]);
        command.args(["--bin", self.program, "--profile", self.profile]);
        if with_zig && self.triple.ends_with(MUSL) {
            let sysroot = shell::output("rustc", &["--print", "sysroot"])?;
            build_standard_library(&mut command, Path::new(sysroot.trim()), self.triple)?;
        }
        if self.names_target {
            let is_glibc = with_zig && self.triple.ends_with(GLIBC);
            let glibc = if is_glibc { format!(".{}", self.glibc) } else { String::new() };
            command.args(["--target", &format!("{}{glibc}", self.triple)]);
        }
        shell::finish(&mut command)
    }

    /// Returns the path of the built program. `file` is its name with the ending of its platform.
    pub(crate) fn built(&self, file: &str) -> Result<PathBuf> {
        let mut folder = target_folder()?;
        if self.names_target {
            folder.push(self.triple);
        }
        Ok(folder.join(self.profile).join(file))
    }
}

/// Returns cargo's target folder.
fn target_folder() -> Result<PathBuf> {
    let arguments = ["metadata", "--format-version", "1", "--no-deps"];
    let metadata = shell::output(&shell::cargo(), &arguments)?;
    let metadata: serde_json::Value = serde_json::from_str(&metadata)?;
    Ok(metadata["target_directory"].as_str().context("cargo reports no target folder")?.into())
}

/// Lets cargo build the standard library unless the toolchain has it for this target. Zig brings musl
/// itself.
fn build_standard_library(command: &mut Command, sysroot: &Path, triple: &str) -> Result<()> {
    let rustlib = sysroot.join("lib/rustlib");
    if rustlib.join(triple).join("lib").is_dir() {
        return Ok(());
    }
    if !rustlib.join("src/rust/library/Cargo.lock").is_file() {
        bail!(
            "the toolchain has no standard library for {triple}: run `rustup target add {triple}` or \
             `rustup component add rust-src`"
        );
    }
    // The stable cargo accepts the option only with this variable.
    command.env("RUSTC_BOOTSTRAP", "1").args(["-Z", STANDARD_LIBRARY]);
    // The start files of musl belong to the standard library that is missing.
    let variable = triple.replace('-', "_").to_uppercase();
    command.env(format!("CARGO_TARGET_{variable}_RUSTFLAGS"), "-C link-self-contained=no");
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn arguments(command: &Command) -> Vec<&str> {
        command.get_args().map(|it| it.to_str().unwrap()).collect()
    }

    #[test]
    fn missing_standard_library_is_built_from_its_source() {
        let sysroot = tempfile::tempdir().unwrap();
        let triple = "x86_64-unknown-linux-musl";
        let of = || {
            let mut command = Command::new("cargo");
            let built = build_standard_library(&mut command, sysroot.path(), triple);
            built.map(|()| command)
        };
        let refused = of().unwrap_err().to_string();
        assert!(refused.contains("rustup component add rust-src"), "{refused}");

        let source = sysroot.path().join("lib/rustlib/src/rust/library");
        fs::create_dir_all(&source).unwrap();
        fs::write(source.join("Cargo.lock"), "").unwrap();
        let command = of().unwrap();
        assert_eq!(arguments(&command), ["-Z", STANDARD_LIBRARY]);
        let variables: Vec<_> = command.get_envs().filter_map(|(name, _)| name.to_str()).collect();
        assert!(
            variables.contains(&"CARGO_TARGET_X86_64_UNKNOWN_LINUX_MUSL_RUSTFLAGS"),
            "{variables:?}"
        );

        fs::create_dir_all(sysroot.path().join("lib/rustlib").join(triple).join("lib")).unwrap();
        assert!(arguments(&of().unwrap()).is_empty());
    }
}
