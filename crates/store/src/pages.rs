//! Status pages as they are read: one, or a part of a workspace's list. Changing them stands in
//! `change`, their columns in `columns`.

mod change;
mod columns;

use rules::status_page::StatusPage;
use rules::{PageId, WorkspaceId};

use crate::db::{Connection, query};
use crate::row::Listed;
use crate::vault::Vault;
use crate::{Page, Store, StoreError};

pub use change::NewPage;
use columns::select;

/// The handle of the status pages.
#[derive(Clone, Copy, Debug)]
pub struct Pages<'s> {
    pub(crate) store: &'s Store,
}

impl Pages<'_> {
    /// The page with this identifier in the workspace.
    pub async fn get(&self, workspace: WorkspaceId, id: PageId) -> Result<StatusPage, StoreError> {
        let mut db = self.store.read().await?;
        columns::find(&mut db, self.store.vault(), workspace, &id.to_string()).await
    }

    /// A part of the workspace's pages, and how many there are.
    pub async fn list(
        &self,
        workspace: WorkspaceId,
        page: Page<PageId>,
    ) -> Result<Listed<StatusPage>, StoreError> {
        let mut db = self.store.read().await?;
        let total: Option<i64> = query("SELECT COUNT(*) FROM pages WHERE workspace_id = $1")
            .bind(workspace.to_string())
            .scalar(&mut db)
            .await?;
        let rows =
            query(select!("WHERE workspace_id = $1 AND id > $2 ORDER BY id LIMIT $3 OFFSET $4"))
                .bind(workspace.to_string())
                .bind(page.after.map(|id| id.to_string()).unwrap_or_default())
                .bind(i64::from(page.limit))
                .bind(i64::from(page.offset))
                .fetch_all(&mut db)
                .await?;
        drop(db);
        Listed::of(&rows, total, |row| columns::read(self.store.vault(), row))
    }
}

/// The page with this slug, whosever it is.
pub(crate) async fn by_slug(
    db: &mut Connection,
    vault: &Vault,
    slug: &str,
) -> Result<Option<StatusPage>, StoreError> {
    let row = query(select!("WHERE slug = $1")).bind(slug).fetch_optional(db).await?;
    row.map(|row| columns::read(vault, &row)).transpose()
}

/// Whether the workspace has this page.
pub(crate) async fn is_there(
    db: &mut Connection,
    workspace: WorkspaceId,
    id: PageId,
) -> Result<bool, StoreError> {
    let row = query("SELECT 1 FROM pages WHERE workspace_id = $1 AND id = $2")
        .bind(workspace.to_string())
        .bind(id.to_string())
        .fetch_optional(db)
        .await?;
    Ok(row.is_some())
}
