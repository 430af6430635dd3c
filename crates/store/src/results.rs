//! Results of checks: the table that grows fastest. Written many at a time by the pipeline, read
//! back in the order of their slots. How a row is packed stands in `pack`.

mod pack;

use std::fmt::Write as _;
use std::sync::LazyLock;

use domain::check::{CheckResult, Identity, Outcome, ProbeId};
use rules::{MonitorId, Timestamp, WorkspaceId};
use sqlx::sqlite::{SqliteArguments, SqliteRow};
use sqlx::{Arguments, Row, SqliteConnection};

use crate::row::{id, narrow};
use crate::{Store, StoreError, codes};

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
        let rows = sqlx::query(
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
        .fetch_all(&mut *self.store.read().await?)
        .await?;
        rows.iter().map(read).collect()
    }

    /// The latest slot that has a result: until then the server is known to have worked. For the
    /// pipeline, which at boot counts what was missed since.
    pub async fn latest_slot(&self) -> Result<Option<Timestamp>, StoreError> {
        let slot: Option<i64> = sqlx::query_scalar("SELECT MAX(slot) FROM results")
            .fetch_one(&mut *self.store.read().await?)
            .await?;
        Ok(slot.map(Timestamp::from_millis))
    }

    /// What the pipeline wants to know at boot of every result with a slot later than `since`, of all
    /// monitors: which slot it was, and what came of it. In the order of slots.
    pub async fn since_for_boot(&self, since: Timestamp) -> Result<Vec<BootResult>, StoreError> {
        let rows = sqlx::query(
            "SELECT m.id, r.slot, r.region, r.trigger, r.revision, r.outcome, r.finished_after \
             FROM results r JOIN monitors m ON m.number = r.monitor \
             WHERE r.slot > $1 AND m.deleted_at IS NULL ORDER BY r.slot",
        )
        .bind(since.as_millis())
        .fetch_all(&mut *self.store.read().await?)
        .await?;
        rows.iter().map(read_for_boot).collect()
    }

    /// How many results are stored: for the operator; reads the whole table.
    pub async fn count(&self) -> Result<u64, StoreError> {
        let count: i64 = sqlx::query_scalar("SELECT COUNT(*) FROM results")
            .fetch_one(&mut *self.store.read().await?)
            .await?;
        Ok(count as u64)
    }
}

const COLUMNS: usize = 12;
/// Rows of one statement: large ones spend less on each row, small ones take what remains.
const LARGE: usize = 64;
const MIDDLE: usize = 8;

// SQLite only: `?` because a numbered parameter is looked up by its name, which takes longer the
// more there are. PostgreSQL gets one statement with an array for each column.
static INSERT_LARGE: LazyLock<String> = LazyLock::new(|| insert_statement(LARGE));
static INSERT_MIDDLE: LazyLock<String> = LazyLock::new(|| insert_statement(MIDDLE));
static INSERT_ONE: LazyLock<String> = LazyLock::new(|| insert_statement(1));

fn insert_statement(rows: usize) -> String {
    let mut statement = "INSERT INTO results (slot, monitor, region, trigger, revision, outcome, \
         finished_after, latency_us, status, attempts, probe, phases) VALUES "
        .to_owned();
    for row in 0..rows {
        let comma = if row == 0 { "" } else { "," };
        write!(statement, "{comma}(?{})", ",?".repeat(COLUMNS - 1))
            .expect("a String takes everything");
    }
    statement.push_str(" ON CONFLICT DO NOTHING");
    statement
}

/// Stores the rows that are not there, and says how many those are. Sorts them first, because rows
/// that lie beside each other are written faster.
pub(crate) async fn insert(
    db: &mut SqliteConnection,
    rows: &mut [ResultRow<'_>],
) -> Result<u64, StoreError> {
    rows.sort_unstable_by_key(|row| (row.result.identity.slot, row.monitor));
    let mut stored = 0;
    let mut rest = &rows[..];
    while !rest.is_empty() {
        let (count, statement) = match rest.len() {
            LARGE.. => (LARGE, INSERT_LARGE.as_str()),
            MIDDLE.. => (MIDDLE, INSERT_MIDDLE.as_str()),
            _ => (1, INSERT_ONE.as_str()),
        };
        let (chunk, later) = rest.split_at(count);
        let done = sqlx::query_with(statement, arguments(chunk)?).execute(&mut *db).await?;
        stored += done.rows_affected();
        rest = later;
    }
    Ok(stored)
}

fn arguments(rows: &[ResultRow<'_>]) -> Result<SqliteArguments, StoreError> {
    let mut arguments = SqliteArguments::default();
    arguments.reserve(rows.len() * COLUMNS, 0);
    for row in rows {
        bind(&mut arguments, row).map_err(sqlx::Error::Encode)?;
    }
    Ok(arguments)
}

fn bind(
    arguments: &mut SqliteArguments,
    row: &ResultRow<'_>,
) -> Result<(), sqlx::error::BoxDynError> {
    let result = row.result;
    let identity = &result.identity;
    let slot = identity.slot.as_millis();
    arguments.add(slot)?;
    arguments.add(row.monitor)?;
    arguments.add(codes::of_region(identity.region))?;
    arguments.add(codes::of_trigger(identity.trigger))?;
    arguments.add(i64::from(identity.revision))?;
    arguments.add(codes::of_outcome(result.outcome))?;
    arguments.add(result.finished_at.as_millis() - slot)?;
    arguments.add(i64::from(result.latency_us))?;
    arguments.add(result.status.map(i64::from))?;
    arguments.add(i64::from(result.attempts))?;
    arguments.add(row.probe)?;
    arguments.add(pack::phases(&result.phases))
}

/// Reads the first seven columns, which every reading statement has in this order.
fn read_for_boot(row: &SqliteRow) -> Result<BootResult, StoreError> {
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

fn read(row: &SqliteRow) -> Result<CheckResult, StoreError> {
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
