//! Searches status pages by title and slug, without their settings.

use rules::{PageId, WorkspaceId};

use super::Pages;
use crate::StoreError;
use crate::db::{Row, query};
use crate::pattern::containing;
use crate::row::id;

/// Title and slug of a status page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PageName {
    pub id: PageId,
    pub title: String,
    pub slug: String,
}

impl Pages<'_> {
    /// Returns the pages that have this text in their title or slug, without regard to case, by title, at
    /// most `limit`.
    pub async fn search(
        &self,
        workspace: WorkspaceId,
        text: &str,
        limit: u32,
    ) -> Result<Vec<PageName>, StoreError> {
        let [lower, written] = containing(text);
        let rows = query(
            "SELECT id, title, slug FROM pages WHERE workspace_id = $1 \
             AND (LOWER(title) LIKE $2 ESCAPE '\\' OR title LIKE $3 ESCAPE '\\' \
             OR slug LIKE $2 ESCAPE '\\') ORDER BY LOWER(title), id LIMIT $4",
        )
        .bind(workspace.to_string())
        .bind(lower)
        .bind(written)
        .bind(i64::from(limit))
        .fetch_all(&mut self.store.read().await?)
        .await?;
        self.store.quarantine().readable_rows("pages", &rows, read)
    }
}

fn read(row: &Row) -> Result<PageName, StoreError> {
    Ok(PageName {
        id: id(row, "id", PageId::parse)?,
        title: row.try_get("title")?,
        slug: row.try_get("slug")?,
    })
}
