//! Installs the ACME server for tests of certificates: a process with its own authority.

use anyhow::Result;

use super::module::minor;
use super::{GO, Tool, install_module};
use crate::shell;

/// The newest version that the Go of Debian 12 compiles. See [`LINKNAME`] for newer ones.
pub(super) const PEBBLE: Tool = Tool {
    name: "pebble",
    version: "2.4.0",
    path: "bin/pebble",
    needs: GO,
    install: install_pebble,
};
/// Linker flag for old Go packages that refer to Go's internal functions. Linkers reject these
/// since Go 1.23 without the flag, and earlier ones do not know it.
const LINKNAME: &str = "-ldflags=-checklinkname=0";
const LINKNAME_SINCE: u32 = 23;

fn install_pebble(tool: &Tool) -> Result<()> {
    let module = format!("github.com/letsencrypt/pebble/v2/cmd/pebble@v{}", tool.version);
    let version = shell::output("go", &["env", "GOVERSION"])?;
    match minor(&version) {
        Some(minor) if minor >= LINKNAME_SINCE => install_module(&["install", LINKNAME, &module]),
        Some(_) | None => install_module(&["install", &module]),
    }
}
