//! One way to ask either engine: a [`Query`] binds a few kinds of values and runs on a
//! [`Connection`] of whichever engine is behind it. Statements are written so that both read them:
//! `$1`, `ON CONFLICT`, no function of one engine. On PostgreSQL, those of evidence are the exception:
//! they take arrays, and go past this to [`Link`]. How connections are made stands in `engine`, how the
//! embedded database is asked without a thread between in `embedded`.

pub(crate) mod embedded;
pub(crate) mod unsynced;

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use sqlx::pool::PoolConnection;
use sqlx::postgres::{PgArguments, PgRow};
use sqlx::sqlite::{SqliteArguments, SqliteRow};
use sqlx::{
    Arguments, Connection as _, Decode, PgConnection, Postgres, Row as _, Sqlite, SqliteConnection,
    Type,
};
use sqlx::{SqlSafeStr, SqlStr};

use self::embedded::{Cells, FromCell};
use crate::StoreError;

/// An answer of PostgreSQL that takes longer than this does not come any more.
const ANSWER_WITHIN: Duration = Duration::from_mins(1);

/// A connection: the writer's own, or one that a reader has borrowed. `Embedded` answers in the thread that
/// asks, the other ones of SQLite each in a thread of their own.
pub(crate) enum Connection {
    Embedded(rusqlite::Connection),
    Sqlite(SqliteConnection),
    SqliteReader(PoolConnection<Sqlite>),
    Postgres(PgConnection),
    PostgresReader(PoolConnection<Postgres>),
}

/// A connection as its engine knows it, for what only one engine says.
pub(crate) enum Link<'c> {
    Embedded(&'c mut rusqlite::Connection),
    Sqlite(&'c mut SqliteConnection),
    Postgres(&'c mut PgConnection),
}

/// A statement with its values.
pub(crate) struct Query {
    statement: SqlStr,
    values: Vec<Value>,
}

/// A value of a statement.
#[derive(Clone)]
pub(crate) enum Value {
    Integer(Option<i64>),
    Text(Option<String>),
    Bytes(Option<Vec<u8>>),
    Boolean(bool),
}

/// A row of an answer.
pub(crate) enum Row {
    Embedded(Cells),
    Sqlite(SqliteRow),
    Postgres(PgRow),
}

/// What can stand in a column, on both engines.
pub(crate) trait Column<'r>:
    Decode<'r, Sqlite> + Type<Sqlite> + Decode<'r, Postgres> + FromCell<'r>
{
}

impl<'r, T> Column<'r> for T where
    T: Decode<'r, Sqlite> + Type<Sqlite> + Decode<'r, Postgres> + FromCell<'r>
{
}

/// A statement that both engines read, to bind values to and to run.
pub(crate) fn query(statement: impl SqlSafeStr) -> Query {
    Query { statement: statement.into_sql_str(), values: Vec::new() }
}

/// Runs statements without values, separated by semicolons.
pub(crate) async fn run(
    db: &mut Connection,
    statements: impl SqlSafeStr,
) -> Result<(), sqlx::Error> {
    let statements = statements.into_sql_str();
    match db.link() {
        Link::Embedded(db) => embedded::run(db, statements.as_str()),
        Link::Sqlite(db) => sqlx::raw_sql(statements).execute(db).await.map(|_| ()),
        Link::Postgres(db) => sqlx::raw_sql(statements).execute(db).await.map(|_| ()),
    }
}

impl Connection {
    /// The connection as its engine knows it.
    pub(crate) fn link(&mut self) -> Link<'_> {
        match self {
            Self::Embedded(db) => Link::Embedded(db),
            Self::Sqlite(db) => Link::Sqlite(db),
            Self::SqliteReader(db) => Link::Sqlite(db),
            Self::Postgres(db) => Link::Postgres(db),
            Self::PostgresReader(db) => Link::Postgres(db),
        }
    }

    /// Whether it is of the embedded database.
    pub(crate) const fn is_embedded(&self) -> bool {
        matches!(self, Self::Embedded(_) | Self::Sqlite(_) | Self::SqliteReader(_))
    }

    /// How many rows the writer's connection to the embedded database has changed so far.
    pub(crate) fn rows_changed(&self) -> u64 {
        self.embedded().map_or(0, rusqlite::Connection::total_changes)
    }

    /// Whether a transaction is open on the writer's connection to the embedded database.
    pub(crate) fn is_in_transaction(&self) -> bool {
        self.embedded().is_some_and(|db| !db.is_autocommit())
    }

    /// The file of the embedded database's log, which is there as long as its writer's connection.
    pub(crate) fn log(&self) -> Option<PathBuf> {
        self.embedded()?.path().map(|path| PathBuf::from(format!("{path}-wal")))
    }

    const fn embedded(&self) -> Option<&rusqlite::Connection> {
        match self {
            Self::Embedded(db) => Some(db),
            Self::Sqlite(_)
            | Self::SqliteReader(_)
            | Self::Postgres(_)
            | Self::PostgresReader(_) => None,
        }
    }

    /// Ends the connection in order; a borrowed one goes back instead.
    pub(crate) async fn close(self) -> Result<(), StoreError> {
        match self {
            Self::Embedded(db) => embedded::close(db)?,
            Self::Sqlite(db) => db.close().await?,
            Self::Postgres(db) => db.close().await?,
            Self::SqliteReader(_) | Self::PostgresReader(_) => {}
        }
        Ok(())
    }
}

impl Query {
    /// Gives the next placeholder its value.
    pub(crate) fn bind(mut self, value: impl Into<Value>) -> Self {
        self.values.push(value.into());
        self
    }

    /// Runs it, and says how many rows it changed.
    pub(crate) async fn execute(self, db: &mut Connection) -> Result<u64, sqlx::Error> {
        match db.link() {
            Link::Embedded(db) => embedded::execute(db, self.statement.as_str(), &self.values),
            Link::Sqlite(db) => {
                let arguments = of_sqlite(self.values)?;
                let done = sqlx::query_with(self.statement, arguments).execute(db).await?;
                Ok(done.rows_affected())
            }
            Link::Postgres(db) => {
                let arguments = of_postgres(self.values)?;
                let asked = sqlx::query_with(self.statement, arguments);
                let done = answered(asked.execute(db)).await?;
                Ok(done.rows_affected())
            }
        }
    }

    /// All rows of the answer.
    pub(crate) async fn fetch_all(self, db: &mut Connection) -> Result<Vec<Row>, sqlx::Error> {
        match db.link() {
            Link::Embedded(db) => {
                let rows = embedded::fetch(db, self.statement.as_str(), &self.values, usize::MAX)?;
                Ok(rows.into_iter().map(Row::Embedded).collect())
            }
            Link::Sqlite(db) => {
                let arguments = of_sqlite(self.values)?;
                let rows = sqlx::query_with(self.statement, arguments).fetch_all(db).await?;
                Ok(rows.into_iter().map(Row::Sqlite).collect())
            }
            Link::Postgres(db) => {
                let arguments = of_postgres(self.values)?;
                let asked = sqlx::query_with(self.statement, arguments);
                let rows = answered(asked.fetch_all(db)).await?;
                Ok(rows.into_iter().map(Row::Postgres).collect())
            }
        }
    }

    /// The first row of the answer, where there is one.
    pub(crate) async fn fetch_optional(
        self,
        db: &mut Connection,
    ) -> Result<Option<Row>, sqlx::Error> {
        match db.link() {
            Link::Embedded(db) => {
                let rows = embedded::fetch(db, self.statement.as_str(), &self.values, 1)?;
                Ok(rows.into_iter().next().map(Row::Embedded))
            }
            Link::Sqlite(db) => {
                let arguments = of_sqlite(self.values)?;
                let row = sqlx::query_with(self.statement, arguments).fetch_optional(db).await?;
                Ok(row.map(Row::Sqlite))
            }
            Link::Postgres(db) => {
                let arguments = of_postgres(self.values)?;
                let asked = sqlx::query_with(self.statement, arguments);
                let row = answered(asked.fetch_optional(db)).await?;
                Ok(row.map(Row::Postgres))
            }
        }
    }

    /// The first row of an answer that always has one.
    pub(crate) async fn fetch_one(self, db: &mut Connection) -> Result<Row, sqlx::Error> {
        self.fetch_optional(db).await?.ok_or(sqlx::Error::RowNotFound)
    }

    /// The first column of the first row, where there is one.
    pub(crate) async fn scalar<T>(self, db: &mut Connection) -> Result<Option<T>, sqlx::Error>
    where
        T: for<'r> Column<'r>,
    {
        self.fetch_optional(db).await?.map(|row| row.try_get(0)).transpose()
    }
}

impl Row {
    /// The value in a column, counted from 0.
    pub(crate) fn try_get<'r, T: Column<'r>>(&'r self, column: usize) -> Result<T, sqlx::Error> {
        match self {
            Self::Embedded(row) => row.try_get(column),
            Self::Sqlite(row) => row.try_get(column),
            // Unchecked, because integers have three widths there: all of them are read as `i64`.
            Self::Postgres(row) => row.try_get_unchecked(column),
        }
    }
}

/// What a database on another machine answers, unless it takes too long: then its connection is of
/// no use any more.
async fn answered<T>(
    answer: impl Future<Output = Result<T, sqlx::Error>>,
) -> Result<T, sqlx::Error> {
    let late = |_| Err(unanswered(ANSWER_WITHIN));
    tokio::time::timeout(ANSWER_WITHIN, answer).await.unwrap_or_else(late)
}

/// The error of a database that did not respond within a time.
pub(crate) fn unanswered(within: Duration) -> sqlx::Error {
    let why = format!("it did not respond within {} s", within.as_secs());
    sqlx::Error::Io(io::Error::new(io::ErrorKind::TimedOut, why))
}

fn of_sqlite(values: Vec<Value>) -> Result<SqliteArguments, sqlx::Error> {
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

fn of_postgres(values: Vec<Value>) -> Result<PgArguments, sqlx::Error> {
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

/// Where a value comes from: `From` for a type, as a sentence of one line.
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
