//! Handles a failed sync. The system may have dropped the unwritten data and report success at the
//! next sync, so a retry would report lost data as stored. The process therefore exits, and the
//! next one reads what is on disk (docs/decisions/0047-failed-sync.md).

use std::fmt::Display;
use std::io::Write as _;
use std::process::exit;

/// Exit code: an input or output error, as in `sysexits.h`.
const CODE: i32 = 74;
/// SQLite's codes for a failed sync of a file and of a folder: <https://sqlite.org/rescode.html>.
const SYNC_FAILURES: [i32; 2] = [1_034, 1_290];

/// Returns whether an extended code of SQLite is a failed sync.
pub(super) fn is_sync_failure(code: i32) -> bool {
    SYNC_FAILURES.contains(&code)
}

/// Exits the process.
pub(crate) fn end(why: &dyn Display) -> ! {
    let message =
        "failed to sync the database to disk; exiting, because a retry could not detect lost data";
    if tracing::dispatcher::has_been_set() {
        tracing::error!("{message}: {why}");
    } else {
        // Ignores an error: standard error may be closed.
        let _ = writeln!(std::io::stderr(), "error: {message}: {why}");
    }
    exit(CODE)
}
