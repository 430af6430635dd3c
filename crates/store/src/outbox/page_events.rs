//! Enqueues page events: one delivery to the page, in the transaction of the event, however many
//! subscribers there are. Pages without a subscriber for the event are skipped. `fan_out` fans out
//! the events.

use std::collections::BTreeMap;

use domain::notify::{
    ComponentNamed, DueTime, IncidentEvent, MaintenanceEvent, PageEvent, PageEventKind, PageNamed,
    opening_due_at,
};
use domain::report::ReportAnnouncement;
use rules::{ComponentId, IncidentId, PageId, Timestamp, WorkspaceId};

use super::rows::{self, DeliveryTarget, Events, Time};
use crate::db::{Row, query};
use crate::quarantine::Quarantine;
use crate::row::{id, instant};
use crate::writer::Session;
use crate::{StoreError, maintenances};

/// Value of `kind` for a delivery to a page.
const PAGE: &str = "page";

/// Page with its affected components.
struct AffectedPage {
    workspace: WorkspaceId,
    page: PageNamed,
    components: Vec<ComponentNamed>,
}

/// Due time of a delivery, and time of its creation.
#[derive(Clone, Copy)]
struct DeliveryTimes {
    due_at: Timestamp,
    now: Timestamp,
}

/// Enqueues an update of a status report, if a subscriber of the page wants reports.
pub(crate) async fn enqueue_report(
    session: &mut Session,
    workspace: WorkspaceId,
    announcement: &ReportAnnouncement,
    now: Timestamp,
) -> Result<(), StoreError> {
    let title: Option<String> = query(
        "SELECT p.title FROM pages p WHERE p.id = $1 AND p.published AND EXISTS \
         (SELECT 1 FROM subscribers s WHERE s.page_id = p.id AND s.topic_reports \
         AND s.confirmed_at IS NOT NULL)",
    )
    .bind(announcement.page.to_string())
    .scalar(&mut session.db)
    .await?;
    let Some(title) = title else { return Ok(()) };
    let page = PageNamed { id: announcement.page, title };
    let event = PageEvent::from_report(page, announcement);
    write(session, workspace, &event, DeliveryTimes { due_at: now, now }).await
}

/// Enqueues that a maintenance window was announced, started or ended, for each page with an
/// affected component.
pub(crate) async fn enqueue_maintenance(
    session: &mut Session,
    maintenance: &MaintenanceEvent,
    now: Timestamp,
) -> Result<(), StoreError> {
    let rows = query(
        "SELECT p.id AS page_id, c.id AS component_id, COALESCE(c.name, m.name, '') AS name, \
         p.workspace_id, p.title \
         FROM components c JOIN pages p ON p.id = c.page_id \
         LEFT JOIN monitors m ON m.number = c.monitor WHERE p.published \
         AND (c.id IN (SELECT component FROM maintenance_components WHERE maintenance = $1) \
         OR c.monitor IN (SELECT monitor FROM maintenance_covers WHERE maintenance = $1 \
         AND since <= $2 AND (until IS NULL OR until >= $2))) \
         AND EXISTS (SELECT 1 FROM subscribers s WHERE s.page_id = p.id AND s.topic_maintenance \
         AND s.confirmed_at IS NOT NULL) ORDER BY p.id, c.id",
    )
    .bind(maintenance.maintenance.to_string())
    .bind(now.as_millis())
    .fetch_all(&mut session.db)
    .await?;
    let affected = read_affected_pages(&session.quarantine, &rows)?;
    for AffectedPage { workspace, page, components } in affected {
        let about = PageEventKind::Maintenance(maintenance.clone());
        let event = PageEvent { page, at: now, about, components };
        write(session, workspace, &event, DeliveryTimes { due_at: now, now }).await?;
    }
    Ok(())
}

/// Enqueues that an incident opened, for each page that shows its monitor. During maintenance of
/// the monitor, the delivery waits for its end.
pub(super) async fn enqueue_opened(
    session: &mut Session,
    monitor: i64,
    incident: IncidentId,
    time: Time,
) -> Result<(), StoreError> {
    let event = IncidentEvent { incident, began_at: time.at, is_over: false };
    let pages = pages_showing(session, monitor).await?;
    if pages.is_empty() {
        return Ok(());
    }
    let muted_until = maintenances::muted_until(&mut session.db, monitor, time.at).await?;
    let due_at = opening_due_at(muted_until, time.now);
    enqueue_incident(session, pages, &event, (time, due_at)).await
}

/// Enqueues that the open incident of a monitor is over. The incident may have been closed in this
/// transaction.
pub(super) async fn enqueue_closed(
    session: &mut Session,
    monitor: i64,
    time: Time,
) -> Result<(), StoreError> {
    let pages = pages_showing(session, monitor).await?;
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
    let read = |row| {
        let incident = id(row, "id", IncidentId::parse)?;
        Ok(IncidentEvent { incident, began_at: instant(row, "opened_at")?, is_over: true })
    };
    let event = session.quarantine.readable_rows("incidents", [&row], read)?.pop();
    let Some(event) = event else { return Ok(()) };
    enqueue_incident(session, pages, &event, (time, time.now)).await
}

async fn enqueue_incident(
    session: &mut Session,
    pages: Vec<AffectedPage>,
    incident: &IncidentEvent,
    (time, due_at): (Time, Timestamp),
) -> Result<(), StoreError> {
    for AffectedPage { workspace, page, components } in pages {
        let about = PageEventKind::Incident(incident.clone());
        let event = PageEvent { page, at: time.at, about, components };
        write(session, workspace, &event, DeliveryTimes { due_at, now: time.now }).await?;
    }
    Ok(())
}

/// Returns the pages that show a monitor and have a subscriber for incidents.
async fn pages_showing(
    session: &mut Session,
    monitor: i64,
) -> Result<Vec<AffectedPage>, StoreError> {
    let rows = query(
        "SELECT p.id AS page_id, c.id AS component_id, COALESCE(c.name, m.name, '') AS name, \
         p.workspace_id, p.title \
         FROM components c JOIN pages p ON p.id = c.page_id JOIN monitors m \
         ON m.number = c.monitor \
         WHERE c.monitor = $1 AND p.published AND EXISTS (SELECT 1 FROM subscribers s \
         WHERE s.page_id = p.id AND s.topic_incidents AND s.confirmed_at IS NOT NULL) \
         ORDER BY p.id, c.id",
    )
    .bind(monitor)
    .fetch_all(&mut session.db)
    .await?;
    read_affected_pages(&session.quarantine, &rows)
}

/// Returns the readable pages with their affected components.
fn read_affected_pages(
    quarantine: &Quarantine,
    rows: &[Row],
) -> Result<Vec<AffectedPage>, StoreError> {
    let mut pages: BTreeMap<PageId, AffectedPage> = BTreeMap::new();
    for AffectedPage { workspace, page, components } in
        quarantine.readable_rows("pages", rows, read_affected_page)?
    {
        let known = pages.entry(page.id);
        let known = known.or_insert(AffectedPage { workspace, page, components: Vec::new() });
        known.components.extend(components);
    }
    Ok(pages.into_values().collect())
}

/// Reads a page with one of its components.
fn read_affected_page(row: &Row) -> Result<AffectedPage, StoreError> {
    let component = ComponentNamed {
        id: id(row, "component_id", ComponentId::parse)?,
        name: row.try_get("name")?,
    };
    Ok(AffectedPage {
        workspace: id(row, "workspace_id", WorkspaceId::parse)?,
        page: PageNamed { id: id(row, "page_id", PageId::parse)?, title: row.try_get("title")? },
        components: vec![component],
    })
}

async fn write(
    session: &mut Session,
    workspace: WorkspaceId,
    event: &PageEvent,
    times: DeliveryTimes,
) -> Result<(), StoreError> {
    let target = DeliveryTarget { workspace, recipient: event.page.id.into(), kind: PAGE };
    let due_time = DueTime { due_at: times.due_at, hold_reason: None };
    rows::enqueue_page_event(session, &mut Events::default(), target, event, due_time, times.now)
        .await
}
