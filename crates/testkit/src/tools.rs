//! What `cargo xtask setup` installed, for the tests that start it.

use std::path::{Path, PathBuf};

/// A program that runs Terraform providers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TerraformHost {
    /// What messages call it, such as `terraform-1.8.5`.
    pub name: &'static str,
    /// Where it is.
    pub program: PathBuf,
    /// Whether it has write-only arguments (Terraform 1.11, OpenTofu 1.11).
    pub write_only: WriteOnly,
}

/// What a host makes of write-only arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WriteOnly {
    /// It has them.
    Known,
    /// It is older, and refuses a configuration that gives one.
    Unknown,
}

/// Every program that the provider is tested with: the `terraform` of the `PATH`, the oldest that is
/// supported, the newest, and OpenTofu.
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

/// Where `place` is below the folder of the tools. Panics where it is not installed: `what` the tests
/// start, with its verb.
pub(crate) fn installed(place: &str, what: &str) -> PathBuf {
    #[expect(clippy::disallowed_methods, reason = "where tools are is told to tests alone")]
    let tools = std::env::var("ALOFT_TOOLS_DIR")
        .map_or_else(|_| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../.tools"), PathBuf::from);
    let found = tools.join(place).canonicalize();
    found.unwrap_or_else(|_| {
        panic!("these tests start {what}, which is not installed: run `cargo xtask setup`")
    })
}
