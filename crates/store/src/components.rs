//! Reads components of status pages: one, or a page of a list. `change` modifies components.
//! `names` lists them with the names that visitors see. `cascade` updates them when a referenced
//! object is deleted.

mod cascade;
mod change;
mod names;

use rules::status_page::{Component, ComponentSettings};
use rules::{ComponentId, ComponentType, GroupId, MonitorId, PageId, WorkspaceId};

use crate::db::{Connection, Row, query};
use crate::list::Listed;
use crate::quarantine::Quarantine;
use crate::row::{id, instant, optional, optional_narrow};
use crate::{Page, Store, StoreError, pages};

pub(crate) use cascade::{delete_with_page, mark_monitor_deleted, unlink_group};
pub use change::NewComponent;
pub use names::ComponentName;

/// Selects components for [`read`]. The argument is the `WHERE` clause. The monitor is null if it
/// was deleted.
macro_rules! select {
    ($which:literal) => {
        concat!(
            "SELECT c.id, c.workspace_id, c.page_id, c.kind, m.id AS monitor_id, c.name, \
             c.description, c.position, ",
            "c.group_id, c.position_in_group, c.created_at, c.updated_at, c.monitor \
             FROM components c ",
            "LEFT JOIN monitors m ON m.number = c.monitor AND m.deleted_at IS NULL ",
            $which
        )
    };
}

/// Handle of the components.
#[derive(Clone, Copy, Debug)]
pub struct Components<'s> {
    pub(crate) store: &'s Store,
}

impl Store {
    /// Returns the handle of the components of status pages.
    pub const fn components(&self) -> Components<'_> {
        Components { store: self }
    }
}

impl Components<'_> {
    /// Returns a component of the workspace.
    pub async fn get(
        &self,
        workspace: WorkspaceId,
        id: ComponentId,
    ) -> Result<Component, StoreError> {
        find(&mut self.store.read().await?, workspace, &id.to_string()).await
    }

    /// Returns a part of the components of a page of the workspace, or of all its pages, newest
    /// first, and how many there are.
    pub async fn list(
        &self,
        workspace: WorkspaceId,
        of: Option<PageId>,
        page: Page<ComponentId>,
    ) -> Result<Listed<Component>, StoreError> {
        let mut db = self.store.read().await?;
        pages::require_filter(&mut db, workspace, of).await?;
        let of = of.map(|page| page.to_string()).unwrap_or_default();
        let total: Option<i64> = query(
            "SELECT COUNT(*) FROM components \
             WHERE workspace_id = $1 AND ($2 = '' OR page_id = $2)",
        )
        .bind(workspace.to_string())
        .bind(&of)
        .scalar(&mut db)
        .await?;
        let rows = query(select!(
            "WHERE c.workspace_id = $1 AND ($2 = '' OR c.page_id = $2) AND c.id < $3 \
             ORDER BY c.id DESC LIMIT $4 OFFSET $5"
        ))
        .bind(workspace.to_string())
        .bind(of)
        .bind(page.before())
        .bind(i64::from(page.limit))
        .bind(i64::from(page.offset))
        .fetch_all(&mut db)
        .await?;
        Listed::from_rows((self.store.quarantine(), "components"), &rows, total, read)
    }
}

/// Returns all readable components of a status page of any workspace, each with the row ID of its monitor,
/// even if that was deleted.
pub(crate) async fn by_page(
    db: &mut Connection,
    quarantine: &Quarantine,
    page: PageId,
) -> Result<Vec<(Component, Option<i64>)>, StoreError> {
    let rows = query(select!("WHERE c.page_id = $1 ORDER BY c.id"))
        .bind(page.to_string())
        .fetch_all(db)
        .await?;
    let read = |row| Ok((read(row)?, row.try_get("monitor")?));
    quarantine.readable_rows("components", &rows, read)
}

/// Returns a component of the workspace.
async fn find(
    db: &mut Connection,
    workspace: WorkspaceId,
    id: &str,
) -> Result<Component, StoreError> {
    let row = query(select!("WHERE c.workspace_id = $1 AND c.id = $2"))
        .bind(workspace.to_string())
        .bind(id)
        .fetch_optional(db)
        .await?
        .ok_or_else(|| StoreError::not_found("component", id))?;
    read(&row)
}

fn read(row: &Row) -> Result<Component, StoreError> {
    let settings = ComponentSettings {
        page_id: id(row, "page_id", PageId::parse)?,
        kind: id(row, "kind", ComponentType::parse)?,
        monitor_id: optional(row, "monitor_id", MonitorId::parse)?,
        name: row.try_get("name")?,
        description: row.try_get("description")?,
        order: optional_narrow(row, "position")?,
        group_id: optional(row, "group_id", GroupId::parse)?,
        group_order: optional_narrow(row, "position_in_group")?,
    };
    Ok(Component {
        id: id(row, "id", ComponentId::parse)?,
        workspace: id(row, "workspace_id", WorkspaceId::parse)?,
        settings,
        created_at: instant(row, "created_at")?,
        updated_at: instant(row, "updated_at")?,
    })
}
