//! Installs the NATS server that the tests of the lane over JetStream start.

use anyhow::Result;

use super::{Installer, Tool, install_module};

/// Versions without known faults need a newer Go than those of distributions. Go itself downloads it
/// since 1.21.
const NEW_GO: Installer = Installer {
    program: "go",
    package: "golang-go",
    by_hand: "install Go 1.26 or newer (https://go.dev/dl/) and put it on the PATH",
};

/// NATS server with JetStream.
pub(super) const SERVER: Tool = Tool {
    name: "nats-server",
    version: "2.14.9",
    path: "bin/nats-server",
    needs: NEW_GO,
    install,
};

fn install(tool: &Tool) -> Result<()> {
    install_module(&["install", &format!("github.com/nats-io/nats-server/v2@v{}", tool.version)])
}
