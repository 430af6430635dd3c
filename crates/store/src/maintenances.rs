//! Reads planned maintenance: one, or a page of a list, each with its current and next window.
//! `change` modifies maintenance, `windows` writes its windows, `coverage` tracks the affected
//! monitors, and `mute` returns whether a monitor is under maintenance.

mod change;
mod coverage;
mod links;
mod mute;
mod windows;

use std::collections::BTreeMap;

use domain::history::Span;
use domain::maintenance::{MaintenanceStatus, status};
use rules::maintenance::{Maintenance, MaintenanceSettings, Recurrence, Schedule};
use rules::{ComponentId, Interval, MaintenanceId, MonitorId, TimeZone, Timestamp, WorkspaceId};

use crate::db::{Connection, Query, Row, query};
use crate::list::Listed;
use crate::row::{id, instant, optional, optional_instant, to_count};
use crate::{Page, Store, StoreError, monitors};

pub use change::NewMaintenance;
pub(crate) use coverage::{component_changed, unlink_component, unlink_monitor, unlink_page};
pub(crate) use mute::{covered_spans, muted_until};
pub use windows::MaintenanceWindow;
pub(crate) use windows::next_boundary;

/// Handle of planned maintenance.
#[derive(Clone, Copy, Debug)]
pub struct Maintenances<'s> {
    pub(crate) store: &'s Store,
}

impl Store {
    /// Returns the handle of the maintenances.
    pub const fn maintenances(&self) -> Maintenances<'_> {
        Maintenances { store: self }
    }
}

/// Maintenance with its status.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlannedMaintenance {
    pub maintenance: Maintenance,
    /// Current window.
    pub current: Option<Span>,
    /// Next window.
    pub next: Option<Span>,
}

/// Filter of a listing. `None` matches everything.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MaintenanceFilter {
    /// Status of the maintenance.
    pub course: Option<MaintenanceStatus>,
    /// Monitor that it currently covers, directly or through a component.
    pub monitor: Option<MonitorId>,
}

/// Selects maintenance for [`assemble`] at time `$1`: a row for each maintenance, and one for each
/// of its monitors and components. It is one statement, so that all rows are from one snapshot. The
/// argument is a subquery of identifiers.
macro_rules! select {
    ($($which:tt)*) => {
        concat!(
            "SELECT a.id, NULL AS monitor, NULL AS component, a.workspace_id, a.title, \
             a.description, a.starts_at, a.duration, ",
            "a.time_zone, a.recurrence, a.created_at, a.updated_at, ",
            "(SELECT MAX(w.from_at) FROM maintenance_windows w WHERE w.maintenance = a.id ",
            "AND w.from_at <= $1 AND w.until_at > $1) AS current_from, ",
            "(SELECT MAX(w.until_at) FROM maintenance_windows w WHERE w.maintenance = a.id ",
            "AND w.from_at <= $1 AND w.until_at > $1) AS current_until, ",
            "(SELECT MIN(w.from_at) FROM maintenance_windows w WHERE w.maintenance = a.id ",
            "AND w.from_at > $1) AS next_from, ",
            "(SELECT MIN(w.until_at) FROM maintenance_windows w WHERE w.maintenance = a.id ",
            "AND w.from_at > $1) AS next_until FROM maintenances a WHERE a.id IN (",
            $($which)*,
            ") UNION ALL SELECT l.maintenance, m.id, NULL, NULL, NULL, NULL, NULL, NULL, NULL, \
             NULL, ",
            "NULL, NULL, NULL, NULL, NULL, NULL FROM maintenance_monitors l ",
            "JOIN monitors m ON m.number = l.monitor WHERE l.maintenance IN (",
            $($which)*,
            ") UNION ALL SELECT l.maintenance, NULL, l.component, NULL, NULL, NULL, NULL, NULL, \
             NULL, ",
            "NULL, NULL, NULL, NULL, NULL, NULL, NULL FROM maintenance_components l ",
            "WHERE l.maintenance IN (",
            $($which)*,
            ")"
        )
    };
}

/// Condition of a listing at time `$1`: workspace `$2`, status `$3` or empty, monitor `$4` or
/// empty.
macro_rules! listed {
    () => {
        "workspace_id = $2 AND deleted_at IS NULL AND ($3 = '' OR $3 = CASE \
         WHEN EXISTS (SELECT 1 FROM maintenance_windows w WHERE w.maintenance = maintenances.id \
         AND w.from_at <= $1 AND w.until_at > $1) THEN 'active' \
         WHEN EXISTS (SELECT 1 FROM maintenance_windows w WHERE w.maintenance = maintenances.id \
         AND w.from_at > $1) THEN 'scheduled' ELSE 'completed' END) \
         AND ($4 = '' OR EXISTS (SELECT 1 FROM maintenance_covers c JOIN monitors m \
         ON m.number = c.monitor WHERE c.maintenance = maintenances.id AND c.until IS NULL \
         AND m.id = $4))"
    };
}

impl Maintenances<'_> {
    /// Returns a maintenance of the workspace, with its status at this time.
    pub async fn get(
        &self,
        workspace: WorkspaceId,
        id: MaintenanceId,
        now: Timestamp,
    ) -> Result<PlannedMaintenance, StoreError> {
        load(&mut self.store.read().await?, workspace, &id.to_string(), now).await
    }

    /// Returns a part of the workspace's maintenance, newest first, and how much there is.
    pub async fn list(
        &self,
        workspace: WorkspaceId,
        filter: MaintenanceFilter,
        page: Page<MaintenanceId>,
        now: Timestamp,
    ) -> Result<Listed<PlannedMaintenance>, StoreError> {
        let mut db = self.store.read().await?;
        if let Some(monitor) = filter.monitor
            && !monitors::exists(&mut db, workspace, monitor).await?
        {
            return Err(StoreError::not_found("monitor", &monitor));
        }
        let filtered = |statement: &'static str| {
            query(statement)
                .bind(now.as_millis())
                .bind(workspace.to_string())
                .bind(filter.course.map_or("", MaintenanceStatus::as_str))
                .bind(filter.monitor.map(|id| id.to_string()).unwrap_or_default())
        };
        let total = concat!("SELECT COUNT(*) FROM maintenances WHERE ", listed!());
        let total: Option<i64> = filtered(total).scalar(&mut db).await?;
        let part = filtered(select!(concat!(
            "SELECT id FROM maintenances WHERE ",
            listed!(),
            " AND id < $5 ORDER BY id DESC LIMIT $6 OFFSET $7"
        )));
        let part =
            part.bind(page.before()).bind(i64::from(page.limit)).bind(i64::from(page.offset));
        let rows = part.fetch_all(&mut db).await?;
        let quarantine = self.store.quarantine();
        let (rows, omitted) = quarantine.readable_groups("maintenances", &rows, assemble)?;
        Ok(Listed { rows, omitted, total: to_count(total) })
    }

    /// Returns the time spans from `from` to `to` that are excluded from a monitor's uptime, in any
    /// order. The monitor may be deleted.
    pub async fn excluded_spans(
        &self,
        workspace: WorkspaceId,
        monitor: MonitorId,
        range: Span,
    ) -> Result<Vec<Span>, StoreError> {
        let db = &mut self.store.read().await?;
        mute::excluded_spans(db, self.store.quarantine(), workspace, monitor, range).await
    }

    /// Returns the end of the maintenance that currently covers a monitor, directly or through a
    /// component. `None` if there is none, or if the workspace does not have the monitor.
    pub async fn active_until(
        &self,
        workspace: WorkspaceId,
        monitor: MonitorId,
        now: Timestamp,
    ) -> Result<Option<Timestamp>, StoreError> {
        let mut db = self.store.read().await?;
        let number: Option<i64> =
            query("SELECT number FROM monitors WHERE workspace_id = $1 AND id = $2")
                .bind(workspace.to_string())
                .bind(monitor.to_string())
                .scalar(&mut db)
                .await?;
        match number {
            Some(number) => muted_until(&mut db, number, now).await,
            None => Ok(None),
        }
    }
}

impl PlannedMaintenance {
    /// Returns the status of the maintenance.
    pub const fn status(&self) -> MaintenanceStatus {
        status(self.current.is_some(), self.next.is_some())
    }
}

/// Returns a maintenance of the workspace, as this connection sees it.
async fn load(
    db: &mut Connection,
    workspace: WorkspaceId,
    id: &str,
    now: Timestamp,
) -> Result<PlannedMaintenance, StoreError> {
    let which = query(select!(
        "SELECT id FROM maintenances WHERE workspace_id = $2 AND id = $3 AND deleted_at IS NULL"
    ));
    let which = which.bind(now.as_millis()).bind(workspace.to_string()).bind(id);
    all(db, which).await?.pop().ok_or_else(|| StoreError::not_found("maintenance", id))
}

/// Monitors and components of a maintenance.
#[derive(Default)]
struct MaintenanceLinks {
    monitors: Vec<MonitorId>,
    components: Vec<ComponentId>,
}

async fn all(db: &mut Connection, which: Query) -> Result<Vec<PlannedMaintenance>, StoreError> {
    let rows = which.fetch_all(db).await?;
    assemble(&rows.iter().collect::<Vec<_>>())
}

fn assemble(rows: &[&Row]) -> Result<Vec<PlannedMaintenance>, StoreError> {
    let (mut heads, mut links): (Vec<&Row>, BTreeMap<&str, MaintenanceLinks>) = Default::default();
    for row in rows.iter().copied() {
        let monitor: Option<&str> = row.try_get("monitor")?;
        let component: Option<&str> = row.try_get("component")?;
        let linked = links.entry(row.try_get("id")?).or_default();
        match (monitor, component) {
            (Some(_), _) => linked.monitors.push(id(row, "monitor", MonitorId::parse)?),
            (None, Some(_)) => linked.components.push(id(row, "component", ComponentId::parse)?),
            (None, None) => heads.push(row),
        }
    }
    let mut found = Vec::with_capacity(heads.len());
    for row in heads {
        found.push(read(row, links.remove(row.try_get::<&str>("id")?).unwrap_or_default())?);
    }
    Ok(found)
}

fn read(row: &Row, mut links: MaintenanceLinks) -> Result<PlannedMaintenance, StoreError> {
    links.monitors.sort_unstable();
    links.components.sort_unstable();
    let schedule = Schedule {
        starts_at: instant(row, "starts_at")?,
        duration: id(row, "duration", Interval::parse)?,
        time_zone: id(row, "time_zone", TimeZone::parse)?,
        recurrence: optional(row, "recurrence", Recurrence::parse)?,
    };
    let settings = MaintenanceSettings {
        title: row.try_get("title")?,
        description: row.try_get("description")?,
        schedule,
        monitor_ids: links.monitors,
        component_ids: links.components,
    };
    let maintenance = Maintenance {
        id: id(row, "id", MaintenanceId::parse)?,
        workspace: id(row, "workspace_id", WorkspaceId::parse)?,
        settings,
        created_at: instant(row, "created_at")?,
        updated_at: instant(row, "updated_at")?,
    };
    let current = window(row, ["current_from", "current_until"])?;
    let next = window(row, ["next_from", "next_until"])?;
    Ok(PlannedMaintenance { maintenance, current, next })
}

fn window(row: &Row, [from, until]: [&str; 2]) -> Result<Option<Span>, StoreError> {
    let (from, to) = (optional_instant(row, from)?, optional_instant(row, until)?);
    Ok(from.zip(to).map(|(from, to)| Span { from, to }))
}
