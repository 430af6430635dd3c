//! Checks whether the TypeScript client was built from its current sources. `cargo xtask setup` uses
//! this before it builds, and so do the tests that run the client
//! (`crates/cli/tests/client/build.rs`), so that both share one list.

use std::io;
use std::path::Path;
use std::time::SystemTime;

/// Inputs of a build.
const SOURCES: [&str; 5] = ["src", "scripts", "package.json", "tsconfig.json", "tsconfig.cjs.json"];
/// Last output of a build.
const BUILT: &str = "dist/cjs/package.json";

/// State of the client's build.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Build {
    /// Built from the current sources.
    New,
    /// Built from older sources.
    Old,
    /// Not built.
    Missing,
}

impl Build {
    /// Returns the state of the build in a folder. Fails if a source does not exist.
    pub(crate) fn of_folder(folder: &Path) -> io::Result<Self> {
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

/// Returns the time of the last change of a file, or of anything in a folder.
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
