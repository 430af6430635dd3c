//! Figures of past months: stored once a month is over, and never changed afterwards.

use std::collections::BTreeSet;
use std::time::Duration;

use domain::history::{Sketch, Uptime};
use domain::page::Month;
use rules::{Timestamp, WorkspaceId, limits};

use super::gather::Gathered;
use super::{UptimeFigures, UptimeReports, UptimeSubject};
use crate::db::{Connection, Query, Row, query};
use crate::monitors::{tags, tags_text};
use crate::row::{id, instant, narrow};
use crate::{Store, StoreError};

/// Number of rows per transaction, between which others can write.
const ROWS_AT_ONCE: usize = 200;
/// Time after a month in which unreadable rows of it can be repaired.
const REPAIRED_WITHIN: Duration = Duration::from_hours(7 * 24);

/// Month of a workspace that is over, and whose figures are not stored yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FreezableMonth {
    pub workspace: WorkspaceId,
    pub month: Month,
}

impl UptimeReports<'_> {
    /// Returns the figures of a month as they were stored, in the order of their IDs. `None` if the
    /// month is not frozen.
    pub async fn frozen(
        &self,
        workspace: WorkspaceId,
        month: Month,
    ) -> Result<Option<Vec<UptimeFigures>>, StoreError> {
        let mut db = self.store.read().await?;
        if !self.frozen_months_in(&mut db, workspace).await?.contains(&month) {
            return Ok(None);
        }
        let rows = query(
            "SELECT workspace_id || '/' || month || '/' || subject_id AS key, subject_id, name, \
             known_ms, error_ms, incidents, latency, tags FROM month_figures \
             WHERE workspace_id = $1 AND month = $2 ORDER BY subject_id",
        )
        .bind(workspace.to_string())
        .bind(month.to_string())
        .fetch_all(&mut db)
        .await?;
        self.store.quarantine().readable_rows("month_figures", &rows, read).map(Some)
    }

    /// Returns the frozen months of a workspace.
    pub async fn frozen_months(
        &self,
        workspace: WorkspaceId,
    ) -> Result<BTreeSet<Month>, StoreError> {
        self.frozen_months_in(&mut self.store.read().await?, workspace).await
    }

    async fn frozen_months_in(
        self,
        db: &mut Connection,
        workspace: WorkspaceId,
    ) -> Result<BTreeSet<Month>, StoreError> {
        let rows = query(
            "SELECT workspace_id || '/' || month AS key, month FROM frozen_months \
             WHERE workspace_id = $1",
        )
        .bind(workspace.to_string())
        .fetch_all(db)
        .await?;
        let read = |row| id(row, "month", parse_month);
        let months = self.store.quarantine().readable_rows("frozen_months", &rows, read)?;
        Ok(months.into_iter().collect())
    }

    /// Returns the months that were over at `now`, whose status changes are all still stored, and
    /// that are not frozen; oldest first.
    pub async fn freezable(&self, now: Timestamp) -> Result<Vec<FreezableMonth>, StoreError> {
        let mut db = self.store.read().await?;
        let kept = Month::containing(now - limits::STATUS_CHANGES_KEPT).next();
        let rows = query("SELECT id, created_at FROM workspaces WHERE deleted_at IS NULL");
        let mut found = Vec::new();
        let rows = rows.fetch_all(&mut db).await?;
        let read = |row| Ok((id(row, "id", WorkspaceId::parse)?, instant(row, "created_at")?));
        for (workspace, created_at) in
            self.store.quarantine().readable_rows("workspaces", &rows, read)?
        {
            let frozen = self.frozen_months_in(&mut db, workspace).await?;
            let mut month = Month::containing(created_at).max(kept);
            while month.span().to <= now {
                if !frozen.contains(&month) {
                    found.push(FreezableMonth { workspace, month });
                }
                month = month.next();
            }
        }
        Ok(found)
    }

    /// Stores the figures of a month that is over, and returns whether it did. Repeats safely what a stopped
    /// server began. A month with unreadable rows stays open for a week, because a repair can still correct
    /// it; then the time of which nothing is known stays unknown.
    pub async fn freeze(&self, which: FreezableMonth, now: Timestamp) -> Result<bool, StoreError> {
        let FreezableMonth { workspace, month } = which;
        let Gathered { mut figures, is_complete } = self.gather(workspace, month.span()).await?;
        if !is_complete && now < month.span().to + REPAIRED_WITHIN {
            return Ok(false);
        }
        // A monitor without any known time in the month has nothing to report.
        figures.retain(|it| it.uptime.is_some() || it.incidents > 0);
        self.add_latencies(workspace, month.span(), &mut figures).await?;
        let pages = self.pages(workspace, &figures).await?;
        figures.extend(pages.into_iter().filter(|it| it.uptime.is_some()));
        for rows in figures.chunks(ROWS_AT_ONCE) {
            let inserts: Vec<Query> = rows.iter().map(|row| insert(which, row)).collect();
            write(self.store, inserts).await?;
        }
        let marker = query(
            "INSERT INTO frozen_months (workspace_id, month, frozen_at) VALUES ($1, $2, $3) \
             ON CONFLICT (workspace_id, month) DO NOTHING",
        )
        .bind(workspace.to_string())
        .bind(month.to_string())
        .bind(now.as_millis());
        write(self.store, vec![marker]).await?;
        Ok(true)
    }
}

async fn write(store: &Store, statements: Vec<Query>) -> Result<(), StoreError> {
    store
        .write(move |session| {
            session.declare_no_change();
            Box::pin(async move {
                for statement in statements {
                    statement.execute(&mut session.db).await?;
                }
                Ok(())
            })
        })
        .await
}

/// Returns the insert of one row. A row that is stored already stays as it is.
fn insert(FreezableMonth { workspace, month }: FreezableMonth, row: &UptimeFigures) -> Query {
    let (known_ms, error_ms) = row.uptime.map_or((0, 0), |it| (it.known_ms, it.error_ms));
    let mut latency = Vec::new();
    row.latency.encode(&mut latency);
    query(
        "INSERT INTO month_figures (workspace_id, month, subject_id, name, known_ms, error_ms, \
         incidents, latency, tags) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) \
         ON CONFLICT (workspace_id, month, subject_id) DO NOTHING",
    )
    .bind(workspace.to_string())
    .bind(month.to_string())
    .bind(row.subject.to_string())
    .bind(&row.name)
    .bind(known_ms as i64)
    .bind(error_ms as i64)
    .bind(i64::from(row.incidents))
    .bind(latency)
    .bind(tags_text(&row.tags))
}

fn read(row: &Row) -> Result<UptimeFigures, StoreError> {
    let subject = id(row, "subject_id", UptimeSubject::parse)?;
    let name = row.try_get("name")?;
    let (known_ms, error_ms): (u64, u64) = (narrow(row, "known_ms")?, narrow(row, "error_ms")?);
    let incidents = narrow(row, "incidents")?;
    let latency: Vec<u8> = row.try_get("latency")?;
    let latency = Sketch::decode(&mut &latency[..])
        .map_err(|why| StoreError::corrupt("column `latency`", why.to_string()))?;
    let uptime = (known_ms > 0).then_some(Uptime { known_ms, error_ms });
    let tags = tags(row.try_get("tags")?)?;
    Ok(UptimeFigures { subject, name, tags, uptime, incidents, latency })
}

pub(crate) fn parse_month(text: &str) -> Result<Month, String> {
    Month::parse(text).ok_or_else(|| format!("`{text}` is not a month"))
}
