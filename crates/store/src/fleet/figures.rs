//! Uptime and latency of the monitors that a list shows, in a few statements for all of them.

use std::collections::HashMap;

use domain::history::{Sketch, Span, StatusFrom, Uptime, uptime};
use rules::{MonitorId, MonitorStatus, WorkspaceId};
use sqlx::AssertSqlSafe;

use super::{Fleets, MonitorNumber};
use crate::StoreError;
use crate::db::{Connection, query};
use crate::judge_states::{readable_status_from, status_before};
use crate::maintenances::covered_spans;
use crate::quarantine::Quarantine;
use crate::row::id;

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
        let quarantine = self.store.quarantine();
        let mut pasts = pasts(&mut db, quarantine, (workspace, &numbers), range).await?;
        add_changes(&mut db, quarantine, &numbers, (&mut pasts, range)).await?;
        add_maintenance(&mut db, quarantine, &numbers, (&mut pasts, range)).await?;
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
    quarantine: &Quarantine,
    (workspace, numbers): (WorkspaceId, &str),
    range: Span,
) -> Result<HashMap<i64, FleetPast>, StoreError> {
    let statement = format!(
        "SELECT m.id, m.number, b.number AS before_number, b.to_status AS status_before \
         FROM monitors m LEFT JOIN status_changes b ON b.number = (SELECT c.number \
         FROM status_changes c WHERE c.monitor = m.number AND c.at < $2 \
         ORDER BY c.at DESC, c.number DESC LIMIT 1) \
         WHERE m.workspace_id = $1 AND m.deleted_at IS NULL AND m.number IN ({numbers})"
    );
    let select = query(AssertSqlSafe(statement)).bind(workspace.to_string());
    let rows = select.bind(range.from.as_millis()).fetch_all(db).await?;
    let read = |row| {
        let past = FleetPast {
            id: id(row, "id", MonitorId::parse)?,
            before: status_before(quarantine, row)?,
            changes: Vec::new(),
            excluded: Vec::new(),
        };
        Ok((row.try_get("number")?, past))
    };
    Ok(quarantine.readable_rows("monitors", &rows, read)?.into_iter().collect())
}

async fn add_changes(
    db: &mut Connection,
    quarantine: &Quarantine,
    numbers: &str,
    (pasts, range): (&mut HashMap<i64, FleetPast>, Span),
) -> Result<(), StoreError> {
    let statement = format!(
        "SELECT number, monitor, at, to_status FROM status_changes \
         WHERE monitor IN ({numbers}) AND at >= $1 AND at < $2 ORDER BY monitor, at, number"
    );
    let select = query(AssertSqlSafe(statement)).bind(range.from.as_millis());
    for row in select.bind(range.to.as_millis()).fetch_all(db).await? {
        let change = readable_status_from(quarantine, &row)?;
        if let Some(past) = pasts.get_mut(&row.try_get::<i64>("monitor")?) {
            past.changes.extend(change);
        }
    }
    Ok(())
}

/// Adds the windows of maintenance, limited to the time in which they covered a monitor.
async fn add_maintenance(
    db: &mut Connection,
    quarantine: &Quarantine,
    numbers: &str,
    (pasts, range): (&mut HashMap<i64, FleetPast>, Span),
) -> Result<(), StoreError> {
    let statement = format!(
        "SELECT c.maintenance, c.monitor, w.from_at, w.until_at, c.since, c.until \
         FROM maintenance_covers c JOIN maintenance_windows w ON w.maintenance = c.maintenance \
         WHERE c.monitor IN ({numbers}) AND w.until_at > $1 AND w.from_at < $2"
    );
    let select = query(AssertSqlSafe(statement)).bind(range.from.as_millis());
    let rows = select.bind(range.to.as_millis()).fetch_all(db).await?;
    for (monitor, span) in covered_spans(quarantine, &rows)? {
        if let Some(past) = pasts.get_mut(&monitor) {
            past.excluded.push(span);
        }
    }
    Ok(())
}
