//! Monitors as they are read: one, a page of them, all of them at boot. What was written of the
//! check is encrypted, because headers and addresses carry credentials (design §6). Changing them
//! stands in `change`, their columns in `columns`.

mod change;
mod columns;

use domain::judge::History;
use rules::monitor::Monitor;
use rules::{MonitorId, MonitorStatus, Timestamp, WorkspaceId};

use crate::db::{Connection, Row, query};
use crate::quarantine::Quarantine;
use crate::row::{maybe_instant, optional};
use crate::vault::Vault;
use crate::{Store, StoreError};

pub use change::NewMonitor;
pub(crate) use columns::check_of;
use columns::{AFTER_COLUMNS, select};

/// Monitors read at one time at boot: some hundred KiB.
const BOOT_BATCH: i64 = 500;

/// The handle of the monitors.
#[derive(Clone, Copy, Debug)]
pub struct Monitors<'s> {
    pub(crate) store: &'s Store,
}

/// A monitor with the verdict that stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MonitorWithStatus {
    /// The monitor.
    pub monitor: Monitor,
    /// Its status; `unknown` where it is inactive or was not judged yet.
    pub status: MonitorStatus,
    /// Since when; `None` where it was not judged yet.
    pub since: Option<Timestamp>,
}

/// Which part of a list is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Page<Id = MonitorId> {
    /// At most so many.
    pub limit: u32,
    /// So many are left out first.
    pub offset: u32,
    /// Only those after this one.
    pub after: Option<Id>,
}

impl<Id> Page<Id> {
    /// Asks for the whole list.
    pub const fn all() -> Self {
        Self { limit: u32::MAX, offset: 0, after: None }
    }
}

/// A part of the list of a workspace's monitors, in the order of their identifiers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MonitorPage {
    /// The monitors of this part.
    pub monitors: Vec<MonitorWithStatus>,
    /// How many more there are in this part that cannot be read.
    pub left_out: usize,
    /// How many the workspace has in all.
    pub total: u32,
}

/// A monitor as the pipeline takes it up at boot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BootMonitor {
    /// The monitor, active or not.
    pub monitor: Monitor,
    /// What the judge knew of it; `None` where nothing is stored or a newer program reads it no more.
    pub history: Option<History>,
}

/// All monitors of all workspaces, a batch at a time.
#[derive(Debug)]
pub struct BootMonitors<'s> {
    store: &'s Store,
    after: i64,
}

impl<'s> Monitors<'s> {
    /// The monitor with this identifier in the workspace.
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
        with_status(self.store.vault(), &row)
    }

    /// A part of the workspace's monitors of all kinds, and how many there are.
    pub async fn list(
        &self,
        workspace: WorkspaceId,
        page: Page,
    ) -> Result<MonitorPage, StoreError> {
        let mut db = self.store.read().await?;
        let total: Option<i64> =
            query("SELECT COUNT(*) FROM monitors WHERE workspace_id = $1 AND deleted_at IS NULL")
                .bind(workspace.to_string())
                .scalar(&mut db)
                .await?;
        let rows = query(select!(
            "WHERE m.workspace_id = $1 AND m.deleted_at IS NULL AND m.id > $2 \
             ORDER BY m.id LIMIT $3 OFFSET $4"
        ))
        .bind(workspace.to_string())
        .bind(page.after.map(|id| id.to_string()).unwrap_or_default())
        .bind(i64::from(page.limit))
        .bind(i64::from(page.offset))
        .fetch_all(&mut db)
        .await?;
        drop(db);
        let vault = self.store.vault();
        let quarantine = self.store.quarantine();
        let monitors = quarantine.sift_all("monitors", &rows, |row| with_status(vault, row))?;
        let left_out = rows.len() - monitors.len();
        let total = u32::try_from(total.unwrap_or_default()).unwrap_or(u32::MAX);
        Ok(MonitorPage { monitors, left_out, total })
    }

    /// All monitors of all workspaces with what the judge knew of them: for the pipeline at boot.
    pub const fn all_for_boot(&self) -> BootMonitors<'s> {
        BootMonitors { store: self.store, after: 0 }
    }
}

impl BootMonitors<'_> {
    /// The next batch of those that can be read; `None` at the end.
    pub async fn next_batch(&mut self) -> Result<Option<Vec<BootMonitor>>, StoreError> {
        let rows = query(select!(
            "WHERE m.number > $1 AND m.deleted_at IS NULL ORDER BY m.number LIMIT $2"
        ))
        .bind(self.after)
        .bind(BOOT_BATCH)
        .fetch_all(&mut self.store.read().await?)
        .await?;
        let Some(last) = rows.last() else { return Ok(None) };
        self.after = last.try_get(AFTER_COLUMNS + 2)?;
        let (vault, quarantine) = (self.store.vault(), self.store.quarantine());
        quarantine.sift_all("monitors", &rows, |row| at_boot(quarantine, vault, row)).map(Some)
    }
}

/// Whether the workspace has this monitor.
pub(crate) async fn is_there(
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

fn with_status(vault: &Vault, row: &Row) -> Result<MonitorWithStatus, StoreError> {
    let monitor = columns::read(vault, row)?;
    let status = optional(row, AFTER_COLUMNS, MonitorStatus::parse)?;
    let since = maybe_instant(row, AFTER_COLUMNS + 1)?;
    let status = match status {
        // A pause holds from the moment it is stored, before the judge says so.
        Some(status) if monitor.settings.active => status,
        Some(_) | None => MonitorStatus::Unknown,
    };
    Ok(MonitorWithStatus { monitor, status, since })
}

fn at_boot(quarantine: &Quarantine, vault: &Vault, row: &Row) -> Result<BootMonitor, StoreError> {
    let monitor = columns::read(vault, row)?;
    let stored: Option<&str> = row.try_get(AFTER_COLUMNS + 3)?;
    let history = stored.and_then(|stored| match serde_json::from_str(stored) {
        Ok(history) => Some(history),
        Err(why) => {
            // The judge begins anew with this monitor.
            quarantine.note("judge_states", monitor.id.to_string(), &why.to_string());
            None
        }
    });
    Ok(BootMonitor { monitor, history })
}
