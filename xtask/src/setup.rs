//! Installs what tests and checks need beside Rust, each at one pinned version, under one folder
//! (see [`shell::tools`]). Present tools cost nothing: a stamp beside them tells the version.

mod built;
mod client;
mod terraform;

use std::fs;

use anyhow::{Context, Result, bail};

use crate::shell;

/// One program, how it gets here, and what it is for.
struct Tool {
    name: &'static str,
    version: &'static str,
    /// What is there once it is installed, below the folder of the tools.
    place: &'static str,
    needs: Installer,
    install: fn(&Tool) -> Result<()>,
}

/// What an installation runs on.
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
const NPM: Installer = Installer {
    program: "npm",
    package: "npm",
    by_hand: "install Node.js 20 or newer with npm (https://nodejs.org/) and put it on the PATH",
};
const CARGO: Installer =
    Installer { program: "cargo", package: "cargo", by_hand: "install Rust (https://rustup.rs/)" };
/// Pastes the lines that the demo prints.
const CURL: Installer = Installer {
    program: "curl",
    package: "curl",
    by_hand: "install curl (https://curl.se/) and put it on the PATH",
};

/// The tests start it themselves; Debian keeps the server's own programs off the path.
const POSTGRESQL: Installer = Installer {
    program: "psql",
    package: "postgresql",
    by_hand: "install PostgreSQL 14 or newer (https://www.postgresql.org/download/)",
};

/// A stock gRPC client: proves that the services answer one that is not ours. This is the newest
/// version that the Go of Debian 12 and Ubuntu 22.04 compiles.
const GRPCURL: Tool = Tool {
    name: "grpcurl",
    version: "1.8.9",
    place: "bin/grpcurl",
    needs: GO,
    install: install_grpcurl,
};
/// Lints the contract, finds breaking changes, and calls it as another stock client.
const BUF: Tool =
    Tool { name: "buf", version: "1.75.0", place: "bin/buf", needs: NPM, install: install_buf };
/// The mail server that tests of emails start: a process with STARTTLS and an account.
const SMTP_SERVER: Tool = Tool {
    name: "smtp-server",
    version: "3.14.0",
    place: "mail/node_modules/smtp-server",
    needs: NPM,
    install: install_smtp_server,
};
/// The ACME server that tests of certificates start: a process with an authority of its own. This is the
/// newest version that the Go of Debian 12 compiles; see [`LINKNAME`] for newer ones.
const PEBBLE: Tool = Tool {
    name: "pebble",
    version: "2.4.0",
    place: "bin/pebble",
    needs: GO,
    install: install_pebble,
};
/// Old packages of Go name functions inside its own, which linkers refuse since Go 1.23 unless they are
/// told not to; those before do not know the flag.
const LINKNAME: &str = "-ldflags=-checklinkname=0";
const LINKNAME_SINCE: u32 = 23;
/// Drives the browser that tests of pages look with; the browser itself is the system's.
const PLAYWRIGHT: Tool = Tool {
    name: "playwright-core",
    version: "1.65.1",
    place: "browser/node_modules/playwright-core",
    needs: NPM,
    install: install_playwright,
};
/// What finds where pages keep people out, with it.
const AXE: &str = "axe-core@4.14.1";
/// The browser.
const CHROMIUM: Installer = Installer {
    program: "chromium",
    package: "chromium",
    by_hand: "install Chromium as `chromium` (https://www.chromium.org/) and put it on the PATH",
};
/// Proxies whose configuration a guide shows: they say themselves whether they take it. Debian keeps the
/// first off the path of most users.
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
/// Looks at the units that a guide shows.
const SYSTEMD: Installer = Installer {
    program: "systemd-analyze",
    package: "systemd",
    by_hand: "install systemd's `systemd-analyze` and put it on the PATH",
};
/// What reads emails back, with it.
const POSTAL_MIME: &str = "postal-mime@2.4.3";
/// Licences, bans and sources of dependencies.
const CARGO_DENY: Tool = Tool {
    name: "cargo-deny",
    version: "0.20.2",
    place: "bin/cargo-deny",
    needs: CARGO,
    install: install_cargo_deny,
};

/// Counts the instructions of the hot paths.
const VALGRIND: Installer = Installer {
    program: "valgrind",
    package: "valgrind",
    by_hand: "install valgrind (https://valgrind.org/)",
};

/// The module of the client that speaks to providers.
const WIRE: &str = "crates/terraform-plugin/tests/wire";

/// Everything, for those who want to work without the network afterwards.
pub(crate) fn for_all() -> Result<()> {
    for_tests()?;
    for_provider_docs()?;
    for_licences()?;
    for_instructions()
}

/// What the tests call.
pub(crate) fn for_tests() -> Result<()> {
    let _alone = alone()?;
    present(&CURL).context("`curl` is missing")?;
    present(&POSTGRESQL).context("PostgreSQL is missing")?;
    ready(&GRPCURL)?;
    ready(&BUF)?;
    ready(&SMTP_SERVER)?;
    ready(&PEBBLE)?;
    present(&CHROMIUM).context("`chromium` is missing")?;
    ready(&PLAYWRIGHT)?;
    for installer in [NGINX, CADDY, SYSTEMD] {
        present(&installer).with_context(|| format!("`{}` is missing", installer.program))?;
    }
    client::TOOLS.iter().try_for_each(ready)?;
    terraform::TOOLS.iter().try_for_each(ready)?;
    client::ready().context("the TypeScript client cannot be made ready")?;
    present_terraform()?;
    wire()
}

/// What the check of the contract calls.
pub(crate) fn for_proto() -> Result<()> {
    ready(&BUF)
}

/// What the check of the provider's documentation calls.
pub(crate) fn for_provider_docs() -> Result<()> {
    present_terraform()?;
    ready(&terraform::TFPLUGINDOCS)
}

/// What the check of the licences calls.
pub(crate) fn for_licences() -> Result<()> {
    ready(&CARGO_DENY)
}

/// What the count of instructions calls.
pub(crate) fn for_instructions() -> Result<()> {
    present(&VALGRIND).context("`valgrind` is missing")
}

/// What the tests of the provider drive. It has a licence of its own and no package in Debian, so it
/// is named here and not installed.
fn present_terraform() -> Result<()> {
    if shell::found("terraform") {
        return Ok(());
    }
    bail!(
        "`terraform` is missing: install Terraform 1.8 or newer \
         (https://developer.hashicorp.com/terraform/install) and put it on the PATH"
    )
}

/// The modules of the client by which tests talk to providers as Terraform does; tests build it.
fn wire() -> Result<()> {
    present(&GO).context("Go is missing")?;
    let mut command = shell::command("go")?;
    command.args(["mod", "download"]).current_dir(shell::workspace().join(WIRE));
    shell::finish(&mut command)
}

/// Waits until nobody else installs here: two runs of the tests may begin at once.
fn alone() -> Result<fs::File> {
    fs::create_dir_all(shell::tools()).context("cannot make the folder of the tools")?;
    let lock = fs::File::create(shell::tools().join("setup.lock"));
    let lock = lock.context("cannot make the lock of the set-up")?;
    lock.lock().context("cannot wait for another set-up")?;
    Ok(lock)
}

fn ready(tool: &Tool) -> Result<()> {
    let stamp = shell::tools().join(format!("{}.version", tool.name));
    let program = shell::tools().join(tool.place);
    if program.exists() && fs::read_to_string(&stamp).is_ok_and(|text| text == tool.version) {
        return Ok(());
    }
    println!("{} {} is not here yet", tool.name, tool.version);
    present(&tool.needs).with_context(|| {
        format!(
            "`{}` {} cannot be installed: `{}` is missing",
            tool.name, tool.version, tool.needs.program
        )
    })?;
    fs::create_dir_all(shell::tools().join("bin"))
        .context("cannot make the folder of the tools")?;
    (tool.install)(tool).with_context(|| {
        format!("`{}` {} cannot be installed; {}", tool.name, tool.version, tool.needs.by_hand)
    })?;
    if !program.exists() {
        bail!("`{}` was installed but is not at {}", tool.name, program.display());
    }
    fs::write(&stamp, tool.version).context("cannot write the stamp of a tool")
}

/// Gets an installer from the system's packages where that is possible.
fn present(installer: &Installer) -> Result<()> {
    if shell::found(installer.program) {
        return Ok(());
    }
    if !shell::found("apt-get") {
        bail!("there is no apt-get here to get it with: {}", installer.by_hand);
    }
    let root = shell::output("id", &["-u"])?.trim() == "0";
    if !root && !shell::found("sudo") {
        bail!("apt-get needs root or sudo: run as root, or {}", installer.by_hand);
    }
    apt(root, &["update", "-q"]).context(installer.by_hand)?;
    apt(root, &["install", "-q", "-y", "--no-install-recommends", installer.package])
        .context(installer.by_hand)
}

fn apt(root: bool, args: &[&str]) -> Result<()> {
    let mut command = shell::command(if root { "apt-get" } else { "sudo" })?;
    if !root {
        // Without a terminal sudo may not ask: it fails with its own reason instead.
        command.args(["--non-interactive", "apt-get"]);
    }
    shell::finish(command.args(args).env("DEBIAN_FRONTEND", "noninteractive"))
}

fn install_grpcurl(tool: &Tool) -> Result<()> {
    let module = format!("github.com/fullstorydev/grpcurl/cmd/grpcurl@v{}", tool.version);
    install_module(&["install", &module])
}

fn install_pebble(tool: &Tool) -> Result<()> {
    let module = format!("github.com/letsencrypt/pebble/v2/cmd/pebble@v{}", tool.version);
    let version = shell::output("go", &["env", "GOVERSION"])?;
    match minor(&version) {
        Some(minor) if minor >= LINKNAME_SINCE => install_module(&["install", LINKNAME, &module]),
        Some(_) | None => install_module(&["install", &module]),
    }
}

/// The second part of a version of Go, such as 19 of `go1.19.8`.
fn minor(version: &str) -> Option<u32> {
    version.trim().strip_prefix("go1.")?.split(['.', '-', ' ']).next()?.parse().ok()
}

/// A program of Go, in the folder of the tools.
fn install_module(args: &[&str]) -> Result<()> {
    let mut command = shell::command("go")?;
    shell::finish(command.args(args).env("GOBIN", shell::tools().join("bin")))
}

fn install_buf(tool: &Tool) -> Result<()> {
    install_packages("npm", &[&format!("@bufbuild/buf@{}", tool.version)])?;
    let link = shell::tools().join("bin").join(tool.name);
    if link.symlink_metadata().is_ok() {
        fs::remove_file(&link)?;
    }
    std::os::unix::fs::symlink("../npm/node_modules/.bin/buf", link)
        .context("cannot link buf into the folder of the tools")
}

fn install_smtp_server(tool: &Tool) -> Result<()> {
    install_packages("mail", &[&format!("smtp-server@{}", tool.version), POSTAL_MIME])
}

fn install_playwright(tool: &Tool) -> Result<()> {
    install_packages("browser", &[&format!("playwright-core@{}", tool.version), AXE])
}

/// Packages of npm, in a folder of their own below that of the tools.
fn install_packages(folder: &str, packages: &[&str]) -> Result<()> {
    let folder = shell::tools().join(folder);
    fs::create_dir_all(&folder)?;
    let mut command = shell::command("npm")?;
    command.args(["install", "--no-audit", "--no-fund", "--ignore-scripts", "--save-exact"]);
    shell::finish(command.arg("--prefix").arg(&folder).args(packages))
}

fn install_cargo_deny(tool: &Tool) -> Result<()> {
    let mut command = shell::command(&shell::cargo())?;
    // The unoptimised build is quick enough at work, and ready in a fifth of the time.
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
    fn the_version_of_go_is_read_as_go_writes_it() {
        for (text, expected) in [
            ("go1.19.8\n", Some(19)),
            ("go1.26", Some(26)),
            ("go1.24-x", Some(24)),
            ("devel", None),
        ] {
            assert_eq!(minor(text), expected, "{text}");
        }
    }

    #[test]
    fn a_missing_installer_is_named_with_the_way_to_get_it() {
        let unknown = Installer {
            program: "no-such-program",
            package: "no-such-package-of-aloft",
            by_hand: "install it from nowhere",
        };
        assert!(!shell::found(unknown.program));
        assert!(shell::found("cargo") || shell::found("sh"));
        let tools = [GRPCURL, BUF, SMTP_SERVER, PEBBLE, PLAYWRIGHT, CARGO_DENY];
        let further =
            client::TOOLS.iter().chain(&terraform::TOOLS).chain([&terraform::TFPLUGINDOCS]);
        for tool in tools.iter().chain(further) {
            assert!(tool.version.split('.').count() == 3, "{} is not pinned", tool.name);
            assert!(tool.needs.by_hand.starts_with("install "), "{} says no way out", tool.name);
        }
    }
}
