//! Computes the figures of a time range for many monitors at once, in batches of bounded size. The
//! figures of a page are the sums of those of its monitors.

use std::collections::BTreeMap;

use domain::history::{Sketch, Span, StatusFrom, uptime};
use rules::{MonitorId, MonitorStatus, PageId, Tag, Timestamp, WorkspaceId};

use super::{UptimeFigures, UptimeReports, UptimeSubject};
use crate::StoreError;
use crate::db::{Connection, Query, query};
use crate::judge_states::{readable_status_from, status_before};
use crate::maintenances::covered_spans;
use crate::monitors::tags;
use crate::quarantine::Quarantine;
use crate::row::{id, optional, optional_instant, to_count};

/// Number of monitors per batch.
const BATCH: i64 = 500;
/// Maximum number of components that a report reads.
const COMPONENTS_MAX: i64 = 100_000;

/// Figures of a workspace's monitors.
pub(super) struct Gathered {
    pub(super) figures: Vec<UptimeFigures>,
    /// Whether no unreadable row was omitted.
    pub(super) is_complete: bool,
}

/// Stored facts about a monitor in the range.
struct MonitorPast {
    id: MonitorId,
    name: String,
    tags: Vec<Tag>,
    before: MonitorStatus,
    changes: Vec<StatusFrom>,
    excluded: Vec<Span>,
    incidents: u32,
    deleted_at: Option<Timestamp>,
}

impl UptimeReports<'_> {
    /// Returns the figures of all monitors in the range, in order of creation, without latencies.
    /// Monitors that were deleted in the range are included.
    pub async fn monitors(
        &self,
        workspace: WorkspaceId,
        range: Span,
    ) -> Result<Vec<UptimeFigures>, StoreError> {
        Ok(self.gather(workspace, range).await?.figures)
    }

    /// Like [`Self::monitors`], and tells whether all rows are readable.
    pub(super) async fn gather(
        self,
        workspace: WorkspaceId,
        range: Span,
    ) -> Result<Gathered, StoreError> {
        let mut db = self.store.read().await?;
        let unreadable = Quarantine::part();
        let (mut figures, mut after) = (Vec::new(), 0);
        loop {
            let batch = batch_after(&mut db, &unreadable, workspace, (after, range)).await?;
            let Some(last) = batch.last else { break };
            after = last;
            figures.extend(batch.pasts.into_values().map(|past| past.figures(range)));
        }
        let is_complete = !self.store.quarantine().add(&unreadable);
        Ok(Gathered { figures, is_complete })
    }

    /// Returns the figures of all status pages in the range, by title. `monitors` has those of the
    /// monitors. Latencies are merged.
    pub async fn pages(
        &self,
        workspace: WorkspaceId,
        monitors: &[UptimeFigures],
    ) -> Result<Vec<UptimeFigures>, StoreError> {
        let by_id: BTreeMap<UptimeSubject, &UptimeFigures> =
            monitors.iter().map(|it| (it.subject.clone(), it)).collect();
        let mut pages: Vec<UptimeFigures> = Vec::new();
        for component in self.components(workspace).await? {
            let PageComponent { page, title, monitor } = component;
            let subject = UptimeSubject::Page(page);
            if pages.last().is_none_or(|last| last.subject != subject) {
                pages.push(UptimeFigures::unknown(subject, title));
            }
            let part = monitor.and_then(|id| by_id.get(&UptimeSubject::Monitor(id)));
            if let Some((page, part)) = pages.last_mut().zip(part) {
                page.merge(part);
            }
        }
        Ok(pages)
    }

    /// Adds the latencies of these monitors in the range, which consists of whole days.
    pub async fn add_latencies(
        &self,
        workspace: WorkspaceId,
        range: Span,
        figures: &mut [UptimeFigures],
    ) -> Result<(), StoreError> {
        let monitors = figures.iter().filter_map(|row| match row.subject {
            UptimeSubject::Monitor(monitor) => Some(monitor),
            UptimeSubject::Page(_) | UptimeSubject::Tag(_) | UptimeSubject::Untagged => None,
        });
        let monitors: Vec<MonitorId> = monitors.collect();
        let found = self.store.history().day_latencies(workspace, &monitors, range).await?;
        for row in figures {
            let UptimeSubject::Monitor(monitor) = row.subject else { continue };
            if let Some(latency) = found.get(&monitor) {
                row.latency.merge(latency);
            }
        }
        Ok(())
    }

    /// Returns the components of all pages of the workspace, by title of the page.
    async fn components(&self, workspace: WorkspaceId) -> Result<Vec<PageComponent>, StoreError> {
        let rows = query(
            "SELECT p.id AS page, p.title, m.id AS monitor FROM pages p \
             LEFT JOIN components c ON c.page_id = p.id \
             LEFT JOIN monitors m ON m.number = c.monitor \
             WHERE p.workspace_id = $1 ORDER BY p.title, p.id LIMIT $2",
        )
        .bind(workspace.to_string())
        .bind(COMPONENTS_MAX)
        .fetch_all(&mut self.store.read().await?)
        .await?;
        let read = |row| {
            Ok(PageComponent {
                page: id(row, "page", PageId::parse)?,
                title: row.try_get("title")?,
                monitor: optional(row, "monitor", MonitorId::parse)?,
            })
        };
        self.store.quarantine().readable_rows("pages", &rows, read)
    }
}

/// Part of a workspace's monitors.
struct MonitorBatch {
    /// Row ID of the last one, readable or not. `None` if there are no more.
    last: Option<i64>,
    /// Readable monitors by row ID.
    pasts: BTreeMap<i64, MonitorPast>,
}

/// Component of a page, or the page itself if it has none.
struct PageComponent {
    page: PageId,
    title: String,
    monitor: Option<MonitorId>,
}

impl MonitorPast {
    fn figures(mut self, range: Span) -> UptimeFigures {
        // Nothing is known after the deletion, even if the server stopped before it recorded that.
        if let Some(at) = self.deleted_at {
            self.changes.retain(|change| change.at < at);
            self.changes.push(StatusFrom { at, status: MonitorStatus::Unknown });
        }
        UptimeFigures {
            subject: UptimeSubject::Monitor(self.id),
            name: self.name,
            tags: self.tags,
            uptime: uptime(self.before, &self.changes, &self.excluded, range),
            incidents: self.incidents,
            latency: Sketch::EMPTY,
        }
    }
}

/// Returns the next monitors after this number.
async fn batch_after(
    db: &mut Connection,
    quarantine: &Quarantine,
    workspace: WorkspaceId,
    (after, range): (i64, Span),
) -> Result<MonitorBatch, StoreError> {
    let rows = query(
        "SELECT m.id, m.number, m.name, m.tags, m.deleted_at, b.number AS before_number, \
         b.to_status AS status_before FROM monitors m LEFT JOIN status_changes b \
         ON b.number = (SELECT c.number FROM status_changes c WHERE c.monitor = m.number \
         AND c.at < $3 ORDER BY c.at DESC, c.number DESC LIMIT 1) \
         WHERE m.workspace_id = $1 AND m.number > $2 AND m.created_at < $4 \
         AND (m.deleted_at IS NULL OR m.deleted_at > $3) ORDER BY m.number LIMIT $5",
    )
    .bind(workspace.to_string())
    .bind(after)
    .bind(range.from.as_millis())
    .bind(range.to.as_millis())
    .bind(BATCH)
    .fetch_all(&mut *db)
    .await?;
    let read = |row| {
        let past = MonitorPast {
            id: id(row, "id", MonitorId::parse)?,
            name: row.try_get("name")?,
            tags: tags(row.try_get("tags")?)?,
            before: status_before(quarantine, row)?,
            changes: Vec::new(),
            excluded: Vec::new(),
            incidents: 0,
            deleted_at: optional_instant(row, "deleted_at")?,
        };
        Ok((row.try_get("number")?, past))
    };
    let last = rows.last().map(|row| row.try_get("number")).transpose()?;
    let pasts = quarantine.readable_rows("monitors", &rows, read)?;
    let mut batch = MonitorBatch { last, pasts: pasts.into_iter().collect() };
    if !batch.pasts.is_empty() {
        add_changes(db, quarantine, &mut batch.pasts, range).await?;
        add_maintenance(db, quarantine, &mut batch.pasts, range).await?;
        add_incidents(db, &mut batch.pasts, range).await?;
    }
    Ok(batch)
}

/// Binds the first and the last monitor of a batch, and the range, to a statement.
fn bound(statement: &'static str, batch: &BTreeMap<i64, MonitorPast>, range: Span) -> Query {
    let first = batch.first_key_value().map_or(0, |(number, _)| *number);
    let last = batch.last_key_value().map_or(0, |(number, _)| *number);
    let (from, to) = (range.from.as_millis(), range.to.as_millis());
    query(statement).bind(first).bind(last).bind(from).bind(to)
}

async fn add_changes(
    db: &mut Connection,
    quarantine: &Quarantine,
    batch: &mut BTreeMap<i64, MonitorPast>,
    range: Span,
) -> Result<(), StoreError> {
    let rows = bound(
        "SELECT number, monitor, at, to_status FROM status_changes WHERE monitor >= $1 AND monitor <= $2 \
         AND at >= $3 AND at < $4 ORDER BY monitor, at, number",
        batch,
        range,
    );
    for row in rows.fetch_all(db).await? {
        let change = readable_status_from(quarantine, &row)?;
        if let Some(past) = batch.get_mut(&row.try_get::<i64>("monitor")?) {
            past.changes.extend(change);
        }
    }
    Ok(())
}

/// Adds the windows of maintenance, limited to the time in which they covered a monitor.
async fn add_maintenance(
    db: &mut Connection,
    quarantine: &Quarantine,
    batch: &mut BTreeMap<i64, MonitorPast>,
    range: Span,
) -> Result<(), StoreError> {
    let rows = bound(
        "SELECT c.maintenance, c.monitor, w.from_at, w.until_at, c.since, c.until FROM maintenance_covers c \
         JOIN maintenance_windows w ON w.maintenance = c.maintenance \
         WHERE c.monitor >= $1 AND c.monitor <= $2 AND w.until_at > $3 AND w.from_at < $4",
        batch,
        range,
    );
    for (monitor, span) in covered_spans(quarantine, &rows.fetch_all(db).await?)? {
        if let Some(past) = batch.get_mut(&monitor) {
            past.excluded.push(span);
        }
    }
    Ok(())
}

async fn add_incidents(
    db: &mut Connection,
    batch: &mut BTreeMap<i64, MonitorPast>,
    range: Span,
) -> Result<(), StoreError> {
    let rows = bound(
        "SELECT monitor, COUNT(*) AS opened FROM incidents WHERE monitor >= $1 AND monitor <= $2 \
         AND opened_at >= $3 AND opened_at < $4 GROUP BY monitor",
        batch,
        range,
    );
    for row in rows.fetch_all(db).await? {
        if let Some(past) = batch.get_mut(&row.try_get::<i64>("monitor")?) {
            past.incidents = to_count(row.try_get("opened")?);
        }
    }
    Ok(())
}
