//! Missed slots, stored as ranges, so that no loss goes unnoticed.

use domain::cadence::Missed as MissedSlots;
use rules::{MonitorId, Timestamp, WorkspaceId};

use crate::db::{Connection, Row, query};
use crate::row::{id, instant, narrow};
use crate::{Store, StoreError, codes};

/// Handle of the missed slots.
#[derive(Clone, Copy, Debug)]
pub struct Missed<'s> {
    pub(crate) store: &'s Store,
}

impl Missed<'_> {
    /// Returns the ranges of a monitor that end at `since` or later, oldest first, at most `limit`.
    pub async fn since(
        &self,
        workspace: WorkspaceId,
        monitor: MonitorId,
        since: Timestamp,
        limit: u32,
    ) -> Result<Vec<MissedSlots>, StoreError> {
        let rows = query(
            "SELECT s.region, s.first_slot, s.last_slot, s.slots \
             FROM missed s JOIN monitors m ON m.number = s.monitor \
             WHERE m.workspace_id = $1 AND m.id = $2 AND s.last_slot >= $3 \
             ORDER BY s.first_slot, s.region LIMIT $4",
        )
        .bind(workspace.to_string())
        .bind(monitor.to_string())
        .bind(since.as_millis())
        .bind(i64::from(limit))
        .fetch_all(&mut self.store.read().await?)
        .await?;
        rows.iter().map(|row| read(row, monitor)).collect()
    }
}

impl Missed<'_> {
    /// Returns the ranges of all monitors that end after `since`. For the pipeline at boot.
    pub async fn since_for_boot(&self, since: Timestamp) -> Result<Vec<MissedSlots>, StoreError> {
        let rows = query(
            "SELECT s.region, s.first_slot, s.last_slot, s.slots, m.id \
             FROM missed s JOIN monitors m ON m.number = s.monitor \
             WHERE s.last_slot > $1 AND m.deleted_at IS NULL",
        )
        .bind(since.as_millis())
        .fetch_all(&mut self.store.read().await?)
        .await?;
        let read = |row: &Row| read(row, id(row, 4, MonitorId::parse)?);
        self.store.quarantine().sift_all("missed_slots", &rows, read)
    }
}

/// Reads the first four columns.
fn read(row: &Row, monitor: MonitorId) -> Result<MissedSlots, StoreError> {
    Ok(MissedSlots {
        monitor,
        region: codes::region(row.try_get(0)?)?,
        first_slot: instant(row, 1)?,
        last_slot: instant(row, 2)?,
        count: narrow(row, 3)?,
    })
}

/// Stores a range. A range with the same start replaces the stored one.
pub(crate) async fn insert(
    db: &mut Connection,
    monitor: i64,
    missed: &MissedSlots,
) -> Result<(), StoreError> {
    query(
        "INSERT INTO missed (monitor, region, first_slot, last_slot, slots) \
         VALUES ($1, $2, $3, $4, $5) ON CONFLICT (monitor, region, first_slot) \
         DO UPDATE SET last_slot = excluded.last_slot, slots = excluded.slots",
    )
    .bind(monitor)
    .bind(codes::of_region(missed.region))
    .bind(missed.first_slot.as_millis())
    .bind(missed.last_slot.as_millis())
    .bind(i64::from(missed.count))
    .execute(db)
    .await?;
    Ok(())
}
