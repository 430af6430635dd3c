//! Installs what the Python client is generated and tested with: protoc with its generator for Python, and
//! an environment with exactly the packages of the client's lock file. The packages stay beside it, so that
//! tests can install the client without a network.

use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result, bail};

use super::pypi::{self, PIP};
use super::{Installer, Tool};
use crate::shell;

/// The generator of messages. Its number decides which versions of the package protobuf read them: this
/// one generates for 6.31, so 6.31 and later of 6, and 7.
pub(super) const PROTOC: Tool = Tool {
    name: "grpcio-tools",
    version: "1.76.0",
    path: "python/protoc/grpc_tools",
    needs: PIP,
    install: install_protoc,
};
/// Its folder below that of the tools.
const PROTOC_FOLDER: &str = "python/protoc";
/// Environment of the client's tests, below the folder of the tools.
const ENVIRONMENT: &str = "python/client";
/// Folder of the packages as files, in the environment.
const WHEELS: &str = "wheels";
/// Copy of the lock file from the last installation, in the environment.
const INSTALLED: &str = ".aloft-installed";
/// Versions of all packages with their hashes, for every system and version of Python.
const LOCK: &str = "clients/python/requirements.lock";
/// Minimum minor version of Python 3 for the client.
const MINOR_SINCE: u32 = 10;
const PYTHON: Installer = Installer {
    program: "python3",
    package: "python3-venv",
    by_hand: "install Python 3.10 or newer with venv (https://www.python.org/) and put `python3` on the PATH",
};

/// Installs the generator of messages if it is missing, and returns the folder of its packages.
pub(crate) fn protoc_folder() -> Result<PathBuf> {
    super::ready(&PROTOC)?;
    Ok(shell::tools().join(PROTOC_FOLDER))
}

/// Installs the packages of the lock file if they changed.
pub(super) fn ready() -> Result<()> {
    super::present(&PYTHON).context("`python3` not found")?;
    let version = shell::output("python3", &["--version"])?;
    if minor(&version).is_none_or(|minor| minor < MINOR_SINCE) {
        bail!("`python3` is {}: {}", version.trim(), PYTHON.by_hand);
    }
    let lock =
        fs::read(shell::workspace().join(LOCK)).context("the lock file of the client not found")?;
    let folder = shell::tools().join(ENVIRONMENT);
    let stamp = folder.join(INSTALLED);
    if fs::read(&stamp).is_ok_and(|installed| installed == lock) {
        return Ok(());
    }
    if folder.exists() {
        fs::remove_dir_all(&folder)
            .with_context(|| format!("cannot remove {}", folder.display()))?;
    }
    let mut create = shell::command("python3")?;
    shell::finish(create.args(["-m", "venv"]).arg(&folder)).context(PYTHON.by_hand)?;
    pip(&["download", "--only-binary", ":all:", "--dest", WHEELS])?;
    pip(&["install", "--no-index", "--find-links", WHEELS])?;
    fs::write(stamp, lock).context("failed to write the stamp of the client's packages")
}

/// Runs pip in the environment for all packages of the lock file, which verifies their hashes.
fn pip(args: &[&str]) -> Result<()> {
    let folder: PathBuf = shell::tools().join(ENVIRONMENT);
    let mut command = shell::command(&folder.join("bin/python").to_string_lossy())?;
    command.current_dir(&folder).args(["-m", "pip"]).args(args);
    command.args(["--quiet", "--disable-pip-version-check", "--no-deps", "--require-hashes"]);
    shell::finish(command.arg("--requirement").arg(shell::workspace().join(LOCK)))
}

fn install_protoc(tool: &Tool) -> Result<()> {
    pypi::install(PROTOC_FOLDER, tool, &[])
}

/// Returns the minor number of a version of Python 3, such as 11 of `Python 3.11.7`.
fn minor(version: &str) -> Option<u32> {
    version.trim().strip_prefix("Python 3.")?.split('.').next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::minor;

    #[test]
    fn python_version_is_parsed() {
        let minors = ["Python 3.11.7\n", "Python 3.9.2", "Python 2.7.18"].map(minor);
        assert_eq!(minors, [Some(11), Some(9), None]);
    }
}
