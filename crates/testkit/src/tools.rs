//! Finds the tools that `cargo xtask setup` installs, for tests that run them.

use std::path::{Path, PathBuf};

/// A program that runs Terraform providers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TerraformHost {
    /// Name in messages, such as `terraform-1.8.5`.
    pub name: &'static str,
    /// Path of the program.
    pub program: PathBuf,
    /// Support for write-only arguments (Terraform 1.11, OpenTofu 1.11).
    pub write_only: WriteOnly,
}

/// Support of a host for write-only arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WriteOnly {
    /// Supported.
    Known,
    /// Not supported. The host rejects a configuration that sets one.
    Unknown,
}

/// Returns every program that the provider is tested with: the `terraform` of the `PATH`, the
/// oldest supported one, the newest one, and OpenTofu.
pub fn terraform_hosts() -> [TerraformHost; 4] {
    let of = |name: &'static str, write_only| {
        let place = format!("bin/{name}");
        let program = installed(&place, "Terraform and OpenTofu");
        TerraformHost { name, program, write_only }
    };
    [
        TerraformHost {
            name: "terraform",
            program: "terraform".into(),
            write_only: WriteOnly::Known,
        },
        of("terraform-1.8", WriteOnly::Unknown),
        of("terraform-1.15", WriteOnly::Known),
        of("tofu", WriteOnly::Known),
    ]
}

/// Returns the program that checks the provider's documentation as a registry does.
pub fn tfplugindocs() -> PathBuf {
    installed("bin/tfplugindocs", "tfplugindocs")
}

/// Returns the folder of connect-es and its packages.
pub fn connect_es() -> PathBuf {
    installed("refusals/node_modules", "connect-es")
}

/// Returns the folder of the Python package httpx and of those that it needs.
pub fn httpx() -> PathBuf {
    installed("httpx", "httpx")
}

/// Returns the Python of the environment in which the Python client is tested.
pub fn python_of_client() -> PathBuf {
    // Not resolved: a link from the environment to another Python would lose the environment.
    installed("python/client/bin", "Python").join("python")
}

/// Returns the folder with the packages of that environment as files.
pub fn wheels_of_client() -> PathBuf {
    installed("python/client/wheels", "pip")
}

/// Returns the path of `place` below the folder of tools. Panics if it is not installed and names
/// `what` the tests start.
pub fn installed(place: &str, what: &str) -> PathBuf {
    #[expect(clippy::disallowed_methods, reason = "only tests need to know the folder of tools")]
    let tools = std::env::var("ALOFT_TOOLS_DIR")
        .map_or_else(|_| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../.tools"), PathBuf::from);
    let found = tools.join(place).canonicalize();
    found.unwrap_or_else(|_| {
        panic!("these tests start {what}, which is not installed: run `cargo xtask setup`")
    })
}
