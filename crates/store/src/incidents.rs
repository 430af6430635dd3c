//! Incidents: from a monitor's error to its recovery. A monitor has one open at most, which the
//! database itself holds to. When one opens and closes is the judge's decision (`turn`); people
//! acknowledge, comment and resolve (`people`); what happened is its `timeline`, and what the regions
//! saw its `evidence`.

mod evidence;
mod people;
mod timeline;
mod turn;

use std::fmt::Write as _;

use domain::judge::ClosedAs;
use rules::{IncidentId, MonitorId, Timestamp, WorkspaceId};
use sqlx::AssertSqlSafe;

use crate::db::{Connection, Row, Value, query};
use crate::row::{Listed, id, instant, maybe_instant, optional};
use crate::{EvidenceEntry, Page, Store, StoreError};

pub use people::NewComment;
pub use timeline::{Entry, Happened, Told};
pub use turn::Joined;
pub(crate) use turn::{close, close_open, empty, open};

/// An incident.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Incident {
    /// Its identifier; later ones are greater.
    pub id: IncidentId,
    /// Whose it is; the monitor may be deleted since.
    pub monitor: MonitorId,
    /// Name of the monitor, as it is now or was last.
    pub monitor_name: String,
    /// When the monitor went to `error`.
    pub opened_at: Timestamp,
    /// Who took it up and when; nobody yet.
    pub acknowledged: Option<Acknowledged>,
    /// When and how it ended; `None` while it is open.
    pub closed: Option<Closed>,
}

/// Somebody took an incident up: it is not reminded of any more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Acknowledged {
    /// When.
    pub at: Timestamp,
    /// Who.
    pub by: Person,
}

/// The end of an incident.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Closed {
    /// When.
    pub at: Timestamp,
    /// What ended it.
    pub how: ClosedAs,
}

/// Who did something, as was known then: keys are renamed by making others, and revoked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Person {
    /// Identifier of a key, `command line` or `server`.
    pub actor: String,
    /// Name of the key.
    pub name: Option<String>,
}

/// An incident with all that is known of it.
#[derive(Clone, Debug)]
pub struct WholeIncident {
    /// The incident.
    pub incident: Incident,
    /// What happened in it, in its order.
    pub timeline: Vec<Entry>,
    /// What each region saw that failed, by region.
    pub evidence: Vec<EvidenceEntry>,
}

/// Which incidents are listed; what is `None` asks for nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct IncidentFilter {
    /// Of this monitor, also where it is deleted.
    pub monitor: Option<MonitorId>,
    /// Only those that are open, or only those that are closed.
    pub is_open: Option<bool>,
    /// Opened at this time or later.
    pub from: Option<Timestamp>,
    /// Opened before this time.
    pub to: Option<Timestamp>,
}

/// The handle of the incidents.
#[derive(Clone, Copy, Debug)]
pub struct Incidents<'s> {
    pub(crate) store: &'s Store,
}

/// Selects incidents as [`read`] reads them; what follows says which.
macro_rules! select {
    ($which:literal) => {
        concat!(
            "SELECT i.id, m.id, m.name, i.opened_at, i.acknowledged_at, i.acknowledged_by, ",
            "i.acknowledged_name, i.closed_at, i.closed_how ",
            "FROM incidents i JOIN monitors m ON m.number = i.monitor ",
            $which
        )
    };
}

impl Incidents<'_> {
    /// A part of the workspace's incidents that the filter lets through, newest first, and how many
    /// those are. `after` is the last one of the part before.
    pub async fn list(
        &self,
        workspace: WorkspaceId,
        filter: IncidentFilter,
        page: Page<IncidentId>,
    ) -> Result<Listed<Incident>, StoreError> {
        let mut db = self.store.read().await?;
        let (which, values) = filter.condition(workspace);
        let count = format!(
            "SELECT COUNT(*) FROM incidents i JOIN monitors m ON m.number = i.monitor WHERE {which}"
        );
        let mut total = query(AssertSqlSafe(count));
        let place = values.len();
        let mut part = query(AssertSqlSafe(format!(
            "{}{which} AND i.id < ${} ORDER BY i.id DESC LIMIT ${} OFFSET ${}",
            select!("WHERE "),
            place + 1,
            place + 2,
            place + 3
        )));
        for value in values {
            total = total.bind(value.clone());
            part = part.bind(value);
        }
        let total: Option<i64> = total.scalar(&mut db).await?;
        // After the last digit of every identifier there is.
        let after = page.after.map_or_else(|| "inc_~".to_owned(), |after| after.to_string());
        let part = part.bind(after).bind(i64::from(page.limit)).bind(i64::from(page.offset));
        let rows = part.fetch_all(&mut db).await?;
        Listed::of((self.store.quarantine(), "incidents"), &rows, total, read)
    }

    /// The incident with this identifier in the workspace, with all that is known of it.
    pub async fn get(
        &self,
        workspace: WorkspaceId,
        id: IncidentId,
    ) -> Result<WholeIncident, StoreError> {
        let mut db = self.store.read().await?;
        let incident = one(&mut db, workspace, id).await?;
        let timeline = timeline::of(&mut db, id).await?;
        let evidence = evidence::of(&mut db, self.store.vault(), &incident).await?;
        Ok(WholeIncident { incident, timeline, evidence })
    }

    /// The incident with this identifier in the workspace.
    pub async fn find(
        &self,
        workspace: WorkspaceId,
        id: IncidentId,
    ) -> Result<Incident, StoreError> {
        one(&mut self.store.read().await?, workspace, id).await
    }

    /// The newest incidents of a monitor, also of one that is deleted, newest first; at most
    /// `limit`.
    pub async fn of_monitor(
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
        rows.iter().map(read).collect()
    }

    /// Every incident of the workspace that is open, oldest first.
    pub async fn open(&self, workspace: WorkspaceId) -> Result<Vec<Incident>, StoreError> {
        let rows = query(select!(
            "WHERE i.workspace_id = $1 AND i.closed_at IS NULL ORDER BY i.opened_at, i.id"
        ))
        .bind(workspace.to_string())
        .fetch_all(&mut self.store.read().await?)
        .await?;
        rows.iter().map(read).collect()
    }
}

impl IncidentFilter {
    /// The condition with its values, which begin with `$1`.
    fn condition(self, workspace: WorkspaceId) -> (String, Vec<Value>) {
        let (mut which, mut values) =
            ("i.workspace_id = $1".to_owned(), vec![workspace.to_string().into()]);
        let mut add = |condition: &str, value: Value| {
            values.push(value);
            write!(which, " AND {condition} ${}", values.len()).expect("a String takes everything");
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
            Some(true) => which.push_str(" AND i.closed_at IS NULL"),
            Some(false) => which.push_str(" AND i.closed_at IS NOT NULL"),
        }
        (which, values)
    }
}

/// The incident with this identifier in the workspace, as this connection sees it.
async fn one(
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
    let acknowledged = maybe_instant(row, 4)?.zip(person(row, 5)?);
    let (at, how) = (maybe_instant(row, 7)?, optional(row, 8, closed_as)?);
    Ok(Incident {
        id: id(row, 0, IncidentId::parse)?,
        monitor: id(row, 1, MonitorId::parse)?,
        monitor_name: row.try_get(2)?,
        opened_at: instant(row, 3)?,
        acknowledged: acknowledged.map(|(at, by)| Acknowledged { at, by }),
        closed: at.zip(how).map(|(at, how)| Closed { at, how }),
    })
}

/// Who stands in this column and the next one.
fn person(row: &Row, column: usize) -> Result<Option<Person>, StoreError> {
    let actor: Option<String> = row.try_get(column)?;
    let name = row.try_get(column + 1)?;
    Ok(actor.map(|actor| Person { actor, name }))
}

pub(crate) fn closed_as(word: &str) -> Result<ClosedAs, String> {
    ClosedAs::ALL
        .into_iter()
        .find(|how| how.as_str() == word)
        .ok_or_else(|| format!("`{word}` ends no incident"))
}
