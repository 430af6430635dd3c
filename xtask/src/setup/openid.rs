//! Installs the `OpenID` provider of tests of single sign-on.

use anyhow::Result;

use super::Tool;
use super::npm::{self, NPM};

/// A process with its own keys and clients.
pub(super) const PROVIDER: Tool = Tool {
    name: "oidc-provider",
    version: "9.13.3",
    path: "openid/node_modules/oidc-provider",
    needs: NPM,
    install,
};

fn install(tool: &Tool) -> Result<()> {
    npm::install("openid", &[&format!("oidc-provider@{}", tool.version)])
}
