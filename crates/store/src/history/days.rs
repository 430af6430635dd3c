//! Days of `result_blocks` on PostgreSQL. Each day of UTC is a partition, so that retention drops
//! whole days instead of deleting their rows. Days are created ahead, and with their first block:
//! a late result may belong to any day. Blocks that are older than the partitions are in one of
//! their own, which is dropped with its last day. The embedded database has one table, and `prune` deletes its
//! rows.

use std::collections::BTreeSet;

use rules::Timestamp;
use sqlx::AssertSqlSafe;
use sqlx::error::DatabaseError;

use crate::StoreError;
use crate::buckets::{self, BucketSize, bucket_of};
use crate::db::{self, Connection, query};

/// Number of days that are created ahead, after today.
const AHEAD: i64 = 2;
/// Number of buckets of a day.
const BUCKETS: i64 = BucketSize::Day.millis() / BucketSize::TenMinutes.millis();
/// SQLSTATE of a lock timeout.
const LOCK_NOT_AVAILABLE: &str = "55P03";

/// Partition of the table.
struct Partition {
    name: String,
    /// First key. `None` if it has all keys before its end.
    first: Option<i64>,
    /// Key after the last one.
    end: i64,
}

/// Creates the days that contain blocks with these keys, unless they exist.
pub(crate) async fn create(
    db: &mut Connection,
    keys: impl Iterator<Item = i64>,
) -> Result<(), StoreError> {
    if db.is_embedded() {
        return Ok(());
    }
    let mut days: BTreeSet<i64> = keys.map(day_of).collect();
    let partitions = partitions(db).await?;
    days.retain(|day| !partitions.iter().any(|it| it.contains(first_key(*day))));
    for day in days {
        let (name, first, end) = (name(day), first_key(day), first_key(day + 1));
        // Attaching does not wait for readers, unlike creating the table as a partition. Waits only
        // for an operator who changes or analyzes the table.
        let statements = format!(
            "SET LOCAL lock_timeout = '3s'; CREATE TABLE {name} (LIKE result_blocks INCLUDING ALL); \
             ALTER TABLE result_blocks ATTACH PARTITION {name} FOR VALUES FROM ({first}) TO ({end}); \
             SET LOCAL lock_timeout TO DEFAULT"
        );
        db::run(db, AssertSqlSafe(statements)).await?;
    }
    Ok(())
}

/// Creates today and the days after it.
pub(super) async fn create_ahead(db: &mut Connection, now: Timestamp) -> Result<(), StoreError> {
    let today = day_of(BucketSize::TenMinutes.key(now.as_millis(), 0));
    create(db, (today..=today + AHEAD).map(first_key)).await
}

/// Creates the days of all blocks of another database.
pub(crate) async fn create_like(
    db: &mut Connection,
    other: &mut Connection,
) -> Result<(), StoreError> {
    if db.is_embedded() {
        return Ok(());
    }
    let mut days = Vec::new();
    let mut from = i64::MIN;
    loop {
        let key: Option<Option<i64>> = query("SELECT MIN(key) FROM result_blocks WHERE key >= $1")
            .bind(from)
            .scalar(other)
            .await?;
        let Some(key) = key.flatten() else { break };
        days.push(key);
        from = first_key(day_of(key) + 1);
    }
    create(db, days.into_iter()).await
}

/// Drops the days that end before this bucket. Returns their number. Readers wait meanwhile, so
/// this fails with a lock timeout if one of them takes long, such as a backup.
pub(super) async fn drop_before(db: &mut Connection, bucket: i64) -> Result<u64, StoreError> {
    let mut expired = partitions(db).await?;
    expired.retain(|partition| partition.end <= buckets::key(bucket, 0));
    if expired.is_empty() {
        return Ok(0);
    }
    let names: Vec<&str> = expired.iter().map(|partition| partition.name.as_str()).collect();
    let statements = format!(
        "SET LOCAL lock_timeout = '500ms'; DROP TABLE {}; SET LOCAL lock_timeout TO DEFAULT",
        names.join(", ")
    );
    db::run(db, AssertSqlSafe(statements)).await?;
    Ok(expired.len() as u64)
}

/// Returns whether the error is a lock timeout.
pub(super) fn is_lock_timeout(error: &StoreError) -> bool {
    let StoreError::Database(error) = error else { return false };
    let code = error.as_database_error().and_then(DatabaseError::code);
    code.is_some_and(|code| code == LOCK_NOT_AVAILABLE)
}

impl Partition {
    fn contains(&self, key: i64) -> bool {
        self.first.is_none_or(|first| first <= key) && key < self.end
    }
}

/// Returns all partitions.
async fn partitions(db: &mut Connection) -> Result<Vec<Partition>, StoreError> {
    let rows = query(
        "SELECT quote_ident(name) AS name, \
         CAST(substring(bound FROM 'FROM \\(''(-?[0-9]+)''\\)') AS BIGINT) AS first, \
         CAST(substring(bound FROM 'TO \\(''(-?[0-9]+)''\\)') AS BIGINT) AS ending \
         FROM (SELECT c.relname::TEXT AS name, pg_get_expr(c.relpartbound, c.oid) AS bound \
         FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid \
         WHERE i.inhparent = 'result_blocks'::regclass) AS partitions",
    )
    .fetch_all(db)
    .await?;
    rows.iter()
        .map(|row| {
            let (name, first, end) =
                (row.try_get("name")?, row.try_get("first")?, row.try_get("ending")?);
            Ok(Partition { name, first, end })
        })
        .collect()
}

/// Returns the number of the day of a key, counted from 1970.
const fn day_of(key: i64) -> i64 {
    bucket_of(key).div_euclid(BUCKETS)
}

/// Returns the first key of a day.
const fn first_key(day: i64) -> i64 {
    buckets::key(day * BUCKETS, 0)
}

/// Returns the name of a day's partition, such as `result_blocks_20270115`.
fn name(day: i64) -> String {
    let start = Timestamp::from_millis(day * BucketSize::Day.millis()).to_string();
    // The date of RFC 3339. A day that has none, far away, is named by its milliseconds.
    let date = start.split('T').next().unwrap_or(&start);
    let digits: String = date.chars().filter(char::is_ascii_digit).collect();
    format!("result_blocks_{digits}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn day_is_named_by_its_date() {
        let day = 1_800_000_000_000_i64.div_euclid(BucketSize::Day.millis());
        assert_eq!(name(day), "result_blocks_20270115");
        assert_eq!(day_of(first_key(day)), day);
        assert_eq!(day_of(first_key(day + 1) - 1), day);
    }
}
