//! Runs statements on either engine: a [`Query`] binds a few kinds of values and runs on a
//! [`Connection`] of any engine. Statements use only syntax that both engines share: `$1`, `ON
//! CONFLICT`, no functions of one engine. Statements for many rows are the exception (`arrays`, and
//! the evidence). `engine` creates the connections, and `embedded` runs the embedded database on
//! the calling thread.

pub(crate) mod arrays;
pub(crate) mod embedded;
pub(crate) mod unsynced;

use std::io;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use sqlx::pool::PoolConnection;
use sqlx::postgres::{PgArguments, PgRow};
use sqlx::sqlite::{SqliteArguments, SqliteRow};
use sqlx::{
    Arguments, Column as _, Connection as _, Decode, PgConnection, Postgres, Row as _, Sqlite,
    SqliteConnection, Type,
};
use sqlx::{SqlSafeStr, SqlStr};

use self::embedded::{Cells, FromCell};
use crate::StoreError;

/// Time limit for a response of PostgreSQL.
const RESPONSE_TIMEOUT: Duration = Duration::from_mins(1);

/// Connection: the writer's own or one borrowed by a reader. `Embedded` runs on the calling thread.
/// The other SQLite connections each have their own thread.
pub(crate) enum Connection {
    Embedded(rusqlite::Connection),
    Sqlite(SqliteConnection),
    SqliteReader(PoolConnection<Sqlite>),
    Postgres(PgConnection),
    PostgresReader(PoolConnection<Postgres>),
    /// The writer's lost connection, which is closed. Statements fail until it is restored.
    Lost,
}

/// Connection of a specific engine, for statements of one engine only.
pub(crate) enum EngineConnection<'c> {
    Embedded(&'c mut rusqlite::Connection),
    Sqlite(&'c mut SqliteConnection),
    Postgres(&'c mut PgConnection),
}

/// Statement with its values.
pub(crate) struct Query {
    statement: SqlStr,
    values: Vec<Value>,
}

/// Value of a statement.
#[derive(Clone)]
pub(crate) enum Value {
    Integer(Option<i64>),
    Text(Option<String>),
    Bytes(Option<Vec<u8>>),
    Boolean(bool),
}

/// Row of a result, read by the names of its columns. Names are looked up in the order of the
/// statement from the last one on, so reading the columns in that order compares one name each.
pub(crate) struct Row {
    cells: EngineRow,
    /// Position after the column that was read last.
    next: AtomicUsize,
}

/// Row of a specific engine.
enum EngineRow {
    Embedded(Cells),
    Sqlite(SqliteRow),
    Postgres(PgRow),
}

/// Type that can be read from a column of both engines.
pub(crate) trait Column<'r>:
    Decode<'r, Sqlite> + Type<Sqlite> + Decode<'r, Postgres> + FromCell<'r>
{
}

impl<'r, T> Column<'r> for T where
    T: Decode<'r, Sqlite> + Type<Sqlite> + Decode<'r, Postgres> + FromCell<'r>
{
}

/// Creates a query from a statement that both engines accept.
pub(crate) fn query(statement: impl SqlSafeStr) -> Query {
    Query { statement: statement.into_sql_str(), values: Vec::new() }
}

/// Runs statements without values, separated by semicolons.
pub(crate) async fn run(
    db: &mut Connection,
    statements: impl SqlSafeStr,
) -> Result<(), sqlx::Error> {
    let statements = statements.into_sql_str();
    match db.link()? {
        EngineConnection::Embedded(db) => embedded::run(db, statements.as_str()),
        EngineConnection::Sqlite(db) => sqlx::raw_sql(statements).execute(db).await.map(|_| ()),
        EngineConnection::Postgres(db) => sqlx::raw_sql(statements).execute(db).await.map(|_| ()),
    }
}

impl Connection {
    /// Returns the connection of the specific engine. Fails if it is lost.
    pub(crate) fn link(&mut self) -> Result<EngineConnection<'_>, sqlx::Error> {
        Ok(match self {
            Self::Embedded(db) => EngineConnection::Embedded(db),
            Self::Sqlite(db) => EngineConnection::Sqlite(db),
            Self::SqliteReader(db) => EngineConnection::Sqlite(db),
            Self::Postgres(db) => EngineConnection::Postgres(db),
            Self::PostgresReader(db) => EngineConnection::Postgres(db),
            Self::Lost => return Err(sqlx::Error::Io(io::ErrorKind::NotConnected.into())),
        })
    }

    /// Returns whether the connection is to the embedded database.
    pub(crate) const fn is_embedded(&self) -> bool {
        matches!(self, Self::Embedded(_) | Self::Sqlite(_) | Self::SqliteReader(_))
    }

    /// Returns the number of rows that the writer's connection has changed so far, or 0 unless it
    /// is embedded.
    pub(crate) fn rows_changed(&self) -> u64 {
        self.embedded().map_or(0, rusqlite::Connection::total_changes)
    }

    /// Returns whether a transaction is open on the writer's embedded connection.
    pub(crate) fn is_in_transaction(&self) -> bool {
        self.embedded().is_some_and(|db| !db.is_autocommit())
    }

    /// Returns the path of the embedded database's write-ahead log. The file exists while the
    /// writer is connected.
    pub(crate) fn wal_path(&self) -> Option<PathBuf> {
        self.embedded()?.path().map(|path| PathBuf::from(format!("{path}-wal")))
    }

    const fn embedded(&self) -> Option<&rusqlite::Connection> {
        match self {
            Self::Embedded(db) => Some(db),
            Self::Sqlite(_)
            | Self::SqliteReader(_)
            | Self::Postgres(_)
            | Self::PostgresReader(_)
            | Self::Lost => None,
        }
    }

    /// Closes the connection. A borrowed connection returns to its pool.
    pub(crate) async fn close(self) -> Result<(), StoreError> {
        match self {
            Self::Embedded(db) => embedded::close(db)?,
            Self::Sqlite(db) => db.close().await?,
            Self::Postgres(db) => db.close().await?,
            Self::SqliteReader(_) | Self::PostgresReader(_) | Self::Lost => {}
        }
        Ok(())
    }
}

impl Query {
    /// Binds a value to the next placeholder.
    pub(crate) fn bind(mut self, value: impl Into<Value>) -> Self {
        self.values.push(value.into());
        self
    }

    /// Runs the statement and returns the number of changed rows.
    pub(crate) async fn execute(self, db: &mut Connection) -> Result<u64, sqlx::Error> {
        match db.link()? {
            EngineConnection::Embedded(db) => {
                embedded::execute(db, self.statement.as_str(), &self.values)
            }
            EngineConnection::Sqlite(db) => {
                let arguments = sqlite_arguments(self.values)?;
                let done = sqlx::query_with(self.statement, arguments).execute(db).await?;
                Ok(done.rows_affected())
            }
            EngineConnection::Postgres(db) => {
                let arguments = postgres_arguments(self.values)?;
                let query = sqlx::query_with(self.statement, arguments);
                let done = await_response(query.execute(db)).await?;
                Ok(done.rows_affected())
            }
        }
    }

    /// Returns all rows.
    pub(crate) async fn fetch_all(self, db: &mut Connection) -> Result<Vec<Row>, sqlx::Error> {
        match db.link()? {
            EngineConnection::Embedded(db) => {
                let rows = embedded::fetch(db, self.statement.as_str(), &self.values, usize::MAX)?;
                Ok(rows.into_iter().map(Row::from).collect())
            }
            EngineConnection::Sqlite(db) => {
                let arguments = sqlite_arguments(self.values)?;
                let rows = sqlx::query_with(self.statement, arguments).fetch_all(db).await?;
                Ok(rows.into_iter().map(Row::from).collect())
            }
            EngineConnection::Postgres(db) => {
                let arguments = postgres_arguments(self.values)?;
                let query = sqlx::query_with(self.statement, arguments);
                let rows = await_response(query.fetch_all(db)).await?;
                Ok(rows.into_iter().map(Row::from).collect())
            }
        }
    }

    /// Returns the first row, if any.
    pub(crate) async fn fetch_optional(
        self,
        db: &mut Connection,
    ) -> Result<Option<Row>, sqlx::Error> {
        match db.link()? {
            EngineConnection::Embedded(db) => {
                let rows = embedded::fetch(db, self.statement.as_str(), &self.values, 1)?;
                Ok(rows.into_iter().next().map(Row::from))
            }
            EngineConnection::Sqlite(db) => {
                let arguments = sqlite_arguments(self.values)?;
                let row = sqlx::query_with(self.statement, arguments).fetch_optional(db).await?;
                Ok(row.map(Row::from))
            }
            EngineConnection::Postgres(db) => {
                let arguments = postgres_arguments(self.values)?;
                let query = sqlx::query_with(self.statement, arguments);
                let row = await_response(query.fetch_optional(db)).await?;
                Ok(row.map(Row::from))
            }
        }
    }

    /// Returns the first row. Fails if there is none.
    pub(crate) async fn fetch_one(self, db: &mut Connection) -> Result<Row, sqlx::Error> {
        self.fetch_optional(db).await?.ok_or(sqlx::Error::RowNotFound)
    }

    /// Returns the first column of the first row, if any.
    pub(crate) async fn scalar<T>(self, db: &mut Connection) -> Result<Option<T>, sqlx::Error>
    where
        T: for<'r> Column<'r>,
    {
        self.fetch_optional(db).await?.map(|row| row.at(0)).transpose()
    }
}

impl Row {
    /// Returns the value of a column.
    pub(crate) fn try_get<'r, T: Column<'r>>(&'r self, column: &str) -> Result<T, sqlx::Error> {
        self.at(self.position(column)?)
    }

    /// Returns the value of a column, counted from 0. For columns without a name in the code.
    pub(crate) fn at<'r, T: Column<'r>>(&'r self, position: usize) -> Result<T, sqlx::Error> {
        match &self.cells {
            EngineRow::Embedded(row) => row.try_get(position),
            EngineRow::Sqlite(row) => row.try_get(position),
            // Unchecked, because PostgreSQL has integers of three widths, and all are read as
            // `i64`.
            EngineRow::Postgres(row) => row.try_get_unchecked(position),
        }
    }

    /// Returns the text of a column, counted from 0. Fails if its type is another one.
    pub(crate) fn text_at(&self, position: usize) -> Result<&str, sqlx::Error> {
        match &self.cells {
            // Unchecked, the bytes of a number may be text.
            EngineRow::Postgres(row) => row.try_get(position),
            EngineRow::Embedded(_) | EngineRow::Sqlite(_) => self.at(position),
        }
    }

    fn position(&self, column: &str) -> Result<usize, sqlx::Error> {
        let next = self.next.load(Ordering::Relaxed);
        let mut positions = (next..self.len()).chain(0..next);
        let found = positions.find(|position| self.name(*position) == column);
        let found = found.ok_or_else(|| sqlx::Error::ColumnNotFound(column.to_owned()))?;
        debug_assert_eq!(
            (0..self.len()).filter(|position| self.name(*position) == column).count(),
            1,
            "`{column}` is the name of one column"
        );
        self.next.store(found + 1, Ordering::Relaxed);
        Ok(found)
    }

    fn len(&self) -> usize {
        match &self.cells {
            EngineRow::Embedded(row) => row.len(),
            EngineRow::Sqlite(row) => row.len(),
            EngineRow::Postgres(row) => row.len(),
        }
    }

    fn name(&self, position: usize) -> &str {
        match &self.cells {
            EngineRow::Embedded(row) => row.name(position),
            EngineRow::Sqlite(row) => row.column(position).name(),
            EngineRow::Postgres(row) => row.column(position).name(),
        }
    }
}

impl From<Cells> for Row {
    fn from(row: Cells) -> Self {
        Self { cells: EngineRow::Embedded(row), next: AtomicUsize::new(0) }
    }
}

impl From<SqliteRow> for Row {
    fn from(row: SqliteRow) -> Self {
        Self { cells: EngineRow::Sqlite(row), next: AtomicUsize::new(0) }
    }
}

impl From<PgRow> for Row {
    fn from(row: PgRow) -> Self {
        Self { cells: EngineRow::Postgres(row), next: AtomicUsize::new(0) }
    }
}

/// Waits for the response of a database on another machine. Fails after a time limit; the
/// connection is unusable then.
async fn await_response<T>(
    response: impl Future<Output = Result<T, sqlx::Error>>,
) -> Result<T, sqlx::Error> {
    let late = |_| Err(timeout_error(RESPONSE_TIMEOUT));
    tokio::time::timeout(RESPONSE_TIMEOUT, response).await.unwrap_or_else(late)
}

/// Returns the error of a database that did not respond in time.
pub(crate) fn timeout_error(within: Duration) -> sqlx::Error {
    let why = format!("it did not respond within {} s", within.as_secs());
    sqlx::Error::Io(io::Error::new(io::ErrorKind::TimedOut, why))
}

fn sqlite_arguments(values: Vec<Value>) -> Result<SqliteArguments, sqlx::Error> {
    let mut arguments = SqliteArguments::default();
    arguments.reserve(values.len(), 0);
    for value in values {
        match value {
            Value::Integer(value) => arguments.add(value),
            Value::Text(value) => arguments.add(value),
            Value::Bytes(value) => arguments.add(value),
            Value::Boolean(value) => arguments.add(value),
        }
        .map_err(sqlx::Error::Encode)?;
    }
    Ok(arguments)
}

fn postgres_arguments(values: Vec<Value>) -> Result<PgArguments, sqlx::Error> {
    let mut arguments = PgArguments::default();
    for value in values {
        match value {
            Value::Integer(value) => arguments.add(value),
            Value::Text(value) => arguments.add(value),
            Value::Bytes(value) => arguments.add(value),
            Value::Boolean(value) => arguments.add(value),
        }
        .map_err(sqlx::Error::Encode)?;
    }
    Ok(arguments)
}

/// Implements `From` for `Value`, with one line per type.
macro_rules! value {
    ($($from:ty => |$value:ident| $into:expr;)*) => {
        $(impl From<$from> for Value {
            fn from($value: $from) -> Self {
                $into
            }
        })*
    };
}

value! {
    i64 => |value| Self::Integer(Some(value));
    Option<i64> => |value| Self::Integer(value);
    bool => |value| Self::Boolean(value);
    String => |value| Self::Text(Some(value));
    &String => |value| Self::Text(Some(value.clone()));
    &str => |value| Self::Text(Some(value.to_owned()));
    Option<String> => |value| Self::Text(value);
    &Option<String> => |value| Self::Text(value.clone());
    Option<&str> => |value| Self::Text(value.map(ToOwned::to_owned));
    Vec<u8> => |value| Self::Bytes(Some(value));
    &[u8] => |value| Self::Bytes(Some(value.to_vec()));
    Option<Vec<u8>> => |value| Self::Bytes(value);
}
