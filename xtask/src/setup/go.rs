//! Installs what the Go client needs: the plugins that generate its messages and clients, and the
//! programs that check the module. `setup` downloads the modules that it uses.

use anyhow::Result;

use super::{Installer, Tool};

const GO: Installer = Installer {
    program: "go",
    package: "golang-go",
    by_hand: "install Go 1.24 or newer (https://go.dev/dl/) and put it on the PATH",
};

/// The plugins, of the versions in the manifest of the client.
pub(super) const PLUGINS: [Tool; 2] = [
    Tool {
        name: "protoc-gen-go",
        version: "1.36.11",
        path: "bin/protoc-gen-go",
        needs: GO,
        install: |tool| install("google.golang.org/protobuf/cmd/protoc-gen-go", tool),
    },
    Tool {
        name: "protoc-gen-connect-go",
        version: "1.19.2",
        path: "bin/protoc-gen-connect-go",
        needs: GO,
        install: |tool| install("connectrpc.com/connect/cmd/protoc-gen-connect-go", tool),
    },
];

/// Programs that check a module.
pub(super) const CHECKERS: [Tool; 2] = [
    Tool {
        name: "staticcheck",
        version: "0.7.0",
        path: "bin/staticcheck",
        needs: GO,
        install: |tool| install("honnef.co/go/tools/cmd/staticcheck", tool),
    },
    Tool {
        name: "gorelease",
        version: "0.0.0-20261113113407-e3970619a1a4",
        path: "bin/gorelease",
        needs: GO,
        install: |tool| install("golang.org/x/exp/cmd/gorelease", tool),
    },
];

/// Installs the plugins that generate code of the Go client.
pub(crate) fn for_go_code() -> Result<()> {
    PLUGINS.iter().try_for_each(super::ready)
}

fn install(program: &str, tool: &Tool) -> Result<()> {
    super::install_module(&["install", &format!("{program}@v{}", tool.version)])
}
