//! What `cargo xtask setup` installed, for the tests that start it.

use std::path::{Path, PathBuf};

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
