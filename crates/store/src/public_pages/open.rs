//! Finds public pages that show monitors, for links in messages.

use std::collections::HashSet;

use rules::{ComponentId, MonitorId, PageId, WorkspaceId};

use super::PublicPages;
use crate::StoreError;
use crate::db::{Connection, Row, query};
use crate::quarantine::Quarantine;
use crate::row::id;

/// Public page with its component that shows a monitor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PublicPageRef {
    pub slug: String,
    /// Component that shows the first of the requested monitors.
    pub component: ComponentId,
}

impl PublicPages<'_> {
    /// Returns the oldest published public page that shows all of these monitors, which may be
    /// deleted. `None` if there is none, or if no monitors are given.
    pub async fn open_page(
        &self,
        workspace: WorkspaceId,
        monitors: &[MonitorId],
    ) -> Result<Option<PublicPageRef>, StoreError> {
        let Some((first, others)) = monitors.split_first() else { return Ok(None) };
        let mut db = self.store.read().await?;
        let rows = query(
            "SELECT p.id, p.slug, c.id AS component FROM monitors m JOIN components c \
             ON c.monitor = m.number JOIN pages p ON p.id = c.page_id \
             WHERE m.workspace_id = $1 AND m.id = $2 AND p.published = $3 \
             AND COALESCE(p.access_type, 'public') = 'public' ORDER BY p.id",
        )
        .bind(workspace.to_string())
        .bind(first.to_string())
        .bind(true)
        .fetch_all(&mut db)
        .await?;
        let quarantine = self.store.quarantine();
        for (page, found) in quarantine.readable_rows("pages", &rows, read)? {
            let shows_all = others.is_empty()
                || shows(&mut db, quarantine, page).await?.is_superset(&monitor_set(others));
            if shows_all {
                return Ok(Some(found));
            }
        }
        Ok(None)
    }
}

fn monitor_set(monitors: &[MonitorId]) -> HashSet<MonitorId> {
    monitors.iter().copied().collect()
}

fn read(row: &Row) -> Result<(PageId, PublicPageRef), StoreError> {
    let component = id(row, "component", ComponentId::parse)?;
    Ok((id(row, "id", PageId::parse)?, PublicPageRef { slug: row.try_get("slug")?, component }))
}

/// Returns the monitors that a page shows.
async fn shows(
    db: &mut Connection,
    quarantine: &Quarantine,
    page: PageId,
) -> Result<HashSet<MonitorId>, StoreError> {
    let rows = query(
        "SELECT m.id FROM components c JOIN monitors m ON m.number = c.monitor \
         WHERE c.page_id = $1",
    )
    .bind(page.to_string())
    .fetch_all(db)
    .await?;
    let read = |row| id(row, "id", MonitorId::parse);
    Ok(quarantine.readable_rows("monitors", &rows, read)?.into_iter().collect())
}
