//! Builds the provider. With Zig it runs on old systems: with the oldest glibc, or as a static program with
//! musl, whose standard library is built from its source if the toolchain lacks it.

use std::path::Path;
use std::process::Command;

use anyhow::{Result, bail};

use super::{PROFILE, PROGRAM, portable};
use crate::shell;

/// Ends of the names of targets.
const GLIBC: &str = "-linux-gnu";
const MUSL: &str = "-linux-musl";
/// Parts of the standard library that are built.
const STANDARD_LIBRARY: &str = "build-std=std,panic_unwind";

/// Builds the provider: with Zig for the oldest systems, or else for this machine.
pub(super) fn build(zig: Option<Command>, triple: &str, names_target: bool) -> Result<()> {
    let with_zig = zig.is_some();
    let mut command = if let Some(command) = zig {
        command
    } else {
        let mut command = shell::command(&shell::cargo())?;
        command.arg("build");
        command
    };
    command.args(["--locked", "--package", "aloft-provider"]);
    command.args(["--bin", PROGRAM, "--profile", PROFILE]);
    if with_zig && triple.ends_with(MUSL) {
        let sysroot = shell::output("rustc", &["--print", "sysroot"])?;
        build_standard_library(&mut command, Path::new(sysroot.trim()), triple)?;
    }
    if names_target {
        let is_glibc = with_zig && triple.ends_with(GLIBC);
        let glibc = if is_glibc { format!(".{}", portable::GLIBC) } else { String::new() };
        command.args(["--target", &format!("{triple}{glibc}")]);
    }
    shell::finish(&mut command)
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
