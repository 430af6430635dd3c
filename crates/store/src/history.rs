//! History: results that no longer change, compacted into blocks by monitor and ten minutes, and
//! into hourly and daily rollups. One monitor's past is therefore read without the results of
//! others. `compact` compacts results, `days` creates and drops the days of blocks, `prune` deletes
//! the rest, `logs` lists single results, and `domain::history` defines quantiles and uptime.

mod block;
mod compact;
mod day_latencies;
pub(crate) mod days;
mod prune;
mod rollups;
mod series;

use std::collections::{BTreeMap, HashMap, HashSet};

use domain::check::CheckResult;
use domain::history::{Rollup, Sketch, StatusFrom};
use rules::{MonitorId, MonitorStatus, Region, Timestamp, WorkspaceId};

use crate::buckets::BucketSize;
use crate::db::{Connection, query};
use crate::judge_states::readable_status_from;
use crate::quarantine::Quarantine;
use crate::results::Results;
use crate::row::id;
use crate::stored_result::{self, StoredResult};
use crate::{Store, StoreError, recent_index};

pub use compact::CompactionStats;
pub use prune::PrunedHistory;
pub use series::Bucket;

/// Maximum number of status changes per query. A monitor that changes every 30 seconds reaches it
/// in two weeks.
const CHANGES_MAX: i64 = 50_000;
/// Table of status changes.
const TABLE: &str = "status_changes";

/// Handle of the history.
#[derive(Clone, Copy, Debug)]
pub struct HistoryStore<'s> {
    pub(crate) store: &'s Store,
}

impl Store {
    /// Returns the handle of the rollups of results and the history of statuses.
    pub const fn history(&self) -> HistoryStore<'_> {
        HistoryStore { store: self }
    }
}

impl HistoryStore<'_> {
    /// Returns the rollups of a monitor's scheduled checks by region, from the hour of `since`.
    /// Reads at most 23 hours, and then one row per day.
    pub async fn rollups(
        &self,
        workspace: WorkspaceId,
        monitor: MonitorId,
        since: Timestamp,
    ) -> Result<BTreeMap<Region, Rollup>, StoreError> {
        let mut db = self.store.read().await?;
        let number = number(&mut db, workspace, monitor).await?;
        let since = BucketSize::Hour.start_of(since);
        let recent =
            recent_index::rows(self.store.recent_index(), &mut db, monitor, number).await?;
        rollups::read(self.store.quarantine(), &mut db, (number, since), &recent).await
    }

    /// Returns the latencies of the scheduled checks of these monitors since `since`, over all
    /// regions. Reads them one by one on a single connection. Omits monitors that the workspace
    /// does not have.
    pub async fn latencies(
        &self,
        workspace: WorkspaceId,
        monitors: &[MonitorId],
        since: Timestamp,
    ) -> Result<HashMap<MonitorId, Sketch>, StoreError> {
        let mut db = self.store.read().await?;
        let since = BucketSize::Hour.start_of(since);
        let mut latencies = HashMap::with_capacity(monitors.len());
        for monitor in monitors {
            let number = match number(&mut db, workspace, *monitor).await {
                Err(StoreError::NotFound { .. }) => continue,
                number => number?,
            };
            let recent =
                recent_index::rows(self.store.recent_index(), &mut db, *monitor, number).await?;
            let mut sketch = Sketch::default();
            let quarantine = self.store.quarantine();
            let totals = rollups::read(quarantine, &mut db, (number, since), &recent).await?;
            for sum in totals.values() {
                sketch.merge(&sum.latency);
            }
            latencies.insert(*monitor, sketch);
        }
        Ok(latencies)
    }

    /// Returns the status that a monitor had at `since` and its later readable changes, oldest first. Uptime
    /// is computed from them.
    pub async fn status_history(
        &self,
        workspace: WorkspaceId,
        monitor: MonitorId,
        since: Timestamp,
    ) -> Result<(MonitorStatus, Vec<StatusFrom>), StoreError> {
        let mut db = self.store.read().await?;
        let number = number(&mut db, workspace, monitor).await?;
        let before = query(
            "SELECT number, to_status FROM status_changes WHERE monitor = $1 AND at < $2 \
             ORDER BY at DESC, number DESC LIMIT 1",
        )
        .bind(number)
        .bind(since.as_millis())
        .fetch_optional(&mut db)
        .await?;
        let rows = query(
            "SELECT number, at, to_status, from_status FROM status_changes \
             WHERE monitor = $1 AND at >= $2 ORDER BY at, number LIMIT $3",
        )
        .bind(number)
        .bind(since.as_millis())
        .bind(CHANGES_MAX)
        .fetch_all(&mut db)
        .await?;
        let status = |column: &'static str| move |row| id(row, column, MonitorStatus::parse);
        let quarantine = self.store.quarantine();
        let before = match &before {
            Some(row) => {
                let status = quarantine.readable_rows(TABLE, [row], status("to_status"))?.pop();
                Some(status.unwrap_or(MonitorStatus::Unknown))
            }
            None => None,
        };
        let first = quarantine.readable_rows(TABLE, rows.first(), status("from_status"))?.pop();
        let changes = rows.iter().map(|row| readable_status_from(quarantine, row).transpose());
        let changes = changes.flatten().collect::<Result<_, _>>()?;
        Ok((before.or(first).unwrap_or(MonitorStatus::Unknown), changes))
    }
}

impl Results<'_> {
    /// Returns the uncompacted results of a monitor with slots since `since`, newest first, at most
    /// `limit`. Their evidence is omitted.
    pub async fn newest(
        &self,
        workspace: WorkspaceId,
        monitor: MonitorId,
        since: Timestamp,
        limit: u32,
    ) -> Result<Vec<CheckResult>, StoreError> {
        let mut db = self.store.read().await?;
        let number = match number(&mut db, workspace, monitor).await {
            Err(StoreError::NotFound { .. }) => return Ok(Vec::new()),
            number => number?,
        };
        let mut rows = recent(self.store, &mut db, monitor, number).await?;
        rows.retain(|row| row.slot >= since.as_millis());
        rows.sort_unstable_by_key(|row| (std::cmp::Reverse(row.slot), row.key()));
        let names = stored_result::probe_names(&mut db).await?;
        rows.iter().take(limit as usize).map(|row| row.result(monitor, &names)).collect()
    }
}

/// Returns the row ID of a monitor, which may be deleted.
pub(crate) async fn number(
    db: &mut Connection,
    workspace: WorkspaceId,
    monitor: MonitorId,
) -> Result<i64, StoreError> {
    query("SELECT number FROM monitors WHERE workspace_id = $1 AND id = $2")
        .bind(workspace.to_string())
        .bind(monitor.to_string())
        .scalar(db)
        .await?
        .ok_or_else(|| StoreError::not_found("monitor", &monitor))
}

/// Returns the results of a monitor that are not compacted yet, in any order.
pub(crate) async fn recent(
    store: &Store,
    db: &mut Connection,
    monitor: MonitorId,
    number: i64,
) -> Result<Vec<StoredResult>, StoreError> {
    let mut rows = recent_index::rows(store.recent_index(), db, monitor, number).await?;
    let keys = block_keys(&rows, number);
    // Results that were compacted a moment ago, or arrive twice, are in a block already.
    let mut compacted = HashSet::new();
    for (key, body) in BucketSize::TenMinutes.read(db, &keys).await? {
        let rows = unpack_readable(store.quarantine(), key, &body)?;
        compacted.extend(rows.iter().map(StoredResult::key));
    }
    rows.retain(|row| compacted.insert(row.key()));
    Ok(rows)
}

/// Returns the results of a block, or none if the block is unreadable.
pub(crate) fn unpack_readable(
    quarantine: &Quarantine,
    key: i64,
    body: &[u8],
) -> Result<Vec<StoredResult>, StoreError> {
    let size = BucketSize::TenMinutes;
    let read = block::unpack(body, size.start(key));
    let rows = quarantine.readable(size.table(), || key.to_string(), read)?;
    Ok(rows.unwrap_or_default())
}

/// Checks that a body of this bucket size can be read.
pub(crate) fn read_block(size: BucketSize, key: i64, body: &[u8]) -> Result<(), StoreError> {
    match size {
        BucketSize::TenMinutes => block::unpack(body, size.start(key)).map(drop),
        BucketSize::Hour | BucketSize::Day => rollups::decode(body).map(drop),
    }
}

/// Returns the keys of the blocks that contain, or will contain, these results of a monitor.
fn block_keys(rows: &[StoredResult], number: i64) -> Vec<i64> {
    let mut keys: Vec<i64> =
        rows.iter().map(|row| BucketSize::TenMinutes.key(row.slot, number)).collect();
    keys.sort_unstable();
    keys.dedup();
    keys
}
