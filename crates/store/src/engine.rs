//! The engines: SQLite in the data folder, or PostgreSQL beside. How each is opened stands in its
//! file, how both are asked in `db`.

mod postgres;
mod sqlite;

use std::path::{Path, PathBuf};

use rules::Secret;
use sqlx::postgres::PgConnectOptions;
use sqlx::{PgPool, SqlitePool};

use crate::db::{self, Connection};
use crate::{Settings, StoreError};

pub(crate) use postgres::{Owner, READER_WAIT};
#[cfg(test)]
pub(crate) use sqlite::database_path;
pub(crate) use sqlite::{BESIDE, DATABASE_FILE, Folding, MOVED_FILE, refuse_moved, set_aside};

/// Which database the store lives in.
#[derive(Clone, Debug)]
pub enum Database {
    /// SQLite, in the data folder.
    Embedded,
    /// PostgreSQL at this address, such as `postgres://user:password@host/database`.
    Postgres(Secret<String>),
}

/// An engine with what it takes to reach it.
pub(crate) enum Engine {
    Sqlite(PathBuf),
    Postgres(Box<PgConnectOptions>),
}

/// The connections that read, made when first needed.
pub(crate) enum Readers {
    Sqlite(SqlitePool),
    Postgres(PgPool),
}

impl Engine {
    /// The engine that the settings name.
    pub(crate) fn of(settings: &Settings) -> Result<Self, StoreError> {
        Ok(match &settings.database {
            Database::Embedded => Self::Sqlite(settings.folder.clone()),
            Database::Postgres(address) => Self::Postgres(Box::new(postgres::options(address)?)),
        })
    }

    /// Whether the database exists. Creates nothing.
    pub(crate) async fn exists(&self) -> Result<bool, StoreError> {
        match self {
            Self::Sqlite(folder) => sqlite::exists(folder),
            Self::Postgres(options) => postgres::exists(options).await,
        }
    }

    /// The one connection that writes. PostgreSQL's holds the lock on its database for as long as
    /// it lives.
    pub(crate) async fn writer(&self) -> Result<Connection, StoreError> {
        match self {
            Self::Sqlite(folder) => sqlite::writer(folder).map(Connection::Embedded),
            Self::Postgres(options) => postgres::writer(options).await.map(Connection::Postgres),
        }
    }

    /// A connection that writes and hands over the rows of a table one by one: for carrying all of
    /// them elsewhere.
    pub(crate) async fn carrier(&self) -> Result<Connection, StoreError> {
        match self {
            Self::Sqlite(folder) => sqlite::carrier(folder).await.map(Connection::Sqlite),
            Self::Postgres(_) => self.writer().await,
        }
    }

    /// Notes in the opening transaction who owns the database from now on. The data folder's lock
    /// says it for SQLite.
    pub(crate) async fn claim(self, db: &mut Connection) -> Result<Option<Owner>, StoreError> {
        match self {
            Self::Sqlite(_) => Ok(None),
            Self::Postgres(options) => Owner::claim(*options, db).await.map(Some),
        }
    }

    /// Copies the log that a process left into the database. After a failed sync the system may take
    /// pages of the log for written that are not: copied, they are written again.
    pub(crate) async fn recover(&self, db: &mut Connection) -> Result<(), StoreError> {
        match self {
            Self::Sqlite(_) => Ok(fold(db).await?),
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
    /// The place of the database, for people: the file, or the address without its password.
    pub fn place(&self, folder: &Path) -> String {
        match self {
            Self::Embedded => folder.join(DATABASE_FILE).display().to_string(),
            Self::Postgres(address) => postgres::place(address),
        }
    }
}

impl Readers {
    /// A connection to read with, of what is committed.
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

/// The statement that begins a transaction which will write.
pub(crate) const fn begin(db: &Connection) -> &'static str {
    if db.is_embedded() { "BEGIN IMMEDIATE" } else { "BEGIN" }
}

/// Copies the log into the database and syncs it, where the engine leaves that to its user.
pub(crate) async fn fold(db: &mut Connection) -> Result<(), sqlx::Error> {
    if db.is_embedded() {
        db::run(db, "PRAGMA wal_checkpoint(TRUNCATE)").await?;
    }
    Ok(())
}
