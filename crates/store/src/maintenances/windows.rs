//! Windows of maintenance: written after a change, extended as time passes, cut by an early end,
//! and deleted after their retention. `domain` computes the windows.

use std::time::Duration;

use domain::history::Span;
use domain::maintenance::{
    UpcomingWindows, WINDOWS_MAX, changed, planning_horizon, upcoming_windows, windows_to_add,
};
use rules::maintenance::{Recurrence, Schedule};
use rules::{Interval, MaintenanceId, TimeZone, Timestamp, WorkspaceId, limits};
use sqlx::AssertSqlSafe;

use super::Maintenances;
use crate::StoreError;
use crate::db::{Connection, Row, query};
use crate::row::{id, instant, optional};

/// Number of windows per statement.
const AT_ONCE: usize = 200;
/// Tolerance of the planning horizon: windows are extended only if they end this much earlier.
/// Without it, every run would extend them.
const SLACK: Duration = Duration::from_hours(24 * 30);
/// Maximum number of maintenances that one step extends, and of windows that one step deletes.
const STEP_EXTENDED: i64 = 20;
const STEP_PRUNED: i64 = 2_000;
/// Number of maintenances that one step reads at most, if others are unreadable.
const EXTENDED_READ: i64 = 10_000;

/// Window of a maintenance, as a calendar shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MaintenanceWindow {
    pub maintenance: MaintenanceId,
    pub title: String,
    pub window: Span,
}

impl Maintenances<'_> {
    /// Returns the windows of the workspace's maintenance that overlap the range, in order of time, at
    /// most `limit`. Windows of deleted maintenance are not returned.
    pub async fn windows(
        &self,
        workspace: WorkspaceId,
        range: Span,
        limit: u32,
    ) -> Result<Vec<MaintenanceWindow>, StoreError> {
        let rows = query(
            "SELECT a.id, a.title, w.from_at, w.until_at FROM maintenances a \
             JOIN maintenance_windows w ON w.maintenance = a.id \
             WHERE a.workspace_id = $1 AND a.deleted_at IS NULL AND w.until_at > $2 \
             AND w.from_at < $3 ORDER BY w.from_at, a.id LIMIT $4",
        )
        .bind(workspace.to_string())
        .bind(range.from.as_millis())
        .bind(range.to.as_millis())
        .bind(i64::from(limit))
        .fetch_all(&mut self.store.read().await?)
        .await?;
        let read = |row: &Row| {
            let maintenance = id(row, "id", MaintenanceId::parse)?;
            Ok(MaintenanceWindow { maintenance, title: row.try_get("title")?, window: span(row)? })
        };
        self.store.quarantine().readable_rows("maintenances", &rows, read)
    }

    /// Returns the next time at which a window of the workspace begins or ends.
    pub async fn next_boundary(
        &self,
        workspace: WorkspaceId,
        now: Timestamp,
    ) -> Result<Option<Timestamp>, StoreError> {
        next_boundary(&mut self.store.read().await?, workspace, now).await
    }

    /// Extends the windows of some recurring maintenances that need it. Returns whether more may
    /// need it.
    pub async fn extend(&self, now: Timestamp) -> Result<bool, StoreError> {
        for offset in (0..EXTENDED_READ).step_by(STEP_EXTENDED as usize) {
            let rows = self.to_extend(now, offset).await?;
            let due = self.store.quarantine().readable_rows("maintenances", &rows, Due::read)?;
            // Unreadable ones stay the first in order, and hold no other back.
            let is_full = rows.len() as i64 == STEP_EXTENDED;
            if due.is_empty() && is_full {
                continue;
            }
            let mut are_changed = false;
            for due in due {
                are_changed |= self.extend_one(due, now).await?;
            }
            return Ok(are_changed && is_full);
        }
        Ok(false)
    }

    /// Returns whether the windows reach further now.
    async fn extend_one(self, due: Due, now: Timestamp) -> Result<bool, StoreError> {
        let range = Span { from: due.until.max(now), ..planning_horizon(now) };
        let more = upcoming_windows(&due.schedule, range);
        let is_changed = more.until != Some(due.until);
        self.store
            .write(move |session| {
                session.declare_no_change();
                Box::pin(async move { due.extend(&mut session.db, &more).await })
            })
            .await?;
        Ok(is_changed)
    }

    /// Returns the maintenances of one step whose windows need to be extended.
    async fn to_extend(self, now: Timestamp, offset: i64) -> Result<Vec<Row>, StoreError> {
        let rows = query(
            "SELECT a.id, a.starts_at, a.duration, a.time_zone, a.recurrence, a.windows_until \
             FROM maintenances a WHERE a.deleted_at IS NULL AND a.windows_until < $1 \
             AND (SELECT COUNT(*) FROM maintenance_windows w WHERE w.maintenance = a.id \
             AND w.from_at > $2) < $3 ORDER BY a.windows_until, a.id LIMIT $4 OFFSET $5",
        )
        .bind((now + limits::MAINTENANCE_HORIZON - SLACK).as_millis())
        .bind(now.as_millis())
        .bind(WINDOWS_MAX as i64 / 2)
        .bind(STEP_EXTENDED)
        .bind(offset)
        .fetch_all(&mut self.store.read().await?)
        .await?;
        Ok(rows)
    }

    /// Deletes expired windows of one step, and deleted maintenance without windows. Returns
    /// whether more may remain.
    pub async fn prune(&self, now: Timestamp) -> Result<bool, StoreError> {
        let end = now - limits::STATUS_CHANGES_KEPT;
        self.store
            .write(move |session| {
                session.declare_no_change();
                Box::pin(async move { prune(&mut session.db, end).await })
            })
            .await
    }
}

/// Returns the next time at which a window of the workspace begins or ends, as this connection sees it.
pub(crate) async fn next_boundary(
    db: &mut Connection,
    workspace: WorkspaceId,
    now: Timestamp,
) -> Result<Option<Timestamp>, StoreError> {
    let next: Option<Option<i64>> = query(
        "SELECT MIN(CASE WHEN w.from_at > $2 THEN w.from_at ELSE w.until_at END) \
         FROM maintenances a JOIN maintenance_windows w ON w.maintenance = a.id \
         WHERE a.workspace_id = $1 AND a.deleted_at IS NULL AND w.until_at > $2",
    )
    .bind(workspace.to_string())
    .bind(now.as_millis())
    .scalar(db)
    .await?;
    Ok(next.flatten().map(Timestamp::from_millis))
}

/// Maintenance whose windows need to be extended.
struct Due {
    id: String,
    schedule: Schedule,
    /// All windows that begin before this time are written.
    until: Timestamp,
}

impl Due {
    fn read(row: &Row) -> Result<Self, StoreError> {
        let schedule = Schedule {
            starts_at: instant(row, "starts_at")?,
            duration: id(row, "duration", Interval::parse)?,
            time_zone: id(row, "time_zone", TimeZone::parse)?,
            recurrence: optional(row, "recurrence", Recurrence::parse)?,
        };
        Ok(Self { id: row.try_get("id")?, schedule, until: instant(row, "windows_until")? })
    }

    /// Extends the windows, unless the maintenance was changed since it was read, because such a
    /// change writes them itself.
    async fn extend(&self, db: &mut Connection, more: &UpcomingWindows) -> Result<(), StoreError> {
        let still = query(
            "UPDATE maintenances SET windows_until = $1 \
             WHERE id = $2 AND windows_until = $3 AND deleted_at IS NULL",
        )
        .bind(more.until.map(Timestamp::as_millis))
        .bind(&self.id)
        .bind(self.until.as_millis())
        .execute(&mut *db)
        .await?;
        if still == 0 {
            return Ok(());
        }
        let last = query(
            "SELECT from_at, until_at FROM maintenance_windows WHERE maintenance = $1 \
             ORDER BY from_at DESC LIMIT 1",
        )
        .bind(&self.id)
        .fetch_optional(&mut *db)
        .await?;
        let last = last.map(|row| span(&row)).transpose()?;
        insert(db, &self.id, &windows_to_add(last, &more.windows, self.until)).await
    }
}

/// Writes the windows of a new schedule: keeps past windows and replaces future ones.
pub(super) async fn rewrite(
    db: &mut Connection,
    maintenance: &str,
    ahead: &UpcomingWindows,
    now: Timestamp,
) -> Result<(), StoreError> {
    let current = current(db, maintenance, now).await?;
    query("DELETE FROM maintenance_windows WHERE maintenance = $1 AND until_at > $2")
        .bind(maintenance)
        .bind(now.as_millis())
        .execute(&mut *db)
        .await?;
    insert(db, maintenance, &changed(current.map(|it| it.from), &ahead.windows, now)).await
}

/// Ends the current window. Returns whether there was one.
pub(super) async fn end_current(
    db: &mut Connection,
    maintenance: &str,
    now: Timestamp,
) -> Result<bool, StoreError> {
    let Some(current) = current(db, maintenance, now).await? else { return Ok(false) };
    query("DELETE FROM maintenance_windows WHERE maintenance = $1 AND from_at = $2")
        .bind(maintenance)
        .bind(current.from.as_millis())
        .execute(&mut *db)
        .await?;
    insert(db, maintenance, &changed(Some(current.from), &[], now)).await?;
    Ok(true)
}

async fn current(
    db: &mut Connection,
    maintenance: &str,
    now: Timestamp,
) -> Result<Option<Span>, StoreError> {
    let row = query(
        "SELECT from_at, until_at FROM maintenance_windows \
         WHERE maintenance = $1 AND from_at <= $2 AND until_at > $2",
    )
    .bind(maintenance)
    .bind(now.as_millis())
    .fetch_optional(db)
    .await?;
    row.map(|row| span(&row)).transpose()
}

async fn insert(
    db: &mut Connection,
    maintenance: &str,
    windows: &[Span],
) -> Result<(), StoreError> {
    for windows in windows.chunks(AT_ONCE) {
        let placeholders: Vec<_> = (0..windows.len())
            .map(|index| format!("($1, ${}, ${})", 2 * index + 2, 2 * index + 3))
            .collect();
        let statement = format!(
            "INSERT INTO maintenance_windows (maintenance, from_at, until_at) VALUES {} \
             ON CONFLICT (maintenance, from_at) DO UPDATE SET until_at = excluded.until_at",
            placeholders.join(", ")
        );
        let first = query(AssertSqlSafe(statement)).bind(maintenance);
        let bound = windows.iter().fold(first, |query, window| {
            query.bind(window.from.as_millis()).bind(window.to.as_millis())
        });
        bound.execute(&mut *db).await?;
    }
    Ok(())
}

fn span(row: &Row) -> Result<Span, StoreError> {
    Ok(Span { from: instant(row, "from_at")?, to: instant(row, "until_at")? })
}

async fn prune(db: &mut Connection, end: Timestamp) -> Result<bool, StoreError> {
    let old = query(
        "SELECT maintenance, from_at FROM maintenance_windows WHERE until_at < $1 \
         ORDER BY until_at LIMIT $2",
    )
    .bind(end.as_millis())
    .bind(STEP_PRUNED)
    .fetch_all(&mut *db)
    .await?;
    for row in &old {
        query("DELETE FROM maintenance_windows WHERE maintenance = $1 AND from_at = $2")
            .bind(row.try_get::<String>("maintenance")?)
            .bind(row.try_get::<i64>("from_at")?)
            .execute(&mut *db)
            .await?;
    }
    let gone = query(
        "SELECT a.id FROM maintenances a WHERE a.deleted_at < $1 AND NOT EXISTS \
         (SELECT 1 FROM maintenance_windows w WHERE w.maintenance = a.id) LIMIT $2",
    )
    .bind(end.as_millis())
    .bind(STEP_PRUNED)
    .fetch_all(&mut *db)
    .await?;
    for row in &gone {
        let maintenance: String = row.try_get("id")?;
        for statement in [
            "DELETE FROM maintenance_covers WHERE maintenance = $1",
            "DELETE FROM maintenances WHERE id = $1",
        ] {
            query(statement).bind(&maintenance).execute(&mut *db).await?;
        }
    }
    query("DELETE FROM maintenance_covers WHERE until < $1")
        .bind(end.as_millis())
        .execute(db)
        .await?;
    Ok(old.len().max(gone.len()) as i64 == STEP_PRUNED)
}
