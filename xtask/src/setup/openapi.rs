//! The linter of the OpenAPI description. Running it belongs to `checks`.

use anyhow::Result;

use super::Tool;
use super::npm::{self, NPM};

/// Reports errors and warnings of an OpenAPI description.
pub(super) const REDOCLY: Tool = Tool {
    name: "redocly",
    version: "2.77.0",
    path: "openapi/node_modules/.bin/redocly",
    needs: NPM,
    install: install_redocly,
};

fn install_redocly(tool: &Tool) -> Result<()> {
    npm::install("openapi", &[&format!("@redocly/cli@{}", tool.version)])
}
