//! Maintenance as the pipeline asks for it: whether one is on for a monitor, and until when. Its windows
//! are written ahead, so that the answer is a look into two indexes.

use rules::Timestamp;

use crate::StoreError;
use crate::db::{Connection, query};

/// Windows that follow each other without a gap and are looked at as one. What lies beyond is heard of
/// when these are over.
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
