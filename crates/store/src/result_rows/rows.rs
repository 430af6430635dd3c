//! Reads rows of `recent_results` in key order: by bucket, and within a bucket in the order of
//! commits.

use super::{TABLE, body};
use crate::StoreError;
use crate::buckets;
use crate::db::{Connection, query};
use crate::quarantine::Damaged;
use crate::stored_result::StoredResult;

/// Number of rows per query: at most some hundred KiB.
const AT_ONCE: i64 = 64;

/// Rows with keys in a range, read in batches.
pub(crate) struct RowsBetween {
    first: i64,
    last: i64,
}

/// Key and body of a row.
pub(crate) type KeyedRow = (i64, Vec<u8>);

impl RowsBetween {
    /// Reads from one key to another, inclusive.
    pub(crate) const fn keys(first: i64, last: i64) -> Self {
        Self { first, last }
    }

    /// Returns the next rows, or an empty list at the end.
    pub(crate) async fn next(&mut self, db: &mut Connection) -> Result<Vec<KeyedRow>, StoreError> {
        let rows = query(
            "SELECT key, body FROM recent_results WHERE key >= $1 AND key <= $2 \
             ORDER BY key LIMIT $3",
        )
        .bind(self.first)
        .bind(self.last)
        .bind(AT_ONCE)
        .fetch_all(db)
        .await?;
        let entries = rows.iter().map(buckets::entry).collect::<Result<Vec<_>, _>>()?;
        if let Some((last, _)) = entries.last() {
            self.first = last + 1;
        }
        Ok(entries)
    }

    /// Calls `take` with each remaining result and the row ID of its monitor. Returns the
    /// unreadable rows.
    pub(crate) async fn each(
        mut self,
        db: &mut Connection,
        mut take: impl FnMut(i64, StoredResult),
    ) -> Result<Vec<Damaged>, StoreError> {
        let mut damaged = Vec::new();
        loop {
            let entries = self.next(db).await?;
            if entries.is_empty() {
                return Ok(damaged);
            }
            for (key, body) in entries {
                damaged.extend(each_of(key, &body, &mut take));
            }
        }
    }
}

/// Calls `take` with each result of a row's body. Returns the row if it is unreadable or truncated.
pub(crate) fn each_of(
    key: i64,
    body: &[u8],
    mut take: impl FnMut(i64, StoredResult),
) -> Option<Damaged> {
    for result in body::results(body) {
        match result {
            Ok((monitor, kept)) => take(monitor, kept),
            Err(why) => return Some(Damaged::new(TABLE, key, &why)),
        }
    }
    None
}

/// Returns the existing rows with these keys, in key order.
pub(crate) async fn with_keys(
    db: &mut Connection,
    keys: &[i64],
) -> Result<Vec<KeyedRow>, StoreError> {
    let mut entries = buckets::read(db, TABLE, keys).await?;
    entries.sort_unstable_by_key(|(key, _)| *key);
    entries.dedup_by_key(|(key, _)| *key);
    Ok(entries)
}

/// Returns the first and the last key.
pub(crate) async fn edges(db: &mut Connection) -> Result<Option<(i64, i64)>, StoreError> {
    let first: Option<Option<i64>> =
        query("SELECT MIN(key) FROM recent_results").scalar(&mut *db).await?;
    let last: Option<Option<i64>> = query("SELECT MAX(key) FROM recent_results").scalar(db).await?;
    Ok(first.flatten().zip(last.flatten()))
}
