//! Writing results, the hot path: each engine has statements of its own. SQLite takes many rows of
//! values in one statement, PostgreSQL an array for each column.

use std::fmt::Write as _;
use std::sync::LazyLock;

use sqlx::PgConnection;

use super::{ResultRow, pack};
use crate::db::{Connection, Link, Value, execute_listed};
use crate::many::{self, Chunk};
use crate::{StoreError, codes};

const COLUMNS: usize = 12;

// SQLite only: `?` because a numbered parameter is looked up by its name, which takes longer the
// more there are.
static INSERTS: LazyLock<[String; many::SIZES.len()]> =
    LazyLock::new(|| many::SIZES.map(insert_statement));

/// PostgreSQL only: one statement of any size, with an array for each column.
const INSERT_ARRAYS: &str = "INSERT INTO results (slot, monitor, region, trigger, revision, outcome, \
     finished_after, latency_us, status, attempts, probe, phases) \
     SELECT * FROM UNNEST($1::BIGINT[], $2::BIGINT[], $3::BIGINT[], $4::BIGINT[], $5::BIGINT[], \
     $6::BIGINT[], $7::BIGINT[], $8::BIGINT[], $9::BIGINT[], $10::BIGINT[], $11::BIGINT[], \
     $12::BYTEA[]) ON CONFLICT DO NOTHING";

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
    db: &mut Connection,
    rows: &mut [ResultRow<'_>],
) -> Result<u64, StoreError> {
    rows.sort_unstable_by_key(|row| (row.result.identity.slot, row.monitor));
    match db.link() {
        Link::Embedded(_) | Link::Sqlite(_) => insert_sqlite(db, rows).await,
        Link::Postgres(db) => insert_postgres(db, rows).await,
    }
}

/// Whether so many rows are one statement at most.
pub(crate) fn is_one_statement(rows: usize) -> bool {
    many::is_one(rows)
}

async fn insert_sqlite(db: &mut Connection, rows: &[ResultRow<'_>]) -> Result<u64, StoreError> {
    let mut stored = 0;
    for Chunk { place, rows } in many::chunks(rows) {
        let values = rows.flat_map(values);
        stored += execute_listed(db, INSERTS[place].as_str(), values).await?;
    }
    Ok(stored)
}

async fn insert_postgres(db: &mut PgConnection, rows: &[ResultRow<'_>]) -> Result<u64, StoreError> {
    if rows.is_empty() {
        return Ok(0);
    }
    let numbers = |column: fn(&ResultRow<'_>) -> i64| rows.iter().map(column).collect::<Vec<i64>>();
    let statuses: Vec<Option<i64>> =
        rows.iter().map(|row| row.result.status.map(i64::from)).collect();
    let phases: Vec<Option<Vec<u8>>> =
        rows.iter().map(|row| pack::phases(&row.result.phases)).collect();
    let done = sqlx::query(INSERT_ARRAYS)
        .bind(numbers(|row| row.result.identity.slot.as_millis()))
        .bind(numbers(|row| row.monitor))
        .bind(numbers(|row| codes::of_region(row.result.identity.region)))
        .bind(numbers(|row| codes::of_trigger(row.result.identity.trigger)))
        .bind(numbers(|row| i64::from(row.result.identity.revision)))
        .bind(numbers(|row| codes::of_outcome(row.result.outcome)))
        .bind(numbers(finished_after))
        .bind(numbers(|row| i64::from(row.result.latency_us)))
        .bind(statuses)
        .bind(numbers(|row| i64::from(row.result.attempts)))
        .bind(numbers(|row| row.probe))
        .bind(phases)
        .execute(db)
        .await?;
    Ok(done.rows_affected())
}

fn finished_after(row: &ResultRow<'_>) -> i64 {
    row.result.finished_at.as_millis() - row.result.identity.slot.as_millis()
}

fn values(row: &ResultRow<'_>) -> [Value; COLUMNS] {
    let result = row.result;
    let identity = &result.identity;
    [
        identity.slot.as_millis().into(),
        row.monitor.into(),
        codes::of_region(identity.region).into(),
        codes::of_trigger(identity.trigger).into(),
        i64::from(identity.revision).into(),
        codes::of_outcome(result.outcome).into(),
        finished_after(row).into(),
        i64::from(result.latency_us).into(),
        result.status.map(i64::from).into(),
        i64::from(result.attempts).into(),
        row.probe.into(),
        pack::phases(&result.phases).into(),
    ]
}
