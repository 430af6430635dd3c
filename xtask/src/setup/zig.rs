//! The linker with which the provider runs on old systems: cargo-zigbuild, and the Zig that it calls. Both
//! are programs in packages of `PyPI`. Building the provider belongs to `provider`.

use anyhow::Result;

use super::Tool;
use super::pypi::{self, PIP};
use crate::shell;

/// Builds for the glibc that a target names, such as `x86_64-unknown-linux-gnu.2.17`.
pub(super) const ZIGBUILD: Tool = Tool {
    name: "cargo-zigbuild",
    version: "0.24.1",
    path: "zig/bin/cargo-zigbuild",
    needs: PIP,
    install: install_zigbuild,
};
/// The compiler and linker of C that it calls.
const ZIG: &str = "ziglang==0.15.2";
/// Its program, below the folder of the tools.
const ZIG_PROGRAM: &str = "zig/ziglang/zig";
/// The variable in which cargo-zigbuild finds it.
const ZIG_VARIABLE: &str = "CARGO_ZIGBUILD_ZIG_PATH";

/// Returns the command that builds with Zig, or `None` if it is not installed.
pub(crate) fn zigbuild() -> Result<Option<std::process::Command>> {
    let program = shell::tools().join(ZIGBUILD.path);
    let zig = shell::tools().join(ZIG_PROGRAM);
    if !program.is_file() || !zig.is_file() {
        return Ok(None);
    }
    let mut command = shell::command(&program.to_string_lossy())?;
    command.env(ZIG_VARIABLE, zig).arg("zigbuild");
    Ok(Some(command))
}

fn install_zigbuild(tool: &Tool) -> Result<()> {
    pypi::install("zig", tool, &[ZIG])
}
