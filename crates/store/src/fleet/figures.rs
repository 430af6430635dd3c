//! Uptime and latency of the monitors that a list shows, in a few statements for all of them.

use std::collections::HashMap;

use domain::history::{Sketch, Span, StatusFrom, Uptime, uptime};
use rules::{MonitorId, MonitorStatus, WorkspaceId};
use sqlx::AssertSqlSafe;

use super::{Fleets, MonitorNumber};
use crate::StoreError;
use crate::db::{Connection, query};
use crate::maintenances::covered_span;
use crate::row::{id, optional, status_from};

/// Figures of a monitor in a time range.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FleetFigures {
    /// Uptime outside of maintenance. `None` if nothing is known.
    pub uptime: Option<Uptime>,
    /// Latencies of successful scheduled checks.
    pub latency: Sketch,
}

/// Stored facts about a monitor in the range.
struct FleetPast {
    id: MonitorId,
    before: MonitorStatus,
    changes: Vec<StatusFrom>,
    excluded: Vec<Span>,
}

impl Fleets<'_> {
    /// Returns the figures of these monitors of the workspace in the days that `range` touches. The
    /// cost grows with their number, so that callers pass only the monitors that they show.
    pub async fn figures(
        &self,
        workspace: WorkspaceId,
        monitors: &[MonitorNumber],
        range: Span,
    ) -> Result<HashMap<MonitorId, FleetFigures>, StoreError> {
        if monitors.is_empty() {
            return Ok(HashMap::new());
        }
        let numbers: Vec<String> = monitors.iter().map(|number| number.0.to_string()).collect();
        let numbers = numbers.join(", ");
        let mut db = self.store.read().await?;
        let mut pasts = pasts(&mut db, (workspace, &numbers), range).await?;
        add_changes(&mut db, &numbers, (&mut pasts, range)).await?;
        add_maintenance(&mut db, &numbers, (&mut pasts, range)).await?;
        drop(db);
        let ids: Vec<MonitorId> = pasts.values().map(|past| past.id).collect();
        let history = self.store.history();
        let mut latencies = history.day_latencies(workspace, &ids, range).await?;
        let figures = |past: FleetPast| {
            let latency = latencies.remove(&past.id).unwrap_or_default();
            let uptime = uptime(past.before, &past.changes, &past.excluded, range);
            (past.id, FleetFigures { uptime, latency })
        };
        Ok(pasts.into_values().map(figures).collect())
    }
}

/// Returns these monitors of the workspace with their statuses before the range, by row ID.
async fn pasts(
    db: &mut Connection,
    (workspace, numbers): (WorkspaceId, &str),
    range: Span,
) -> Result<HashMap<i64, FleetPast>, StoreError> {
    let statement = format!(
        "SELECT m.number, m.id, (SELECT c.to_status FROM status_changes c \
         WHERE c.monitor = m.number AND c.at < $2 ORDER BY c.at DESC, c.number DESC LIMIT 1) \
         AS status_before FROM monitors m \
         WHERE m.workspace_id = $1 AND m.deleted_at IS NULL AND m.number IN ({numbers})"
    );
    let select = query(AssertSqlSafe(statement)).bind(workspace.to_string());
    let rows = select.bind(range.from.as_millis()).fetch_all(db).await?;
    let mut pasts = HashMap::with_capacity(rows.len());
    for row in &rows {
        let before: Option<MonitorStatus> = optional(row, "status_before", MonitorStatus::parse)?;
        let past = FleetPast {
            id: id(row, "id", MonitorId::parse)?,
            before: before.unwrap_or(MonitorStatus::Unknown),
            changes: Vec::new(),
            excluded: Vec::new(),
        };
        pasts.insert(row.try_get("number")?, past);
    }
    Ok(pasts)
}

async fn add_changes(
    db: &mut Connection,
    numbers: &str,
    (pasts, range): (&mut HashMap<i64, FleetPast>, Span),
) -> Result<(), StoreError> {
    let statement = format!(
        "SELECT monitor, at, to_status FROM status_changes \
         WHERE monitor IN ({numbers}) AND at >= $1 AND at < $2 ORDER BY monitor, at, number"
    );
    let select = query(AssertSqlSafe(statement)).bind(range.from.as_millis());
    for row in select.bind(range.to.as_millis()).fetch_all(db).await? {
        if let Some(past) = pasts.get_mut(&row.try_get::<i64>("monitor")?) {
            past.changes.push(status_from(&row)?);
        }
    }
    Ok(())
}

/// Adds the windows of maintenance, limited to the time in which they covered a monitor.
async fn add_maintenance(
    db: &mut Connection,
    numbers: &str,
    (pasts, range): (&mut HashMap<i64, FleetPast>, Span),
) -> Result<(), StoreError> {
    let statement = format!(
        "SELECT c.monitor, w.from_at, w.until_at, c.since, c.until FROM maintenance_covers c \
         JOIN maintenance_windows w ON w.maintenance = c.maintenance \
         WHERE c.monitor IN ({numbers}) AND w.until_at > $1 AND w.from_at < $2"
    );
    let select = query(AssertSqlSafe(statement)).bind(range.from.as_millis());
    for row in select.bind(range.to.as_millis()).fetch_all(db).await? {
        if let Some(past) = pasts.get_mut(&row.try_get::<i64>("monitor")?) {
            past.excluded.push(covered_span(&row)?);
        }
    }
    Ok(())
}
