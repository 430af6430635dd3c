//! Whether the client that is tested was built from the sources beside it: `cargo xtask setup` builds it, so
//! that no two tests do at once. For every target whose tests run it.

#[path = "../../../../xtask/src/setup/built.rs"]
mod built;

use std::path::Path;

use self::built::Build;

/// The folder of the client.
pub(crate) const CLIENT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../clients/typescript");

/// Panics where the client was not built, or was changed since.
pub(crate) fn assert_new() {
    match Build::of(Path::new(CLIENT)).unwrap() {
        Build::New => {}
        Build::Old => panic!("the client was changed since it was built: run `cargo xtask setup`"),
        Build::Missing => panic!("the client is not built: run `cargo xtask setup`"),
    }
}
