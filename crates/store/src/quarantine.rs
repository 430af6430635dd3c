//! Rows that cannot be read, because what is stored of them was changed or its key was lost. Reads of many
//! rows leave such a row out, name it once in the log, and count it for `/readyz` and `/metrics`; the row
//! stays in the database. Reads of one thing fail with the reason. `aloft doctor` lists and repairs them.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard};

use sqlx::Error;

use crate::StoreError;
use crate::db::{Row, query};
use crate::writer::Session;

/// Rows that are remembered: past so many they are left out and logged, and no longer told apart.
const REMEMBERED_MAX: usize = 1_000;

/// A row that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnreadableRow {
    /// Its table.
    pub table: &'static str,
    /// Its key in that table.
    pub key: String,
    /// Why it cannot be read.
    pub why: String,
}

/// The rows that reads of many have left out since the process began.
#[derive(Debug, Default)]
pub struct Quarantine {
    rows: Mutex<BTreeMap<(&'static str, String), String>>,
}

/// A row with bytes that cannot be read.
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
    /// The rows, by table and key.
    pub fn rows(&self) -> Vec<UnreadableRow> {
        let rows = self.lock();
        let row = |((table, key), why): (&(&'static str, String), &String)| UnreadableRow {
            table,
            key: key.clone(),
            why: why.clone(),
        };
        rows.iter().map(row).collect()
    }

    /// Forgets all of them: what reads them again finds them again.
    pub(crate) fn clear(&self) {
        self.lock().clear();
    }

    /// How many there are.
    pub fn count(&self) -> u64 {
        self.lock().len() as u64
    }

    /// What was read, or nothing where the row cannot be read. Other errors stay errors: the next read may
    /// succeed.
    pub(crate) fn sift<T>(
        &self,
        table: &'static str,
        key: impl FnOnce() -> String,
        read: Result<T, StoreError>,
    ) -> Result<Option<T>, StoreError> {
        match read {
            Ok(read) => Ok(Some(read)),
            Err(error) if is_unreadable(&error) => {
                self.note(table, key(), &error.to_string());
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    /// The rows of a table that can be read; the first column of each is its key.
    pub(crate) fn sift_all<'r, T>(
        &self,
        table: &'static str,
        rows: impl IntoIterator<Item = &'r Row>,
        read: impl Fn(&'r Row) -> Result<T, StoreError>,
    ) -> Result<Vec<T>, StoreError> {
        let sifted =
            rows.into_iter().map(|row| self.sift(table, || key_of(row), read(row)).transpose());
        sifted.flatten().collect()
    }

    /// Reads groups of rows with the same key in the first column. Returns what is readable, and the number
    /// of groups that are not.
    pub(crate) fn sift_groups<T>(
        &self,
        table: &'static str,
        rows: &[Row],
        read: impl Fn(&[&Row]) -> Result<Vec<T>, StoreError>,
    ) -> Result<(Vec<T>, usize), StoreError> {
        let mut groups: BTreeMap<String, Vec<&Row>> = BTreeMap::new();
        for row in rows {
            groups.entry(key_of(row)).or_default().push(row);
        }
        let (mut found, mut left_out) = (Vec::with_capacity(groups.len()), 0);
        for (key, rows) in groups {
            match self.sift(table, || key, read(&rows))? {
                Some(read) => found.extend(read),
                None => left_out += 1,
            }
        }
        Ok((found, left_out))
    }

    /// Remembers rows with bytes.
    pub(crate) fn note_all(&self, rows: &[Damaged]) {
        for row in rows {
            self.note(row.table, row.key.to_string(), &row.why);
        }
    }

    /// Remembers a row and logs it, the first time.
    pub(crate) fn note(&self, table: &'static str, key: String, why: &str) {
        let mut rows = self.lock();
        let place = (table, key);
        if rows.contains_key(&place) {
            return;
        }
        let (table, key) = &place;
        tracing::error!(
            "row `{key}` of table `{table}` cannot be read and is left out; run `aloft doctor`: {why}"
        );
        if rows.len() < REMEMBERED_MAX {
            rows.insert(place, why.to_owned());
        }
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<(&'static str, String), String>> {
        self.rows.lock().expect("nothing panics while it holds this")
    }
}

/// Whether it is what is stored that cannot be read; all else may be otherwise the next time.
pub(crate) const fn is_unreadable(error: &StoreError) -> bool {
    matches!(
        error,
        StoreError::Corrupt { .. }
            | StoreError::Database(Error::ColumnDecode { .. } | Error::Decode(_))
    )
}

/// The text or number in the first column.
fn key_of(row: &Row) -> String {
    let text: Result<&str, _> = row.try_get(0);
    let number = || row.try_get::<i64>(0).map(|number| number.to_string());
    text.map(str::to_owned).or_else(|_| number()).unwrap_or_else(|_| "?".to_owned())
}

/// Moves rows with bytes out of the way of those that can be read. They are kept in `unreadable_rows`.
pub(crate) async fn put_away(session: &mut Session, rows: &[Damaged]) -> Result<(), StoreError> {
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
            .execute(&mut session.db)
            .await?;
        let remove = format!("DELETE FROM {table} WHERE key = $1");
        query(sqlx::AssertSqlSafe(remove)).bind(*key).execute(&mut session.db).await?;
    }
    Ok(())
}
