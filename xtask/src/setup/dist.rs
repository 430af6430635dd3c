//! Installs the programs that make and check packages: nfpm, rpm, and minisign for signatures.

use anyhow::{Context, Result};

use super::{Installer, Tool, install_module};

const RECENT_GO: Installer = Installer {
    program: "go",
    package: "golang-go",
    by_hand: "install Go 1.25 or newer (https://go.dev/dl/) and put it on the PATH",
};
/// Writes packages for Debian and rpm from one description. This is the newest version whose
/// modules the proxy of Go serves.
pub(super) const NFPM: Tool =
    Tool { name: "nfpm", version: "2.45.2", path: "bin/nfpm", needs: RECENT_GO, install };
/// Reads and installs packages of rpm.
const RPM: Installer = Installer {
    program: "rpm",
    package: "rpm",
    by_hand: "install rpm (https://rpm.org/) and put it on the PATH",
};
/// Signs releases.
const MINISIGN: Installer = Installer {
    program: "minisign",
    package: "minisign",
    by_hand: "install minisign (https://jedisct1.github.io/minisign/) and put it on the PATH",
};

/// Installs the tools that make and check packages.
pub(crate) fn for_dist() -> Result<()> {
    super::present(&RPM).context("`rpm` not found")?;
    super::present(&MINISIGN).context("`minisign` not found")?;
    super::ready(&NFPM)
}

fn install(tool: &Tool) -> Result<()> {
    let module = format!("github.com/goreleaser/nfpm/v2/cmd/nfpm@v{}", tool.version);
    install_module(&["install", &module])
}
