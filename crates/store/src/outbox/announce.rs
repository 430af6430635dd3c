//! What a page is told, so that it passes it on: written in the transaction of what happened, as one
//! delivery to the page, however many subscribed to it. Pages whose news nobody wants are told nothing.
//! Passing on stands in `spread`.

use std::collections::BTreeMap;

use domain::history::Span;
use domain::notify::{
    About, ComponentNamed, IncidentNews, MaintenanceNews, News, PageNamed, Placed, ReportNews,
    Stage,
};
use domain::report::{NoticedComponent, ReportNotice};
use rules::{ComponentId, IncidentId, MaintenanceId, PageId, Timestamp, WorkspaceId};

use super::rows::{self, Events, Posted};
use super::telling::Time;
use crate::db::{Connection, Row, query};
use crate::row::{id, instant};
use crate::writer::Session;
use crate::{StoreError, maintenances};

/// What stands in `kind` of a delivery to a page.
const PAGE: &str = "page";

/// A window of a maintenance, and how far it has come.
#[derive(Clone, Debug)]
pub(crate) struct Maintained {
    pub(crate) maintenance: MaintenanceId,
    pub(crate) title: String,
    pub(crate) description: Option<String>,
    pub(crate) window: Span,
    pub(crate) stage: Stage,
}

/// A page with those of its components that something is about.
struct Concerned {
    workspace: WorkspaceId,
    page: PageNamed,
    components: Vec<ComponentNamed>,
}

/// Writes an update of a report, where somebody on the page wants to hear of reports.
pub(crate) async fn note_report(
    session: &mut Session,
    workspace: WorkspaceId,
    notice: &ReportNotice,
    now: Timestamp,
) -> Result<(), StoreError> {
    let title: Option<String> = query(
        "SELECT p.title FROM pages p WHERE p.id = $1 AND p.published AND EXISTS \
         (SELECT 1 FROM subscribers s WHERE s.page_id = p.id AND s.hears_reports \
         AND s.confirmed_at IS NOT NULL)",
    )
    .bind(notice.page.to_string())
    .scalar(&mut session.db)
    .await?;
    let Some(title) = title else { return Ok(()) };
    let about = About::Report(ReportNews {
        report: notice.report,
        update: notice.update,
        title: notice.title.clone(),
        status: notice.status,
        is_first: notice.is_first,
        text: notice.text.clone(),
        concerns: notice.concerns.clone(),
    });
    let named = |it: &NoticedComponent| ComponentNamed { id: it.id, name: it.name.clone() };
    let components = notice.components.iter().map(named).collect();
    let page = PageNamed { id: notice.page, title };
    write(session, workspace, &News { page, at: notice.at, about, components }, (now, now)).await
}

/// Writes that a window of maintenance was announced, began or is over, for each page with a component
/// that it is for.
pub(crate) async fn note_maintenance(
    session: &mut Session,
    maintained: &Maintained,
    now: Timestamp,
) -> Result<(), StoreError> {
    let rows = query(
        "SELECT p.id, p.workspace_id, p.title, c.id, COALESCE(c.name, m.name, '') \
         FROM components c JOIN pages p ON p.id = c.page_id \
         LEFT JOIN monitors m ON m.number = c.monitor WHERE p.published \
         AND (c.id IN (SELECT component FROM maintenance_components WHERE maintenance = $1) \
         OR c.monitor IN (SELECT monitor FROM maintenance_covers WHERE maintenance = $1 \
         AND since <= $2 AND (until IS NULL OR until >= $2))) \
         AND EXISTS (SELECT 1 FROM subscribers s WHERE s.page_id = p.id AND s.hears_maintenance \
         AND s.confirmed_at IS NOT NULL) ORDER BY p.id, c.id",
    )
    .bind(maintained.maintenance.to_string())
    .bind(now.as_millis())
    .fetch_all(&mut session.db)
    .await?;
    for Concerned { workspace, page, components } in concerned(&rows)? {
        let about = About::Maintenance(MaintenanceNews {
            maintenance: maintained.maintenance,
            title: maintained.title.clone(),
            description: maintained.description.clone(),
            from: maintained.window.from,
            until: maintained.window.to,
            stage: maintained.stage,
        });
        write(session, workspace, &News { page, at: now, about, components }, (now, now)).await?;
    }
    Ok(())
}

/// Writes that an incident began, for each page that shows its monitor. While the monitor is under
/// maintenance, that waits for its end.
pub(super) async fn note_opened(
    session: &mut Session,
    monitor: i64,
    incident: IncidentId,
    time: Time,
) -> Result<(), StoreError> {
    let news = IncidentNews { incident, began_at: time.at, is_over: false };
    let pages = showing(&mut session.db, monitor).await?;
    if pages.is_empty() {
        return Ok(());
    }
    let muted_until = maintenances::muted_until(&mut session.db, monitor, time.at).await?;
    let due_at = muted_until.unwrap_or(time.now).max(time.now);
    note_incident(session, pages, &news, (time, due_at)).await
}

/// Writes that the incident of a monitor that is open, or was closed by this transaction, is over.
pub(super) async fn note_closed(
    session: &mut Session,
    monitor: i64,
    time: Time,
) -> Result<(), StoreError> {
    let pages = showing(&mut session.db, monitor).await?;
    if pages.is_empty() {
        return Ok(());
    }
    let row = query(
        "SELECT id, opened_at FROM incidents WHERE monitor = $1 \
         AND (closed_at IS NULL OR closed_at = $2) ORDER BY opened_at DESC LIMIT 1",
    )
    .bind(monitor)
    .bind(time.at.as_millis())
    .fetch_optional(&mut session.db)
    .await?;
    let Some(row) = row else { return Ok(()) };
    let incident = id(&row, 0, IncidentId::parse)?;
    let news = IncidentNews { incident, began_at: instant(&row, 1)?, is_over: true };
    note_incident(session, pages, &news, (time, time.now)).await
}

async fn note_incident(
    session: &mut Session,
    pages: Vec<Concerned>,
    incident: &IncidentNews,
    (time, due_at): (Time, Timestamp),
) -> Result<(), StoreError> {
    for Concerned { workspace, page, components } in pages {
        let about = About::Incident(incident.clone());
        let news = News { page, at: time.at, about, components };
        write(session, workspace, &news, (time.now, due_at)).await?;
    }
    Ok(())
}

/// The pages that show a monitor to somebody who wants to hear of its incidents.
async fn showing(db: &mut Connection, monitor: i64) -> Result<Vec<Concerned>, StoreError> {
    let rows = query(
        "SELECT p.id, p.workspace_id, p.title, c.id, COALESCE(c.name, m.name, '') \
         FROM components c JOIN pages p ON p.id = c.page_id JOIN monitors m ON m.number = c.monitor \
         WHERE c.monitor = $1 AND p.published AND EXISTS (SELECT 1 FROM subscribers s \
         WHERE s.page_id = p.id AND s.hears_incidents AND s.confirmed_at IS NOT NULL) \
         ORDER BY p.id, c.id",
    )
    .bind(monitor)
    .fetch_all(db)
    .await?;
    concerned(&rows)
}

fn concerned(rows: &[Row]) -> Result<Vec<Concerned>, StoreError> {
    let mut pages: BTreeMap<PageId, Concerned> = BTreeMap::new();
    for row in rows {
        let page: PageId = id(row, 0, PageId::parse)?;
        let component =
            ComponentNamed { id: id(row, 3, ComponentId::parse)?, name: row.try_get(4)? };
        if let Some(known) = pages.get_mut(&page) {
            known.components.push(component);
            continue;
        }
        let workspace = id(row, 1, WorkspaceId::parse)?;
        let named = PageNamed { id: page, title: row.try_get(2)? };
        pages.insert(page, Concerned { workspace, page: named, components: vec![component] });
    }
    Ok(pages.into_values().collect())
}

async fn write(
    session: &mut Session,
    workspace: WorkspaceId,
    news: &News,
    (now, due_at): (Timestamp, Timestamp),
) -> Result<(), StoreError> {
    let posted = Posted { workspace, addressee: news.page.id.into(), kind: PAGE };
    let place = Placed { due_at, holds: None };
    rows::write_news(session, &mut Events::default(), posted, news, place, now).await
}
