//! Installs clients of others for the tests of early refusals: connect-es and httpx. connect-go is a module
//! of the test's own program.

use anyhow::Result;

use super::Tool;
use super::npm::{self, NPM};
use super::pypi::{self, PIP};

pub(super) const TOOLS: [Tool; 2] = [CONNECT_ES, HTTPX];

const CONNECT_ES: Tool = Tool {
    name: "connect-es",
    version: "2.2.0",
    path: "refusals/node_modules/@connectrpc/connect-node",
    needs: NPM,
    install: install_connect_es,
};
/// Messages of connect-es, of the version in the lock file of the TypeScript client.
const PROTOBUF_ES: &str = "@bufbuild/protobuf@2.17.0";

/// Its program runs in the Python of pip.
const HTTPX: Tool = Tool {
    name: "httpx",
    version: "0.28.1",
    path: "httpx/httpx",
    needs: PIP,
    install: install_httpx,
};
/// Packages that httpx needs.
const HTTPX_NEEDS: [&str; 6] = [
    "anyio==4.16.0",
    "certifi==2026.10.19.post1",
    "h11==0.16.0",
    "httpcore==1.0.9",
    "idna==3.20",
    "typing_extensions==4.16.0",
];

fn install_connect_es(tool: &Tool) -> Result<()> {
    let packages =
        ["connect", "connect-node"].map(|it| format!("@connectrpc/{it}@{}", tool.version));
    npm::install("refusals", &[&packages[0], &packages[1], PROTOBUF_ES])
}

fn install_httpx(tool: &Tool) -> Result<()> {
    pypi::install("httpx", tool, &HTTPX_NEEDS)
}
