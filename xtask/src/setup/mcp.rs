//! Installs the official client of the Model Context Protocol, for the tests of `/mcp`.

use anyhow::Result;

use super::Tool;
use super::npm::{self, NPM};

pub(super) const CLIENT: Tool = Tool {
    name: "mcp-sdk",
    version: "1.32.2",
    path: "mcp/node_modules/@modelcontextprotocol/sdk",
    needs: NPM,
    install,
};

fn install(tool: &Tool) -> Result<()> {
    npm::install("mcp", &[&format!("@modelcontextprotocol/sdk@{}", tool.version)])
}
