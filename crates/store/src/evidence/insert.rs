//! Writes the evidence of a batch, with different statements for each engine. Stores only the
//! latest success of each region.

use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;
use std::sync::LazyLock;

use domain::check::{CheckResult, Evidence, Outcome, ResultKey};
use sqlx::PgConnection;

use super::{COLUMN, row_name};
use crate::bulk_insert::{self, Chunk};
use crate::db::{Connection, EngineConnection, Query, query};
use crate::result_rows::ResultRow;
use crate::vault::EncryptionContext;
use crate::writer::Session;
use crate::{StoreError, codes};

/// SQLite only. It uses `?`, because a numbered parameter is looked up by name, which takes longer
/// the more there are.
static UPSERTS: LazyLock<[String; bulk_insert::SIZES.len()]> =
    LazyLock::new(|| bulk_insert::SIZES.map(upsert_statement));

/// PostgreSQL only, like the next statement: it supports one conflict target, and this needs two.
const DELETE_OLDER: &str = "DELETE FROM evidence e \
     USING UNNEST($1::BIGINT[], $2::BIGINT[], $3::BIGINT[]) AS kept (monitor, region, slot) \
     WHERE e.monitor = kept.monitor AND e.region = kept.region AND e.outcome = 0 \
     AND e.slot < kept.slot";
const INSERT_ARRAYS: &str = "INSERT INTO evidence \
     (monitor, slot, region, trigger, revision, outcome, sealed) \
     SELECT * FROM UNNEST($1::BIGINT[], $2::BIGINT[], $3::BIGINT[], $4::BIGINT[], $5::BIGINT[], \
     $6::BIGINT[], $7::BYTEA[]) ON CONFLICT DO NOTHING";

/// Row of the table.
struct Sealed {
    monitor: i64,
    slot: i64,
    region: i64,
    trigger: i64,
    revision: i64,
    outcome: i64,
    envelope: Vec<u8>,
}

/// Result with its evidence.
type ResultWithEvidence<'r> = (&'r ResultRow<'r>, &'r Evidence);

/// Builds the upsert: a later success replaces an earlier one in its row, so that few pages change.
/// A row with an existing key changes nothing. Keys repeat if the clock was set back.
fn upsert_statement(rows: usize) -> String {
    let mut statement = "INSERT INTO evidence \
         (monitor, slot, region, trigger, revision, outcome, sealed) VALUES "
        .to_owned();
    for row in 0..rows {
        let comma = if row == 0 { "" } else { "," };
        write!(statement, "{comma}(?,?,?,?,?,?,?)").expect("writing to a String never fails");
    }
    statement.push_str(
        " ON CONFLICT (monitor, slot, region, trigger, revision) DO NOTHING \
         ON CONFLICT (monitor, region) WHERE outcome = 0 DO UPDATE SET slot = excluded.slot, \
         trigger = excluded.trigger, revision = excluded.revision, sealed = excluded.sealed \
         WHERE evidence.slot < excluded.slot",
    );
    statement
}

/// Whether the database keeps the details of a result: if it is not a success, or among these
/// successes.
pub(crate) fn is_stored(result: &CheckResult, successes: &HashSet<ResultKey>) -> bool {
    result.evidence.is_some()
        && (result.outcome != Outcome::Success || successes.contains(&result.identity))
}

/// Stores the details of these results, of successes only of these.
pub(crate) async fn insert(
    session: &mut Session,
    rows: &[ResultRow<'_>],
    successes: &HashSet<ResultKey>,
) -> Result<(), StoreError> {
    let candidates = rows.iter().filter(|row| is_stored(row.result, successes));
    let candidates = candidates.filter_map(|row| Some((row, row.result.evidence.as_deref()?)));
    let candidates = drop_earlier_successes(candidates.collect());
    let sealed: Vec<_> =
        candidates.iter().map(|row| seal(session, row)).collect::<Result<_, _>>()?;
    if sealed.is_empty() {
        return Ok(());
    }
    match session.db.link()? {
        EngineConnection::Embedded(_) | EngineConnection::Sqlite(_) => {
            upsert_sqlite(&mut session.db, &sealed).await
        }
        EngineConnection::Postgres(db) => insert_postgres(db, &sealed).await,
    }
}

/// Drops all but the latest success of each region. Keeps every result that is not a success.
fn drop_earlier_successes(
    mut candidates: Vec<ResultWithEvidence<'_>>,
) -> Vec<ResultWithEvidence<'_>> {
    let success = |(row, _): &ResultWithEvidence<'_>| {
        let identity = row.result.identity;
        let is_success = row.result.outcome == Outcome::Success;
        is_success.then_some(((row.monitor, identity.region), identity.slot))
    };
    let mut latest = HashMap::new();
    for (key, slot) in candidates.iter().filter_map(success) {
        let latest = latest.entry(key).or_insert(slot);
        *latest = slot.max(*latest);
    }
    candidates.retain(|row| success(row).is_none_or(|(key, slot)| latest[&key] == slot));
    candidates
}

fn seal(session: &Session, (row, evidence): &ResultWithEvidence<'_>) -> Result<Sealed, StoreError> {
    let identity = &row.result.identity;
    let name = row_name(row.monitor, identity);
    Ok(Sealed {
        monitor: row.monitor,
        slot: identity.slot.as_millis(),
        region: codes::region_code(identity.region),
        trigger: codes::trigger_code(identity.trigger),
        revision: i64::from(identity.revision),
        outcome: codes::outcome_code(row.result.outcome),
        envelope: session
            .vault
            .seal(EncryptionContext { column: COLUMN, row: &name }, *evidence)?,
    })
}

async fn upsert_sqlite(db: &mut Connection, rows: &[Sealed]) -> Result<(), StoreError> {
    for Chunk { size_index, rows } in bulk_insert::chunks(rows) {
        rows.fold(query(UPSERTS[size_index].as_str()), bind).execute(db).await?;
    }
    Ok(())
}

fn bind(upsert: Query, row: &Sealed) -> Query {
    upsert
        .bind(row.monitor)
        .bind(row.slot)
        .bind(row.region)
        .bind(row.trigger)
        .bind(row.revision)
        .bind(row.outcome)
        .bind(row.envelope.as_slice())
}

async fn insert_postgres(db: &mut PgConnection, rows: &[Sealed]) -> Result<(), StoreError> {
    let numbers = |column: fn(&Sealed) -> i64| rows.iter().map(column).collect::<Vec<i64>>();
    let of_successes = |column: fn(&Sealed) -> i64| -> Vec<i64> {
        rows.iter().filter(|row| row.outcome == 0).map(column).collect()
    };
    if rows.iter().any(|row| row.outcome == 0) {
        sqlx::query(DELETE_OLDER)
            .bind(of_successes(|row| row.monitor))
            .bind(of_successes(|row| row.region))
            .bind(of_successes(|row| row.slot))
            .execute(&mut *db)
            .await?;
    }
    sqlx::query(INSERT_ARRAYS)
        .bind(numbers(|row| row.monitor))
        .bind(numbers(|row| row.slot))
        .bind(numbers(|row| row.region))
        .bind(numbers(|row| row.trigger))
        .bind(numbers(|row| row.revision))
        .bind(numbers(|row| row.outcome))
        .bind(rows.iter().map(|row| row.envelope.as_slice()).collect::<Vec<&[u8]>>())
        .execute(db)
        .await?;
    Ok(())
}
