//! Incidents: from a monitor's error to its recovery. A monitor has one open at most, which the
//! database itself holds to. When one opens and closes is the judge's decision.

use domain::judge::ClosedAs;
use rules::{IncidentId, MonitorId, Timestamp, WorkspaceId};

use crate::db::{Connection, Row, query};
use crate::row::{id, instant, maybe_instant, optional};
use crate::{Store, StoreError};

/// An incident.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Incident {
    /// Its identifier.
    pub id: IncidentId,
    /// Whose it is; the monitor may be deleted since.
    pub monitor: MonitorId,
    /// When the monitor went to `error`.
    pub opened_at: Timestamp,
    /// When and how it ended; `None` while it is open.
    pub closed: Option<Closed>,
}

/// The end of an incident.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Closed {
    /// When.
    pub at: Timestamp,
    /// What ended it.
    pub how: ClosedAs,
}

/// The handle of the incidents.
#[derive(Clone, Copy, Debug)]
pub struct Incidents<'s> {
    pub(crate) store: &'s Store,
}

impl Incidents<'_> {
    /// The newest incidents of a monitor, also of one that is deleted, newest first; at most
    /// `limit`.
    pub async fn of_monitor(
        &self,
        workspace: WorkspaceId,
        monitor: MonitorId,
        limit: u32,
    ) -> Result<Vec<Incident>, StoreError> {
        let rows = query(
            "SELECT i.id, m.id, i.opened_at, i.closed_at, i.closed_how \
             FROM incidents i JOIN monitors m ON m.number = i.monitor \
             WHERE i.workspace_id = $1 AND m.id = $2 ORDER BY i.opened_at DESC, i.id DESC LIMIT $3",
        )
        .bind(workspace.to_string())
        .bind(monitor.to_string())
        .bind(i64::from(limit))
        .fetch_all(&mut self.store.read().await?)
        .await?;
        rows.iter().map(read).collect()
    }

    /// Every incident of the workspace that is open, oldest first.
    pub async fn open(&self, workspace: WorkspaceId) -> Result<Vec<Incident>, StoreError> {
        let rows = query(
            "SELECT i.id, m.id, i.opened_at, i.closed_at, i.closed_how \
             FROM incidents i JOIN monitors m ON m.number = i.monitor \
             WHERE i.workspace_id = $1 AND i.closed_at IS NULL ORDER BY i.opened_at, i.id",
        )
        .bind(workspace.to_string())
        .fetch_all(&mut self.store.read().await?)
        .await?;
        rows.iter().map(read).collect()
    }
}

/// Opens an incident. The same one again is no other, so that a batch can be tried again. An older
/// one that is still open, which only a judge that lost its memory leaves behind, ends here.
pub(crate) async fn open(
    db: &mut Connection,
    incident: IncidentId,
    monitor: i64,
    at: Timestamp,
) -> Result<(), StoreError> {
    let is_known = query("SELECT 1 FROM incidents WHERE id = $1")
        .bind(incident.to_string())
        .fetch_optional(&mut *db)
        .await?
        .is_some();
    if is_known {
        return Ok(());
    }
    if close_open(db, monitor, at, ClosedAs::Recovered).await? > 0 {
        tracing::warn!(incident.id = %incident, "an older incident was still open when `{incident}` opened, and was closed");
    }
    query(
        "INSERT INTO incidents (id, workspace_id, monitor, opened_at) \
         SELECT $1, workspace_id, number, $2 FROM monitors WHERE number = $3",
    )
    .bind(incident.to_string())
    .bind(at.as_millis())
    .bind(monitor)
    .execute(db)
    .await?;
    Ok(())
}

/// Closes an incident, where it is open.
pub(crate) async fn close(
    db: &mut Connection,
    incident: IncidentId,
    at: Timestamp,
    how: ClosedAs,
) -> Result<(), StoreError> {
    query(
        "UPDATE incidents SET closed_at = $1, closed_how = $2 WHERE id = $3 AND closed_at IS NULL",
    )
    .bind(at.as_millis())
    .bind(how.as_str())
    .bind(incident.to_string())
    .execute(db)
    .await?;
    Ok(())
}

/// Closes the incident that the monitor has open, and says how many those were: one or none.
pub(crate) async fn close_open(
    db: &mut Connection,
    monitor: i64,
    at: Timestamp,
    how: ClosedAs,
) -> Result<u64, StoreError> {
    let closed = query(
        "UPDATE incidents SET closed_at = $1, closed_how = $2 \
         WHERE monitor = $3 AND closed_at IS NULL",
    )
    .bind(at.as_millis())
    .bind(how.as_str())
    .bind(monitor)
    .execute(db)
    .await?;
    Ok(closed)
}

fn read(row: &Row) -> Result<Incident, StoreError> {
    let at = maybe_instant(row, 3)?;
    let how = optional(row, 4, closed_as)?;
    Ok(Incident {
        id: id(row, 0, IncidentId::parse)?,
        monitor: id(row, 1, MonitorId::parse)?,
        opened_at: instant(row, 2)?,
        closed: at.zip(how).map(|(at, how)| Closed { at, how }),
    })
}

fn closed_as(word: &str) -> Result<ClosedAs, String> {
    ClosedAs::ALL
        .into_iter()
        .find(|how| how.as_str() == word)
        .ok_or_else(|| format!("`{word}` ends no incident"))
}
