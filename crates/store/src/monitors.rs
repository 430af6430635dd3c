//! Reads monitors: one, a page, or all of them at boot. The settings of the check are encrypted,
//! because headers and URLs carry credentials (design §6). `change` modifies monitors, and
//! `columns` defines their columns, and `names` searches them.

mod change;
mod columns;
mod names;

use domain::check::HeartbeatState;
use domain::judge::JudgeState;
use rules::monitor::Monitor;
use rules::{MonitorId, MonitorStatus, Tag, Timestamp, WorkspaceId};

use crate::db::{Connection, Row, query};
use crate::list::{Listed, Page};
use crate::quarantine::Quarantine;
use crate::row::{id, optional, optional_instant};
use crate::vault::Vault;
use crate::{Store, StoreError, StoredHeartbeat, heartbeats};

pub use change::NewMonitor;
use columns::select;
pub(crate) use columns::{check_context, tags, tags_text};

/// Number of monitors per query at boot: some hundred KiB.
const BOOT_BATCH: i64 = 500;

/// Statements of a list: count and rows. A list by tags has its own, so that a list of all monitors is
/// counted without reading their rows.
const COUNT_ALL: &str =
    "SELECT COUNT(*) FROM monitors WHERE workspace_id = $1 AND deleted_at IS NULL";
const COUNT_TAGGED: &str = "SELECT COUNT(*) FROM monitors WHERE workspace_id = $1 \
     AND deleted_at IS NULL AND tag_keys LIKE $2 ESCAPE '\\'";
const LIST_ALL: &str = select!(
    "WHERE m.workspace_id = $1 AND m.deleted_at IS NULL AND m.id < $2 \
     ORDER BY m.id DESC LIMIT $3 OFFSET $4"
);
const LIST_TAGGED: &str = select!(
    "WHERE m.workspace_id = $1 AND m.deleted_at IS NULL AND m.id < $2 \
     AND m.tag_keys LIKE $5 ESCAPE '\\' ORDER BY m.id DESC LIMIT $3 OFFSET $4"
);

/// Handle of the monitors.
#[derive(Clone, Copy, Debug)]
pub struct Monitors<'s> {
    pub(crate) store: &'s Store,
}

impl Store {
    /// Returns the handle of the monitors.
    pub const fn monitors(&self) -> Monitors<'_> {
        Monitors { store: self }
    }
}

/// Monitor with its current verdict.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MonitorWithStatus {
    pub monitor: Monitor,
    /// Status. `unknown` if the monitor is inactive or was not judged yet.
    pub status: MonitorStatus,
    /// Start of the status. `None` if the monitor was not judged yet.
    pub since: Option<Timestamp>,
    /// URL and calls of a heartbeat monitor. `None` for other kinds, or if the row is unreadable.
    pub heartbeat: Option<StoredHeartbeat>,
}

/// Monitor in a list to choose from, without its settings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MonitorName {
    pub id: MonitorId,
    pub name: String,
    pub active: bool,
}

/// Monitor as the pipeline loads it at boot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BootMonitor {
    /// Monitor, active or not.
    pub monitor: Monitor,
    /// State of the judge. `None` if none is stored or this program cannot read it.
    pub judge_state: Option<JudgeState>,
    /// Calls of a heartbeat monitor. `None` for other kinds, or if the row is lost.
    pub heartbeat: Option<HeartbeatState>,
}

/// All monitors of all workspaces, read in batches.
#[derive(Debug)]
pub struct BootMonitors<'s> {
    store: &'s Store,
    after: i64,
}

impl<'s> Monitors<'s> {
    /// Returns a monitor of the workspace.
    pub async fn get(
        &self,
        workspace: WorkspaceId,
        id: MonitorId,
    ) -> Result<MonitorWithStatus, StoreError> {
        let row =
            query(select!("WHERE m.workspace_id = $1 AND m.id = $2 AND m.deleted_at IS NULL"))
                .bind(workspace.to_string())
                .bind(id.to_string())
                .fetch_optional(&mut self.store.read().await?)
                .await?
                .ok_or_else(|| StoreError::not_found("monitor", &id))?;
        read_with_status(self.store, &row)
    }

    /// Returns a part of the workspace's monitors of all kinds, newest first, and how many there
    /// are.
    pub async fn list(
        &self,
        workspace: WorkspaceId,
        page: Page,
    ) -> Result<Listed<MonitorWithStatus>, StoreError> {
        self.list_tagged(workspace, &[], page).await
    }

    /// Works like [`Self::list`] for the monitors that have all of these tags, of which case does not
    /// matter.
    pub async fn list_tagged(
        &self,
        workspace: WorkspaceId,
        tags: &[Tag],
        page: Page,
    ) -> Result<Listed<MonitorWithStatus>, StoreError> {
        let (count, list) =
            if tags.is_empty() { (COUNT_ALL, LIST_ALL) } else { (COUNT_TAGGED, LIST_TAGGED) };
        let mut count = query(count).bind(workspace.to_string());
        let mut list = query(list)
            .bind(workspace.to_string())
            .bind(page.before())
            .bind(i64::from(page.limit))
            .bind(i64::from(page.offset));
        if !tags.is_empty() {
            let pattern = columns::tags_pattern(tags);
            count = count.bind(pattern.clone());
            list = list.bind(pattern);
        }
        let mut db = self.store.read().await?;
        let total: Option<i64> = count.scalar(&mut db).await?;
        let rows = list.fetch_all(&mut db).await?;
        drop(db);
        let table = (self.store.quarantine(), "monitors");
        Listed::from_rows(table, &rows, total, |row| read_with_status(self.store, row))
    }

    /// Returns all monitors of the workspace by name, without decrypting their settings.
    pub async fn all_names(&self, workspace: WorkspaceId) -> Result<Vec<MonitorName>, StoreError> {
        let rows = query(
            "SELECT id, name, active FROM monitors WHERE workspace_id = $1 AND deleted_at IS NULL",
        )
        .bind(workspace.to_string())
        .fetch_all(&mut self.store.read().await?)
        .await?;
        let read = |row: &Row| -> Result<MonitorName, StoreError> {
            let (name, active) = (row.try_get("name")?, row.try_get("active")?);
            Ok(MonitorName { id: id(row, "id", MonitorId::parse)?, name, active })
        };
        let mut names = self.store.quarantine().readable_rows("monitors", &rows, read)?;
        names.sort_by_cached_key(|it| (it.name.to_lowercase(), it.id));
        Ok(names)
    }

    /// Returns all monitors of all workspaces with the judge's state. For the pipeline at boot.
    pub const fn all_for_boot(&self) -> BootMonitors<'s> {
        BootMonitors { store: self.store, after: 0 }
    }
}

impl BootMonitors<'_> {
    /// Returns the next batch of readable monitors, or `None` at the end.
    pub async fn next_batch(&mut self) -> Result<Option<Vec<BootMonitor>>, StoreError> {
        let rows = query(select!(
            "WHERE m.number > $1 AND m.deleted_at IS NULL AND NOT EXISTS (SELECT 1 FROM workspaces w \
             WHERE w.id = m.workspace_id AND w.deletes_at IS NOT NULL) ORDER BY m.number LIMIT $2"
        ))
        .bind(self.after)
        .bind(BOOT_BATCH)
        .fetch_all(&mut self.store.read().await?)
        .await?;
        let Some(last) = rows.last() else { return Ok(None) };
        self.after = last.try_get("number")?;
        let (vault, quarantine) = (self.store.vault(), self.store.quarantine());
        quarantine
            .readable_rows("monitors", &rows, |row| read_boot_monitor(quarantine, vault, row))
            .map(Some)
    }
}

/// Returns whether the workspace has this monitor.
pub(crate) async fn exists(
    db: &mut Connection,
    workspace: WorkspaceId,
    id: MonitorId,
) -> Result<bool, StoreError> {
    let row =
        query("SELECT 1 FROM monitors WHERE workspace_id = $1 AND id = $2 AND deleted_at IS NULL")
            .bind(workspace.to_string())
            .bind(id.to_string())
            .fetch_optional(db)
            .await?;
    Ok(row.is_some())
}

/// Reads a monitor and its status, which is `unknown` if the judge's state is unreadable.
fn read_with_status(store: &Store, row: &Row) -> Result<MonitorWithStatus, StoreError> {
    let monitor = columns::read(store.vault(), row)?;
    let key = || monitor.id.to_string();
    let status = store.quarantine().readable("judge_states", key, read_status(row))?;
    let (status, since) = status.flatten().unzip();
    let status = match status {
        // A pause has effect when it is stored, before the judge records it.
        Some(status) if monitor.settings.active => status,
        Some(_) | None => MonitorStatus::Unknown,
    };
    let heartbeat = heartbeats::read(store.vault(), row);
    let heartbeat = store.quarantine().readable("heartbeats", key, heartbeat)?.flatten();
    Ok(MonitorWithStatus { monitor, status, since, heartbeat })
}

/// Reads the columns `status` and `since` of the judge's state, if there is one.
fn read_status(row: &Row) -> Result<Option<(MonitorStatus, Timestamp)>, StoreError> {
    let status = optional(row, "status", MonitorStatus::parse)?;
    Ok(status.zip(optional_instant(row, "since")?))
}

fn read_boot_monitor(
    quarantine: &Quarantine,
    vault: &Vault,
    row: &Row,
) -> Result<BootMonitor, StoreError> {
    let monitor = columns::read(vault, row)?;
    let stored: Option<&str> = row.try_get("state")?;
    let judge_state = stored.and_then(|stored| match serde_json::from_str(stored) {
        Ok(state) => Some(state),
        Err(why) => {
            // The judge starts fresh with this monitor.
            quarantine.record("judge_states", monitor.id.to_string(), &why.to_string());
            None
        }
    });
    Ok(BootMonitor { monitor, judge_state, heartbeat: heartbeats::read_optional_state(row)? })
}
