//! SQLite inside: how it is opened for the writer and for the readers.

use std::fs::OpenOptions;
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions, SqliteSynchronous};
use sqlx::{ConnectOptions, SqliteConnection, SqlitePool};

use crate::{StoreError, folder};

/// The database's file in the data folder.
pub(crate) const DATABASE_FILE: &str = "aloft.db";

/// Readers at one time; each has a thread and a page cache, made when first needed.
const READERS_MAX: u32 = 4;
/// A reader that nobody needed for so long is let go, with its memory.
const READER_IDLE: Duration = Duration::from_secs(30);
/// How long a writer waits for another process's transaction, a reader for a checkpoint.
const BUSY: Duration = Duration::from_secs(5);
const WRITER_CACHE_KIB: u32 = 8 * 1024;
const READER_CACHE_KIB: u32 = 2 * 1024;
/// The log is copied into the database every so many pages (8 MiB): a page changed by many
/// transactions is copied once.
const CHECKPOINT_PAGES: u32 = 2_000;
/// The log's file is cut back to this when it grew beyond it.
const LOG_BYTES: u32 = 32 * 1024 * 1024;

pub(crate) fn database_path(folder: &Path) -> PathBuf {
    folder.join(DATABASE_FILE)
}

/// The one connection that writes; makes the database's file where there is none.
pub(crate) async fn writer(folder: &Path) -> Result<SqliteConnection, StoreError> {
    let path = database_path(folder);
    let is_new = make(&path).map_err(folder::at(&path))?;
    let mut options = options(folder)
        .synchronous(SqliteSynchronous::Full)
        .foreign_keys(true)
        .pragma("cache_size", format!("-{WRITER_CACHE_KIB}"))
        .pragma("wal_autocheckpoint", CHECKPOINT_PAGES.to_string())
        .pragma("journal_size_limit", LOG_BYTES.to_string())
        .thread_name(|_| "store-writer".to_owned());
    if is_new {
        // How an empty file was before need not be on disk: spares the first start three waits.
        options = options.journal_mode(SqliteJournalMode::Memory);
    }
    let mut db = options.connect().await?;
    sqlx::raw_sql("PRAGMA journal_mode = WAL").execute(&mut db).await?;
    Ok(db)
}

/// The connections that read, made when first needed.
pub(crate) fn readers(folder: &Path) -> SqlitePool {
    let options = options(folder)
        .read_only(true)
        .pragma("cache_size", format!("-{READER_CACHE_KIB}"))
        .thread_name(|number| format!("store-reader-{number}"));
    SqlitePoolOptions::new()
        .min_connections(0)
        .max_connections(READERS_MAX)
        .idle_timeout(READER_IDLE)
        .test_before_acquire(false)
        .connect_lazy_with(options)
}

/// Makes the file where there is none, and says whether it did. One that is there must be ours to
/// write: SQLite would open it for reading alone, and each write would fail later. The files that
/// SQLite makes beside it are readable by whom this one is.
fn make(path: &Path) -> io::Result<bool> {
    match OpenOptions::new().write(true).create_new(true).mode(0o600).open(path) {
        Ok(_) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            OpenOptions::new().write(true).open(path).map(|_| false)
        }
        Err(error) => Err(error),
    }
}

fn options(folder: &Path) -> SqliteConnectOptions {
    SqliteConnectOptions::new()
        .filename(database_path(folder))
        .busy_timeout(BUSY)
        .statement_cache_capacity(64)
        .pragma("temp_store", "memory")
        .pragma("trusted_schema", "OFF")
        .disable_statement_logging()
}
