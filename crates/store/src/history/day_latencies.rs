//! Latencies of many monitors in whole days, for reports of a fleet. A statement reads the rollups of
//! hundreds of monitors, so a report takes some dozens of statements instead of one for each monitor.

use std::collections::{HashMap, HashSet};

use domain::history::{Sketch, Span};
use rules::{MonitorId, WorkspaceId};
use sqlx::AssertSqlSafe;

use super::rollups::{self, Rollups};
use super::{HistoryStore, block_keys, unpack_readable};
use crate::buckets::{self, BucketSize};
use crate::db::{Connection, Query, Row, query};
use crate::quarantine::Quarantine;
use crate::row::id;
use crate::stored_result::StoredResult;
use crate::{StoreError, recent_index};

/// Number of monitors whose uncompacted results are in memory at once.
const MONITORS_AT_ONCE: usize = 1_000;
/// Number of keys per statement. A monitor with more has its own statement.
const KEYS_AT_ONCE: usize = 4_096;
/// Maximum number of days: a leap year.
const DAYS_MAX: i64 = 366;

/// A monitor whose latencies are read.
struct Wanted {
    number: i64,
    id: MonitorId,
    /// Its uncompacted results in the range.
    recent: Vec<StoredResult>,
    /// Keys of the blocks that contain, or will contain, those results.
    blocks: Vec<i64>,
}

impl HistoryStore<'_> {
    /// Returns the latencies of the scheduled checks of these monitors, which may be deleted, over all
    /// regions, in the days that `range` touches; at most the last 366. Omits monitors without any, and
    /// those of other workspaces.
    pub async fn day_latencies(
        &self,
        workspace: WorkspaceId,
        monitors: &[MonitorId],
        range: Span,
    ) -> Result<HashMap<MonitorId, Sketch>, StoreError> {
        let mut latencies = HashMap::with_capacity(monitors.len());
        if range.to <= range.from {
            return Ok(latencies);
        }
        let last = BucketSize::Day.number(range.to.as_millis() - 1);
        let first = BucketSize::Day.number(range.from.as_millis()).max(last - DAYS_MAX + 1);
        let days: Vec<i64> = (first..=last).collect();
        let mut db = self.store.read().await?;
        for part in monitors.chunks(MONITORS_AT_ONCE) {
            let wanted = self.wanted(&mut db, (workspace, part), &days).await?;
            let mut rest = &wanted[..];
            while !rest.is_empty() {
                let (now, later) = rest.split_at(fitting(rest, days.len()));
                self.read_days(&mut db, now, &days, &mut latencies).await?;
                rest = later;
            }
        }
        Ok(latencies)
    }

    /// Finds these monitors and their uncompacted results of these days.
    async fn wanted(
        &self,
        db: &mut Connection,
        (workspace, monitors): (WorkspaceId, &[MonitorId]),
        days: &[i64],
    ) -> Result<Vec<Wanted>, StoreError> {
        let numbers = numbers(db, self.store.quarantine(), workspace, monitors).await?;
        let mut recent: HashMap<i64, Vec<StoredResult>> = HashMap::new();
        for (number, row) in recent_index::rows_of(self.store.recent_index(), db, &numbers).await? {
            if days.contains(&BucketSize::Day.number(row.slot)) {
                recent.entry(number).or_default().push(row);
            }
        }
        let wanted = |(number, id)| {
            let recent = recent.remove(&number).unwrap_or_default();
            Wanted { number, id, blocks: block_keys(&recent, number), recent }
        };
        Ok(numbers.into_iter().map(wanted).collect())
    }

    /// Adds the latencies of these monitors. Results that were compacted by now are found in their
    /// blocks, which are read in the same statement as the rollups, so each result counts once.
    async fn read_days(
        &self,
        db: &mut Connection,
        monitors: &[Wanted],
        days: &[i64],
        latencies: &mut HashMap<MonitorId, Sketch>,
    ) -> Result<(), StoreError> {
        let by_number: HashMap<i64, &Wanted> = monitors.iter().map(|it| (it.number, it)).collect();
        let blocks: Vec<i64> = monitors.iter().flat_map(|it| &it.blocks).copied().collect();
        let keys: Vec<i64> = days
            .iter()
            .flat_map(|day| monitors.iter().map(|it| buckets::key(*day, it.number)))
            .collect();
        let wanted = [(BucketSize::TenMinutes, &blocks[..]), (BucketSize::Day, &keys[..])];
        let quarantine = self.store.quarantine();
        let mut compacted = HashSet::new();
        for (size, key, body) in buckets::read_together(db, &wanted).await? {
            let number = buckets::monitor_of(key);
            if size == BucketSize::TenMinutes {
                let rows = unpack_readable(quarantine, key, &body)?;
                compacted.extend(rows.iter().map(|row| (number, row.key())));
            } else if let Some(monitor) = by_number.get(&number) {
                let read = rollups::decode(&body);
                let read = quarantine.readable(size.table(), || key.to_string(), read)?;
                add(latencies, monitor.id, &read.unwrap_or_default());
            }
        }
        for monitor in monitors {
            let mut rest = Rollups::new();
            for row in &monitor.recent {
                if compacted.insert((monitor.number, row.key())) {
                    rollups::count(&mut rest, row)?;
                }
            }
            add(latencies, monitor.id, &rest);
        }
        Ok(())
    }
}

fn add(latencies: &mut HashMap<MonitorId, Sketch>, monitor: MonitorId, regions: &Rollups) {
    let found = regions.values().filter(|it| it.latency.count() > 0);
    for rollup in found {
        latencies.entry(monitor).or_default().merge(&rollup.latency);
    }
}

/// Returns how many of these monitors fit into a statement: at least one.
fn fitting(monitors: &[Wanted], days: usize) -> usize {
    let mut keys = 0;
    let fits = monitors.iter().take_while(|it| {
        keys += days + it.blocks.len();
        keys <= KEYS_AT_ONCE
    });
    fits.count().max(1)
}

/// Returns the monitors of the workspace among these by their row IDs.
async fn numbers(
    db: &mut Connection,
    quarantine: &Quarantine,
    workspace: WorkspaceId,
    monitors: &[MonitorId],
) -> Result<HashMap<i64, MonitorId>, StoreError> {
    let places: Vec<String> = (0..monitors.len()).map(|index| format!("${}", index + 2)).collect();
    let statement = format!(
        "SELECT id, number FROM monitors WHERE workspace_id = $1 AND id IN ({})",
        places.join(", ")
    );
    let select = query(AssertSqlSafe(statement)).bind(workspace.to_string());
    let select = monitors.iter().fold(select, |select: Query, it| select.bind(it.to_string()));
    let rows = select.fetch_all(db).await?;
    let read = |row: &Row| Ok((row.try_get("number")?, id(row, "id", MonitorId::parse)?));
    Ok(quarantine.readable_rows("monitors", &rows, read)?.into_iter().collect())
}
