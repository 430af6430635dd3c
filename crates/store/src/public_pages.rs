//! Reads status pages for visitors: a page by its slug or domain, with all of its contents.
//! `domain::page` decides what visitors see. The pipeline knows when monitors were last checked.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use domain::history::{Span, StatusFrom};
use domain::page::{ComponentFacts, Facts, IncidentFacts, MonitorFacts};
use domain::page::{DAYS, HISTORY_DAYS};
use rules::report::Report;
use rules::status_page::StatusPage;
use rules::{
    IncidentId, MonitorId, MonitorStatus, PageId, Periodicity, ReportId, Timestamp, WorkspaceId,
};

use crate::db::{Connection, Row, query};
use crate::quarantine::Quarantine;
use crate::row::{id, instant, optional, optional_instant};
use crate::{Store, StoreError, components, groups, incidents, judge_states, pages, reports};

const DAY: Duration = Duration::from_hours(24);
/// Lead time for showing future maintenance.
const AHEAD: Duration = Duration::from_hours(60 * 24);
/// Maximum number of maintenance windows on a page. A recurrence may have thousands.
const WINDOWS_MAX: i64 = 2_000;
/// Maximum number of incidents on a page.
const INCIDENTS_MAX: i64 = 500;

/// Selects incidents of a page's monitors for [`incident`]. The argument extends the `WHERE`
/// clause.
macro_rules! select_incidents {
    ($which:literal) => {
        concat!(
            "SELECT i.id, m.id AS monitor, i.opened_at, i.closed_at, i.close_reason, \
             i.acknowledged_at ",
            "FROM incidents i JOIN monitors m ON m.number = i.monitor ",
            "WHERE i.monitor IN (SELECT monitor FROM components WHERE page_id = $1) ",
            $which
        )
    };
}

/// Selects the maintenance of a page's components, each with the time for which it covers the
/// component.
macro_rules! select_covers {
    () => {
        concat!(
            "(SELECT n.maintenance, c.id AS component, 0 AS since, NULL AS until ",
            "FROM maintenance_components n JOIN components c ON c.id = n.component ",
            "WHERE c.page_id = $1 UNION SELECT v.maintenance, c.id, v.since, v.until ",
            "FROM maintenance_covers v JOIN components c ON c.monitor = v.monitor ",
            "WHERE c.page_id = $1)"
        )
    };
}

/// Selects from the windows `w` that affect a page's components, directly or through their
/// monitors. Windows that were in the future when their maintenance was deleted are excluded.
macro_rules! select_windows {
    ($columns:literal, $which:literal) => {
        concat!(
            $columns,
            " FROM ",
            select_covers!(),
            " x JOIN maintenances m ON m.id = x.maintenance ",
            "JOIN maintenance_windows w ON w.maintenance = m.id ",
            "WHERE x.since < w.until_at AND (x.until IS NULL OR x.until > w.from_at) ",
            "AND (m.deleted_at IS NULL OR w.from_at < m.deleted_at) ",
            $which
        )
    };
}

mod open;
mod past;
mod windows;

pub use self::open::PublicPageRef;

/// Reads status pages for visitors. The caller checks publication and access.
#[derive(Clone, Copy, Debug)]
pub struct PublicPages<'s> {
    pub(crate) store: &'s Store,
}

impl Store {
    /// Returns the handle for reading pages for visitors.
    pub const fn public_pages(&self) -> PublicPages<'_> {
        PublicPages { store: self }
    }
}

impl PublicPages<'_> {
    /// Returns the page with this slug, published or not.
    pub async fn by_slug(&self, slug: &str) -> Result<Option<StatusPage>, StoreError> {
        let mut db = self.store.read().await?;
        pages::by_slug(&mut db, self.store.vault(), slug).await
    }

    /// Returns the page with this custom domain, published or not. The domain must be normalised:
    /// see [`rules::DomainName`].
    pub async fn by_domain(&self, domain: &str) -> Result<Option<StatusPage>, StoreError> {
        let mut db = self.store.read().await?;
        pages::by_domain(&mut db, self.store.vault(), domain).await
    }

    /// Returns the page with this ID, published or not. Pages of a workspace that is about to be deleted
    /// are not found.
    pub async fn find(
        &self,
        workspace: WorkspaceId,
        page: PageId,
    ) -> Result<Option<StatusPage>, StoreError> {
        let mut db = self.store.read().await?;
        pages::find_open(&mut db, self.store.vault(), (workspace, page)).await
    }

    /// Returns a report of the page, however old it is, or `None`.
    pub async fn report(&self, page: PageId, id: ReportId) -> Result<Option<Report>, StoreError> {
        reports::find_on_page(&mut self.store.read().await?, page, id).await
    }

    /// Returns all contents of a page at `now`. The `checked_at` of its monitors is left empty.
    pub async fn facts(&self, page: StatusPage, now: Timestamp) -> Result<Facts, StoreError> {
        let mut db = self.store.read().await?;
        let page_id = page.id;
        let around = Span { from: now - DAY * DAYS as u32, to: now + AHEAD };
        let quarantine = self.store.quarantine();
        let monitors = monitors(&mut db, quarantine, page_id, now).await?;
        let components = components::by_page(&mut db, quarantine, page_id).await?;
        let mut positions = HashMap::with_capacity(components.len());
        let components = components
            .into_iter()
            .filter_map(|(component, number)| {
                let monitor = match number {
                    // Without its unreadable monitor, the component would seem to work.
                    Some(number) => Some(monitors.get(&number).cloned()?),
                    None => None,
                };
                positions.insert(component.id, positions.len());
                Some(ComponentFacts { component, monitor })
            })
            .collect();
        Ok(Facts {
            read_at: now,
            page,
            components,
            groups: groups::by_page(&mut db, quarantine, page_id).await?,
            incidents: load_incidents(&mut db, quarantine, page_id, now).await?,
            maintenances: windows::near((&mut db, quarantine), page_id, &positions, (around, now))
                .await?,
            reports: reports::by_page(&mut db, quarantine, page_id, around.from).await?,
        })
    }
}

/// Returns the readable monitors of a page by row ID, including deleted ones, with their status
/// history.
async fn monitors(
    db: &mut Connection,
    quarantine: &Quarantine,
    page: PageId,
    now: Timestamp,
) -> Result<HashMap<i64, Arc<MonitorFacts>>, StoreError> {
    let since = now - DAY * DAYS as u32;
    let rows_of_monitors = query(
        "SELECT m.id, m.number, m.name, m.active, m.deleted_at, m.public, m.periodicity, \
         b.number AS before_number, b.to_status AS status_before FROM monitors m \
         LEFT JOIN status_changes b ON b.number = (SELECT c.number FROM status_changes c \
         WHERE c.monitor = m.number AND c.at < $2 ORDER BY c.number DESC LIMIT 1) \
         WHERE m.number IN (SELECT monitor FROM components WHERE page_id = $1)",
    )
    .bind(page.to_string())
    .bind(since.as_millis())
    .fetch_all(&mut *db)
    .await?;
    let read = |row: &Row| Ok((row.try_get("number")?, monitor(quarantine, row)?));
    let mut monitors: HashMap<i64, _> =
        quarantine.readable_rows("monitors", &rows_of_monitors, read)?.into_iter().collect();
    let rows = query(
        "SELECT c.number, c.monitor, c.at, c.to_status FROM status_changes c \
         WHERE c.monitor IN (SELECT monitor FROM components WHERE page_id = $1) AND c.at >= $2 \
         ORDER BY c.number",
    )
    .bind(page.to_string())
    .bind(since.as_millis())
    .fetch_all(db)
    .await?;
    for row in &rows {
        let change = judge_states::readable_status_from(quarantine, row)?;
        if let Some(monitor) = monitors.get_mut(&row.try_get::<i64>("monitor")?) {
            monitor.changes.extend(change);
        }
    }
    for row in &rows_of_monitors {
        let (number, deleted_at) = (row.try_get("number")?, optional_instant(row, "deleted_at")?);
        if let Some((monitor, at)) = monitors.get_mut(&number).zip(deleted_at) {
            end(monitor, at, since);
        }
    }
    Ok(monitors.into_iter().map(|(number, monitor)| (number, Arc::new(monitor))).collect())
}

/// Sets the status of a deleted monitor to unknown from its deletion, even if the server stopped
/// before that was recorded.
fn end(monitor: &mut MonitorFacts, at: Timestamp, since: Timestamp) {
    let unknown = MonitorStatus::Unknown;
    if at < since {
        monitor.before = unknown;
        monitor.changes.clear();
    } else if monitor.status() != unknown {
        let last = monitor.changes.last().map_or(at, |last| last.at.max(at));
        monitor.changes.push(StatusFrom { at: last, status: unknown });
    }
}

fn monitor(quarantine: &Quarantine, row: &Row) -> Result<MonitorFacts, StoreError> {
    let (active, deleted_at): (bool, Option<i64>) =
        (row.try_get("active")?, row.try_get("deleted_at")?);
    let periodicity: Periodicity = id(row, "periodicity", Periodicity::parse)?;
    Ok(MonitorFacts {
        id: id(row, "id", MonitorId::parse)?,
        name: row.try_get("name")?,
        runs: active && deleted_at.is_none(),
        public: row.try_get("public")?,
        period: periodicity.period(),
        checked_at: None,
        before: judge_states::status_before(quarantine, row)?,
        changes: Vec::new(),
    })
}

/// Returns the readable incidents of the last days. Those that are still open come first, so that the limit
/// never hides one.
async fn load_incidents(
    db: &mut Connection,
    quarantine: &Quarantine,
    page: PageId,
    now: Timestamp,
) -> Result<Vec<IncidentFacts>, StoreError> {
    let since = now - DAY * HISTORY_DAYS as u32;
    let rows = query(select_incidents!(
        "AND (i.opened_at >= $2 OR i.closed_at IS NULL) \
         ORDER BY i.closed_at IS NULL DESC, i.opened_at DESC, i.id DESC LIMIT $3"
    ))
    .bind(page.to_string())
    .bind(since.as_millis())
    .bind(INCIDENTS_MAX)
    .fetch_all(db)
    .await?;
    quarantine.readable_rows("incidents", &rows, incident)
}

/// Reads the columns of `select_incidents`.
fn incident(row: &Row) -> Result<IncidentFacts, StoreError> {
    let how = optional(row, "close_reason", incidents::parse_close_reason)?;
    Ok(IncidentFacts {
        id: id(row, "id", IncidentId::parse)?,
        monitor: id(row, "monitor", MonitorId::parse)?,
        opened_at: instant(row, "opened_at")?,
        closed: optional_instant(row, "closed_at")?.zip(how),
        acknowledged_at: optional_instant(row, "acknowledged_at")?,
    })
}
