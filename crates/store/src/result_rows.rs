//! Rows of results that are not compacted into the history yet. Results that are committed together
//! form one row of `recent_results`, appended after earlier rows, so that a commit changes only a
//! page or two. `insert` writes results, `body` defines the format of a row, and `rows` reads rows.

mod body;
mod insert;
mod rows;

use domain::check::CheckResult;

pub(crate) use insert::{NextRowKeys, RowKey, arrange, bodies, insert};
pub(crate) use rows::{RowsBetween, each_of, edges, with_keys};

/// Table of uncompacted results: keys and bodies. A key is the number of a ten-minute bucket,
/// followed by the row's number within it.
pub(crate) const TABLE: &str = "recent_results";

/// Result with the row IDs of its monitor and probe.
#[derive(Clone, Copy)]
pub(crate) struct ResultRow<'r> {
    pub(crate) monitor: i64,
    pub(crate) probe: i64,
    pub(crate) result: &'r CheckResult,
    /// Whether the result votes.
    pub(crate) votes: bool,
}
