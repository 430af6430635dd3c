//! Engines: SQLite in the data folder, or a PostgreSQL server. Each engine's file opens its
//! connections. `db` runs statements on both.

mod postgres;
mod sqlite;

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rules::{Secret, Timestamp};
use sqlx::postgres::PgConnectOptions;
use sqlx::{PgPool, SqlitePool};

use crate::StoreError;
use crate::db::{self, Connection};

pub use postgres::{DatabaseOwner, Standby};
pub(crate) use postgres::{Heartbeat, Owner, READER_WAIT};
#[cfg(test)]
pub(crate) use sqlite::database_path;
pub(crate) use sqlite::{
    Checkpointer, DATABASE_FILE, FILE_SUFFIXES, MOVED_FILE, refuse_moved, set_aside,
};

/// Choice of the database.
#[derive(Clone, Debug)]
pub enum Database {
    /// SQLite, in the data folder.
    Embedded,
    /// PostgreSQL at this address, such as `postgres://user:password@host/database`.
    Postgres(Secret<String>),
}

/// Difference between this machine's clock and the database server's, as far as it is certain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClockOffset {
    Ahead(Duration),
    Behind(Duration),
}

/// Engine with its connection parameters.
pub(crate) enum Engine {
    Sqlite(PathBuf),
    Postgres(Box<PgConnectOptions>),
}

/// Pool of read-only connections, created on demand.
pub(crate) enum Readers {
    Sqlite(SqlitePool),
    Postgres(PgPool),
}

impl Engine {
    /// Returns the engine of this database, with this data folder.
    pub(crate) fn new(database: &Database, folder: &Path) -> Result<Self, StoreError> {
        Ok(match database {
            Database::Embedded => Self::Sqlite(folder.to_owned()),
            Database::Postgres(address) => Self::Postgres(Box::new(postgres::options(address)?)),
        })
    }

    /// Returns whether the database exists. Creates nothing.
    pub(crate) async fn exists(&self) -> Result<bool, StoreError> {
        match self {
            Self::Sqlite(folder) => sqlite::exists(folder),
            Self::Postgres(options) => postgres::exists(options).await,
        }
    }

    /// Opens the single connection that writes. On PostgreSQL it holds the lock on the database as
    /// long as it lives.
    pub(crate) async fn writer(&self) -> Result<Connection, StoreError> {
        match self {
            Self::Sqlite(folder) => sqlite::writer(folder).map(Connection::Embedded),
            Self::Postgres(options) => postgres::writer(options).await.map(Connection::Postgres),
        }
    }

    /// Opens a connection that writes and streams the rows of a table one by one, for transfers.
    pub(crate) async fn streaming_connection(&self) -> Result<Connection, StoreError> {
        match self {
            Self::Sqlite(folder) => {
                sqlite::streaming_connection(folder).await.map(Connection::Sqlite)
            }
            Self::Postgres(_) => self.writer().await,
        }
    }

    /// Records in the opening transaction that this server owns the database, and where it takes the
    /// connections of standbys. For SQLite, the lock of the data folder suffices.
    pub(crate) async fn claim(
        self,
        db: &mut Connection,
        address: Option<SocketAddr>,
    ) -> Result<Option<Owner>, StoreError> {
        match self {
            Self::Sqlite(_) => Ok(None),
            Self::Postgres(options) => Owner::claim(*options, db, address).await.map(Some),
        }
    }

    /// Shows to standbys from now on that this server runs. Nobody waits for an embedded database.
    pub(crate) async fn heartbeat(&self) -> Option<Heartbeat> {
        match self {
            Self::Sqlite(_) => None,
            Self::Postgres(options) => Some(Heartbeat::start((**options).clone()).await),
        }
    }

    /// Checkpoints the write-ahead log that an earlier process left. After a failed sync, the
    /// system may count pages of the log as written that are not. The checkpoint writes them again.
    pub(crate) async fn recover(&self, db: &mut Connection) -> Result<(), StoreError> {
        match self {
            Self::Sqlite(_) => Ok(checkpoint(db).await?),
            Self::Postgres(_) => Ok(()),
        }
    }

    pub(crate) fn readers(&self) -> Readers {
        match self {
            Self::Sqlite(folder) => Readers::Sqlite(sqlite::readers(folder)),
            Self::Postgres(options) => Readers::Postgres(postgres::readers(options)),
        }
    }
}

impl Database {
    /// Compares `now`, this machine's clock, with the database server's. Returns `None` for the embedded
    /// database.
    pub async fn clock_offset(
        &self,
        now: impl Fn() -> Timestamp + Send,
    ) -> Result<Option<ClockOffset>, StoreError> {
        match self {
            Self::Embedded => Ok(None),
            Self::Postgres(address) => postgres::clock_offset(address, now).await.map(Some),
        }
    }

    /// Returns the location of the database for people: the file, or the address without its
    /// password.
    pub fn location(&self, folder: &Path) -> String {
        match self {
            Self::Embedded => folder.join(DATABASE_FILE).display().to_string(),
            Self::Postgres(address) => postgres::location(address),
        }
    }
}

impl Readers {
    /// Returns a connection that reads committed data.
    pub(crate) async fn acquire(&self) -> Result<Connection, sqlx::Error> {
        match self {
            Self::Sqlite(pool) => pool.acquire().await.map(Connection::SqliteReader),
            Self::Postgres(pool) => pool.acquire().await.map(Connection::PostgresReader),
        }
    }

    pub(crate) async fn close(&self) {
        match self {
            Self::Sqlite(pool) => pool.close().await,
            Self::Postgres(pool) => pool.close().await,
        }
    }
}

/// Returns the statement that begins a writing transaction.
pub(crate) const fn begin_statement(db: &Connection) -> &'static str {
    if db.is_embedded() { "BEGIN IMMEDIATE" } else { "BEGIN" }
}

/// Checkpoints and syncs the write-ahead log, if the engine leaves that to its user.
pub(crate) async fn checkpoint(db: &mut Connection) -> Result<(), sqlx::Error> {
    if db.is_embedded() {
        db::run(db, "PRAGMA wal_checkpoint(TRUNCATE)").await?;
    }
    Ok(())
}
