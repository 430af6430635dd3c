//! Reads all monitors of a workspace at once, for screens that show a whole fleet. Two parts change at
//! different rates: what people set ([`Fleets::changed_definitions`]) and what checks find
//! ([`Fleets::statuses`]). `causes` explains the few monitors that are not well, and `figures` has the
//! uptime and latency of those that a list shows. `compact` reads all rows at once. `active` has the running
//! monitors of all workspaces.

mod active;
mod causes;
mod compact;
mod figures;

use std::collections::HashMap;

use rules::monitor::Check;
use rules::{MonitorId, MonitorKind, MonitorStatus, Tag, Timestamp, WorkspaceId};
use sqlx::AssertSqlSafe;

use crate::db::{Connection, Query, Row, query};
use crate::maintenances::next_boundary;
use crate::monitors::{check_context, tags};
use crate::quarantine::Quarantine;
use crate::row::{id, instant};
use crate::vault::Vault;
use crate::{Store, StoreError};

pub use active::ActiveMonitor;
pub use causes::FleetCause;
pub use figures::FleetFigures;

/// Number of definitions per query.
const PART: usize = 500;

/// Handle of the fleets.
#[derive(Clone, Copy, Debug)]
pub struct Fleets<'s> {
    pub(crate) store: &'s Store,
}

impl Store {
    /// Returns the handle of the fleets.
    pub const fn fleets(&self) -> Fleets<'_> {
        Fleets { store: self }
    }
}

/// Version of the definitions of a workspace: its newest audit entry. Every change by a person or a
/// key writes one in the same transaction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DefinitionsVersion(Option<i64>);

/// Row ID of a monitor, which connects its definition with its status.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MonitorNumber(i64);

/// The part of a monitor that people set and lists show.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MonitorDefinition {
    pub number: MonitorNumber,
    pub id: MonitorId,
    pub name: String,
    pub kind: MonitorKind,
    pub active: bool,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
    /// Target, as the caller shows it.
    pub target: String,
    /// Tags, sorted by their keys.
    pub tags: Vec<Tag>,
}

/// Definitions of a workspace, compared with known ones.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ChangedDefinitions {
    /// All monitors.
    pub present: Vec<MonitorNumber>,
    /// Readable definitions that are not known, in no order.
    pub changed: Vec<MonitorDefinition>,
}

/// Verdict on a monitor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MonitorVerdict {
    pub status: MonitorStatus,
    pub since: Timestamp,
}

/// Statuses of all monitors of a workspace, and current maintenance.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FleetStatus {
    /// Status of each monitor that was judged.
    pub by_monitor: HashMap<MonitorNumber, MonitorVerdict>,
    /// End of the current window of each monitor in maintenance.
    pub maintenance: HashMap<MonitorNumber, Timestamp>,
    /// Next time at which maintenance begins or ends.
    pub changes_at: Option<Timestamp>,
}

impl MonitorNumber {
    /// Returns the number of a row.
    pub const fn from_row(id: i64) -> Self {
        Self(id)
    }
}

impl Fleets<'_> {
    /// Returns the version of the definitions. Take it before reading them.
    pub async fn version(&self, workspace: WorkspaceId) -> Result<DefinitionsVersion, StoreError> {
        let newest: Option<Option<i64>> =
            query("SELECT MAX(number) FROM audit WHERE workspace_id = $1")
                .bind(workspace.to_string())
                .scalar(&mut self.store.read().await?)
                .await?;
        Ok(DefinitionsVersion(newest.flatten()))
    }

    /// Returns the definitions that differ from the known ones, each given by its last change. Rows that
    /// did not change are not read, and their checks not decrypted. `show` returns the target of a check.
    pub async fn changed_definitions(
        &self,
        workspace: WorkspaceId,
        known: &HashMap<MonitorNumber, Timestamp>,
        show: fn(&Check) -> String,
    ) -> Result<ChangedDefinitions, StoreError> {
        let mut db = self.store.read().await?;
        let updates = read_updates(&mut db, workspace).await?;
        let present = updates.iter().map(|(number, _)| *number).collect();
        let changed: Vec<MonitorNumber> = updates
            .into_iter()
            .filter(|(number, updated_at)| known.get(number) != Some(updated_at))
            .map(|(number, _)| number)
            .collect();
        let (vault, quarantine) = (self.store.vault(), self.store.quarantine());
        let mut found = Vec::with_capacity(changed.len());
        for part in changed.chunks(PART) {
            let rows = select_definitions(workspace, part).fetch_all(&mut db).await?;
            let read = |row| read_definition(vault, row, show);
            found.extend(quarantine.readable_rows("monitors", &rows, read)?);
            // Decrypting takes a while, in which other tasks get their turn.
            tokio::task::yield_now().await;
        }
        Ok(ChangedDefinitions { present, changed: found })
    }

    /// Returns the statuses of the workspace's monitors, and which of them are in maintenance at
    /// `now`.
    pub async fn statuses(
        &self,
        workspace: WorkspaceId,
        now: Timestamp,
    ) -> Result<FleetStatus, StoreError> {
        let mut db = self.store.read().await?;
        let quarantine = self.store.quarantine();
        let by_monitor = read_statuses(&mut db, workspace, quarantine).await?;
        let windows = query(
            "SELECT c.monitor, MAX(w.until_at) AS until_at FROM maintenances a \
             JOIN maintenance_windows w ON w.maintenance = a.id \
             JOIN maintenance_covers c ON c.maintenance = a.id \
             WHERE a.workspace_id = $1 AND a.deleted_at IS NULL AND w.from_at <= $2 \
             AND w.until_at > $2 AND c.since <= $2 AND c.until IS NULL GROUP BY c.monitor",
        )
        .bind(workspace.to_string())
        .bind(now.as_millis())
        .fetch_all(&mut db)
        .await?;
        let changes_at = next_boundary(&mut db, workspace, now).await?;
        drop(db);
        let maintenance = quarantine.readable_rows("maintenance_covers", &windows, read_window)?;
        Ok(FleetStatus {
            by_monitor: by_monitor.into_iter().collect(),
            maintenance: maintenance.into_iter().collect(),
            changes_at,
        })
    }
}

/// Returns the time of the last change of each monitor.
async fn read_updates(
    db: &mut Connection,
    workspace: WorkspaceId,
) -> Result<Vec<(MonitorNumber, Timestamp)>, StoreError> {
    const FROM: &str = "FROM monitors WHERE workspace_id = $1 AND deleted_at IS NULL";
    let workspace = workspace.to_string();
    let parse = |[number, at]: [&str; 2]| Some((number.parse().ok()?, at.parse().ok()?));
    let found = compact::read(db, ["number", "updated_at"], FROM, &workspace, parse).await?;
    if let Some(found) = found {
        let typed = |(number, at)| (MonitorNumber(number), Timestamp::from_millis(at));
        return Ok(found.into_iter().map(typed).collect());
    }
    let statement = AssertSqlSafe(format!("SELECT number, updated_at {FROM}"));
    let rows = query(statement).bind(workspace).fetch_all(db).await?;
    let typed =
        |row: &Row| Ok((MonitorNumber(row.try_get("number")?), instant(row, "updated_at")?));
    rows.iter().map(typed).collect()
}

/// Returns the readable statuses of monitors that were judged.
async fn read_statuses(
    db: &mut Connection,
    workspace: WorkspaceId,
    quarantine: &Quarantine,
) -> Result<Vec<(MonitorNumber, MonitorVerdict)>, StoreError> {
    const FROM: &str = "FROM monitors m JOIN judge_states j ON j.monitor = m.number \
        WHERE m.workspace_id = $1 AND m.deleted_at IS NULL";
    let workspace = workspace.to_string();
    let parse = |[number, status, since]: [&str; 3]| {
        let status = MonitorStatus::parse(status).ok()?;
        let since = Timestamp::from_millis(since.parse().ok()?);
        Some((MonitorNumber(number.parse().ok()?), MonitorVerdict { status, since }))
    };
    let columns = ["j.monitor", "j.status", "j.since"];
    if let Some(found) = compact::read(db, columns, FROM, &workspace, parse).await? {
        return Ok(found);
    }
    let statement = AssertSqlSafe(format!("SELECT m.id, j.monitor, j.status, j.since {FROM}"));
    let rows = query(statement).bind(workspace).fetch_all(db).await?;
    quarantine.readable_rows("judge_states", &rows, read_status)
}

fn select_definitions(workspace: WorkspaceId, numbers: &[MonitorNumber]) -> Query {
    let numbers: Vec<String> = numbers.iter().map(|number| number.0.to_string()).collect();
    let statement = format!(
        "SELECT number, id, name, kind, active, created_at, updated_at, check_sealed, tags \
         FROM monitors WHERE workspace_id = $1 AND deleted_at IS NULL AND number IN ({})",
        numbers.join(", ")
    );
    query(AssertSqlSafe(statement)).bind(workspace.to_string())
}

fn read_definition(
    vault: &Vault,
    row: &Row,
    show: fn(&Check) -> String,
) -> Result<MonitorDefinition, StoreError> {
    let number = MonitorNumber(row.try_get("number")?);
    let text: &str = row.try_get("id")?;
    let monitor: MonitorId = id(row, "id", MonitorId::parse)?;
    let name = row.try_get("name")?;
    let kind = id(row, "kind", MonitorKind::parse)?;
    let active = row.try_get("active")?;
    let (created_at, updated_at) = (instant(row, "created_at")?, instant(row, "updated_at")?);
    let target = show(&vault.open(check_context(text), row.try_get("check_sealed")?)?);
    let tags = tags(row.try_get("tags")?)?;
    Ok(MonitorDefinition {
        number,
        id: monitor,
        name,
        kind,
        active,
        created_at,
        updated_at,
        target,
        tags,
    })
}

fn read_status(row: &Row) -> Result<(MonitorNumber, MonitorVerdict), StoreError> {
    let number = MonitorNumber(row.try_get("monitor")?);
    let status = id(row, "status", MonitorStatus::parse)?;
    Ok((number, MonitorVerdict { status, since: instant(row, "since")? }))
}

fn read_window(row: &Row) -> Result<(MonitorNumber, Timestamp), StoreError> {
    Ok((MonitorNumber(row.try_get("monitor")?), instant(row, "until_at")?))
}
