//! Reads status reports: one with all its updates, or a page of a list with the latest update of
//! each. `change` creates, edits and deletes reports, and `updates` their updates. `cascade`
//! updates them when a referenced object is deleted, and `announce` notifies subscribers.

mod announce;
mod cascade;
mod change;
mod impacts;
mod templates;
mod updates;

use std::collections::{BTreeMap, BTreeSet};

use domain::history::Span;
use rules::report::{ComponentImpact, Impact, Report, ReportState, ReportStatus, ReportUpdate};
use rules::{ComponentId, PageId, ReportId, Timestamp, UpdateId, WorkspaceId};

use crate::db::{Connection, Query, Row, query};
use crate::list::Listed;
use crate::quarantine::Quarantine;
use crate::row::{id, instant, to_count};
use crate::{Page, Store, StoreError, pages};

pub(crate) use cascade::{delete_with_page, unlink_component};
pub use change::NewReport;
pub use templates::{NewTemplate, ReportTemplates};
pub use updates::NewUpdate;

/// Maximum number of reports that a status page reads at once; the newest are used.
pub(crate) const PAGE_REPORTS_MAX: i64 = 100;

/// Handle of the status reports.
#[derive(Clone, Copy, Debug)]
pub struct Reports<'s> {
    pub(crate) store: &'s Store,
}

impl Store {
    /// Returns the handle of the status reports.
    pub const fn reports(&self) -> Reports<'_> {
        Reports { store: self }
    }
}

/// Filter of a listing. `None` matches everything.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReportFilter {
    pub page: Option<PageId>,
    pub state: Option<ReportState>,
}

/// Selects reports for [`assemble`]: a row for each report, one for each of its updates `u` that
/// match a condition, and one for each component of such an update. It is one statement, so that
/// all rows are from one snapshot. The last argument is a subquery of identifiers.
macro_rules! select {
    ($updates:literal, $($which:tt)*) => {
        concat!(
            "SELECT r.id AS report, NULL AS update_id, NULL AS component, NULL AS impact, ",
            "r.workspace_id, r.page_id, r.title, NULL AS status, NULL AS text, NULL AS notified, ",
            "r.started_at AS at, r.created_at, r.updated_at FROM reports r WHERE r.id IN (",
            $($which)*,
            ") UNION ALL SELECT u.report, u.id, NULL, NULL, NULL, NULL, NULL, u.status, u.text, ",
            "u.notified, u.at, u.created_at, u.updated_at ",
            "FROM report_updates u WHERE u.report IN (",
            $($which)*,
            ") AND ", $updates,
            " UNION ALL SELECT u.report, u.id, i.component, i.impact, NULL, NULL, NULL, NULL, \
             NULL, ",
            "NULL, NULL, NULL, NULL FROM report_updates u JOIN report_impacts i \
             ON i.report_update = u.id WHERE u.report IN (",
            $($which)*,
            ") AND ", $updates
        )
    };
}

/// Condition of a listing: workspace `$1`, page `$2` or empty, state `$3` or empty.
macro_rules! listed {
    () => {
        "workspace_id = $1 AND ($2 = '' OR page_id = $2) AND ($3 = '' \
         OR ($3 = 'open' AND status <> 'resolved') OR ($3 = 'resolved' AND status = 'resolved'))"
    };
}

impl Reports<'_> {
    /// Returns a report of the workspace.
    pub async fn get(&self, workspace: WorkspaceId, id: ReportId) -> Result<Report, StoreError> {
        load(&mut self.store.read().await?, workspace, &id.to_string()).await
    }

    /// Returns the report of the workspace that has this update.
    pub async fn by_update(
        &self,
        workspace: WorkspaceId,
        id: UpdateId,
    ) -> Result<Report, StoreError> {
        load_by_update(&mut self.store.read().await?, workspace, id).await
    }

    /// Returns a part of the workspace's reports with the latest update of each, newest first, and
    /// how many there are.
    pub async fn list(
        &self,
        workspace: WorkspaceId,
        filter: ReportFilter,
        page: Page<ReportId>,
    ) -> Result<Listed<Report>, StoreError> {
        let mut db = self.store.read().await?;
        pages::require_filter(&mut db, workspace, filter.page).await?;
        let filtered = |statement: &'static str| {
            query(statement)
                .bind(workspace.to_string())
                .bind(filter.page.map(|page| page.to_string()).unwrap_or_default())
                .bind(filter.state.map_or("", ReportState::as_str))
        };
        let total = concat!("SELECT COUNT(*) FROM reports WHERE ", listed!());
        let total: Option<i64> = filtered(total).scalar(&mut db).await?;
        let part = filtered(select!(
            "NOT EXISTS (SELECT 1 FROM report_updates n WHERE n.report = u.report \
             AND (n.at > u.at OR (n.at = u.at AND n.id > u.id)))",
            concat!(
                "SELECT id FROM reports WHERE ",
                listed!(),
                " AND id < $4 ORDER BY id DESC LIMIT $5 OFFSET $6"
            )
        ));
        let part =
            part.bind(page.before()).bind(i64::from(page.limit)).bind(i64::from(page.offset));
        let (rows, omitted) = load_readable(&mut db, self.store.quarantine(), part).await?;
        Ok(Listed { rows, omitted, total: to_count(total) })
    }

    /// Returns the components of a status page of the workspace.
    pub async fn page_components(
        &self,
        workspace: WorkspaceId,
        page: PageId,
    ) -> Result<BTreeSet<ComponentId>, StoreError> {
        impacts::page_components(&mut self.store.read().await?, workspace, page).await
    }
}

/// Returns the reports that a page shows: open ones, and those whose latest update is at `since` or
/// later. They have all their updates and are in any order.
pub(crate) async fn by_page(
    db: &mut Connection,
    quarantine: &Quarantine,
    page: PageId,
    since: Timestamp,
) -> Result<Vec<Report>, StoreError> {
    let which = query(select!(
        "1 = 1",
        "SELECT id FROM reports WHERE page_id = $1 AND (status <> 'resolved' OR latest_at >= $2) \
         ORDER BY latest_at DESC, id DESC LIMIT $3"
    ));
    let which = which.bind(page.to_string()).bind(since.as_millis()).bind(PAGE_REPORTS_MAX);
    Ok(load_readable(db, quarantine, which).await?.0)
}

/// Returns the reports of a page that started in `range`, with all their updates, in any order.
pub(crate) async fn started_in(
    db: &mut Connection,
    quarantine: &Quarantine,
    page: PageId,
    range: Span,
) -> Result<Vec<Report>, StoreError> {
    let which = query(select!(
        "1 = 1",
        "SELECT id FROM reports WHERE page_id = $1 AND started_at >= $2 AND started_at < $3 \
         ORDER BY started_at DESC, id DESC LIMIT $4"
    ));
    let which = which.bind(page.to_string()).bind(range.from.as_millis());
    Ok(load_readable(db, quarantine, which.bind(range.to.as_millis()).bind(PAGE_REPORTS_MAX))
        .await?
        .0)
}

/// Returns one report of a page, however old it is, or `None`.
pub(crate) async fn find_on_page(
    db: &mut Connection,
    page: PageId,
    id: ReportId,
) -> Result<Option<Report>, StoreError> {
    let which = query(select!("1 = 1", "SELECT id FROM reports WHERE page_id = $1 AND id = $2"));
    Ok(all(db, which.bind(page.to_string()).bind(id.to_string())).await?.pop())
}

/// Returns a report of the workspace, as this connection sees it.
async fn load(db: &mut Connection, workspace: WorkspaceId, id: &str) -> Result<Report, StoreError> {
    let which =
        query(select!("1 = 1", "SELECT id FROM reports WHERE workspace_id = $1 AND id = $2"));
    let found = all(db, which.bind(workspace.to_string()).bind(id)).await?.pop();
    found.ok_or_else(|| StoreError::not_found("status report", id))
}

/// Returns the report of the workspace that has this update.
async fn load_by_update(
    db: &mut Connection,
    workspace: WorkspaceId,
    update: UpdateId,
) -> Result<Report, StoreError> {
    let report: Option<String> = query(
        "SELECT r.id FROM report_updates u JOIN reports r ON r.id = u.report \
         WHERE r.workspace_id = $1 AND u.id = $2",
    )
    .bind(workspace.to_string())
    .bind(update.to_string())
    .scalar(db)
    .await?;
    let report = report.ok_or_else(|| StoreError::not_found("update of a report", &update))?;
    load(db, workspace, &report).await
}

async fn all(db: &mut Connection, which: Query) -> Result<Vec<Report>, StoreError> {
    let rows = which.fetch_all(db).await?;
    assemble(&rows.iter().collect::<Vec<_>>())
}

/// Returns the readable reports, newest first, and the keys of the unreadable ones.
async fn load_readable(
    db: &mut Connection,
    quarantine: &Quarantine,
    which: Query,
) -> Result<(Vec<Report>, Vec<String>), StoreError> {
    quarantine.readable_groups("reports", &which.fetch_all(db).await?, assemble)
}

fn assemble(rows: &[&Row]) -> Result<Vec<Report>, StoreError> {
    let mut reports = Vec::new();
    let mut updates: BTreeMap<&str, Vec<ReportUpdate>> = BTreeMap::new();
    let mut impacts: BTreeMap<&str, Vec<ComponentImpact>> = BTreeMap::new();
    for row in rows {
        let update: Option<&str> = row.try_get("update_id")?;
        let component: Option<&str> = row.try_get("component")?;
        match (update, component) {
            (None, _) => reports.push(head(row)?),
            (Some(_), None) => {
                updates.entry(row.try_get("report")?).or_default().push(read_update(row)?);
            }
            (Some(update), Some(_)) => impacts.entry(update).or_default().push(read_impact(row)?),
        }
    }
    for report in &mut reports {
        let mut own = updates.remove(report.id.to_string().as_str()).unwrap_or_default();
        for update in &mut own {
            let own_impacts = impacts.remove(update.id.to_string().as_str());
            update.components = own_impacts.unwrap_or_default();
            update.components.sort_unstable();
        }
        own.sort_unstable_by_key(|update| std::cmp::Reverse((update.at, update.id)));
        report.updates = own;
    }
    Ok(reports)
}

fn head(row: &Row) -> Result<Report, StoreError> {
    Ok(Report {
        id: id(row, "report", ReportId::parse)?,
        workspace: id(row, "workspace_id", WorkspaceId::parse)?,
        page: id(row, "page_id", PageId::parse)?,
        title: row.try_get("title")?,
        updates: Vec::new(),
        started_at: instant(row, "at")?,
        created_at: instant(row, "created_at")?,
        updated_at: instant(row, "updated_at")?,
    })
}

fn read_update(row: &Row) -> Result<ReportUpdate, StoreError> {
    Ok(ReportUpdate {
        id: id(row, "update_id", UpdateId::parse)?,
        status: id(row, "status", ReportStatus::parse)?,
        text: row.try_get("text")?,
        at: instant(row, "at")?,
        components: Vec::new(),
        notified: row.try_get("notified")?,
        created_at: instant(row, "created_at")?,
        updated_at: instant(row, "updated_at")?,
    })
}

fn read_impact(row: &Row) -> Result<ComponentImpact, StoreError> {
    Ok(ComponentImpact {
        component: id(row, "component", ComponentId::parse)?,
        impact: id(row, "impact", Impact::parse)?,
    })
}
