//! Names of monitors, for lists in which a person searches. They do not decrypt the settings.

use rules::{MonitorId, WorkspaceId};
use sqlx::AssertSqlSafe;

use super::Monitors;
use crate::StoreError;
use crate::db::{Query, Row, query};
use crate::pattern::containing;
use crate::row::id;

/// Number of IDs per statement.
const IDS_AT_ONCE: usize = 500;
impl Monitors<'_> {
    /// Returns the monitors whose names contain this text, without regard to case, by name, at most
    /// `limit`. An empty text matches all.
    pub async fn search(
        &self,
        workspace: WorkspaceId,
        text: &str,
        limit: u32,
    ) -> Result<Vec<(MonitorId, String)>, StoreError> {
        let [lower, written] = containing(text);
        let rows = query(
            "SELECT id, name FROM monitors WHERE workspace_id = $1 AND deleted_at IS NULL \
             AND (LOWER(name) LIKE $2 ESCAPE '\\' OR name LIKE $3 ESCAPE '\\') \
             ORDER BY LOWER(name), id LIMIT $4",
        )
        .bind(workspace.to_string())
        .bind(lower)
        .bind(written)
        .bind(i64::from(limit))
        .fetch_all(&mut self.store.read().await?)
        .await?;
        self.store.quarantine().readable_rows("monitors", &rows, read)
    }

    /// Returns the names of these monitors, which may be deleted, in order of ID. Omits monitors of
    /// other workspaces.
    pub async fn names(
        &self,
        workspace: WorkspaceId,
        monitors: &[MonitorId],
    ) -> Result<Vec<(MonitorId, String)>, StoreError> {
        let mut db = self.store.read().await?;
        let mut names = Vec::with_capacity(monitors.len());
        for part in monitors.chunks(IDS_AT_ONCE) {
            let places: Vec<String> =
                (0..part.len()).map(|index| format!("${}", index + 2)).collect();
            let statement = format!(
                "SELECT id, name FROM monitors WHERE workspace_id = $1 AND id IN ({}) ORDER BY id",
                places.join(", ")
            );
            let select = query(AssertSqlSafe(statement)).bind(workspace.to_string());
            let select = part.iter().fold(select, |select: Query, id| select.bind(id.to_string()));
            let rows = select.fetch_all(&mut db).await?;
            names.extend(self.store.quarantine().readable_rows("monitors", &rows, read)?);
        }
        Ok(names)
    }
}

fn read(row: &Row) -> Result<(MonitorId, String), StoreError> {
    Ok((id(row, "id", MonitorId::parse)?, row.try_get("name")?))
}
