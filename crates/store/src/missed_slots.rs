//! Missed slots, stored as ranges with their reason, so that no loss goes unnoticed.
//! `domain::cadence` decides which slots are missed.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use domain::cadence::{Missed as MissedSlots, MissedReason};
use rules::{MonitorId, Region, Timestamp, WorkspaceId};

use crate::db::arrays::RowsStatement;
use crate::db::{Connection, Row, Value, query};
use crate::row::{id, instant, narrow};
use crate::writer::Session;
use crate::{Store, StoreError, codes, history};

const TABLE: &str = "missed_slots";
/// The key of a row as one text.
pub(crate) const KEY: &str = "(monitor || '/' || region || '/' || first_slot)";
/// Number of rows per query when all are read.
const EXAMINED_AT_ONCE: i64 = 1_000;

static INSERT: LazyLock<RowsStatement> = LazyLock::new(|| {
    RowsStatement::new(
        "INSERT INTO missed_slots (monitor, region, first_slot, last_slot, slots, reason) \
         SELECT * FROM ",
        &["monitor", "region", "first_slot", "last_slot", "slots", "reason"],
        " WHERE TRUE ON CONFLICT (monitor, region, first_slot) DO UPDATE \
         SET last_slot = excluded.last_slot, slots = excluded.slots, reason = excluded.reason",
    )
});

/// Handle of the missed slots.
#[derive(Clone, Copy, Debug)]
pub struct Missed<'s> {
    pub(crate) store: &'s Store,
}

impl Store {
    /// Returns the handle of the missed slots.
    pub const fn missed(&self) -> Missed<'_> {
        Missed { store: self }
    }
}

/// Which ranges are listed; an empty list is all of its kind.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MissedFilter {
    /// Where they were due.
    pub regions: Vec<Region>,
    /// Reason why they were missed.
    pub reasons: Vec<MissedReason>,
    /// Ranges that end at this time or later.
    pub from: Option<Timestamp>,
    /// Ranges that begin before this time.
    pub to: Option<Timestamp>,
}

/// Position of a range in the list of its monitor, which is ordered by first slot and region,
/// newest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MissedCursor {
    /// The range's first slot.
    pub first_slot: Timestamp,
    /// The stored code of the range's region, which may be unknown.
    pub region: i64,
}

/// A page of ranges.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MissedPage {
    /// Newest first.
    pub ranges: Vec<MissedSlots>,
    /// Position after which the next page begins; `None` on the last page.
    pub next: Option<MissedCursor>,
}

impl Missed<'_> {
    /// Lists ranges of a monitor after a position, newest first, at most `limit`.
    pub async fn list(
        &self,
        workspace: WorkspaceId,
        monitor: MonitorId,
        filter: &MissedFilter,
        after: Option<MissedCursor>,
        limit: u32,
    ) -> Result<MissedPage, StoreError> {
        let mut db = self.store.read().await?;
        let number = history::number(&mut db, workspace, monitor).await?;
        let (slot, region) = after.map_or((i64::MAX, i64::MAX), |read_cursor| {
            (read_cursor.first_slot.as_millis(), read_cursor.region)
        });
        // A code that no shift reaches is unknown: its row is read, so that it is noticed.
        let rows = query(
            "SELECT region, first_slot, last_slot, slots, reason, monitor FROM missed_slots \
             WHERE monitor = $1 AND first_slot <= $2 AND (first_slot < $2 OR region < $3) \
             AND last_slot >= $4 AND first_slot < $5 \
             AND (region NOT BETWEEN 0 AND 62 \
             OR (CAST(1 AS BIGINT) << CAST(region AS INTEGER)) & $6 <> 0) \
             AND (reason NOT BETWEEN 0 AND 62 \
             OR (CAST(1 AS BIGINT) << CAST(reason AS INTEGER)) & $7 <> 0) \
             ORDER BY first_slot DESC, region DESC LIMIT $8",
        )
        .bind(number)
        .bind(slot)
        .bind(region)
        .bind(filter.from.map_or(i64::MIN, Timestamp::as_millis))
        .bind(filter.to.map_or(i64::MAX, Timestamp::as_millis))
        .bind(codes::bits(filter.regions.iter().copied().map(codes::region_code)))
        .bind(codes::bits(filter.reasons.iter().copied().map(codes::missed_reason_code)))
        .bind(i64::from(limit) + 1)
        .fetch_all(&mut db)
        .await?;
        let is_more = rows.len() > limit as usize;
        let shown = &rows[..rows.len().min(limit as usize)];
        let last = shown.last().filter(|_| is_more).map(read_cursor).transpose()?;
        let read = |row: &Row| read(row, monitor);
        let ranges = self.sift(shown, read)?;
        Ok(MissedPage { ranges, next: last })
    }

    /// Counts the missed slots of a monitor from `since` on, by region.
    pub async fn counts(
        &self,
        workspace: WorkspaceId,
        monitor: MonitorId,
        since: Timestamp,
    ) -> Result<BTreeMap<Region, u64>, StoreError> {
        let mut db = self.store.read().await?;
        let number = history::number(&mut db, workspace, monitor).await?;
        let whole = query(
            "SELECT region, MIN(first_slot) AS first_slot, CAST(SUM(slots) AS BIGINT) AS slots, \
             monitor FROM missed_slots \
             WHERE monitor = $1 AND first_slot >= $2 GROUP BY region, monitor",
        )
        .bind(number)
        .bind(since.as_millis())
        .fetch_all(&mut db)
        .await?;
        let begun_before = query(
            "SELECT region, first_slot, last_slot, slots, reason, monitor FROM missed_slots \
             WHERE monitor = $1 AND first_slot < $2 AND last_slot >= $2",
        )
        .bind(number)
        .bind(since.as_millis())
        .fetch_all(&mut db)
        .await?;
        let mut counts = BTreeMap::new();
        for row in &whole {
            let read = read_sum(row);
            let key = || key(row);
            let Some((region, slots)) = self.store.quarantine().readable(TABLE, key, read)? else {
                continue;
            };
            *counts.entry(region).or_default() += slots;
        }
        for range in self.sift(&begun_before, |row| read(row, monitor))? {
            *counts.entry(range.region).or_default() += u64::from(range.count_from(since));
        }
        counts.retain(|_, count| *count > 0);
        Ok(counts)
    }

    /// Returns the ranges of all monitors that end after `since`. For the pipeline at boot.
    pub async fn since_for_boot(&self, since: Timestamp) -> Result<Vec<MissedSlots>, StoreError> {
        let rows = query(
            "SELECT s.region, s.first_slot, s.last_slot, s.slots, s.reason, s.monitor, \
             m.id AS monitor_id FROM missed_slots s JOIN monitors m ON m.number = s.monitor \
             WHERE s.last_slot > $1 AND m.deleted_at IS NULL",
        )
        .bind(since.as_millis())
        .fetch_all(&mut self.store.read().await?)
        .await?;
        let read = |row: &Row| read(row, id(row, "monitor_id", MonitorId::parse)?);
        self.sift(&rows, read)
    }

    /// Reads all ranges, so that unreadable ones are noticed.
    pub(crate) async fn examine(&self) -> Result<(), StoreError> {
        let mut after = (i64::MIN, i64::MIN, i64::MIN);
        loop {
            let rows = query(
                "SELECT region, first_slot, last_slot, slots, reason, monitor FROM missed_slots \
                 WHERE (monitor, region, first_slot) > ($1, $2, $3) \
                 ORDER BY monitor, region, first_slot LIMIT $4",
            )
            .bind(after.0)
            .bind(after.1)
            .bind(after.2)
            .bind(EXAMINED_AT_ONCE)
            .fetch_all(&mut self.store.read().await?)
            .await?;
            let Some(last) = rows.last() else { return Ok(()) };
            after =
                (last.try_get("monitor")?, last.try_get("region")?, last.try_get("first_slot")?);
            self.sift(&rows, |row| read(row, MonitorId::from_bits(0)))?;
        }
    }

    /// Returns the readable ranges.
    fn sift(
        self,
        rows: &[Row],
        read: impl Fn(&Row) -> Result<MissedSlots, StoreError>,
    ) -> Result<Vec<MissedSlots>, StoreError> {
        let quarantine = self.store.quarantine();
        let sifted = rows.iter().map(|row| quarantine.readable(TABLE, || key(row), read(row)));
        sifted.filter_map(Result::transpose).collect()
    }
}

/// Returns the key of a row, as [`KEY`] does.
fn key(row: &Row) -> String {
    let columns = ["monitor", "region", "first_slot"].map(|column| row.try_get::<i64>(column));
    columns.map(|it| it.map_or_else(|_| "?".to_owned(), |it| it.to_string())).join("/")
}

/// Reads region and number of slots of a sum.
fn read_sum(row: &Row) -> Result<(Region, u64), StoreError> {
    Ok((codes::region(row.try_get("region")?)?, narrow(row, "slots")?))
}

/// Reads a range.
fn read(row: &Row, monitor: MonitorId) -> Result<MissedSlots, StoreError> {
    Ok(MissedSlots {
        monitor,
        region: codes::region(row.try_get("region")?)?,
        first_slot: instant(row, "first_slot")?,
        last_slot: instant(row, "last_slot")?,
        count: narrow(row, "slots")?,
        reason: codes::missed_reason(row.try_get("reason")?)?,
    })
}

fn read_cursor(row: &Row) -> Result<MissedCursor, StoreError> {
    Ok(MissedCursor { region: row.try_get("region")?, first_slot: instant(row, "first_slot")? })
}

/// Removes one slot from the range that contains it, because its check was reported late. Has no effect
/// if no range contains it.
pub(crate) async fn remove(
    session: &mut Session,
    monitor: i64,
    region: Region,
    slot: Timestamp,
) -> Result<(), StoreError> {
    let rows = query(
        "SELECT monitor, region, first_slot, last_slot, slots, reason FROM missed_slots \
         WHERE monitor = $1 AND region = $2 AND first_slot <= $3 AND last_slot >= $3",
    )
    .bind(monitor)
    .bind(codes::region_code(region))
    .bind(slot.as_millis())
    .fetch_all(&mut session.db)
    .await?;
    for row in &rows {
        // Only its row ID is needed, which is known.
        let range = read(row, MonitorId::from_bits(0));
        let range = session.quarantine.readable(TABLE, || key(row), range)?;
        let Some((range, rest)) = range.and_then(|it| Some((it, it.without(slot)?))) else {
            continue;
        };
        query("DELETE FROM missed_slots WHERE monitor = $1 AND region = $2 AND first_slot = $3")
            .bind(monitor)
            .bind(codes::region_code(region))
            .bind(range.first_slot.as_millis())
            .execute(&mut session.db)
            .await?;
        insert(&mut session.db, rest.iter().map(|range| (monitor, range))).await?;
    }
    Ok(())
}

/// Stores ranges of monitors with these row IDs. A range replaces an earlier one with the same
/// start.
pub(crate) async fn insert(
    db: &mut Connection,
    ranges: impl Iterator<Item = (i64, &MissedSlots)>,
) -> Result<(), StoreError> {
    let mut rows = BTreeMap::new();
    for (monitor, missed) in ranges {
        let region = codes::region_code(missed.region);
        let first_slot = missed.first_slot.as_millis();
        let row: [Value; 6] = [
            monitor.into(),
            region.into(),
            first_slot.into(),
            missed.last_slot.as_millis().into(),
            i64::from(missed.count).into(),
            codes::missed_reason_code(missed.reason).into(),
        ];
        rows.insert((monitor, region, first_slot), row);
    }
    Ok(INSERT.execute(db, rows.into_values().collect()).await?)
}
