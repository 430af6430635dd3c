//! The judge's state of each monitor, and the status changes in order, from which uptime is
//! computed.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use domain::history::StatusFrom;
use domain::judge::{JudgeState, Transition};
use rules::{MonitorId, MonitorStatus, Timestamp, WorkspaceId};

use crate::db::arrays::RowsStatement;
use crate::db::{Connection, Row, Value, query};
use crate::outbox::Ending;
use crate::quarantine::{Quarantine, row_key};
use crate::row::{id, instant, narrow, optional};
use crate::writer::Session;
use crate::{Store, StoreError, incidents, outbox};

static STORE: LazyLock<RowsStatement> = LazyLock::new(|| {
    RowsStatement::new(
        "INSERT INTO judge_states (monitor, status, since, state) \
         SELECT m.number, r.status, r.since, r.state FROM ",
        &["monitor", "status", "since", "state", "is_over", "revision"],
        " JOIN monitors m ON m.number = r.monitor \
         WHERE m.active OR r.is_over OR m.revision <= r.revision \
         ON CONFLICT (monitor) DO UPDATE SET status = excluded.status, since = excluded.since, \
         state = excluded.state",
    )
});

/// Table of the status changes.
const CHANGES: &str = "status_changes";
/// Number of changes among which the last readable one is looked for.
const LAST_CHANGES_READ: i64 = 100;

/// Handle of the judge's states.
#[derive(Clone, Copy, Debug)]
pub struct JudgeStates<'s> {
    pub(crate) store: &'s Store,
}

impl Store {
    /// Returns the handle of the judge's states.
    pub const fn judge_states(&self) -> JudgeStates<'_> {
        JudgeStates { store: self }
    }
}

/// Change of a monitor's status.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StatusChange {
    pub at: Timestamp,
    /// Status before the change.
    pub from: MonitorStatus,
    /// Status after the change.
    pub to: MonitorStatus,
}

impl JudgeStates<'_> {
    /// Returns the judge's state of a monitor, if it is readable. Used when a monitor is created, edited or
    /// resumed: without a state, the judge starts fresh.
    pub async fn get(&self, monitor: MonitorId) -> Result<Option<JudgeState>, StoreError> {
        let row = query(
            "SELECT m.id, j.state FROM judge_states j JOIN monitors m ON m.number = j.monitor \
             WHERE m.id = $1",
        )
        .bind(monitor.to_string())
        .fetch_optional(&mut self.store.read().await?)
        .await?;
        let read = |row: &Row| {
            serde_json::from_str(row.try_get("state")?).map_err(|why| {
                StoreError::corrupt(format!("judge state of `{monitor}`"), why.to_string())
            })
        };
        Ok(self.store.quarantine().readable_rows("judge_states", &row, read)?.pop())
    }

    /// Returns the readable status changes of a monitor since `since`, oldest first, at most `limit`.
    pub async fn changes(
        &self,
        workspace: WorkspaceId,
        monitor: MonitorId,
        since: Timestamp,
        limit: u32,
    ) -> Result<Vec<StatusChange>, StoreError> {
        let rows = query(
            "SELECT c.number, c.at, c.from_status, c.to_status \
             FROM status_changes c JOIN monitors m ON m.number = c.monitor \
             WHERE m.workspace_id = $1 AND m.id = $2 AND c.at >= $3 ORDER BY c.number LIMIT $4",
        )
        .bind(workspace.to_string())
        .bind(monitor.to_string())
        .bind(since.as_millis())
        .bind(i64::from(limit))
        .fetch_all(&mut self.store.read().await?)
        .await?;
        self.store.quarantine().readable_rows(CHANGES, &rows, read_change)
    }
}

/// Stores the judge's states of monitors with these row IDs. The last of several states of a
/// monitor wins. After a pause, only the final `unknown` state is stored, so that the next run
/// starts fresh.
pub(crate) async fn store(
    db: &mut Connection,
    states: impl Iterator<Item = (i64, &JudgeState)>,
) -> Result<(), StoreError> {
    let mut rows = BTreeMap::new();
    for (monitor, judge_state) in states {
        let is_unknown = judge_state.status == MonitorStatus::Unknown;
        let is_over = is_unknown && judge_state.incident.is_none();
        let json = serde_json::to_string(judge_state)
            .map_err(|why| StoreError::corrupt("a judge state to be stored", why.to_string()))?;
        let row: [Value; 6] = [
            monitor.into(),
            judge_state.status.as_str().into(),
            judge_state.since.as_millis().into(),
            json.into(),
            is_over.into(),
            i64::from(judge_state.revision).into(),
        ];
        rows.insert(monitor, row);
    }
    Ok(STORE.execute(db, rows.into_values().collect()).await?)
}

/// Returns the workspace of a monitor and, if it is paused, its revision.
pub(crate) async fn owner(
    db: &mut Connection,
    monitor: i64,
) -> Result<(WorkspaceId, Option<u32>), StoreError> {
    let row = query("SELECT workspace_id, active, revision FROM monitors WHERE number = $1")
        .bind(monitor)
        .fetch_one(db)
        .await?;
    let runs: bool = row.try_get("active")?;
    let paused = (!runs).then(|| narrow(&row, "revision")).transpose()?;
    Ok((id(&row, "workspace_id", WorkspaceId::parse)?, paused))
}

/// Ends the judging of a paused or deleted monitor: deletes its state, notifies the channels that
/// were alerted, and closes its incident with the given reason. All of it is one transaction, so
/// that nothing depends on a judge that may not run any more.
pub(crate) async fn end(session: &mut Session, ending: Ending) -> Result<(), StoreError> {
    if let Some((from, since)) = last_readable_change(session, ending.monitor).await? {
        let at = ending.at.max(since);
        insert(&mut session.db, ending.monitor, (at, from, MonitorStatus::Unknown)).await?;
    }
    query("DELETE FROM judge_states WHERE monitor = $1")
        .bind(ending.monitor)
        .execute(&mut session.db)
        .await?;
    outbox::enqueue_end(session, ending).await?;
    incidents::close_open(&mut session.db, ending.monitor, ending.at, ending.how).await?;
    Ok(())
}

/// Records a status change and returns whether it is new. A retried batch adds nothing. A pause of
/// a monitor that was `unknown` is not a change, and neither is one that [`end`] recorded before
/// the judge learned of it.
pub(crate) async fn record_change(
    session: &mut Session,
    monitor: i64,
    transition: &Transition,
) -> Result<bool, StoreError> {
    let Transition { from, to, at, .. } = *transition;
    if from == to {
        return Ok(false);
    }
    if to == MonitorStatus::Unknown {
        let is_unknown: Option<i64> = query(
            "SELECT CAST(CASE WHEN to_status = $2 THEN 1 ELSE 0 END AS BIGINT) \
             FROM status_changes WHERE monitor = $1 ORDER BY number DESC LIMIT 1",
        )
        .bind(monitor)
        .bind(MonitorStatus::Unknown.as_str())
        .scalar(&mut session.db)
        .await?;
        if is_unknown == Some(1) {
            return Ok(false);
        }
    }
    insert(&mut session.db, monitor, (at, from, to)).await
}

/// Reads the time and both statuses of a status change.
pub(crate) fn read_change(row: &Row) -> Result<StatusChange, StoreError> {
    Ok(StatusChange {
        at: instant(row, "at")?,
        from: id(row, "from_status", MonitorStatus::parse)?,
        to: id(row, "to_status", MonitorStatus::parse)?,
    })
}

/// Reads the columns `at` and `to_status` of a status change whose number is the first column. The status
/// is `unknown` if it is unreadable, so that uptime does not count time of which nothing is known. `None`
/// if the time is unreadable.
pub(crate) fn readable_status_from(
    quarantine: &Quarantine,
    row: &Row,
) -> Result<Option<StatusFrom>, StoreError> {
    let key = || row_key(row);
    let status = id(row, "to_status", MonitorStatus::parse);
    let status = quarantine.readable(CHANGES, key, status)?.unwrap_or(MonitorStatus::Unknown);
    let at = quarantine.readable(CHANGES, key, instant(row, "at"))?;
    Ok(at.map(|at| StatusFrom { at, status }))
}

/// Reads the columns `before_number` and `status_before` of the last status change before a time:
/// `unknown` if there is none or if it is unreadable.
pub(crate) fn status_before(
    quarantine: &Quarantine,
    row: &Row,
) -> Result<MonitorStatus, StoreError> {
    let number: Option<i64> = row.try_get("before_number")?;
    let key = || number.unwrap_or_default().to_string();
    let status = optional(row, "status_before", MonitorStatus::parse);
    let status = quarantine.readable(CHANGES, key, status)?;
    Ok(status.flatten().unwrap_or(MonitorStatus::Unknown))
}

/// Returns the status and time of the last change that is readable, as readers of the history see it.
async fn last_readable_change(
    session: &mut Session,
    monitor: i64,
) -> Result<Option<(MonitorStatus, Timestamp)>, StoreError> {
    let rows = query(
        "SELECT number, to_status, at FROM status_changes WHERE monitor = $1 \
         ORDER BY number DESC LIMIT $2",
    )
    .bind(monitor)
    .bind(LAST_CHANGES_READ)
    .fetch_all(&mut session.db)
    .await?;
    let read = |row| Ok((id(row, "to_status", MonitorStatus::parse)?, instant(row, "at")?));
    for row in &rows {
        let change = session.quarantine.readable(CHANGES, || row_key(row), read(row))?;
        if change.is_some() {
            return Ok(change);
        }
    }
    Ok(None)
}

/// Inserts a status change and returns whether it was new. A change to the same status is ignored.
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
