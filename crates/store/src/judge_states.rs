//! What the judge knows: its memory of each monitor, whole, and the changes of status in their
//! order, of which uptime is counted later.

use domain::judge::{History, Transition};
use rules::{MonitorId, MonitorStatus, Timestamp, WorkspaceId};

use crate::db::{Connection, query};
use crate::outbox::Ending;
use crate::row::{id, instant, narrow};
use crate::writer::Session;
use crate::{Store, StoreError, incidents, outbox};

/// The handle of the judge's states.
#[derive(Clone, Copy, Debug)]
pub struct JudgeStates<'s> {
    pub(crate) store: &'s Store,
}

/// A change of a monitor's status.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StatusChange {
    /// When.
    pub at: Timestamp,
    /// The status before.
    pub from: MonitorStatus,
    /// The status from then on.
    pub to: MonitorStatus,
}

impl JudgeStates<'_> {
    /// What the judge remembers of a monitor: for the pipeline, which begins anew with it after a
    /// commit that failed.
    pub async fn history(&self, monitor: MonitorId) -> Result<Option<History>, StoreError> {
        let stored: Option<String> = query(
            "SELECT j.history FROM judge_states j JOIN monitors m ON m.number = j.monitor \
             WHERE m.id = $1",
        )
        .bind(monitor.to_string())
        .scalar(&mut self.store.read().await?)
        .await?;
        stored
            .map(|stored| serde_json::from_str(&stored))
            .transpose()
            .map_err(|why| StoreError::corrupt(format!("history of `{monitor}`"), why.to_string()))
    }

    /// Changes of a monitor's status from `since` on, oldest first, at most `limit`.
    pub async fn changes(
        &self,
        workspace: WorkspaceId,
        monitor: MonitorId,
        since: Timestamp,
        limit: u32,
    ) -> Result<Vec<StatusChange>, StoreError> {
        let rows = query(
            "SELECT c.at, c.from_status, c.to_status \
             FROM status_changes c JOIN monitors m ON m.number = c.monitor \
             WHERE m.workspace_id = $1 AND m.id = $2 AND c.at >= $3 ORDER BY c.number LIMIT $4",
        )
        .bind(workspace.to_string())
        .bind(monitor.to_string())
        .bind(since.as_millis())
        .bind(i64::from(limit))
        .fetch_all(&mut self.store.read().await?)
        .await?;
        rows.iter()
            .map(|row| {
                Ok(StatusChange {
                    at: instant(row, 0)?,
                    from: id(row, 1, MonitorStatus::parse)?,
                    to: id(row, 2, MonitorStatus::parse)?,
                })
            })
            .collect()
    }
}

/// Keeps what the judge remembers from now on; of a monitor that was paused since nothing but its
/// end, so that its next run begins anew.
pub(crate) async fn put(
    db: &mut Connection,
    monitor: i64,
    history: &History,
) -> Result<(), StoreError> {
    let is_over = history.status == MonitorStatus::Unknown && history.incident.is_none();
    let json = serde_json::to_string(history)
        .map_err(|why| StoreError::corrupt("a history to be stored", why.to_string()))?;
    query(
        "INSERT INTO judge_states (monitor, status, since, history) \
         SELECT number, $2, $3, $4 FROM monitors WHERE number = $1 \
         AND (active OR $5 OR revision <= $6) \
         ON CONFLICT (monitor) DO UPDATE SET status = excluded.status, since = excluded.since, \
         history = excluded.history",
    )
    .bind(monitor)
    .bind(history.status.as_str())
    .bind(history.since.as_millis())
    .bind(json)
    .bind(is_over)
    .bind(i64::from(history.revision))
    .execute(db)
    .await?;
    Ok(())
}

/// Whose monitor it is, and, where it does not run, its revision.
pub(crate) async fn owner(
    db: &mut Connection,
    monitor: i64,
) -> Result<(WorkspaceId, Option<u32>), StoreError> {
    let row = query("SELECT workspace_id, active, revision FROM monitors WHERE number = $1")
        .bind(monitor)
        .fetch_one(db)
        .await?;
    let runs: bool = row.try_get(1)?;
    let paused = (!runs).then(|| narrow(&row, 2)).transpose()?;
    Ok((id(&row, 0, WorkspaceId::parse)?, paused))
}

/// Forgets a monitor that runs no more, of which nothing is known from then on, tells who heard that it
/// was in trouble, and closes its incident under the name of what ended it. All of it together, so that
/// nothing is left to a judge who may not live to hear of it.
pub(crate) async fn end(session: &mut Session, ending: Ending) -> Result<(), StoreError> {
    if let Some((from, since)) = last_change(&mut session.db, ending.monitor).await? {
        let at = ending.at.max(since);
        insert(&mut session.db, ending.monitor, (at, from, MonitorStatus::Unknown)).await?;
    }
    query("DELETE FROM judge_states WHERE monitor = $1")
        .bind(ending.monitor)
        .execute(&mut session.db)
        .await?;
    outbox::note_end(session, ending).await?;
    incidents::close_open(&mut session.db, ending.monitor, ending.at, ending.how).await?;
    Ok(())
}

/// Notes a change of status, once however often its batch is tried, and says whether this was the
/// first time. A pause of a monitor that was `unknown` is none; what was noted as it was stored (see
/// [`end`]) is not noted again when the judge hears of it.
pub(crate) async fn note_change(
    db: &mut Connection,
    monitor: i64,
    transition: &Transition,
) -> Result<bool, StoreError> {
    let Transition { from, to, at, .. } = *transition;
    if from == to {
        return Ok(false);
    }
    if to == MonitorStatus::Unknown {
        let known = last_change(db, monitor).await?;
        if known.is_some_and(|(status, _)| status == MonitorStatus::Unknown) {
            return Ok(false);
        }
    }
    insert(db, monitor, (at, from, to)).await
}

/// What the last change was to, and when; `None` where there was none.
async fn last_change(
    db: &mut Connection,
    monitor: i64,
) -> Result<Option<(MonitorStatus, Timestamp)>, StoreError> {
    let row = query(
        "SELECT to_status, at FROM status_changes WHERE monitor = $1 ORDER BY number DESC LIMIT 1",
    )
    .bind(monitor)
    .fetch_optional(db)
    .await?;
    row.map(|row| Ok((id(&row, 0, MonitorStatus::parse)?, instant(&row, 1)?))).transpose()
}

/// Writes down a change of status, and says whether it was not there; one to the same is none.
async fn insert(
    db: &mut Connection,
    monitor: i64,
    (at, from, to): (Timestamp, MonitorStatus, MonitorStatus),
) -> Result<bool, StoreError> {
    if from == to {
        return Ok(false);
    }
    let noted = query(
        "INSERT INTO status_changes (monitor, at, from_status, to_status) VALUES ($1, $2, $3, $4) \
         ON CONFLICT (monitor, at, to_status) DO NOTHING",
    )
    .bind(monitor)
    .bind(at.as_millis())
    .bind(from.as_str())
    .bind(to.as_str())
    .execute(db)
    .await?;
    Ok(noted > 0)
}
