//! Rows that cannot be read because their data was altered or their key was lost. List queries omit
//! such a row, log it once, and count it for `/readyz` and `/metrics`. The row stays in the
//! database. Queries for one object fail with the reason. The judge's batches and the alerts of one
//! object do not fail because of another. `aloft doctor` lists and repairs unreadable rows.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard};

use sqlx::Error;

use crate::StoreError;
use crate::db::{Connection, Row, query};

/// Number of unreadable rows that are remembered. Rows beyond it are omitted and logged on every
/// read.
const REMEMBERED_MAX: usize = 1_000;

/// Row that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnreadableRow {
    pub table: &'static str,
    /// Key in its table.
    pub key: String,
    /// Reason why it cannot be read.
    pub why: String,
}

/// Unreadable rows that reads and writes came across since the process started.
#[derive(Debug, Default)]
pub struct Quarantine {
    rows: Mutex<BTreeMap<(&'static str, String), String>>,
    /// Whether it collects for another one, which logs.
    is_part: bool,
}

/// Unreadable row with a binary body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Damaged {
    pub(crate) table: &'static str,
    pub(crate) key: i64,
    pub(crate) why: String,
}

impl Damaged {
    pub(crate) fn new(table: &'static str, key: i64, why: &StoreError) -> Self {
        Self { table, key, why: why.to_string() }
    }
}

impl Quarantine {
    /// Returns the rows, ordered by table and key.
    pub fn rows(&self) -> Vec<UnreadableRow> {
        let rows = self.lock();
        let row = |((table, key), why): (&(&'static str, String), &String)| UnreadableRow {
            table,
            key: key.clone(),
            why: why.clone(),
        };
        rows.iter().map(row).collect()
    }

    /// Clears all rows. Reading them again adds them again.
    pub(crate) fn clear(&self) {
        self.lock().clear();
    }

    /// Returns an empty one that collects what one piece of work comes across. [`Self::add`] it afterwards.
    pub(crate) fn part() -> Self {
        Self { is_part: true, ..Self::default() }
    }

    /// Records the rows of a part, and returns whether it has any.
    pub(crate) fn add(&self, part: &Self) -> bool {
        let rows = part.rows();
        for UnreadableRow { table, key, why } in &rows {
            self.record(table, key.clone(), why);
        }
        !rows.is_empty()
    }

    /// Returns the number of rows.
    pub fn count(&self) -> u64 {
        self.lock().len() as u64
    }

    /// Returns the value, or `None` if the row is unreadable. Other errors are returned, because
    /// the next read may succeed.
    pub(crate) fn readable<T>(
        &self,
        table: &'static str,
        key: impl FnOnce() -> String,
        read: Result<T, StoreError>,
    ) -> Result<Option<T>, StoreError> {
        match read {
            Ok(read) => Ok(Some(read)),
            Err(error) if is_unreadable(&error) => {
                self.record(table, key(), &error.to_string());
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    /// Returns what was read of a row, and records the row if it is unreadable.
    pub(crate) fn recorded<T>(
        &self,
        table: &'static str,
        key: impl FnOnce() -> String,
        read: Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        if let Err(error) = &read
            && is_unreadable(error)
        {
            self.record(table, key(), &error.to_string());
        }
        read
    }

    /// Returns the readable rows of a table. The first column of each row is its key.
    pub(crate) fn readable_rows<'r, T>(
        &self,
        table: &'static str,
        rows: impl IntoIterator<Item = &'r Row>,
        read: impl Fn(&'r Row) -> Result<T, StoreError>,
    ) -> Result<Vec<T>, StoreError> {
        let sifted = rows
            .into_iter()
            .map(|row| self.readable(table, || row_key(row), read(row)).transpose());
        sifted.flatten().collect()
    }

    /// Reads groups of rows with the same key in the first column, the greatest key first. Returns what is
    /// readable, and the keys of the groups that are not.
    pub(crate) fn readable_groups<T>(
        &self,
        table: &'static str,
        rows: &[Row],
        read: impl Fn(&[&Row]) -> Result<Vec<T>, StoreError>,
    ) -> Result<(Vec<T>, Vec<String>), StoreError> {
        let mut groups: BTreeMap<String, Vec<&Row>> = BTreeMap::new();
        for row in rows {
            groups.entry(row_key(row)).or_default().push(row);
        }
        let (mut found, mut omitted) = (Vec::with_capacity(groups.len()), Vec::new());
        for (key, rows) in groups.into_iter().rev() {
            match self.readable(table, || key.clone(), read(&rows))? {
                Some(read) => found.extend(read),
                None => omitted.push(key),
            }
        }
        Ok((found, omitted))
    }

    /// Records rows with binary bodies.
    pub(crate) fn record_all(&self, rows: &[Damaged]) {
        for row in rows {
            self.record(row.table, row.key.to_string(), &row.why);
        }
    }

    /// Records a row and logs it the first time.
    pub(crate) fn record(&self, table: &'static str, key: String, why: &str) {
        let mut rows = self.lock();
        let key_of_row = (table, key);
        if rows.contains_key(&key_of_row) {
            return;
        }
        if !self.is_part {
            let (table, key) = &key_of_row;
            tracing::error!(
                "found the unreadable row `{key}` of table `{table}`; run `aloft doctor`: {why}"
            );
        }
        if rows.len() < REMEMBERED_MAX {
            rows.insert(key_of_row, why.to_owned());
        }
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<(&'static str, String), String>> {
        self.rows.lock().expect("no code panics while holding this lock")
    }
}

/// Returns whether the stored data itself is unreadable. Other errors may be transient.
pub(crate) const fn is_unreadable(error: &StoreError) -> bool {
    matches!(
        error,
        StoreError::Corrupt { .. }
            | StoreError::Database(Error::ColumnDecode { .. } | Error::Decode(_))
    )
}

/// Returns the text or number in the first column.
pub(crate) fn row_key(row: &Row) -> String {
    let number = || row.at::<i64>(0).map(|number| number.to_string());
    row.text_at(0).map(str::to_owned).or_else(|_| number()).unwrap_or_else(|_| "?".to_owned())
}

/// Moves rows with binary bodies to `unreadable_rows`, out of the way of readable ones.
pub(crate) async fn move_unreadable(
    db: &mut Connection,
    rows: &[Damaged],
) -> Result<(), StoreError> {
    for Damaged { table, key, why } in rows {
        let copy = format!(
            "INSERT INTO unreadable_rows (source, key, why, body) \
             SELECT $1, key, $2, body FROM {table} WHERE key = $3 \
             ON CONFLICT (source, key) DO NOTHING"
        );
        query(sqlx::AssertSqlSafe(copy))
            .bind(*table)
            .bind(why.clone())
            .bind(*key)
            .execute(db)
            .await?;
        let remove = format!("DELETE FROM {table} WHERE key = $1");
        query(sqlx::AssertSqlSafe(remove)).bind(*key).execute(db).await?;
    }
    Ok(())
}
