//! Searches incidents by the name of their monitor.

use rules::WorkspaceId;

use super::{Incident, Incidents, read};
use crate::StoreError;
use crate::db::query;
use crate::pattern::containing;

/// Number of the newest incidents that are searched.
const SEARCHED_MAX: i64 = 10_000;

impl Incidents<'_> {
    /// Returns the newest incidents whose monitor has this text in its name, without regard to case, at
    /// most `limit`. Searches the newest 10,000 incidents of the workspace.
    pub async fn search(
        &self,
        workspace: WorkspaceId,
        text: &str,
        limit: u32,
    ) -> Result<Vec<Incident>, StoreError> {
        let [lower, written] = containing(text);
        let rows = query(
            "SELECT i.id, m.id AS monitor_id, m.name, m.kind, i.opened_at, i.acknowledged_at, \
             i.acknowledged_by, i.acknowledged_name, i.closed_at, i.close_reason FROM (\
             SELECT * FROM incidents WHERE workspace_id = $1 ORDER BY id DESC LIMIT $2) i \
             JOIN monitors m ON m.number = i.monitor \
             WHERE LOWER(m.name) LIKE $3 ESCAPE '\\' OR m.name LIKE $4 ESCAPE '\\' \
             ORDER BY i.id DESC LIMIT $5",
        )
        .bind(workspace.to_string())
        .bind(SEARCHED_MAX)
        .bind(lower)
        .bind(written)
        .bind(i64::from(limit))
        .fetch_all(&mut self.store.read().await?)
        .await?;
        self.store.quarantine().readable_rows("incidents", &rows, read)
    }
}
