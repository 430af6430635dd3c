//! Incidents: each lasts from a monitor's error to its recovery. A monitor has at most one open
//! incident, which the database enforces. The judge decides when one opens and closes
//! (`transitions`), and people acknowledge, comment and resolve (`actions`). The `timeline` lists
//! the events of an incident, `evidence` holds the observations of its regions, and `write_up` the
//! text that a person writes about it.

mod actions;
mod evidence;
mod search;
mod timeline;
mod transitions;
mod write_up;

use std::fmt::Write as _;

use domain::judge::CloseReason;
use rules::{IncidentId, MonitorId, MonitorKind, Timestamp, WorkspaceId};
use sqlx::AssertSqlSafe;

use crate::db::{Connection, Row, Value, query};
use crate::list::Listed;
use crate::row::{id, instant, optional, optional_instant};
use crate::{EvidenceEntry, Page, Store, StoreError};

pub use actions::NewComment;
pub(crate) use timeline::read as read_entry;
pub use timeline::{Notified, TimelineEntry, TimelineEvent};
pub use transitions::FailedRegion;
pub(crate) use transitions::{close, close_open, delete_contents, open};
pub use write_up::WriteUp;

/// Incident of a monitor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Incident {
    /// Identifier. Later incidents have greater ones.
    pub id: IncidentId,
    /// Monitor, which may be deleted.
    pub monitor: MonitorId,
    /// Current or last name of the monitor.
    pub monitor_name: String,
    pub monitor_kind: MonitorKind,
    /// Time at which the monitor went to `error`.
    pub opened_at: Timestamp,
    /// Acknowledgement. `None` if nobody has acknowledged it.
    pub acknowledged: Option<Acknowledged>,
    /// Closure. `None` while it is open.
    pub closed: Option<Closed>,
}

/// Acknowledgement of an incident, which stops its reminders.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Acknowledged {
    pub at: Timestamp,
    pub by: Person,
}

/// Closure of an incident.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Closed {
    pub at: Timestamp,
    /// Reason of the closure.
    pub reason: CloseReason,
}

/// Actor of a change, as known at that time. A key can be revoked later, and a user renamed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Person {
    /// Identifier of a key or a user, `command line` or `server`.
    pub actor: String,
    /// Name of the key or the user.
    pub name: Option<String>,
}

/// Incident with its timeline and evidence.
#[derive(Clone, Debug)]
pub struct IncidentDetail {
    pub incident: Incident,
    /// Events of the incident, in order.
    pub timeline: Vec<TimelineEntry>,
    /// Failed observation of each region, by region.
    pub evidence: Vec<EvidenceEntry>,
}

/// Filter of a listing. `None` matches everything.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct IncidentFilter {
    /// Monitor, which may be deleted.
    pub monitor: Option<MonitorId>,
    /// `true` for open incidents, `false` for closed ones.
    pub is_open: Option<bool>,
    /// Earliest opening time, inclusive.
    pub from: Option<Timestamp>,
    /// Latest opening time, exclusive.
    pub to: Option<Timestamp>,
}

/// Handle of the incidents.
#[derive(Clone, Copy, Debug)]
pub struct Incidents<'s> {
    pub(crate) store: &'s Store,
}

impl Store {
    /// Returns the handle of the incidents.
    pub const fn incidents(&self) -> Incidents<'_> {
        Incidents { store: self }
    }
}

/// Selects incidents for [`read`]. The argument is the `WHERE` clause.
macro_rules! select {
    ($condition:literal) => {
        concat!(
            "SELECT i.id, m.id AS monitor_id, m.name, m.kind, i.opened_at, i.acknowledged_at, \
             i.acknowledged_by, ",
            "i.acknowledged_name, i.closed_at, i.close_reason ",
            "FROM incidents i JOIN monitors m ON m.number = i.monitor ",
            $condition
        )
    };
}

impl Incidents<'_> {
    /// Returns a page of the workspace's incidents that match the filter, newest first, and their
    /// total number. `page.after` is the last incident of the previous page.
    pub async fn list(
        &self,
        workspace: WorkspaceId,
        filter: IncidentFilter,
        page: Page<IncidentId>,
    ) -> Result<Listed<Incident>, StoreError> {
        let mut db = self.store.read().await?;
        let (condition, values) = filter.condition(workspace);
        let count = format!(
            "SELECT COUNT(*) FROM incidents i JOIN monitors m ON m.number = i.monitor \
             WHERE {condition}"
        );
        let mut total = query(AssertSqlSafe(count));
        let index = values.len();
        let mut part = query(AssertSqlSafe(format!(
            "{}{condition} AND i.id < ${} ORDER BY i.id DESC LIMIT ${} OFFSET ${}",
            select!("WHERE "),
            index + 1,
            index + 2,
            index + 3
        )));
        for value in values {
            total = total.bind(value.clone());
            part = part.bind(value);
        }
        let total: Option<i64> = total.scalar(&mut db).await?;
        let part =
            part.bind(page.before()).bind(i64::from(page.limit)).bind(i64::from(page.offset));
        let rows = part.fetch_all(&mut db).await?;
        Listed::from_rows((self.store.quarantine(), "incidents"), &rows, total, read)
    }

    /// Returns an incident of the workspace with its timeline and evidence.
    pub async fn get(
        &self,
        workspace: WorkspaceId,
        id: IncidentId,
    ) -> Result<IncidentDetail, StoreError> {
        let mut db = self.store.read().await?;
        let incident = load(&mut db, workspace, id).await?;
        let timeline = timeline::load(&mut db, self.store.quarantine(), id).await?;
        let evidence = evidence::load(&mut db, self.store, &incident).await?;
        Ok(IncidentDetail { incident, timeline, evidence })
    }

    /// Returns an incident of the workspace.
    pub async fn find(
        &self,
        workspace: WorkspaceId,
        id: IncidentId,
    ) -> Result<Incident, StoreError> {
        load(&mut self.store.read().await?, workspace, id).await
    }

    /// Returns the newest incidents of a monitor, which may be deleted, newest first, at most
    /// `limit`.
    pub async fn list_by_monitor(
        &self,
        workspace: WorkspaceId,
        monitor: MonitorId,
        limit: u32,
    ) -> Result<Vec<Incident>, StoreError> {
        let rows = query(select!(
            "WHERE i.workspace_id = $1 AND m.id = $2 ORDER BY i.opened_at DESC, i.id DESC LIMIT $3"
        ))
        .bind(workspace.to_string())
        .bind(monitor.to_string())
        .bind(i64::from(limit))
        .fetch_all(&mut self.store.read().await?)
        .await?;
        self.store.quarantine().readable_rows("incidents", &rows, read)
    }

    /// Returns all open incidents of the workspace, oldest first.
    pub async fn open(&self, workspace: WorkspaceId) -> Result<Vec<Incident>, StoreError> {
        let rows = query(select!(
            "WHERE i.workspace_id = $1 AND i.closed_at IS NULL ORDER BY i.opened_at, i.id"
        ))
        .bind(workspace.to_string())
        .fetch_all(&mut self.store.read().await?)
        .await?;
        self.store.quarantine().readable_rows("incidents", &rows, read)
    }
}

impl IncidentFilter {
    /// Returns the condition and its values, which start at `$1`.
    fn condition(self, workspace: WorkspaceId) -> (String, Vec<Value>) {
        let (mut condition, mut values) =
            ("i.workspace_id = $1".to_owned(), vec![workspace.to_string().into()]);
        let mut add = |operand: &str, value: Value| {
            values.push(value);
            write!(condition, " AND {operand} ${}", values.len())
                .expect("writing to a String never fails");
        };
        if let Some(monitor) = self.monitor {
            add("m.id =", monitor.to_string().into());
        }
        if let Some(from) = self.from {
            add("i.opened_at >=", from.as_millis().into());
        }
        if let Some(to) = self.to {
            add("i.opened_at <", to.as_millis().into());
        }
        match self.is_open {
            None => {}
            Some(true) => condition.push_str(" AND i.closed_at IS NULL"),
            Some(false) => condition.push_str(" AND i.closed_at IS NOT NULL"),
        }
        (condition, values)
    }
}

/// Returns an incident of the workspace, as this connection sees it.
async fn load(
    db: &mut Connection,
    workspace: WorkspaceId,
    id: IncidentId,
) -> Result<Incident, StoreError> {
    let row = query(select!("WHERE i.workspace_id = $1 AND i.id = $2"))
        .bind(workspace.to_string())
        .bind(id.to_string())
        .fetch_optional(db)
        .await?
        .ok_or_else(|| StoreError::not_found("incident", &id))?;
    read(&row)
}

fn read(row: &Row) -> Result<Incident, StoreError> {
    let acknowledged = optional_instant(row, "acknowledged_at")?
        .zip(person(row, ["acknowledged_by", "acknowledged_name"])?);
    let (at, how) =
        (optional_instant(row, "closed_at")?, optional(row, "close_reason", parse_close_reason)?);
    Ok(Incident {
        id: id(row, "id", IncidentId::parse)?,
        monitor: id(row, "monitor_id", MonitorId::parse)?,
        monitor_name: row.try_get("name")?,
        monitor_kind: id(row, "kind", MonitorKind::parse)?,
        opened_at: instant(row, "opened_at")?,
        acknowledged: acknowledged.map(|(at, by)| Acknowledged { at, by }),
        closed: at.zip(how).map(|(at, how)| Closed { at, reason: how }),
    })
}

/// Reads a person from the columns of its actor and its name.
fn person(row: &Row, [actor, name]: [&str; 2]) -> Result<Option<Person>, StoreError> {
    let (actor, name): (Option<String>, _) = (row.try_get(actor)?, row.try_get(name)?);
    Ok(actor.map(|actor| Person { actor, name }))
}

pub(crate) fn parse_close_reason(word: &str) -> Result<CloseReason, String> {
    CloseReason::ALL
        .into_iter()
        .find(|how| how.as_str() == word)
        .ok_or_else(|| format!("unknown reason of a closure `{word}`"))
}
