//! Runs SQLite on the calling thread. The writer uses it, because its thread has no other work
//! meanwhile. A statement is a function call here; with sqlx it is a round trip to another thread
//! (docs/decisions/0020-writer.md). Errors are sqlx's, so that callers need not distinguish the
//! engines.

use std::borrow::Cow;
use std::error::Error;
use std::fmt;
use std::sync::Arc;

use rusqlite::types::{ToSql, ToSqlOutput, Value as Cell, ValueRef};
use rusqlite::{CachedStatement, Connection, ffi};
use sqlx::error::{DatabaseError, ErrorKind};

use super::{Value, unsynced};

/// Row of a result.
pub(crate) struct Cells {
    values: Box<[Cell]>,
    /// Names of the columns, shared by the rows of a result.
    names: Arc<[Box<str>]>,
}

/// Type that can be read from a cell.
pub(crate) trait FromCell<'r>: Sized {
    /// Returns the value, or `None` if the cell holds another type.
    fn read(cell: &'r Cell) -> Option<Self>;
}

/// Error reported by SQLite.
#[derive(Debug)]
struct EmbeddedError {
    /// Extended result code of SQLite.
    code: i32,
    message: String,
}

/// Runs a statement to completion and returns the number of changed rows.
pub(super) fn execute(
    db: &Connection,
    statement: &str,
    values: &[Value],
) -> Result<u64, sqlx::Error> {
    let run = || run_to_completion(db, &mut prepare_and_bind(db, statement, values)?);
    run().map_err(to_sqlx_error)
}

/// Returns the rows of the result, up to a limit.
pub(crate) fn fetch(
    db: &Connection,
    statement: &str,
    values: &[Value],
    limit: usize,
) -> Result<Vec<Cells>, sqlx::Error> {
    let run = || {
        let mut statement = prepare_and_bind(db, statement, values)?;
        let columns = statement.column_count();
        let mut rows = statement.raw_query();
        let mut values = Vec::new();
        while values.len() < limit
            && let Some(row) = rows.next()?
        {
            let cells = (0..columns).map(|column| row.get_ref(column).map(read_cell));
            values.push(cells.collect::<rusqlite::Result<_>>()?);
        }
        drop(rows);
        if values.is_empty() {
            return Ok(Vec::new());
        }
        let names: Arc<[Box<str>]> = statement.column_names().into_iter().map(Into::into).collect();
        let rows = values.into_iter().map(|values| Cells { values, names: Arc::clone(&names) });
        Ok(rows.collect())
    };
    run().map_err(to_sqlx_error)
}

/// Copies a cell. Text that is not UTF-8 is damaged and becomes bytes, so that only the read of this cell
/// fails and not the whole statement.
fn read_cell(cell: ValueRef<'_>) -> Cell {
    Cell::try_from(cell)
        .unwrap_or_else(|_| Cell::Blob(cell.as_bytes().unwrap_or_default().to_vec()))
}

/// Runs statements without values, separated by semicolons.
pub(crate) fn run(db: &Connection, statements: &str) -> Result<(), sqlx::Error> {
    db.execute_batch(statements).map_err(to_sqlx_error)
}

/// Closes the connection.
pub(super) fn close(db: Connection) -> Result<(), sqlx::Error> {
    db.close().map_err(|(_, error)| to_sqlx_error(error))
}

/// Converts an error to sqlx's type.
#[expect(clippy::needless_pass_by_value, reason = "`map_err` passes it by value")]
pub(crate) fn to_sqlx_error(error: rusqlite::Error) -> sqlx::Error {
    let (code, message) = if let rusqlite::Error::SqlInputError { error: failure, msg, .. } = &error
    {
        // The message leaves the statement out, as those of other errors do.
        (failure.extended_code, msg.clone())
    } else if let Some(failure) = error.sqlite_error() {
        (failure.extended_code, error.to_string())
    } else {
        return sqlx::Error::Protocol(error.to_string());
    };
    if unsynced::is_sync_failure(code) {
        unsynced::end(&message);
    }
    sqlx::Error::Database(Box::new(EmbeddedError { code, message }))
}

/// Runs a bound statement to completion and returns the number of changed rows.
fn run_to_completion(
    db: &Connection,
    statement: &mut CachedStatement<'_>,
) -> rusqlite::Result<u64> {
    let mut rows = statement.raw_query();
    while rows.next()?.is_some() {}
    Ok(db.changes())
}

/// Returns the statement, prepared once and cached, with its values bound.
fn prepare_and_bind<'c>(
    db: &'c Connection,
    statement: &str,
    values: &[Value],
) -> rusqlite::Result<CachedStatement<'c>> {
    let mut statement = db.prepare_cached(statement)?;
    for index in 1..=statement.parameter_count() {
        // SQLite numbers `$2` by its first occurrence, and we by its name. `?` has no name.
        let number = statement.parameter_name(index).and_then(|name| name.get(1..)?.parse().ok());
        let number = number.unwrap_or(index);
        let value = values.get(number.wrapping_sub(1));
        let value = value.ok_or(rusqlite::Error::InvalidParameterCount(values.len(), number))?;
        statement.raw_bind_parameter(index, value)?;
    }
    Ok(statement)
}

impl Cells {
    /// Returns the value of a column, counted from 0.
    pub(super) fn try_get<'r, T: FromCell<'r>>(&'r self, column: usize) -> Result<T, sqlx::Error> {
        let len = self.len();
        let cell = self.values.get(column);
        let cell = cell.ok_or(sqlx::Error::ColumnIndexOutOfBounds { index: column, len })?;
        T::read(cell).ok_or_else(|| sqlx::Error::ColumnDecode {
            index: column.to_string(),
            source: format!("the column holds {}", cell.data_type()).into(),
        })
    }

    /// Returns the number of columns.
    pub(super) const fn len(&self) -> usize {
        self.values.len()
    }

    /// Returns the name of a column.
    pub(super) fn name(&self, column: usize) -> &str {
        &self.names[column]
    }
}

impl ToSql for Value {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        let value = match self {
            Self::Integer(value) => value.map(ValueRef::Integer),
            Self::Text(value) => value.as_ref().map(|text| ValueRef::Text(text.as_bytes())),
            Self::Bytes(value) => value.as_deref().map(ValueRef::Blob),
            Self::Boolean(value) => Some(ValueRef::Integer(i64::from(*value))),
        };
        Ok(ToSqlOutput::Borrowed(value.unwrap_or(ValueRef::Null)))
    }
}

impl FromCell<'_> for i64 {
    fn read(cell: &Cell) -> Option<Self> {
        if let Cell::Integer(value) = cell { Some(*value) } else { None }
    }
}

impl FromCell<'_> for bool {
    fn read(cell: &Cell) -> Option<Self> {
        i64::read(cell).map(|value| value != 0)
    }
}

impl<'r> FromCell<'r> for &'r str {
    fn read(cell: &'r Cell) -> Option<Self> {
        if let Cell::Text(text) = cell { Some(text) } else { None }
    }
}

impl FromCell<'_> for String {
    fn read(cell: &Cell) -> Option<Self> {
        <&str>::read(cell).map(ToOwned::to_owned)
    }
}

impl<'r> FromCell<'r> for &'r [u8] {
    fn read(cell: &'r Cell) -> Option<Self> {
        if let Cell::Blob(bytes) = cell { Some(bytes) } else { None }
    }
}

impl FromCell<'_> for Vec<u8> {
    fn read(cell: &Cell) -> Option<Self> {
        <&[u8]>::read(cell).map(ToOwned::to_owned)
    }
}

impl<'r, T: FromCell<'r>> FromCell<'r> for Option<T> {
    fn read(cell: &'r Cell) -> Option<Self> {
        if matches!(cell, Cell::Null) { Some(None) } else { T::read(cell).map(Some) }
    }
}

impl fmt::Display for EmbeddedError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "(code: {}) {}", self.code, self.message)
    }
}

impl Error for EmbeddedError {}

impl DatabaseError for EmbeddedError {
    fn message(&self) -> &str {
        &self.message
    }

    fn code(&self) -> Option<Cow<'_, str>> {
        Some(self.code.to_string().into())
    }

    fn as_error(&self) -> &(dyn Error + Send + Sync + 'static) {
        self
    }

    fn as_error_mut(&mut self) -> &mut (dyn Error + Send + Sync + 'static) {
        self
    }

    fn into_error(self: Box<Self>) -> Box<dyn Error + Send + Sync + 'static> {
        self
    }

    fn kind(&self) -> ErrorKind {
        match self.code {
            ffi::SQLITE_CONSTRAINT_UNIQUE | ffi::SQLITE_CONSTRAINT_PRIMARYKEY => {
                ErrorKind::UniqueViolation
            }
            ffi::SQLITE_CONSTRAINT_FOREIGNKEY => ErrorKind::ForeignKeyViolation,
            ffi::SQLITE_CONSTRAINT_NOTNULL => ErrorKind::NotNullViolation,
            ffi::SQLITE_CONSTRAINT_CHECK => ErrorKind::CheckViolation,
            _ => ErrorKind::Other,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Row;
    use super::*;

    fn database() -> Connection {
        let db = Connection::open_in_memory().unwrap();
        run(&db, "CREATE TABLE a (x INTEGER PRIMARY KEY, y TEXT, z BLOB) STRICT").unwrap();
        db
    }

    #[test]
    fn placeholders_are_bound_by_number_in_any_order() {
        let db = database();
        let insert = "INSERT INTO a (y, x, z) VALUES ($2, $1, CAST($2 AS BLOB))";
        let changed = execute(&db, insert, &[7.into(), "seven".into()]).unwrap();
        assert_eq!(changed, 1);
        let insert = "INSERT INTO a (x, y, z) VALUES (?, ?, ?) ON CONFLICT DO NOTHING";
        let values = [8.into(), Value::Text(None), Value::Bytes(Some(vec![8]))];
        assert_eq!(execute(&db, insert, &values).unwrap(), 1);
        assert_eq!(execute(&db, insert, &values).unwrap(), 0, "the row exists");

        let rows = fetch(&db, "SELECT x, y, z FROM a ORDER BY x", &[], usize::MAX).unwrap();
        let read: Vec<(i64, Option<&str>, Vec<u8>)> = rows
            .iter()
            .map(|row| (row.try_get(0).unwrap(), row.try_get(1).unwrap(), row.try_get(2).unwrap()))
            .collect();
        assert_eq!(read, [(7, Some("seven"), b"seven".to_vec()), (8, None, vec![8])]);
        assert!(rows[1].try_get::<i64>(1).is_err(), "null is not an integer");
        assert!(rows[1].try_get::<&str>(0).is_err(), "an integer is not text");
        assert!(rows[1].try_get::<i64>(3).is_err(), "the column does not exist");
        assert_eq!(fetch(&db, "SELECT x FROM a", &[], 1).unwrap().len(), 1);
    }

    #[test]
    fn columns_are_read_by_name_in_any_order() {
        let db = database();
        run(&db, "INSERT INTO a (x, y) VALUES (7, 'seven')").unwrap();
        let rows = fetch(&db, "SELECT x, y, x + 1 AS next FROM a", &[], 1).unwrap();
        let row = Row::from(rows.into_iter().next().unwrap());
        for _ in 0..2 {
            assert_eq!(row.try_get::<i64>("next").unwrap(), 8);
            assert_eq!(row.try_get::<&str>("y").unwrap(), "seven");
            assert_eq!(row.try_get::<i64>("x").unwrap(), 7);
        }
        assert!(matches!(row.try_get::<i64>("z"), Err(sqlx::Error::ColumnNotFound(_))));
    }

    #[test]
    fn statement_with_missing_values_is_rejected() {
        let db = database();
        assert!(execute(&db, "INSERT INTO a (x, y) VALUES ($1, $2)", &[1.into()]).is_err());
    }

    #[test]
    fn constraint_violations_have_sqlx_kinds() {
        let db = database();
        let child = "PRAGMA foreign_keys = ON; \
             CREATE TABLE b (a INTEGER NOT NULL CHECK (a < 9) REFERENCES a (x)) STRICT; \
             INSERT INTO a (x) VALUES (1)";
        run(&db, child).unwrap();
        let refusal = |statement| {
            let error = execute(&db, statement, &[]).unwrap_err();
            (error.as_database_error().unwrap().kind(), error.to_string())
        };
        let (kind, message) = refusal("INSERT INTO a (x) VALUES (1)");
        assert!(matches!(kind, ErrorKind::UniqueViolation), "{message}");
        assert!(message.contains("(code: 1555) UNIQUE constraint failed: a.x"), "{message}");
        let (kind, message) = refusal("INSERT INTO b (a) VALUES (2)");
        assert!(matches!(kind, ErrorKind::ForeignKeyViolation), "{message}");
        let (kind, message) = refusal("INSERT INTO b (a) VALUES (NULL)");
        assert!(matches!(kind, ErrorKind::NotNullViolation), "{message}");
        let (kind, message) = refusal("INSERT INTO b (a) VALUES (10)");
        assert!(matches!(kind, ErrorKind::CheckViolation), "{message}");
        let (kind, message) = refusal("NONSENSE");
        assert!(matches!(kind, ErrorKind::Other), "{message}");
    }
}
