//! Opens SQLite connections for the writer, the readers, and the checkpointer.

use std::fmt::Write as _;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::{Connection, OpenFlags};
use sqlx::sqlite::{SqliteConnectOptions, SqlitePoolOptions};
use sqlx::{ConnectOptions, SqliteConnection, SqlitePool};

use crate::db::embedded;
use crate::{StoreError, data_dir};

/// Database file in the data folder.
pub(crate) const DATABASE_FILE: &str = "aloft.db";
/// Name of the database file after a transfer to another database.
pub(crate) const MOVED_FILE: &str = "aloft.db.moved";
/// Suffixes of the files that make up a SQLite database.
pub(crate) const FILE_SUFFIXES: [&str; 3] = ["", "-wal", "-shm"];

/// Number of concurrent readers. Each has a thread and a page cache, created on demand.
const READERS_MAX: u32 = 4;
/// Idle time after which a reader is closed and its memory freed.
const READER_IDLE: Duration = Duration::from_secs(30);
/// Time limit for waiting on another process's transaction (writer) or a checkpoint (reader).
const BUSY: Duration = Duration::from_secs(5);
const WRITER_CACHE_KIB: u32 = 4 * 1024;
const READER_CACHE_KIB: u32 = 2 * 1024;
/// Size of the write-ahead log in pages (8 MiB) at which a commit checkpoints it, if [`Checkpointer`]
/// has not done so before. A page that many transactions change is copied once.
const CHECKPOINT_PAGES: u32 = 2_000;
/// Size to which the log file is truncated after it grew beyond it.
const LOG_BYTES: u32 = 32 * 1024 * 1024;
/// Number of prepared statements that a connection caches.
const STATEMENTS_KEPT: usize = 64;
const WRITE_AHEAD: &str = "PRAGMA journal_mode = WAL";

pub(crate) fn database_path(folder: &Path) -> PathBuf {
    folder.join(DATABASE_FILE)
}

/// Returns whether the data folder has a database. An interrupted first start leaves an empty file.
pub(super) fn exists(folder: &Path) -> Result<bool, StoreError> {
    refuse_moved(folder)?;
    let path = database_path(folder);
    match fs::metadata(&path) {
        Ok(metadata) => Ok(metadata.len() > 0 || !metadata.is_file()),
        Err(error)
            if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) =>
        {
            Ok(false)
        }
        Err(error) => Err(data_dir::at(&path)(error)),
    }
}

/// Rejects a data folder whose database was transferred to another one. Otherwise the caller would
/// use the outdated database, or an empty one. A database created or restored since is accepted.
pub(crate) fn refuse_moved(folder: &Path) -> Result<(), StoreError> {
    let is_moved = folder.join(MOVED_FILE).exists() && !database_path(folder).exists();
    if is_moved { Err(StoreError::Moved { folder: folder.to_owned() }) } else { Ok(()) }
}

/// Renames the database and the files beside it, and removes older files of that name. The database
/// file goes first, so that its log is still found after an interruption.
pub(crate) fn set_aside(folder: &Path, name: &str) -> io::Result<()> {
    let named = |name: &str, end: &str| folder.join(format!("{name}{end}"));
    for end in FILE_SUFFIXES {
        if named(DATABASE_FILE, end).exists() {
            fs::rename(named(DATABASE_FILE, end), named(name, end))?;
        } else if named(name, end).exists() {
            fs::remove_file(named(name, end))?;
        }
    }
    File::open(folder)?.sync_all()
}

/// Opens the single connection that writes. Creates the database file if it does not exist.
pub(crate) fn writer(folder: &Path) -> Result<Connection, StoreError> {
    refuse_moved(folder)?;
    let path = database_path(folder);
    let is_new = create_file(&path).map_err(data_dir::at(&path))?;
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let db = Connection::open_with_flags(path, flags).map_err(embedded::to_sqlx_error)?;
    db.busy_timeout(BUSY).map_err(embedded::to_sqlx_error)?;
    db.set_prepared_statement_cache_capacity(STATEMENTS_KEPT);
    let mut pragmas = String::new();
    for (name, value) in writer_pragmas(is_new).into_iter().chain(common_pragmas()) {
        writeln!(pragmas, "PRAGMA {name} = {value};").expect("writing to a String never fails");
    }
    embedded::run(&db, &pragmas)?;
    embedded::run(&db, WRITE_AHEAD)?;
    Ok(db)
}

/// Checkpoints the log beside the writer. Commits then wait for a checkpoint only if the log grows
/// faster. The connection is opened on demand.
#[derive(Default)]
pub(crate) struct Checkpointer(Option<Connection>);

impl Checkpointer {
    /// Copies the pages of the log that no reader needs. After a complete copy, the log is reused
    /// from its start. Waits for no other connection.
    pub(crate) fn checkpoint(&mut self, log: &Path) -> Result<(), sqlx::Error> {
        let db = match &mut self.0 {
            Some(db) => db,
            none => none.insert(Self::connect(log)?),
        };
        embedded::run(db, "PRAGMA wal_checkpoint(PASSIVE)")
    }

    fn connect(log: &Path) -> Result<Connection, sqlx::Error> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let path = log.with_file_name(DATABASE_FILE);
        Connection::open_with_flags(path, flags).map_err(embedded::to_sqlx_error)
    }
}

/// Like [`writer`], but on its own thread, and with streamed rows.
pub(crate) async fn streaming_connection(folder: &Path) -> Result<SqliteConnection, StoreError> {
    let path = database_path(folder);
    let is_new = create_file(&path).map_err(data_dir::at(&path))?;
    let options = writer_pragmas(is_new)
        .into_iter()
        .fold(options(folder), |options, (name, value)| options.pragma(name, value));
    let mut db = options.connect().await?;
    sqlx::raw_sql(WRITE_AHEAD).execute(&mut db).await?;
    Ok(db)
}

/// Creates the pool of read-only connections, opened on demand.
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

/// Creates the file if it does not exist, and returns whether it did. An existing file must be
/// writable: SQLite would otherwise open it read-only, and each write would fail later. SQLite
/// gives the files beside it the same permissions.
fn create_file(path: &Path) -> io::Result<bool> {
    match OpenOptions::new().write(true).create_new(true).mode(0o600).open(path) {
        Ok(_) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            OpenOptions::new().write(true).open(path).map(|_| false)
        }
        Err(error) => Err(error),
    }
}

/// Returns the settings of connections that write, in order.
fn writer_pragmas(is_new: bool) -> Vec<(&'static str, String)> {
    // The earlier state of an empty file need not be on disk. This spares the first start three
    // syncs.
    let before = is_new.then(|| ("journal_mode", "MEMORY".to_owned()));
    let always = [
        ("synchronous", "FULL".to_owned()),
        ("foreign_keys", "ON".to_owned()),
        ("cache_size", format!("-{WRITER_CACHE_KIB}")),
        ("wal_autocheckpoint", CHECKPOINT_PAGES.to_string()),
        ("journal_size_limit", LOG_BYTES.to_string()),
    ];
    before.into_iter().chain(always).collect()
}

/// Returns the settings of all connections.
fn common_pragmas() -> [(&'static str, String); 2] {
    [("temp_store", "memory".to_owned()), ("trusted_schema", "OFF".to_owned())]
}

fn options(folder: &Path) -> SqliteConnectOptions {
    let options = SqliteConnectOptions::new()
        .filename(database_path(folder))
        .busy_timeout(BUSY)
        .statement_cache_capacity(STATEMENTS_KEPT)
        .disable_statement_logging();
    common_pragmas().into_iter().fold(options, |options, (name, value)| options.pragma(name, value))
}
