//! Builds programs of third-party Go modules that `go install` rejects or would give another name.

use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result, bail};

use super::Tool;
use crate::shell;

/// First version of Go that downloads the Go version a module needs.
const GO_SINCE: u32 = 21;

/// A Go program, and how to build it.
pub(super) struct GoProgram<'a> {
    /// Module with the version of the tool.
    pub(super) module: &'a str,
    pub(super) package: &'a str,
    /// Lines of the manifest that replace modules.
    pub(super) replaced: &'a str,
    /// Further arguments of `go build`.
    pub(super) flags: &'a [&'a str],
}

/// Returns the folder of the module that builds a tool.
pub(super) fn folder_of(tool: &Tool) -> PathBuf {
    shell::tools().join("go").join(tool.name)
}

/// Builds a program through a module that only requires its module, because `go install` rejects modules
/// with replacements or exclusions. Go verifies all modules with the public checksum database.
pub(super) fn build(tool: &Tool, program: &GoProgram<'_>) -> Result<()> {
    let GoProgram { module, package, replaced, flags } = program;
    let go = shell::output("go", &["env", "GOVERSION"])?;
    if minor(&go).is_none_or(|minor| minor < GO_SINCE) {
        bail!("{} is too old: {}", go.trim(), tool.needs.by_hand);
    }
    let folder = folder_of(tool);
    fs::create_dir_all(&folder).context("failed to create the folder of a module")?;
    let required = format!("require {module} v{}", tool.version);
    // With a Go version in the manifest, only modules that the build needs are loaded.
    let manifest = format!("module aloft/tool\n\ngo 1.{GO_SINCE}\n\n{required}\n\n{replaced}");
    fs::write(folder.join("go.mod"), manifest)?;
    let mut command = shell::command("go")?;
    command.current_dir(&folder).env("GOTOOLCHAIN", "auto");
    command
        .args(["build", "-mod=mod", "-buildvcs=false", "-o"])
        .arg(shell::tools().join(tool.path));
    // Builds a release and not `1.8.5-dev`.
    command.arg(format!("-ldflags=-s -w -X {module}/version.dev=no")).args(*flags).arg(package);
    shell::finish(&mut command)?;
    // Downloads for the build are in Go's own cache.
    fs::remove_dir_all(&folder).with_context(|| format!("failed to remove {}", folder.display()))
}

/// Returns the minor number of a Go version, such as 19 of `go1.19.8`.
pub(super) fn minor(version: &str) -> Option<u32> {
    version.trim().strip_prefix("go1.")?.split(['.', '-', ' ']).next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn go_version_is_parsed() {
        for (text, expected) in [
            ("go1.19.8\n", Some(19)),
            ("go1.26", Some(26)),
            ("go1.24-x", Some(24)),
            ("devel", None),
        ] {
            assert_eq!(minor(text), expected, "{text}");
        }
    }
}
