//! Tools from `PyPI`, each in its own folder below the folder of tools.

use std::fs;

use anyhow::{Context, Result};

use super::{Installer, Tool};
use crate::shell;

pub(super) const PIP: Installer = Installer {
    program: "pip3",
    package: "python3-pip",
    by_hand: "install Python 3 with pip (https://www.python.org/) and put `pip3` on the PATH",
};

/// Installs a tool into `folder`, with exactly these further packages.
pub(super) fn install(folder: &str, tool: &Tool, needs: &[&str]) -> Result<()> {
    let folder = shell::tools().join(folder);
    if folder.exists() {
        // pip leaves what is there as it is.
        fs::remove_dir_all(&folder)
            .with_context(|| format!("cannot remove {}", folder.display()))?;
    }
    let mut command = shell::command("pip3")?;
    command.args(["install", "--quiet", "--disable-pip-version-check", "--no-deps"]);
    command.args(["--only-binary", ":all:", "--target"]).arg(&folder);
    command.arg(format!("{}=={}", tool.name, tool.version)).args(needs);
    shell::finish(&mut command)
}
