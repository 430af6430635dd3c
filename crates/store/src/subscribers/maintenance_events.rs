//! Announces maintenance when its time comes: windows that are a day ahead, started or ended since
//! the last call. Each announcement has a unique name, so that it is sent only once.

use domain::history::Span;
use domain::notify::{
    MAINTENANCE_DISTANCE_MIN, MAINTENANCE_LEAD_TIME, MaintenanceEvent, MaintenancePhase,
    announced_since,
};
use rules::{MaintenanceId, Timestamp};

use super::Subscribers;
use crate::StoreError;
use crate::db::{Connection, Row, query};
use crate::outbox;
use crate::row::{id, instant, optional_instant};
use crate::writer::Session;

/// Number of windows per query.
const AT_ONCE: i64 = 500;

/// Windows that started or ended after `$1` and until `$2`, and windows that start after `$5` and
/// until `$6`. The latter are excluded if an earlier window of the same maintenance is closer than
/// `$7`. Deleted maintenance does not start.
const CHANGED_WINDOWS: &str = "SELECT m.id, m.title, m.description, w.from_at, w.until_at \
    FROM maintenance_windows w JOIN maintenances m ON m.id = w.maintenance \
    WHERE (w.from_at > $1 AND w.from_at <= $2 AND w.until_at > $2 AND m.deleted_at IS NULL) \
    OR (w.until_at > $1 AND w.until_at <= $2 AND w.from_at < w.until_at) \
    OR (w.from_at > $5 AND w.from_at <= $6 AND w.from_at > $2 AND m.deleted_at IS NULL \
    AND NOT EXISTS (SELECT 1 FROM maintenance_windows b WHERE b.maintenance = w.maintenance \
    AND b.from_at < w.from_at AND b.from_at > w.from_at - $7)) \
    ORDER BY w.until_at, w.from_at, m.id LIMIT $3 OFFSET $4";

impl Subscribers<'_> {
    /// Announces maintenance that is a day ahead, started or ended. Returns when the next
    /// announcement may be due.
    pub async fn announce_maintenance(
        &self,
        now: Timestamp,
    ) -> Result<Option<Timestamp>, StoreError> {
        let mut db = self.store.read().await?;
        let since = announced_until(&mut db).await?;
        let next = next(&mut db, now).await?;
        drop(db);
        let from = announced_since(since, now);
        let mut announced = 0;
        loop {
            let mut db = self.store.read().await?;
            let rows = changed_windows(&mut db, (from, now), announced).await?;
            drop(db);
            let count = rows.len() as i64;
            let read = |row| read_event(row, now);
            let changed = self.store.quarantine().readable_rows("maintenances", &rows, read)?;
            // If the server is killed in between, the first ones are repeated, which their names
            // make harmless.
            let until = (count < AT_ONCE).then_some(now);
            if since.is_none() || announced + count > 0 {
                self.enqueue_announcements(changed, now, until).await?;
            }
            if until.is_some() {
                return Ok(next);
            }
            announced += count;
        }
    }

    async fn enqueue_announcements(
        &self,
        windows: Vec<MaintenanceEvent>,
        now: Timestamp,
        until: Option<Timestamp>,
    ) -> Result<(), StoreError> {
        self.store
            .write(move |session| {
                session.declare_no_change();
                Box::pin(async move { enqueue(session, &windows, now, until).await })
            })
            .await
    }
}

/// Enqueues the announcements, and stores the time they cover with the last of them.
async fn enqueue(
    session: &mut Session,
    windows: &[MaintenanceEvent],
    now: Timestamp,
    until: Option<Timestamp>,
) -> Result<(), StoreError> {
    for window in windows {
        outbox::enqueue_maintenance(session, window, now).await?;
    }
    let Some(until) = until else { return Ok(()) };
    query(
        "INSERT INTO maintenance_event_cursor (one, until_at) VALUES (1, $1) \
         ON CONFLICT (one) DO UPDATE SET until_at = excluded.until_at",
    )
    .bind(until.as_millis())
    .execute(&mut session.db)
    .await?;
    Ok(())
}

async fn announced_until(db: &mut Connection) -> Result<Option<Timestamp>, StoreError> {
    let row = query("SELECT until_at FROM maintenance_event_cursor").fetch_optional(db).await?;
    row.map(|row| instant(&row, "until_at")).transpose()
}

async fn changed_windows(
    db: &mut Connection,
    (from, now): (Timestamp, Timestamp),
    after: i64,
) -> Result<Vec<Row>, StoreError> {
    let rows = query(CHANGED_WINDOWS)
        .bind(from.as_millis())
        .bind(now.as_millis())
        .bind(AT_ONCE)
        .bind(after)
        .bind((from + MAINTENANCE_LEAD_TIME).as_millis())
        .bind((now + MAINTENANCE_LEAD_TIME).as_millis())
        .bind(i64::try_from(MAINTENANCE_DISTANCE_MIN.as_millis()).unwrap_or(i64::MAX))
        .fetch_all(db)
        .await?;
    Ok(rows)
}

fn read_event(row: &Row, now: Timestamp) -> Result<MaintenanceEvent, StoreError> {
    let window = Span { from: instant(row, "from_at")?, to: instant(row, "until_at")? };
    Ok(MaintenanceEvent {
        maintenance: id(row, "id", MaintenanceId::parse)?,
        title: row.try_get("title")?,
        description: row.try_get("description")?,
        from: window.from,
        until: window.to,
        stage: MaintenancePhase::from_window(window, now),
    })
}

async fn next(db: &mut Connection, now: Timestamp) -> Result<Option<Timestamp>, StoreError> {
    let row = query(
        "SELECT (SELECT MIN(from_at) FROM maintenance_windows WHERE from_at > $1) AS next_start, \
         (SELECT MIN(until_at) FROM maintenance_windows WHERE until_at > $1) AS next_end, \
         (SELECT MIN(from_at) FROM maintenance_windows WHERE from_at > $2) AS next_ahead",
    )
    .bind(now.as_millis())
    .bind((now + MAINTENANCE_LEAD_TIME).as_millis())
    .fetch_one(db)
    .await?;
    let start = optional_instant(&row, "next_start")?;
    let end = optional_instant(&row, "next_end")?;
    let ahead = optional_instant(&row, "next_ahead")?.map(|at| at - MAINTENANCE_LEAD_TIME);
    Ok(start.into_iter().chain(end).chain(ahead).min())
}
