//! The running monitors of all workspaces with their statuses, for metrics of the operator.

use rules::{MonitorId, MonitorKind, MonitorStatus, Timestamp};

use super::Fleets;
use crate::StoreError;
use crate::db::{Row, query};
use crate::row::id;

/// A running monitor of any workspace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ActiveMonitor {
    /// Slug of its workspace.
    pub workspace: String,
    pub id: MonitorId,
    pub name: String,
    pub kind: MonitorKind,
    pub status: MonitorStatus,
    pub is_in_maintenance: bool,
}

impl Fleets<'_> {
    /// Returns the oldest running monitors of all workspaces, up to this many.
    pub async fn active_of_all(
        &self,
        limit: u32,
        now: Timestamp,
    ) -> Result<Vec<ActiveMonitor>, StoreError> {
        let rows = query(
            "SELECT m.id, m.name, m.kind, w.slug, j.status, \
             (SELECT COUNT(*) FROM maintenance_covers c \
             JOIN maintenance_windows v ON v.maintenance = c.maintenance \
             WHERE c.monitor = m.number AND c.since <= $2 AND (c.until IS NULL OR c.until > $2) \
             AND v.from_at <= $2 AND v.until_at > $2) AS windows FROM monitors m \
             JOIN workspaces w ON w.id = m.workspace_id \
             LEFT JOIN judge_states j ON j.monitor = m.number \
             WHERE m.deleted_at IS NULL AND m.active AND w.deletes_at IS NULL \
             ORDER BY m.number LIMIT $1",
        )
        .bind(i64::from(limit))
        .bind(now.as_millis())
        .fetch_all(&mut self.store.read().await?)
        .await?;
        self.store.quarantine().readable_rows("monitors", &rows, read_active)
    }
}

fn read_active(row: &Row) -> Result<ActiveMonitor, StoreError> {
    let status: Option<&str> = row.try_get("status")?;
    let status = match status {
        Some(_) => id(row, "status", MonitorStatus::parse)?,
        None => MonitorStatus::Unknown,
    };
    let windows: i64 = row.try_get("windows")?;
    Ok(ActiveMonitor {
        workspace: row.try_get("slug")?,
        id: id(row, "id", MonitorId::parse)?,
        name: row.try_get("name")?,
        kind: id(row, "kind", MonitorKind::parse)?,
        status,
        is_in_maintenance: windows > 0,
    })
}
