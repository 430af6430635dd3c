//! Bucket sizes of the history: ten minutes of single results, and rollups of an hour or a day.
//! Each has a table of keys and bodies. The format of the bodies is defined elsewhere.

use std::fmt::Write as _;

use rules::Timestamp;
use sqlx::AssertSqlSafe;

use crate::StoreError;
use crate::db::{Connection, EngineConnection, Query, Row, arrays, query};
use crate::row::narrow;

/// Bits of a key that hold the row ID of a monitor, or the number of an uncompacted row.
const NUMBER_BITS: u32 = 32;
/// Numbers of values per statement. Only a few sizes, so that the engine can cache the statements.
const SIZES: [usize; 4] = [1, 8, 32, 128];

/// Bucket size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BucketSize {
    /// Single results.
    TenMinutes,
    /// Rollups of an hour.
    Hour,
    /// Rollups of a day of UTC.
    Day,
}

impl BucketSize {
    pub(crate) const fn millis(self) -> i64 {
        match self {
            Self::TenMinutes => 600_000,
            Self::Hour => 3_600_000,
            Self::Day => 86_400_000,
        }
    }

    pub(crate) const fn table(self) -> &'static str {
        match self {
            Self::TenMinutes => "result_blocks",
            Self::Hour => "hour_rollups",
            Self::Day => "day_rollups",
        }
    }

    /// Returns the number of the bucket that contains a time.
    pub(crate) const fn number(self, millis: i64) -> i64 {
        millis.div_euclid(self.millis())
    }

    /// Returns the start of the bucket that contains a time.
    pub(crate) const fn start_of(self, at: Timestamp) -> Timestamp {
        Timestamp::from_millis(self.number(at.as_millis()) * self.millis())
    }

    /// Returns the key of a monitor's bucket that contains a time.
    pub(crate) const fn key(self, millis: i64, monitor: i64) -> i64 {
        key(self.number(millis), monitor)
    }

    /// Returns the start of the bucket with this key, in milliseconds.
    pub(crate) const fn start(self, key: i64) -> i64 {
        bucket_of(key) * self.millis()
    }

    /// Returns the existing bodies with these keys, in any order.
    pub(crate) async fn read(
        self,
        db: &mut Connection,
        keys: &[i64],
    ) -> Result<Vec<(i64, Vec<u8>)>, StoreError> {
        read(db, self.table(), keys).await
    }

    /// Returns the number of the first or last bucket that has a body.
    pub(crate) async fn edge(
        self,
        db: &mut Connection,
        edge: Edge,
    ) -> Result<Option<i64>, StoreError> {
        let which = match edge {
            Edge::First => "MIN",
            Edge::Last => "MAX",
        };
        let statement = format!("SELECT {which}(key) FROM {}", self.table());
        let key: Option<Option<i64>> = query(AssertSqlSafe(statement)).scalar(db).await?;
        Ok(key.flatten().map(bucket_of))
    }

    /// Returns the numbers of the first and the last bucket that have a body.
    pub(crate) async fn edges(self, db: &mut Connection) -> Result<Option<(i64, i64)>, StoreError> {
        let first = self.edge(db, Edge::First).await?;
        let last = self.edge(db, Edge::Last).await?;
        Ok(first.zip(last))
    }

    /// Stores bodies, and replaces those with the same keys.
    pub(crate) async fn store(
        self,
        db: &mut Connection,
        entries: Vec<(i64, Vec<u8>)>,
    ) -> Result<(), StoreError> {
        let replace = " ON CONFLICT (key) DO UPDATE SET body = excluded.body";
        write_all(db, self.table(), entries, replace).await
    }
}

/// End of the stored range.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Edge {
    First,
    Last,
}

/// Returns the key of a monitor's bucket.
pub(crate) const fn key(bucket: i64, monitor: i64) -> i64 {
    (bucket << NUMBER_BITS) | monitor
}

/// Returns the number of the bucket of a key.
pub(crate) const fn bucket_of(key: i64) -> i64 {
    key >> NUMBER_BITS
}

/// Returns the row ID of the monitor of a key.
pub(crate) const fn monitor_of(key: i64) -> i64 {
    key & ((1 << NUMBER_BITS) - 1)
}

/// Returns the existing bodies with these keys in a table of keys and bodies, in any order.
pub(crate) async fn read(
    db: &mut Connection,
    table: &str,
    keys: &[i64],
) -> Result<Vec<(i64, Vec<u8>)>, StoreError> {
    let mut found = Vec::new();
    let mut rest = keys;
    while let Some(last) = rest.last() {
        let size = SIZES.into_iter().find(|size| *size >= rest.len()).unwrap_or(SIZES[3]);
        let (chunk, later) = rest.split_at(size.min(rest.len()));
        let list = placeholders(size, 0);
        let statement = format!("SELECT key, body FROM {table} WHERE key IN ({list})");
        let mut query = query(AssertSqlSafe(statement));
        // A short list is padded with its last key.
        for index in 0..size {
            query = query.bind(*chunk.get(index).unwrap_or(last));
        }
        for row in query.fetch_all(db).await? {
            found.push(entry(&row)?);
        }
        rest = later;
    }
    Ok(found)
}

/// Inserts bodies into such a table. Fails if a key exists.
pub(crate) async fn insert(
    db: &mut Connection,
    table: &str,
    entries: Vec<(i64, Vec<u8>)>,
) -> Result<(), StoreError> {
    write_all(db, table, entries, "").await
}

async fn write_all(
    db: &mut Connection,
    table: &str,
    entries: Vec<(i64, Vec<u8>)>,
    on_conflict: &str,
) -> Result<(), StoreError> {
    if let EngineConnection::Postgres(db) = db.link()? {
        let statement =
            format!("INSERT INTO {table} (key, body) SELECT * FROM UNNEST($1, $2){on_conflict}");
        let rows = entries.into_iter().map(|(key, body)| [key.into(), body.into()]).collect();
        return Ok(arrays::execute(db, AssertSqlSafe(statement), rows).await?);
    }
    let mut rest = entries.into_iter();
    while rest.len() > 0 {
        let size = SIZES.into_iter().rfind(|size| *size <= rest.len()).unwrap_or(1);
        let mut statement = format!("INSERT INTO {table} (key, body) VALUES ");
        for pair in 0..size {
            let comma = if pair == 0 { "" } else { ", " };
            write!(statement, "{comma}({})", placeholders(2, 2 * pair))
                .expect("writing to a String never fails");
        }
        statement.push_str(on_conflict);
        let mut query = query(AssertSqlSafe(statement));
        for (key, body) in rest.by_ref().take(size) {
            query = query.bind(key).bind(body);
        }
        query.execute(db).await?;
    }
    Ok(())
}

/// Returns the existing bodies with these keys in these tables, from one snapshot.
pub(crate) async fn read_together(
    db: &mut Connection,
    requested: &[(BucketSize, &[i64])],
) -> Result<Vec<(BucketSize, i64, Vec<u8>)>, StoreError> {
    let mut statement = String::new();
    let mut values = Vec::new();
    for (table, (bucket_size, keys)) in requested.iter().enumerate() {
        let Some(last) = keys.last() else { continue };
        // Few sizes mean few statements. A short list is padded with its last key.
        let size = keys.len().next_power_of_two();
        let list = placeholders(size, values.len());
        let union = if statement.is_empty() { "" } else { " UNION ALL " };
        write!(
            statement,
            "{union}SELECT {table} AS requested, key, body FROM {} WHERE key IN ({list})",
            bucket_size.table()
        )
        .expect("writing to a String never fails");
        values.extend((0..size).map(|index| *keys.get(index).unwrap_or(last)));
    }
    if values.is_empty() {
        return Ok(Vec::new());
    }
    let query = values.into_iter().fold(query(AssertSqlSafe(statement)), Query::bind);
    let rows = query.fetch_all(db).await?;
    rows.iter()
        .map(|row| {
            let table: usize = narrow(row, "requested")?;
            Ok((requested[table].0, row.try_get("key")?, row.try_get("body")?))
        })
        .collect()
}

pub(crate) fn entry(row: &Row) -> Result<(i64, Vec<u8>), StoreError> {
    Ok((row.try_get("key")?, row.try_get("body")?))
}

/// Returns `count` placeholders after the first `from`: `$3,$4`.
fn placeholders(count: usize, from: usize) -> String {
    let mut list = String::with_capacity(5 * count);
    for index in from + 1..=from + count {
        let comma = if index == from + 1 { "" } else { "," };
        write!(list, "{comma}${index}").expect("writing to a String never fails");
    }
    list
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_sort_by_time_and_encode_bucket_starts() {
        let size = BucketSize::TenMinutes;
        let (early, late) =
            (size.key(1_800_000_599_999, 4_000_000_000), size.key(1_800_000_600_000, 1));
        assert!(early < late);
        assert_eq!((size.start(early), size.start(late)), (1_800_000_000_000, 1_800_000_600_000));
        assert_eq!((monitor_of(early), monitor_of(late)), (4_000_000_000, 1));
    }
}
