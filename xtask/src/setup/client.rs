//! Installs and builds the TypeScript client for its tests: its packages by the lock file, its
//! build, and the programs that it is tested with. Setup does this and not the tests, so that two
//! of them do not build concurrently.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};

use super::built::Build;
use super::npm::{self, NPM};
use super::{Installer, Tool};
use crate::shell;

/// Runtimes for tests of the client apart from Node.js and the browser, and tools that check its
/// package: npm programs, each in its own folder.
pub(super) const TOOLS: [Tool; 6] = [
    tool("deno", "2.9.6", "client/deno/node_modules/deno"),
    tool("bun", "1.4.5", "client/bun/node_modules/bun"),
    tool("workerd", "1.20261117.1", "client/workerd/node_modules/workerd"),
    // An older compiler than the client's own, as many users have.
    tool("typescript", "5.9.3", "client/typescript/node_modules/typescript"),
    tool("publint", "0.3.25", "client/publint/node_modules/publint"),
    Tool {
        install: install_attw,
        ..tool("attw", "0.18.5", "client/attw/node_modules/@arethetypeswrong/cli")
    },
];
/// Path of the client in the workspace.
const FOLDER: &str = "clients/typescript";
/// Copy of the lock file from the last installation, next to the packages.
const INSTALLED: &str = "node_modules/.aloft-installed.json";
/// Minimum version of Node.js for the client and its tests.
const NODE_SINCE: u32 = 20;
const NODE: Installer = Installer {
    program: "node",
    package: "nodejs",
    by_hand: "install Node.js 20 or newer with npm (https://nodejs.org/) and put it on the PATH",
};

/// Installs and builds everything that is missing or outdated.
pub(super) fn ready() -> Result<()> {
    super::present(&NODE).context("`node` not found")?;
    let version = shell::output("node", &["--version"])?;
    if major(&version).is_none_or(|major| major < NODE_SINCE) {
        bail!("`node` is {}: {}", version.trim(), NODE.by_hand);
    }
    let folder = shell::workspace().join(FOLDER);
    let is_new = install(&folder)?;
    if is_new || Build::of_folder(&folder)? != Build::New {
        npm(&folder, &["run", "build"])?;
    }
    Ok(())
}

/// Installs the packages of the lock file. Returns whether it installed any.
fn install(folder: &Path) -> Result<bool> {
    let lock = fs::read(folder.join("package-lock.json"))
        .context("the lock file of the client not found")?;
    let stamp = folder.join(INSTALLED);
    if fs::read(&stamp).is_ok_and(|installed| installed == lock) {
        return Ok(false);
    }
    npm(folder, &["ci", "--no-audit", "--no-fund", "--ignore-scripts"])?;
    fs::write(stamp, lock).context("failed to write the stamp of the client's packages")?;
    Ok(true)
}

const fn tool(name: &'static str, version: &'static str, place: &'static str) -> Tool {
    Tool { name, version, path: place, needs: NPM, install: install_tool }
}

fn install_tool(tool: &Tool) -> Result<()> {
    let package = format!("{}@{}", tool.name, tool.version);
    npm::install(&format!("client/{}", tool.name), &[&package])
}

fn install_attw(tool: &Tool) -> Result<()> {
    let package = format!("@arethetypeswrong/cli@{}", tool.version);
    npm::install("client/attw", &[&package])
}

fn npm(folder: &Path, args: &[&str]) -> Result<()> {
    let mut command = shell::command("npm")?;
    shell::finish(command.args(args).current_dir(folder))
}

/// Returns the major number of a Node.js version, such as 20 of `v20.20.2`.
fn major(version: &str) -> Option<u32> {
    version.trim().strip_prefix('v')?.split('.').next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, SystemTime};

    use super::*;

    #[test]
    fn node_version_is_parsed() {
        assert_eq!((major("v20.20.2\n"), major("v8.0.0"), major("20")), (Some(20), Some(8), None));
    }

    #[test]
    fn build_is_current_until_a_source_changes() {
        let folder = std::env::temp_dir().join(format!("aloft-built-{}", std::process::id()));
        let at = |seconds: u64| SystemTime::UNIX_EPOCH + Duration::from_secs(seconds);
        let write = |name: &str, seconds: u64| {
            let file = folder.join(name);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(&file, "").unwrap();
            fs::File::options().write(true).open(file).unwrap().set_modified(at(seconds)).unwrap();
        };
        let touch = |name: &str, seconds: u64| {
            fs::File::open(folder.join(name)).unwrap().set_modified(at(seconds)).unwrap();
        };
        for source in ["package.json", "tsconfig.json", "tsconfig.cjs.json", "scripts/build.mjs"] {
            write(source, 1);
        }
        write("src/gen/words.ts", 1);
        for inside in ["scripts", "src/gen", "src"] {
            touch(inside, 1);
        }
        assert_eq!(Build::of_folder(&folder).unwrap(), Build::Missing);
        write("dist/cjs/package.json", 2);
        assert_eq!(Build::of_folder(&folder).unwrap(), Build::New);
        for changed in ["src/gen/words.ts", "scripts/build.mjs", "package.json"] {
            touch(changed, 3);
            assert_eq!(Build::of_folder(&folder).unwrap(), Build::Old, "{changed}");
            touch(changed, 1);
        }
        fs::remove_file(folder.join("tsconfig.json")).unwrap();
        let missing = Build::of_folder(&folder).unwrap_err().to_string();
        assert!(missing.contains("tsconfig.json"), "{missing}");
        fs::remove_dir_all(folder).unwrap();
    }
}
