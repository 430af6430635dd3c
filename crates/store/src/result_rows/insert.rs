//! Writes results, the hot path. Results that are committed together form one row, or several if
//! they span two buckets or are many. New rows follow those of their bucket, so that few pages
//! change.

use std::collections::BTreeMap;

use domain::check::ResultKey;
use rules::MonitorId;

use super::{ResultRow, TABLE, body};
use crate::buckets::{self, BucketSize};
use crate::db::{Connection, query};
use crate::stored_result::Key;
use crate::{StoreError, codes};

/// Maximum number of results per body. With typical phases, it fits a page of SQLite.
const TOGETHER: usize = 64;
/// Number of buckets whose next keys are cached. Nearly all results are of the last bucket or the
/// one before.
const CACHED_BUCKETS: usize = 4;

/// Results that become one row.
pub(crate) struct ResultBlock<'r> {
    /// Number of the ten-minute bucket.
    bucket: i64,
    results: &'r [ResultRow<'r>],
}

/// Monitor of a result and the key of its row.
pub(crate) type RowKey = (MonitorId, i64);

/// Next row keys of the last buckets.
#[derive(Default)]
pub(crate) struct NextRowKeys(BTreeMap<i64, i64>);

/// Sorts results into the order of rows, and drops the second result of a key.
pub(crate) fn arrange(rows: &mut Vec<ResultRow<'_>>) {
    // Sorts by monitor, because readers want the results of one monitor. The sort is stable, so the
    // first of two results stays.
    rows.sort_by_key(|row| (bucket(row), row.monitor, key(row)));
    rows.dedup_by_key(|row| (row.monitor, key(row)));
}

/// Splits sorted results into bodies of rows.
pub(crate) fn bodies<'r>(rows: &'r [ResultRow<'r>]) -> Vec<ResultBlock<'r>> {
    rows.chunk_by(|a, b| bucket(a) == bucket(b))
        .flat_map(|results| results.chunks(TOGETHER))
        .map(|results| ResultBlock { bucket: bucket(&results[0]), results })
        .collect()
}

/// Stores rows. Returns the row key of each result.
pub(crate) async fn insert(
    db: &mut Connection,
    ends: &mut NextRowKeys,
    bodies: &[ResultBlock<'_>],
) -> Result<Vec<RowKey>, StoreError> {
    let mut entries = Vec::with_capacity(bodies.len());
    let mut placed = Vec::new();
    for ResultBlock { bucket, results } in bodies {
        let key = ends.next(db, *bucket).await?;
        entries.push((key, body::encode(results)));
        placed.extend(results.iter().map(|row| (row.result.identity.monitor, key)));
    }
    buckets::insert(db, TABLE, entries).await?;
    Ok(placed)
}

impl NextRowKeys {
    /// Returns the key of a bucket's next row. It is not reused even after a rollback.
    async fn next(&mut self, db: &mut Connection, bucket: i64) -> Result<i64, StoreError> {
        if let Some(next) = self.0.get_mut(&bucket) {
            *next += 1;
            return Ok(*next - 1);
        }
        let next = Self::read_next(db, bucket).await?;
        if self.0.len() >= CACHED_BUCKETS {
            self.0.pop_first();
        }
        self.0.insert(bucket, next + 1);
        Ok(next)
    }

    async fn read_next(db: &mut Connection, bucket: i64) -> Result<i64, StoreError> {
        let (first, end) = (buckets::key(bucket, 0), buckets::key(bucket + 1, 0));
        let last: Option<Option<i64>> =
            query("SELECT MAX(key) FROM recent_results WHERE key >= $1 AND key < $2")
                .bind(first)
                .bind(end)
                .scalar(db)
                .await?;
        Ok(last.flatten().map_or(first, |last| last + 1))
    }
}

fn bucket(row: &ResultRow<'_>) -> i64 {
    BucketSize::TenMinutes.number(row.result.identity.slot.as_millis())
}

/// Returns the key of a result within its monitor, in the order of logs.
fn key(row: &ResultRow<'_>) -> Key {
    let ResultKey { slot, region, trigger, revision, .. } = row.result.identity;
    let (region, trigger) = (codes::region_code(region), codes::trigger_code(trigger));
    (slot.as_millis(), region as u8, trigger as u8, revision)
}
