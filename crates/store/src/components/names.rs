//! Names of components as visitors see them, with their page and monitor.

use rules::{ComponentId, MonitorId, PageId, WorkspaceId};

use super::Components;
use crate::StoreError;
use crate::db::{Query, Row, query};
use crate::row::{id, optional};

/// Maximum number of components that are listed.
const LISTED_MAX: i64 = 5_000;

/// Selects names. The argument is a further condition.
macro_rules! select {
    ($condition:literal) => {
        concat!(
            "SELECT c.id, COALESCE(c.name, m.name, '') AS name, p.id AS page, p.title, ",
            "m.id AS monitor FROM components c JOIN pages p ON p.id = c.page_id ",
            "LEFT JOIN monitors m ON m.number = c.monitor WHERE c.workspace_id = $1 ",
            $condition,
            "ORDER BY p.title, p.id, LOWER(COALESCE(c.name, m.name, '')), c.id LIMIT $2"
        )
    };
}

/// A component with the names that people know it by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ComponentName {
    pub id: ComponentId,
    /// Its name, or that of its monitor.
    pub name: String,
    pub page: PageId,
    /// Title of the page.
    pub page_title: String,
    pub monitor: Option<MonitorId>,
}

impl Components<'_> {
    /// Returns the components of the workspace by title of the page and name, at most 5,000.
    pub async fn names(&self, workspace: WorkspaceId) -> Result<Vec<ComponentName>, StoreError> {
        let select = query(select!("")).bind(workspace.to_string()).bind(LISTED_MAX);
        self.read_names(select).await
    }

    /// Returns the components of a page by name, at most 5,000.
    pub async fn names_on_page(
        &self,
        workspace: WorkspaceId,
        page: PageId,
    ) -> Result<Vec<ComponentName>, StoreError> {
        let select = query(select!("AND c.page_id = $3 "));
        let select = select.bind(workspace.to_string()).bind(LISTED_MAX);
        self.read_names(select.bind(page.to_string())).await
    }

    async fn read_names(&self, select: Query) -> Result<Vec<ComponentName>, StoreError> {
        let rows = select.fetch_all(&mut self.store.read().await?).await?;
        self.store.quarantine().readable_rows("components", &rows, read)
    }
}

fn read(row: &Row) -> Result<ComponentName, StoreError> {
    Ok(ComponentName {
        id: id(row, "id", ComponentId::parse)?,
        name: row.try_get("name")?,
        page: id(row, "page", PageId::parse)?,
        page_title: row.try_get("title")?,
        monitor: optional(row, "monitor", MonitorId::parse)?,
    })
}
