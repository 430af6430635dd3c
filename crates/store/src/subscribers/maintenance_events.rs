//! Announces maintenance when its time comes: windows that are a day ahead, started or ended since
//! the last call. Each announcement has a unique name, so that it is sent only once.

use std::time::Duration;

use domain::history::Span;
use domain::notify::MaintenancePhase;
use rules::{MaintenanceId, Timestamp};

use super::Subscribers;
use crate::StoreError;
use crate::db::{Connection, Row, query};
use crate::outbox::{self, Maintained};
use crate::row::{id, instant, optional_instant};
use crate::writer::Session;

/// Maximum age of an announcement. Older ones are dropped after a long downtime of the server.
const ANNOUNCED_WITHIN: Duration = Duration::from_hours(24);
/// Number of windows per query.
const AT_ONCE: i64 = 500;

/// Lead time for announcing a window that was not announced when it was planned.
const AHEAD: Duration = Duration::from_hours(24);
/// Minimum distance of windows of one maintenance for their announcements. Daily announcements of
/// daily windows would be ignored.
const APART: Duration = Duration::from_hours(36);

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
        let from = since.unwrap_or(now).max(now - ANNOUNCED_WITHIN);
        let mut announced = 0;
        loop {
            let mut db = self.store.read().await?;
            let changed = changed_windows(&mut db, (from, now), announced).await?;
            drop(db);
            let count = changed.len() as i64;
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
        windows: Vec<Maintained>,
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
    windows: &[Maintained],
    now: Timestamp,
    until: Option<Timestamp>,
) -> Result<(), StoreError> {
    for maintained in windows {
        outbox::enqueue_maintenance(session, maintained, now).await?;
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
    row.map(|row| instant(&row, 0)).transpose()
}

async fn changed_windows(
    db: &mut Connection,
    (from, now): (Timestamp, Timestamp),
    after: i64,
) -> Result<Vec<Maintained>, StoreError> {
    let rows = query(CHANGED_WINDOWS)
        .bind(from.as_millis())
        .bind(now.as_millis())
        .bind(AT_ONCE)
        .bind(after)
        .bind((from + AHEAD).as_millis())
        .bind((now + AHEAD).as_millis())
        .bind(i64::try_from(APART.as_millis()).unwrap_or(i64::MAX))
        .fetch_all(db)
        .await?;
    let read = |row: &Row| {
        let window = Span { from: instant(row, 3)?, to: instant(row, 4)? };
        Ok(Maintained {
            maintenance: id(row, 0, MaintenanceId::parse)?,
            title: row.try_get(1)?,
            description: row.try_get(2)?,
            window,
            stage: if window.to <= now {
                MaintenancePhase::Completed
            } else if window.from <= now {
                MaintenancePhase::Started
            } else {
                MaintenancePhase::Scheduled
            },
        })
    };
    rows.iter().map(read).collect()
}

async fn next(db: &mut Connection, now: Timestamp) -> Result<Option<Timestamp>, StoreError> {
    let row = query(
        "SELECT (SELECT MIN(from_at) FROM maintenance_windows WHERE from_at > $1), \
         (SELECT MIN(until_at) FROM maintenance_windows WHERE until_at > $1), \
         (SELECT MIN(from_at) FROM maintenance_windows WHERE from_at > $2)",
    )
    .bind(now.as_millis())
    .bind((now + AHEAD).as_millis())
    .fetch_one(db)
    .await?;
    let (from, until) = (optional_instant(&row, 0)?, optional_instant(&row, 1)?);
    let ahead = optional_instant(&row, 2)?.map(|at| at - AHEAD);
    Ok(from.into_iter().chain(until).chain(ahead).min())
}
