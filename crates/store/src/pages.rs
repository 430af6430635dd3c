//! Reads status pages: one, or a page of a workspace's list. `change` modifies them, `search`
//! finds them by title, `columns` defines their columns, and `unique` checks slugs and domains.

mod change;
mod columns;
mod search;
mod unique;

use rules::status_page::StatusPage;
use rules::{AccessType, DomainName, PageId, WorkspaceId};

use crate::db::{Connection, Row, query};
use crate::list::Listed;
use crate::row::{domain, id};
use crate::vault::Vault;
use crate::{Page, Store, StoreError};

pub use change::NewPage;
use columns::select;
pub use search::PageName;

/// Handle of the status pages.
#[derive(Clone, Copy, Debug)]
pub struct Pages<'s> {
    pub(crate) store: &'s Store,
}

impl Store {
    /// Returns the handle of the status pages.
    pub const fn pages(&self) -> Pages<'_> {
        Pages { store: self }
    }
}

impl Pages<'_> {
    /// Returns a status page of the workspace.
    pub async fn get(&self, workspace: WorkspaceId, id: PageId) -> Result<StatusPage, StoreError> {
        let mut db = self.store.read().await?;
        columns::find(&mut db, self.store.vault(), workspace, &id.to_string()).await
    }

    /// Returns a part of the workspace's pages, newest first, and how many there are.
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
        let rows = query(select!(
            "WHERE workspace_id = $1 AND id < $2 ORDER BY id DESC LIMIT $3 OFFSET $4"
        ))
        .bind(workspace.to_string())
        .bind(page.before())
        .bind(i64::from(page.limit))
        .bind(i64::from(page.offset))
        .fetch_all(&mut db)
        .await?;
        drop(db);
        let vault = self.store.vault();
        let table = (self.store.quarantine(), "pages");
        Listed::from_rows(table, &rows, total, |row| columns::read(vault, row))
    }

    /// Returns the status pages of all workspaces that have a custom domain, published or not. The
    /// domain of a request is known before its workspace.
    pub async fn domains(&self) -> Result<Vec<PageDomain>, StoreError> {
        let mut db = self.store.read().await?;
        let rows = query(
            "SELECT id, custom_domain_name FROM pages WHERE custom_domain_name IS NOT NULL \
             ORDER BY custom_domain_name",
        )
        .fetch_all(&mut db)
        .await?;
        drop(db);
        let read = |row: &Row| {
            Ok(PageDomain {
                domain: domain(row, "custom_domain_name")?,
                page: id(row, "id", PageId::parse)?,
            })
        };
        self.store.quarantine().readable_rows("pages", &rows, read)
    }

    /// Returns the slug of the only published public page of all workspaces, or `None` if there are
    /// none or several.
    pub async fn only_public_slug(&self) -> Result<Option<String>, StoreError> {
        let rows = query(
            "SELECT slug FROM pages WHERE published = $1 \
             AND (access_type IS NULL OR access_type = $2) LIMIT 2",
        )
        .bind(true)
        .bind(AccessType::Public.as_str())
        .fetch_all(&mut self.store.read().await?)
        .await?;
        match rows.as_slice() {
            [row] => Ok(Some(row.try_get("slug")?)),
            _ => Ok(None),
        }
    }
}

/// Status page with a custom domain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PageDomain {
    /// Domain, normalised for lookups.
    pub domain: DomainName,
    pub page: PageId,
}

/// Returns the status page with this slug, of any workspace that is not about to be deleted.
pub(crate) async fn by_slug(
    db: &mut Connection,
    vault: &Vault,
    slug: &str,
) -> Result<Option<StatusPage>, StoreError> {
    let row = query(select!(
        "WHERE slug = $1 AND NOT EXISTS (SELECT 1 FROM workspaces w \
         WHERE w.id = pages.workspace_id AND w.deletes_at IS NOT NULL)"
    ))
    .bind(slug)
    .fetch_optional(db)
    .await?;
    row.map(|row| columns::read(vault, &row)).transpose()
}

/// Returns the status page with this custom domain, of any workspace that is not about to be deleted.
pub(crate) async fn by_domain(
    db: &mut Connection,
    vault: &Vault,
    domain: &str,
) -> Result<Option<StatusPage>, StoreError> {
    let row = query(select!(
        "WHERE custom_domain_name = $1 AND NOT EXISTS (SELECT 1 FROM workspaces w \
         WHERE w.id = pages.workspace_id AND w.deletes_at IS NOT NULL)"
    ))
    .bind(domain)
    .fetch_optional(db)
    .await?;
    row.map(|row| columns::read(vault, &row)).transpose()
}

/// Returns the status page with this ID, of a workspace that is not about to be deleted.
pub(crate) async fn find_open(
    db: &mut Connection,
    vault: &Vault,
    (workspace, id): (WorkspaceId, PageId),
) -> Result<Option<StatusPage>, StoreError> {
    let row = query(select!(
        "WHERE workspace_id = $1 AND id = $2 AND NOT EXISTS (SELECT 1 FROM workspaces w \
         WHERE w.id = pages.workspace_id AND w.deletes_at IS NOT NULL)"
    ))
    .bind(workspace.to_string())
    .bind(id.to_string())
    .fetch_optional(db)
    .await?;
    row.map(|row| columns::read(vault, &row)).transpose()
}

/// Returns a status page of any workspace.
pub(crate) async fn by_id(
    db: &mut Connection,
    vault: &Vault,
    id: PageId,
) -> Result<Option<StatusPage>, StoreError> {
    let row = query(select!("WHERE id = $1")).bind(id.to_string()).fetch_optional(db).await?;
    row.map(|row| columns::read(vault, &row)).transpose()
}

/// Rejects a filter by a page that the workspace does not have.
///
/// # Errors
/// `NotFound`.
pub(crate) async fn require_filter(
    db: &mut Connection,
    workspace: WorkspaceId,
    filter: Option<PageId>,
) -> Result<(), StoreError> {
    match filter {
        Some(page) if !exists(db, workspace, page).await? => {
            Err(StoreError::not_found("status page", &page))
        }
        Some(_) | None => Ok(()),
    }
}

/// Returns whether the workspace has this status page.
pub(crate) async fn exists(
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
