//! Results of checks: the table that grows fastest. Written many at a time by the pipeline, read
//! back in the order of their slots. How rows are written stands in `insert`, how one is packed in
//! `pack`.

mod insert;
mod pack;

use domain::check::{CheckResult, Identity, Outcome, ProbeId};
use rules::{MonitorId, Timestamp, WorkspaceId};

use crate::db::{Row, query};
use crate::row::{id, narrow};
use crate::{Store, StoreError, codes};

pub(crate) use insert::{insert, is_one_statement};

/// The handle of the results.
#[derive(Clone, Copy, Debug)]
pub struct Results<'s> {
    pub(crate) store: &'s Store,
}

/// A result as far as the pipeline remembers it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BootResult {
    /// Which slot of which monitor.
    pub identity: Identity,
    /// When it ended.
    pub finished_at: Timestamp,
    /// What it came to.
    pub outcome: Outcome,
}

/// A result with the numbers of its monitor and its probe.
pub(crate) struct ResultRow<'r> {
    pub(crate) monitor: i64,
    pub(crate) probe: i64,
    pub(crate) result: &'r CheckResult,
}

impl Results<'_> {
    /// Results of a monitor with slots from `since` on, newest first, at most `limit`; without
    /// their evidence. The time since `since` bounds how much is read.
    pub async fn newest(
        &self,
        workspace: WorkspaceId,
        monitor: MonitorId,
        since: Timestamp,
        limit: u32,
    ) -> Result<Vec<CheckResult>, StoreError> {
        let rows = query(
            "SELECT m.id, r.slot, r.region, r.trigger, r.revision, r.outcome, r.finished_after, \
             r.latency_us, r.status, r.attempts, p.name, r.phases \
             FROM results r JOIN monitors m ON m.number = r.monitor \
             JOIN probes p ON p.number = r.probe \
             WHERE r.slot >= $1 AND r.monitor = (SELECT number FROM monitors \
             WHERE workspace_id = $2 AND id = $3) ORDER BY r.slot DESC, r.region LIMIT $4",
        )
        .bind(since.as_millis())
        .bind(workspace.to_string())
        .bind(monitor.to_string())
        .bind(i64::from(limit))
        .fetch_all(&mut self.store.read().await?)
        .await?;
        rows.iter().map(read).collect()
    }

    /// The latest slot that has a result: until then the server is known to have worked. For the
    /// pipeline, which at boot counts what was missed since.
    pub async fn latest_slot(&self) -> Result<Option<Timestamp>, StoreError> {
        let slot: Option<Option<i64>> =
            query("SELECT MAX(slot) FROM results").scalar(&mut self.store.read().await?).await?;
        Ok(slot.flatten().map(Timestamp::from_millis))
    }

    /// What the pipeline wants to know at boot of every result with a slot later than `since`, of all
    /// monitors: which slot it was, and what came of it. In the order of slots.
    pub async fn since_for_boot(&self, since: Timestamp) -> Result<Vec<BootResult>, StoreError> {
        let rows = query(
            "SELECT m.id, r.slot, r.region, r.trigger, r.revision, r.outcome, r.finished_after \
             FROM results r JOIN monitors m ON m.number = r.monitor \
             WHERE r.slot > $1 AND m.deleted_at IS NULL ORDER BY r.slot",
        )
        .bind(since.as_millis())
        .fetch_all(&mut self.store.read().await?)
        .await?;
        rows.iter().map(read_for_boot).collect()
    }

    /// How many results are stored: for the operator; reads the whole table.
    pub async fn count(&self) -> Result<u64, StoreError> {
        let count: Option<i64> =
            query("SELECT COUNT(*) FROM results").scalar(&mut self.store.read().await?).await?;
        Ok(count.unwrap_or_default() as u64)
    }
}

/// Reads the first seven columns, which every reading statement has in this order.
fn read_for_boot(row: &Row) -> Result<BootResult, StoreError> {
    let slot: i64 = row.try_get(1)?;
    let finished_after: i64 = row.try_get(6)?;
    Ok(BootResult {
        identity: Identity {
            monitor: id(row, 0, MonitorId::parse)?,
            revision: narrow(row, 4)?,
            region: codes::region(row.try_get(2)?)?,
            slot: Timestamp::from_millis(slot),
            trigger: codes::trigger(row.try_get(3)?)?,
        },
        finished_at: Timestamp::from_millis(slot + finished_after),
        outcome: codes::outcome(row.try_get(5)?)?,
    })
}

fn read(row: &Row) -> Result<CheckResult, StoreError> {
    let BootResult { identity, finished_at, outcome } = read_for_boot(row)?;
    let status: Option<i64> = row.try_get(8)?;
    let probe: &str = row.try_get(10)?;
    Ok(CheckResult {
        identity,
        finished_at,
        outcome,
        latency_us: narrow(row, 7)?,
        phases: pack::read_phases(row.try_get(11)?)?,
        status: status.map(|_| narrow(row, 8)).transpose()?,
        attempts: narrow(row, 9)?,
        probe: ProbeId(probe.into()),
        evidence: None,
    })
}
