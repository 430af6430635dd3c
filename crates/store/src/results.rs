//! Results of checks before they are compacted into the history, for the start of the pipeline and
//! for operators. `result_rows` writes and reads their rows.
//!
//! Writes do not search for duplicates. Readers take the first result of a key.

use std::collections::{HashMap, HashSet};

use domain::check::{Outcome, ResultKey};
use rules::{MonitorId, Timestamp};

use crate::buckets::{self, BucketSize, bucket_of};
use crate::db::{Connection, Row, query};
use crate::result_rows::{RowsBetween, edges};
use crate::row::id;
use crate::stored_result::StoredResult;
use crate::{Store, StoreError, codes};

/// Handle of the results.
#[derive(Clone, Copy, Debug)]
pub struct Results<'s> {
    pub(crate) store: &'s Store,
}

impl Store {
    /// Returns the handle of the results of checks.
    pub const fn results(&self) -> Results<'_> {
        Results { store: self }
    }
}

/// Result as the pipeline remembers it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BootResult {
    /// Key of the result.
    pub identity: ResultKey,
    /// Time of completion.
    pub finished_at: Timestamp,
    pub outcome: Outcome,
    /// Whether it votes. If not, it only shows that its slot ran.
    pub votes: bool,
}

impl Results<'_> {
    /// Returns the latest slot that has a result. The server is known to have worked until then. At
    /// boot, the pipeline counts missed slots from there.
    pub async fn latest_slot(&self) -> Result<Option<Timestamp>, StoreError> {
        let mut db = self.store.read().await?;
        let Some((_, last)) = edges(&mut db).await? else { return Ok(None) };
        let mut latest = None;
        let first = buckets::key(bucket_of(last), 0);
        let last_bucket = RowsBetween::keys(first, i64::MAX);
        let damaged =
            last_bucket.each(&mut db, |_, row| latest = latest.max(Some(row.slot))).await?;
        self.store.quarantine().record_all(&damaged);
        Ok(latest.map(Timestamp::from_millis))
    }

    /// Returns all results with slots after `since`, of all monitors, in the order of slots,
    /// reduced to what the pipeline needs at boot.
    pub async fn since_for_boot(&self, since: Timestamp) -> Result<Vec<BootResult>, StoreError> {
        let mut db = self.store.read().await?;
        let monitors = self.monitors(&mut db).await?;
        let since = since.as_millis();
        let mut known = HashSet::new();
        let mut found = Vec::new();
        let buckets = RowsBetween::keys(BucketSize::TenMinutes.key(since, 0), i64::MAX);
        let damaged = buckets
            .each(&mut db, |number, row| {
                if let Some(monitor) = monitors.get(&number)
                    && row.slot > since
                    && known.insert((number, row.key()))
                {
                    found.push((*monitor, row));
                }
            })
            .await?;
        self.store.quarantine().record_all(&damaged);
        found.sort_by_key(|(_, row)| row.slot);
        found.into_iter().map(|(monitor, row)| read_boot_result(monitor, &row)).collect()
    }

    /// Returns the readable monitors by row ID.
    pub(crate) async fn monitors(
        &self,
        db: &mut Connection,
    ) -> Result<HashMap<i64, MonitorId>, StoreError> {
        let rows =
            query("SELECT id, number FROM monitors WHERE deleted_at IS NULL").fetch_all(db).await?;
        let read = |row: &Row| Ok((row.try_get("number")?, id(row, "id", MonitorId::parse)?));
        let readable = self.store.quarantine().readable_rows("monitors", &rows, read)?;
        Ok(readable.into_iter().collect())
    }

    /// Returns the number of uncompacted results, for the operator. Reads all of them.
    pub async fn count(&self) -> Result<u64, StoreError> {
        let mut count = 0;
        let mut bucket = None;
        let mut known = HashSet::new();
        let add = |number, row: StoredResult| {
            let of = BucketSize::TenMinutes.number(row.slot);
            if bucket.replace(of) != Some(of) {
                known.clear();
            }
            count += u64::from(known.insert((number, row.key())));
        };
        RowsBetween::keys(i64::MIN, i64::MAX).each(&mut self.store.read().await?, add).await?;
        Ok(count)
    }
}

fn read_boot_result(monitor: MonitorId, row: &StoredResult) -> Result<BootResult, StoreError> {
    Ok(BootResult {
        identity: ResultKey {
            monitor,
            revision: row.revision,
            region: codes::region(i64::from(row.region))?,
            slot: Timestamp::from_millis(row.slot),
            trigger: codes::trigger(i64::from(row.trigger))?,
        },
        finished_at: Timestamp::from_millis(row.slot + row.finished_after),
        outcome: codes::outcome(i64::from(row.outcome))?,
        votes: row.votes,
    })
}
