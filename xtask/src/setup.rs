//! Installs the tools of tests and checks, each at a pinned version, in one folder (see
//! [`shell::tools`]). A stamp next to each tool records its version, so that installed tools are
//! skipped.

mod built;
mod client;
mod dist;
mod go;
mod mcp;
mod module;
mod nats;
mod npm;
mod openapi;
mod openid;
mod packaging;
mod pebble;
mod pypi;
mod python;
mod refusals;
mod terraform;
mod zig;

use std::fs;
use std::path::PathBuf;
use std::process::Stdio;

use anyhow::{Context, Result, bail};

pub(crate) use self::dist::{for_dist, for_packages, for_signing, sbom_schemas};
pub(crate) use self::go::for_go_code;
use self::npm::NPM;
pub(crate) use self::packaging::KUBERNETES_FOLDER;
pub(crate) use self::python::protoc_folder;
pub(crate) use self::zig::zigbuild;
use crate::shell;

/// A program, and how to install it.
struct Tool {
    name: &'static str,
    version: &'static str,
    /// File that exists after the installation, below the folder of tools.
    path: &'static str,
    needs: Installer,
    install: fn(&Tool) -> Result<()>,
}

/// A program that installs others.
struct Installer {
    program: &'static str,
    package: &'static str,
    by_hand: &'static str,
}

const GO: Installer = Installer {
    program: "go",
    package: "golang-go",
    by_hand: "install Go 1.18 or newer (https://go.dev/dl/) and put it on the PATH",
};
const CARGO: Installer =
    Installer { program: "cargo", package: "cargo", by_hand: "install Rust (https://rustup.rs/)" };
/// Runs the commands that the demo prints.
const CURL: Installer = Installer {
    program: "curl",
    package: "curl",
    by_hand: "install curl (https://curl.se/) and put it on the PATH",
};

/// Started by the tests. Debian keeps the server's programs off the `PATH`.
const POSTGRESQL: Installer = Installer {
    program: "psql",
    package: "postgresql",
    by_hand: "install PostgreSQL 14 or newer (https://www.postgresql.org/download/)",
};

/// A standard gRPC client, to test the services with a client that is not ours. This is the newest
/// version that the Go of Debian 12 and Ubuntu 22.04 compiles.
const GRPCURL: Tool = Tool {
    name: "grpcurl",
    version: "1.8.9",
    path: "bin/grpcurl",
    needs: GO,
    install: install_grpcurl,
};
/// Lints the contract, finds breaking changes, and calls it as another standard client.
const BUF: Tool =
    Tool { name: "buf", version: "1.75.0", path: "bin/buf", needs: NPM, install: install_buf };
/// Mail server for tests: a process with STARTTLS and an account.
const SMTP_SERVER: Tool = Tool {
    name: "smtp-server",
    version: "3.14.0",
    path: "mail/node_modules/smtp-server",
    needs: NPM,
    install: install_smtp_server,
};
/// Controls the browser in tests of pages. The browser itself comes from the system.
const PLAYWRIGHT: Tool = Tool {
    name: "playwright-core",
    version: "1.65.1",
    path: "browser/node_modules/playwright-core",
    needs: NPM,
    install: install_playwright,
};
/// Accessibility checker, installed with it.
const AXE: &str = "axe-core@4.14.1";
/// The browser.
const CHROMIUM: Installer = Installer {
    program: "chromium",
    package: "chromium",
    by_hand: "install Chromium as `chromium` (https://www.chromium.org/) and put it on the PATH",
};
/// Proxies whose configuration a guide contains. They validate it. Debian keeps nginx off the
/// `PATH` of most users.
const NGINX: Installer = Installer {
    program: "/usr/sbin/nginx",
    package: "nginx",
    by_hand: "install nginx as /usr/sbin/nginx (https://nginx.org/)",
};
const CADDY: Installer = Installer {
    program: "caddy",
    package: "caddy",
    by_hand: "install Caddy 2 (https://caddyserver.com/) and put it on the PATH",
};
/// Validates the units that a guide contains.
const SYSTEMD: Installer = Installer {
    program: "systemd-analyze",
    package: "systemd",
    by_hand: "install systemd's `systemd-analyze` and put it on the PATH",
};
/// Email parser, installed with it.
const POSTAL_MIME: &str = "postal-mime@2.4.3";
/// Checks licences, bans and sources of dependencies.
const CARGO_DENY: Tool = Tool {
    name: "cargo-deny",
    version: "0.20.2",
    path: "bin/cargo-deny",
    needs: CARGO,
    install: install_cargo_deny,
};

/// Counts the instructions of the hot paths.
const VALGRIND: Installer = Installer {
    program: "valgrind",
    package: "valgrind",
    by_hand: "install valgrind (https://valgrind.org/)",
};

/// Go modules of programs that tests build: the client that calls providers, the one that calls a
/// server which refuses early, and our own client.
const MODULES: [&str; 3] =
    ["crates/terraform-plugin/tests/wire", "crates/cli/tests/refusals/connect-go", "clients/go"];

/// Installs everything, to work without a network afterwards.
pub(crate) fn for_all() -> Result<()> {
    for_tests()?;
    for_provider_release()?;
    for_openapi()?;
    for_packaging()?;
    for_licences()?;
    for_instructions()
}

/// Installs the tools of the tests.
pub(crate) fn for_tests() -> Result<()> {
    let _alone = lock()?;
    present(&CURL).context("`curl` not found")?;
    present(&POSTGRESQL).context("PostgreSQL not found")?;
    ready(&GRPCURL)?;
    ready(&BUF)?;
    ready(&SMTP_SERVER)?;
    ready(&openid::PROVIDER)?;
    ready(&mcp::CLIENT)?;
    ready(&pebble::PEBBLE)?;
    ready(&nats::SERVER)?;
    present(&CHROMIUM).context("`chromium` not found")?;
    ready(&PLAYWRIGHT)?;
    for installer in [NGINX, CADDY, SYSTEMD] {
        present(&installer).with_context(|| format!("`{}` not found", installer.program))?;
    }
    client::TOOLS.iter().try_for_each(ready)?;
    terraform::TOOLS.iter().try_for_each(ready)?;
    ready(&terraform::TFPLUGINDOCS)?;
    client::ready().context("failed to build the TypeScript client")?;
    for_go_code()?;
    go::CHECKERS.iter().try_for_each(ready)?;
    ready(&python::PROTOC)?;
    python::ready().context("failed to install the packages of the Python client")?;
    present_terraform()?;
    refusals::TOOLS.iter().try_for_each(ready)?;
    MODULES.iter().try_for_each(|module| download(module))
}

/// Installs the tools of the contract's check.
pub(crate) fn for_proto() -> Result<()> {
    ready(&BUF)
}

/// Installs the linker for releases of the provider.
pub(crate) fn for_provider_release() -> Result<()> {
    ready(&zig::ZIGBUILD)
}

/// Installs the linter of the OpenAPI description, and returns its path.
pub(crate) fn for_openapi() -> Result<PathBuf> {
    ready(&openapi::REDOCLY)?;
    Ok(shell::tools().join(openapi::REDOCLY.path))
}

/// Installs the tools that check `packaging/`.
pub(crate) fn for_packaging() -> Result<()> {
    present(&SYSTEMD).context("`systemd-analyze` not found")?;
    ready(&nats::SERVER)?;
    for_dist()?;
    packaging::TOOLS.iter().try_for_each(ready)
}

/// Installs the tools of the licence check.
pub(crate) fn for_licences() -> Result<()> {
    ready(&CARGO_DENY)
}

/// Installs the tools of the instruction counts.
pub(crate) fn for_instructions() -> Result<()> {
    present(&VALGRIND).context("`valgrind` not found")
}

/// Checks that `terraform` is installed. It has its own licence and no Debian package, so it is not
/// installed here.
fn present_terraform() -> Result<()> {
    if shell::is_installed("terraform") {
        return Ok(());
    }
    bail!(
        "`terraform` not found: install Terraform 1.8 or newer \
         (https://developer.hashicorp.com/terraform/install) and put it on the PATH"
    )
}

/// Downloads what a Go module needs. Tests build its program.
fn download(module: &str) -> Result<()> {
    present(&GO).context("Go not found")?;
    let mut command = shell::command("go")?;
    let folder = shell::workspace().join(module);
    command.args(["mod", "download"]).current_dir(&folder);
    shell::finish(&mut command)?;
    // The check of a release asks for the times of all modules, even those that nothing builds.
    let mut command = shell::command("go")?;
    command.args(["list", "-m", "-json", "all"]).current_dir(&folder).stdout(Stdio::null());
    shell::finish(&mut command)
}

/// Waits until no other process installs tools: two test runs may start at once.
fn lock() -> Result<fs::File> {
    fs::create_dir_all(shell::tools()).context("failed to create the folder of the tools")?;
    let lock = fs::File::create(shell::tools().join("setup.lock"));
    let lock = lock.context("failed to create the lock file of the setup")?;
    lock.lock().context("failed to wait for another setup")?;
    Ok(lock)
}

fn ready(tool: &Tool) -> Result<()> {
    let stamp = shell::tools().join(format!("{}.version", tool.name));
    let program = shell::tools().join(tool.path);
    if program.exists() && fs::read_to_string(&stamp).is_ok_and(|text| text == tool.version) {
        return Ok(());
    }
    println!("{} {} is not installed yet", tool.name, tool.version);
    present(&tool.needs).with_context(|| {
        format!(
            "cannot install `{}` {}: `{}` not found",
            tool.name, tool.version, tool.needs.program
        )
    })?;
    fs::create_dir_all(shell::tools().join("bin"))
        .context("failed to create the folder of the tools")?;
    (tool.install)(tool).with_context(|| {
        format!("cannot install `{}` {}; {}", tool.name, tool.version, tool.needs.by_hand)
    })?;
    if !program.exists() {
        bail!("`{}` was installed but not found at {}", tool.name, program.display());
    }
    fs::write(&stamp, tool.version).context("failed to write the stamp of a tool")
}

/// Installs an installer from the system's packages if possible.
fn present(installer: &Installer) -> Result<()> {
    if shell::is_installed(installer.program) {
        return Ok(());
    }
    if !shell::is_installed("apt-get") {
        bail!("apt-get not found: {}", installer.by_hand);
    }
    let root = shell::output("id", &["-u"])?.trim() == "0";
    if !root && !shell::is_installed("sudo") {
        bail!("apt-get needs root or sudo: run as root, or {}", installer.by_hand);
    }
    apt(root, &["update", "-q"]).context(installer.by_hand)?;
    apt(root, &["install", "-q", "-y", "--no-install-recommends", installer.package])
        .context(installer.by_hand)
}

fn apt(root: bool, args: &[&str]) -> Result<()> {
    let mut command = shell::command(if root { "apt-get" } else { "sudo" })?;
    if !root {
        // Without a terminal sudo cannot prompt. It fails with its own reason instead.
        command.args(["--non-interactive", "apt-get"]);
    }
    shell::finish(command.args(args).env("DEBIAN_FRONTEND", "noninteractive"))
}

fn install_grpcurl(tool: &Tool) -> Result<()> {
    let module = format!("github.com/fullstorydev/grpcurl/cmd/grpcurl@v{}", tool.version);
    install_module(&["install", &module])
}

/// Installs a Go program in the folder of tools.
fn install_module(args: &[&str]) -> Result<()> {
    let mut command = shell::command("go")?;
    // A module may need a newer Go, which Go downloads.
    command.env("GOTOOLCHAIN", "auto").env("GOBIN", shell::tools().join("bin"));
    shell::finish(command.args(args))
}

fn install_buf(tool: &Tool) -> Result<()> {
    npm::install("npm", &[&format!("@bufbuild/buf@{}", tool.version)])?;
    let link = shell::tools().join("bin").join(tool.name);
    if link.symlink_metadata().is_ok() {
        fs::remove_file(&link)?;
    }
    std::os::unix::fs::symlink("../npm/node_modules/.bin/buf", link)
        .context("failed to link buf into the folder of the tools")
}

fn install_smtp_server(tool: &Tool) -> Result<()> {
    npm::install("mail", &[&format!("smtp-server@{}", tool.version), POSTAL_MIME])
}

fn install_playwright(tool: &Tool) -> Result<()> {
    npm::install("browser", &[&format!("playwright-core@{}", tool.version), AXE])
}

fn install_cargo_deny(tool: &Tool) -> Result<()> {
    let mut command = shell::command(&shell::cargo())?;
    // The unoptimized build is fast enough, and compiles in a fifth of the time.
    command.args([
        "install",
        "--debug",
        "--locked",
        "--force",
        tool.name,
        "--version",
        tool.version,
    ]);
    command.arg("--root").arg(shell::tools());
    shell::finish(command.env("CARGO_PROFILE_DEV_DEBUG", "0").env_remove("CARGO_TARGET_DIR"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_installer_is_named_with_instructions() {
        let unknown = Installer {
            program: "no-such-program",
            package: "no-such-package-of-aloft",
            by_hand: "install it from nowhere",
        };
        assert!(!shell::is_installed(unknown.program));
        assert!(shell::is_installed("cargo") || shell::is_installed("sh"));
        let tools =
            [GRPCURL, BUF, openapi::REDOCLY, SMTP_SERVER, pebble::PEBBLE, PLAYWRIGHT, CARGO_DENY];
        let further = client::TOOLS
            .iter()
            .chain(&terraform::TOOLS)
            .chain(&refusals::TOOLS)
            .chain(&packaging::TOOLS)
            .chain(&go::PLUGINS)
            .chain(&go::CHECKERS)
            .chain([&terraform::TFPLUGINDOCS, &zig::ZIGBUILD, &openid::PROVIDER, &nats::SERVER])
            .chain([&python::PROTOC, &dist::NFPM, &dist::ACTIONLINT, &dist::CYCLONEDX]);
        for tool in tools.iter().chain(further) {
            assert!(tool.version.split('.').count() == 3, "{} is not pinned", tool.name);
            assert!(
                tool.needs.by_hand.starts_with("install "),
                "{} has no instructions",
                tool.name
            );
        }
    }
}
