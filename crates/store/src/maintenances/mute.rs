//! Effect of maintenance on a monitor: until when it holds alerts, queried in the transaction of
//! each verdict, and which time is excluded from uptime. Windows are written ahead, so that a query
//! needs only two index lookups.

use domain::history::Span;
use rules::{MonitorId, Timestamp, WorkspaceId};

use crate::StoreError;
use crate::db::{Connection, Row, query};
use crate::quarantine::Quarantine;
use crate::row::{instant, optional_instant};

/// Maximum number of adjacent windows that are merged. Later windows are found when these end.
const FOLLOWING_MAX: usize = 1_000;

/// Returns the end of the maintenance that covers a monitor at this time, directly or through a
/// component, or `None`. Overlapping and adjacent windows count as one, even across several
/// maintenances.
pub(crate) async fn muted_until(
    db: &mut Connection,
    monitor: i64,
    at: Timestamp,
) -> Result<Option<Timestamp>, StoreError> {
    let mut end = None;
    for _ in 0..FOLLOWING_MAX {
        let next = window_end(db, monitor, end.unwrap_or(at)).await?;
        if next.is_none() {
            break;
        }
        end = next;
    }
    Ok(end)
}

/// Returns the latest end of the windows that contain this time.
async fn window_end(
    db: &mut Connection,
    monitor: i64,
    at: Timestamp,
) -> Result<Option<Timestamp>, StoreError> {
    let end: Option<Option<i64>> = query(
        "SELECT MAX(w.until_at) FROM maintenance_covers c \
         JOIN maintenance_windows w ON w.maintenance = c.maintenance \
         AND w.from_at = (SELECT MAX(v.from_at) FROM maintenance_windows v \
         WHERE v.maintenance = c.maintenance AND v.from_at <= $2) \
         WHERE c.monitor = $1 AND c.since <= $2 AND (c.until IS NULL OR c.until > $2) \
         AND w.until_at > $2",
    )
    .bind(monitor)
    .bind(at.as_millis())
    .scalar(db)
    .await?;
    Ok(end.flatten().map(Timestamp::from_millis))
}

/// Returns the windows in the range, limited to the time in which they covered the monitor.
pub(super) async fn excluded_spans(
    db: &mut Connection,
    quarantine: &Quarantine,
    workspace: WorkspaceId,
    monitor: MonitorId,
    range: Span,
) -> Result<Vec<Span>, StoreError> {
    let rows = query(
        "SELECT c.maintenance, c.monitor, w.from_at, w.until_at, c.since, c.until \
         FROM maintenance_covers c JOIN monitors m ON m.number = c.monitor \
         JOIN maintenance_windows w ON w.maintenance = c.maintenance \
         WHERE m.workspace_id = $1 AND m.id = $2 AND w.from_at < $4 AND w.until_at > $3",
    )
    .bind(workspace.to_string())
    .bind(monitor.to_string())
    .bind(range.from.as_millis())
    .bind(range.to.as_millis())
    .fetch_all(db)
    .await?;
    let covered = covered_spans(quarantine, &rows)?.into_iter().map(|(_, span)| span);
    Ok(covered.filter(|span| span.from < span.to).collect())
}

/// Returns the readable windows of maintenance with the row IDs of their monitors, limited to the time
/// in which they covered them. The first column is the maintenance.
pub(crate) fn covered_spans(
    quarantine: &Quarantine,
    rows: &[Row],
) -> Result<Vec<(i64, Span)>, StoreError> {
    let read = |row: &Row| Ok((row.try_get("monitor")?, covered_span(row)?));
    quarantine.readable_rows("maintenances", rows, read)
}

fn covered_span(row: &Row) -> Result<Span, StoreError> {
    let (from, to) = (instant(row, "from_at")?, instant(row, "until_at")?);
    let (since, until) = (instant(row, "since")?, optional_instant(row, "until")?);
    Ok(Span { from: from.max(since), to: until.map_or(to, |until| to.min(until)) })
}
