//! Writing results, the hot path: what is committed together is one row, or some where it is of two stretches
//! of time or many. A row goes behind those of its stretch, so that few pages change.

use std::collections::BTreeMap;

use domain::check::Identity;
use rules::MonitorId;

use super::{ResultRow, TABLE, body};
use crate::db::{Connection, query};
use crate::history::{Grain, Key, grain_key, insert_bodies};
use crate::{StoreError, codes};

/// Results of one body at most: with usual phases it fits a page of SQLite.
const TOGETHER: usize = 64;
/// Stretches whose ends are remembered; nearly all results are of the last one, or the one before.
const STRETCHES: usize = 4;

/// Results that become one row.
pub(crate) struct Body<'r> {
    /// The number of the stretch of ten minutes.
    stretch: i64,
    results: &'r [ResultRow<'r>],
}

/// In which row a result lies.
pub(crate) type Placed = (MonitorId, i64);

/// The keys that the next rows of the last stretches get.
#[derive(Default)]
pub(crate) struct Ends(BTreeMap<i64, i64>);

/// Puts results beside those they will lie with, and drops the second of an identity.
pub(crate) fn arrange(rows: &mut Vec<ResultRow<'_>>) {
    // By monitor, because who reads wants one monitor's. In a stable order: the first of two stays.
    rows.sort_by_key(|row| (stretch(row), row.monitor, key(row)));
    rows.dedup_by_key(|row| (row.monitor, key(row)));
}

/// The rows that results become which are arranged.
pub(crate) fn bodies<'r>(rows: &'r [ResultRow<'r>]) -> Vec<Body<'r>> {
    rows.chunk_by(|a, b| stretch(a) == stretch(b))
        .flat_map(|results| results.chunks(TOGETHER))
        .map(|results| Body { stretch: stretch(&results[0]), results })
        .collect()
}

/// Stores rows, and says in which each result lies.
pub(crate) async fn insert(
    db: &mut Connection,
    ends: &mut Ends,
    bodies: &[Body<'_>],
) -> Result<Vec<Placed>, StoreError> {
    let mut entries = Vec::with_capacity(bodies.len());
    let mut placed = Vec::new();
    for Body { stretch, results } in bodies {
        let key = ends.next(db, *stretch).await?;
        entries.push((key, body::of(results)));
        placed.extend(results.iter().map(|row| (row.result.identity.monitor, key)));
    }
    insert_bodies(db, TABLE, entries).await?;
    Ok(placed)
}

impl Ends {
    /// The key of a stretch's next row, which is no other's even where that row is undone.
    async fn next(&mut self, db: &mut Connection, stretch: i64) -> Result<i64, StoreError> {
        if let Some(next) = self.0.get_mut(&stretch) {
            *next += 1;
            return Ok(*next - 1);
        }
        let next = Self::stored(db, stretch).await?;
        if self.0.len() >= STRETCHES {
            self.0.pop_first();
        }
        self.0.insert(stretch, next + 1);
        Ok(next)
    }

    async fn stored(db: &mut Connection, stretch: i64) -> Result<i64, StoreError> {
        let (first, end) = (grain_key(stretch, 0), grain_key(stretch + 1, 0));
        let last: Option<Option<i64>> =
            query("SELECT MAX(key) FROM recent_results WHERE key >= $1 AND key < $2")
                .bind(first)
                .bind(end)
                .scalar(db)
                .await?;
        Ok(last.flatten().map_or(first, |last| last + 1))
    }
}

fn stretch(row: &ResultRow<'_>) -> i64 {
    Grain::TenMinutes.number(row.result.identity.slot.as_millis())
}

/// What makes a result one with another of its monitor, in the order of logs.
fn key(row: &ResultRow<'_>) -> Key {
    let Identity { slot, region, trigger, revision, .. } = row.result.identity;
    let (region, trigger) = (codes::of_region(region), codes::of_trigger(trigger));
    (slot.as_millis(), region as u8, trigger as u8, revision)
}
