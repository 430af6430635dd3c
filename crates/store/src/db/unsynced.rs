//! A sync that failed. The system may have dropped what was to be written and say nothing of it at the next
//! sync, so trying again would call lost data stored: the process ends, and the next one reads what is there
//! (docs/decisions/0047-failed-sync.md).

use std::fmt::Display;
use std::io::Write as _;
use std::process::exit;

/// How the process ends: an error of input or output, as in `sysexits.h`.
const CODE: i32 = 74;
/// SQLite's codes for a sync of a file, and of the folder, that failed: <https://sqlite.org/rescode.html>.
const SYNCS: [i32; 2] = [1_034, 1_290];

/// Whether this extended code of SQLite is a sync that failed.
pub(super) fn is_one(code: i32) -> bool {
    SYNCS.contains(&code)
}

/// Ends the process.
pub(crate) fn end(why: &dyn Display) -> ! {
    let said = "the disk failed to store what was written; ending, because another try could not tell what is lost";
    if tracing::dispatcher::has_been_set() {
        tracing::error!("{said}: {why}");
    } else {
        // Nobody listens to a standard error that is closed.
        let _ = writeln!(std::io::stderr(), "error: {said}: {why}");
    }
    exit(CODE)
}
