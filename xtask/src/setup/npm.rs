//! Tools from npm.

use std::fs;

use anyhow::Result;

use super::Installer;
use crate::shell;

pub(super) const NPM: Installer = Installer {
    program: "npm",
    package: "npm",
    by_hand: "install Node.js 20 or newer with npm (https://nodejs.org/) and put it on the PATH",
};

/// Installs npm packages in their own folder below the folder of tools.
pub(super) fn install(folder: &str, packages: &[&str]) -> Result<()> {
    let folder = shell::tools().join(folder);
    fs::create_dir_all(&folder)?;
    let mut command = shell::command("npm")?;
    command.args(["install", "--no-audit", "--no-fund", "--ignore-scripts", "--save-exact"]);
    shell::finish(command.arg("--prefix").arg(&folder).args(packages))
}
