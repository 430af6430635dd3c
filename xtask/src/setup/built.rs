//! Whether the TypeScript client was built from the sources beside it. `cargo xtask setup` reads this before it
//! builds, and so do the tests that run the client (`crates/cli/tests/client/build.rs`): one list for both.

use std::io;
use std::path::Path;
use std::time::SystemTime;

/// What a build reads.
const SOURCES: [&str; 5] = ["src", "scripts", "package.json", "tsconfig.json", "tsconfig.cjs.json"];
/// What a build writes last.
const BUILT: &str = "dist/cjs/package.json";

/// How the build of the client in a folder stands to its sources.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Build {
    /// It was built from them.
    New,
    /// They were changed since.
    Old,
    /// There is none.
    Missing,
}

impl Build {
    /// Looks at a folder. An error is of a source that is not there.
    pub(crate) fn of(folder: &Path) -> io::Result<Self> {
        let changed = SOURCES.iter().map(|source| newest(&folder.join(source)));
        let changed = changed.collect::<io::Result<Vec<_>>>()?.into_iter().max();
        let built = folder.join(BUILT).metadata().and_then(|about| about.modified());
        Ok(match built {
            Ok(built) if Some(built) >= changed => Self::New,
            Ok(_) => Self::Old,
            Err(_) => Self::Missing,
        })
    }
}

/// When a file, or anything in a folder, last changed.
fn newest(path: &Path) -> io::Result<SystemTime> {
    let named = |why: io::Error| io::Error::new(why.kind(), format!("{}: {why}", path.display()));
    let about = path.metadata().map_err(named)?;
    let mut newest = about.modified()?;
    if about.is_dir() {
        for entry in path.read_dir().map_err(named)? {
            newest = newest.max(self::newest(&entry?.path())?);
        }
    }
    Ok(newest)
}
