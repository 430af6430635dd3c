//! Whether the client that is tested was built from the sources beside it: `cargo xtask setup` builds it, so
//! that no two tests do at once.

use std::fs;
use std::path::Path;
use std::time::SystemTime;

use crate::CLIENT;

/// What a build writes last.
const BUILT: &str = "dist/cjs/package.json";

/// Panics where the client was not built, or was changed since.
pub(crate) fn assert_new() {
    let client = Path::new(CLIENT);
    let built = fs::metadata(client.join(BUILT)).and_then(|it| it.modified());
    let built = built.expect("the client is not built: run `cargo xtask setup`");
    let changed = newest(&client.join("src"));
    assert!(changed <= built, "the client was changed since it was built: run `cargo xtask setup`");
}

/// When something in a folder last changed.
fn newest(folder: &Path) -> SystemTime {
    let entries = fs::read_dir(folder).unwrap().map(Result::unwrap);
    let changed = entries.map(|entry| {
        let is_folder = entry.file_type().unwrap().is_dir();
        if is_folder {
            newest(&entry.path())
        } else {
            entry.metadata().unwrap().modified().unwrap()
        }
    });
    changed.max().unwrap_or(SystemTime::UNIX_EPOCH)
}
