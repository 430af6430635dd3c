//! Installs the programs that make and check releases: nfpm and rpm for packages, the schema of SBOMs, and
//! minisign for signatures.

use std::path::PathBuf;

use anyhow::{Context, Result};

use super::pypi::{self, PIP};
use super::{Installer, Tool, install_module, packaging};
use crate::shell;

const RECENT_GO: Installer = Installer {
    program: "go",
    package: "golang-go",
    by_hand: "install Go 1.25 or newer (https://go.dev/dl/) and put it on the PATH",
};
/// Writes packages for Debian and rpm from one description. This is the newest version whose
/// modules the proxy of Go serves.
pub(super) const NFPM: Tool = Tool {
    name: "nfpm",
    version: "2.45.2",
    path: "bin/nfpm",
    needs: RECENT_GO,
    install: |tool| install("github.com/goreleaser/nfpm/v2/cmd/nfpm", tool),
};
/// Checks workflows of GitHub.
pub(super) const ACTIONLINT: Tool = Tool {
    name: "actionlint",
    version: "1.7.12",
    path: "bin/actionlint",
    needs: RECENT_GO,
    install: |tool| install("github.com/rhysd/actionlint/cmd/actionlint", tool),
};
/// Contains the schema of SBOMs. The validator of Kubernetes brings the library that reads schemas.
pub(super) const CYCLONEDX: Tool = Tool {
    name: "cyclonedx-python-lib",
    version: "11.12.0",
    path: "cyclonedx/cyclonedx",
    needs: PIP,
    install: |tool| pypi::install("cyclonedx", tool, &[]),
};
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
    super::ready(&NFPM)?;
    super::ready(&ACTIONLINT)?;
    super::ready(&CYCLONEDX)?;
    super::ready(&packaging::KUBERNETES)
}

/// Returns the folder of the schemas of SBOMs.
pub(crate) fn sbom_schemas() -> PathBuf {
    shell::tools().join(CYCLONEDX.path).join("schema/_res")
}

fn install(program: &str, tool: &Tool) -> Result<()> {
    install_module(&["install", &format!("{program}@v{}", tool.version)])
}
