//! The TypeScript client as its tests take it: its packages as the lock file names them, its build, and the
//! programs that it is tested with. Here and not in the tests, so that no two of them build at once.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use anyhow::{Context, Result, bail};

use super::{Installer, NPM, Tool, install_packages};
use crate::shell;

/// Runtimes that the TypeScript client runs in beside Node.js and the browser, and what looks at its
/// package: as programs of npm, each in a folder of its own.
pub(super) const TOOLS: [Tool; 6] = [
    tool("deno", "2.9.6", "client/deno/node_modules/deno"),
    tool("bun", "1.4.5", "client/bun/node_modules/bun"),
    tool("workerd", "1.20261117.1", "client/workerd/node_modules/workerd"),
    // An older compiler than the client's own, as most people have one.
    tool("typescript", "5.9.3", "client/typescript/node_modules/typescript"),
    tool("publint", "0.3.25", "client/publint/node_modules/publint"),
    Tool {
        install: install_attw,
        ..tool("attw", "0.18.5", "client/attw/node_modules/@arethetypeswrong/cli")
    },
];
/// From the workspace on.
const FOLDER: &str = "clients/typescript";
/// What a build reads.
const SOURCES: [&str; 5] = ["src", "scripts", "package.json", "tsconfig.json", "tsconfig.cjs.json"];
/// What a build writes last.
const BUILT: &str = "dist/cjs/package.json";
/// The lock file as it was when the packages were installed, beside them.
const INSTALLED: &str = "node_modules/.aloft-installed.json";
/// The client and what it is tested with run on this version and newer ones.
const NODE_SINCE: u32 = 20;
const NODE: Installer = Installer {
    program: "node",
    package: "nodejs",
    by_hand: "install Node.js 20 or newer with npm (https://nodejs.org/) and put it on the PATH",
};

/// Installs and builds what is not there, or not as the sources are now.
pub(super) fn ready() -> Result<()> {
    super::present(&NODE).context("`node` is missing")?;
    let version = shell::output("node", &["--version"])?;
    if major(&version).is_none_or(|major| major < NODE_SINCE) {
        bail!("`node` is {}: {}", version.trim(), NODE.by_hand);
    }
    let folder = shell::workspace().join(FOLDER);
    let is_new = install(&folder)?;
    let built = fs::metadata(folder.join(BUILT)).and_then(|it| it.modified()).ok();
    let changed = SOURCES.iter().map(|source| newest(&folder.join(source)));
    let changed = changed.collect::<Result<Vec<_>>>()?.into_iter().max();
    if is_new || built < changed {
        npm(&folder, &["run", "build"])?;
    }
    Ok(())
}

/// The packages of the lock file; whether they were not there yet.
fn install(folder: &Path) -> Result<bool> {
    let lock = fs::read(folder.join("package-lock.json")).context("the client has no lock file")?;
    let stamp = folder.join(INSTALLED);
    if fs::read(&stamp).is_ok_and(|installed| installed == lock) {
        return Ok(false);
    }
    npm(folder, &["ci", "--no-audit", "--no-fund", "--ignore-scripts"])?;
    fs::write(stamp, lock).context("cannot write beside the packages of the client")?;
    Ok(true)
}

const fn tool(name: &'static str, version: &'static str, place: &'static str) -> Tool {
    Tool { name, version, place, needs: NPM, install: install_tool }
}

fn install_tool(tool: &Tool) -> Result<()> {
    let package = format!("{}@{}", tool.name, tool.version);
    install_packages(&format!("client/{}", tool.name), &[&package])
}

fn install_attw(tool: &Tool) -> Result<()> {
    let package = format!("@arethetypeswrong/cli@{}", tool.version);
    install_packages("client/attw", &[&package])
}

fn npm(folder: &Path, args: &[&str]) -> Result<()> {
    let mut command = shell::command("npm")?;
    shell::finish(command.args(args).current_dir(folder))
}

/// When a file, or anything in a folder, last changed.
fn newest(path: &PathBuf) -> Result<SystemTime> {
    let about = fs::metadata(path).with_context(|| format!("no {}", path.display()))?;
    let mut newest = about.modified()?;
    if about.is_dir() {
        for entry in fs::read_dir(path)? {
            newest = newest.max(self::newest(&entry?.path())?);
        }
    }
    Ok(newest)
}

/// The first part of a version of Node.js, such as 20 of `v20.20.2`.
fn major(version: &str) -> Option<u32> {
    version.trim().strip_prefix('v')?.split('.').next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_of_node_is_read_as_node_writes_it() {
        assert_eq!((major("v20.20.2\n"), major("v8.0.0"), major("20")), (Some(20), Some(8), None));
    }

    #[test]
    fn the_newest_file_of_a_folder_is_found_however_deep() {
        let folder = std::env::temp_dir().join(format!("aloft-newest-{}", std::process::id()));
        let deep = folder.join("a/b");
        fs::create_dir_all(&deep).unwrap();
        fs::write(deep.join("file"), "new").unwrap();
        let later = SystemTime::now() + std::time::Duration::from_hours(1);
        fs::File::options()
            .write(true)
            .open(deep.join("file"))
            .unwrap()
            .set_modified(later)
            .unwrap();
        assert_eq!(newest(&folder).unwrap(), later);
        fs::remove_dir_all(folder).unwrap();
    }
}
