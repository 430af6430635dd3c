//! Checks that the tested client was built from its current sources. `cargo xtask setup` builds it,
//! so that tests do not build it concurrently. Shared by all test targets that run the client.

#[path = "../../../../xtask/src/setup/built.rs"]
mod built;

use std::path::Path;

use self::built::Build;

/// Folder of the client.
pub(crate) const CLIENT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../clients/typescript");

/// Panics if the client was not built, or changed since its build.
pub(crate) fn assert_new() {
    match Build::of_folder(Path::new(CLIENT)).unwrap() {
        Build::New => {}
        Build::Old => panic!("the client was changed since it was built: run `cargo xtask setup`"),
        Build::Missing => panic!("the client is not built: run `cargo xtask setup`"),
    }
}
