//! Index of each monitor's newest results. `recent_results` is in order of time, so a search there
//! would read the results of all monitors. The index holds, in memory, the keys of the rows with
//! results of each monitor. The database decides which results exist, so an extra key does no harm.

use std::collections::{BTreeSet, HashMap};
use std::ops::RangeInclusive;
use std::sync::{Arc, Mutex, MutexGuard};

use rules::{ById, MonitorId};

use crate::StoreError;
use crate::db::{Connection, Row, query};
use crate::quarantine::Quarantine;
use crate::result_rows::{self, RowKey, RowsBetween};
use crate::row::id;
use crate::stored_result::StoredResult;

/// Keys of rows by monitor.
#[derive(Debug)]
pub(crate) struct RecentIndex {
    known: Mutex<Known>,
    quarantine: Arc<Quarantine>,
    /// Held during compaction and while the index is being loaded.
    gathering: tokio::sync::Mutex<()>,
}

#[derive(Debug)]
struct Known {
    /// Rows up to this key were left by an earlier process and are not indexed yet.
    unindexed_until: Option<i64>,
    keys: ById<MonitorId, Vec<i64>>,
}

/// Proof that no other compaction runs.
pub(crate) struct CompactionLock<'t> {
    tail: &'t RecentIndex,
    _gathering: tokio::sync::MutexGuard<'t, ()>,
}

impl RecentIndex {
    /// Creates the index. Rows of an earlier process have keys up to `last`.
    pub(crate) fn new(last: Option<i64>, quarantine: Arc<Quarantine>) -> Self {
        let known = Known { unindexed_until: last, keys: ById::default() };
        Self { known: Mutex::new(known), quarantine, gathering: tokio::sync::Mutex::default() }
    }

    /// Records committed results.
    pub(crate) fn record(&self, row_keys: &[RowKey]) {
        let mut known = self.known();
        for (monitor, key) in row_keys {
            add(known.keys.entry(*monitor).or_default(), *key);
        }
    }

    /// Removes rows whose results are in blocks now.
    pub(crate) fn trim(&self, compacted: &RangeInclusive<i64>) {
        let mut known = self.known();
        known.keys.retain(|_, keys| {
            keys.retain(|key| !compacted.contains(key));
            if keys.capacity() > 4 * keys.len() {
                keys.shrink_to(2 * keys.len());
            }
            !keys.is_empty()
        });
    }

    /// Waits until no other compaction runs.
    pub(crate) async fn lock_compaction(&self) -> CompactionLock<'_> {
        CompactionLock { tail: self, _gathering: self.gathering.lock().await }
    }

    /// Returns the keys of a monitor's rows, after indexing rows of an earlier process.
    async fn row_keys(
        &self,
        db: &mut Connection,
        monitor: MonitorId,
    ) -> Result<Vec<i64>, StoreError> {
        self.complete(db).await?;
        Ok(self.known().keys.get(&monitor).cloned().unwrap_or_default())
    }

    /// Works like [`Self::row_keys`] for several monitors. A row is returned once.
    async fn row_keys_of(
        &self,
        db: &mut Connection,
        monitors: impl Iterator<Item = MonitorId>,
    ) -> Result<Vec<i64>, StoreError> {
        self.complete(db).await?;
        let known = self.known();
        let keys: BTreeSet<i64> =
            monitors.filter_map(|it| known.keys.get(&it)).flatten().copied().collect();
        Ok(keys.into_iter().collect())
    }

    /// Indexes rows of an earlier process, if that did not happen yet.
    async fn complete(&self, db: &mut Connection) -> Result<(), StoreError> {
        if self.known().unindexed_until.is_some() {
            self.lock_compaction().await.index_existing(db).await?;
        }
        Ok(())
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().expect("no code panics while holding this lock")
    }
}

impl CompactionLock<'_> {
    /// Indexes the rows of an earlier process, once.
    pub(crate) async fn index_existing(&self, db: &mut Connection) -> Result<(), StoreError> {
        let Some(last) = self.tail.known().unindexed_until else { return Ok(()) };
        let mut keys: HashMap<i64, Vec<i64>> = HashMap::new();
        let mut rows = RowsBetween::keys(i64::MIN, last);
        loop {
            let entries = rows.next(db).await?;
            if entries.is_empty() {
                break;
            }
            for (key, body) in entries {
                let damaged = result_rows::each_of(key, &body, |monitor, _| {
                    add(keys.entry(monitor).or_default(), key);
                });
                self.tail.quarantine.record_all(damaged.as_slice());
            }
        }
        let numbered = monitors(&self.tail.quarantine, db).await?;
        let mut known = self.tail.known();
        for (number, monitor) in numbered {
            if let Some(mut all) = keys.remove(&number) {
                let since = known.keys.entry(monitor).or_default();
                all.append(since);
                *since = all;
            }
        }
        known.unindexed_until = None;
        Ok(())
    }
}

/// Adds the key of a row. Consecutive results may be in the same row.
fn add(keys: &mut Vec<i64>, key: i64) {
    if keys.last() != Some(&key) {
        keys.push(key);
    }
}

/// Returns the uncompacted results of a monitor. If two have the same key, the one stored first
/// comes first.
pub(crate) async fn rows(
    tail: &RecentIndex,
    db: &mut Connection,
    monitor: MonitorId,
    number: i64,
) -> Result<Vec<StoredResult>, StoreError> {
    let keys = tail.row_keys(db, monitor).await?;
    let mut found = Vec::new();
    for (key, body) in result_rows::with_keys(db, &keys).await? {
        let damaged = result_rows::each_of(key, &body, |of, row| {
            if of == number {
                found.push(row);
            }
        });
        tail.quarantine.record_all(damaged.as_slice());
    }
    Ok(found)
}

/// Returns the uncompacted results of these monitors, each with the row ID of its monitor. Reads each
/// row once, though it has results of many monitors.
pub(crate) async fn rows_of(
    tail: &RecentIndex,
    db: &mut Connection,
    monitors: &HashMap<i64, MonitorId>,
) -> Result<Vec<(i64, StoredResult)>, StoreError> {
    let keys = tail.row_keys_of(db, monitors.values().copied()).await?;
    let mut found = Vec::new();
    for (key, body) in result_rows::with_keys(db, &keys).await? {
        let damaged = result_rows::each_of(key, &body, |of, row| {
            if monitors.contains_key(&of) {
                found.push((of, row));
            }
        });
        tail.quarantine.record_all(damaged.as_slice());
    }
    Ok(found)
}

/// Returns all monitors with their row IDs, including deleted ones.
async fn monitors(
    quarantine: &Quarantine,
    db: &mut Connection,
) -> Result<Vec<(i64, MonitorId)>, StoreError> {
    let rows = query("SELECT id, number FROM monitors").fetch_all(db).await?;
    let read = |row: &Row| Ok((row.try_get("number")?, id(row, "id", MonitorId::parse)?));
    quarantine.readable_rows("monitors", &rows, read)
}
