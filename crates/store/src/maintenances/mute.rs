//! What maintenance means for a monitor: until when it mutes alerts, asked in the transaction of each
//! verdict, and which time is left out of uptime. Windows are written ahead, so that the answer is a
//! look into two indexes.

use domain::history::Span;
use rules::{MonitorId, Timestamp, WorkspaceId};

use crate::StoreError;
use crate::db::{Connection, query};
use crate::row::{instant, maybe_instant};

/// Windows that follow each other without a gap and are looked at as one. What lies beyond is asked
/// for when these are over.
const FOLLOWING_MAX: usize = 1_000;

/// The end of the maintenance that is on at this time for a monitor, of itself or through a component
/// that shows it; `None` where none is. Windows that overlap or touch are one, also of several.
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

/// The latest end of the windows in which this time lies.
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

/// Windows of the range, as far as they covered the monitor.
pub(super) async fn left_out(
    db: &mut Connection,
    workspace: WorkspaceId,
    monitor: MonitorId,
    range: Span,
) -> Result<Vec<Span>, StoreError> {
    let rows = query(
        "SELECT w.from_at, w.until_at, c.since, c.until FROM maintenance_covers c \
         JOIN monitors m ON m.number = c.monitor \
         JOIN maintenance_windows w ON w.maintenance = c.maintenance \
         WHERE m.workspace_id = $1 AND m.id = $2 AND w.from_at < $4 AND w.until_at > $3",
    )
    .bind(workspace.to_string())
    .bind(monitor.to_string())
    .bind(range.from.as_millis())
    .bind(range.to.as_millis())
    .fetch_all(db)
    .await?;
    let covered = rows.iter().map(|row| {
        let until = maybe_instant(row, 3)?;
        let (from, to) = (instant(row, 0)?.max(instant(row, 2)?), instant(row, 1)?);
        Ok(Span { from, to: until.map_or(to, |until| to.min(until)) })
    });
    covered.filter(|span| span.as_ref().map_or(true, |span| span.from < span.to)).collect()
}
