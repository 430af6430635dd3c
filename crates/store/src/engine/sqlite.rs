//! SQLite inside: how it is opened for the writer, for the readers, and for who copies its log.

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
use crate::{StoreError, folder};

/// The database's file in the data folder.
pub(crate) const DATABASE_FILE: &str = "aloft.db";
/// What it is named once everything was carried over to another database.
pub(crate) const MOVED_FILE: &str = "aloft.db.moved";
/// What SQLite adds to the name of a database for the files beside it.
pub(crate) const BESIDE: [&str; 3] = ["", "-wal", "-shm"];

/// Readers at one time; each has a thread and a page cache, made when first needed.
const READERS_MAX: u32 = 4;
/// A reader that nobody needed for so long is let go, with its memory.
const READER_IDLE: Duration = Duration::from_secs(30);
/// How long a writer waits for another process's transaction, a reader for a checkpoint.
const BUSY: Duration = Duration::from_secs(5);
const WRITER_CACHE_KIB: u32 = 4 * 1024;
const READER_CACHE_KIB: u32 = 2 * 1024;
/// Where the log grows to so many pages (8 MiB) before [`Folding`] comes to it, who commits copies it into the
/// database: a page changed by many transactions is copied once.
const CHECKPOINT_PAGES: u32 = 2_000;
/// The log's file is cut back to this when it grew beyond it.
const LOG_BYTES: u32 = 32 * 1024 * 1024;
/// Statements that a connection keeps prepared.
const STATEMENTS_KEPT: usize = 64;
const WRITE_AHEAD: &str = "PRAGMA journal_mode = WAL";

pub(crate) fn database_path(folder: &Path) -> PathBuf {
    folder.join(DATABASE_FILE)
}

/// Whether the folder has a database. A file of no bytes is left of a first start that did not come far.
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
        Err(error) => Err(folder::at(&path)(error)),
    }
}

/// Refuses a folder whose database was carried over to another: who opened it would work on what nobody
/// serves any more, or on an empty one. One that was made or put there since is served.
pub(crate) fn refuse_moved(folder: &Path) -> Result<(), StoreError> {
    let is_moved = folder.join(MOVED_FILE).exists() && !database_path(folder).exists();
    if is_moved { Err(StoreError::Moved { folder: folder.to_owned() }) } else { Ok(()) }
}

/// Gives the database another name, with the files beside it; what had that name is gone. The database
/// itself goes first: its log is found again wherever this ends.
pub(crate) fn set_aside(folder: &Path, name: &str) -> io::Result<()> {
    let named = |name: &str, end: &str| folder.join(format!("{name}{end}"));
    for end in BESIDE {
        if named(DATABASE_FILE, end).exists() {
            fs::rename(named(DATABASE_FILE, end), named(name, end))?;
        } else if named(name, end).exists() {
            fs::remove_file(named(name, end))?;
        }
    }
    File::open(folder)?.sync_all()
}

/// The one connection that writes; makes the database's file where there is none.
pub(crate) fn writer(folder: &Path) -> Result<Connection, StoreError> {
    refuse_moved(folder)?;
    let path = database_path(folder);
    let is_new = make(&path).map_err(folder::at(&path))?;
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let db = Connection::open_with_flags(path, flags).map_err(embedded::said)?;
    db.busy_timeout(BUSY).map_err(embedded::said)?;
    db.set_prepared_statement_cache_capacity(STATEMENTS_KEPT);
    let mut pragmas = String::new();
    for (name, value) in of_writers(is_new).into_iter().chain(of_all()) {
        writeln!(pragmas, "PRAGMA {name} = {value};").expect("a String takes everything");
    }
    embedded::run(&db, &pragmas)?;
    embedded::run(&db, WRITE_AHEAD)?;
    Ok(db)
}

/// Who copies the log into the database beside the writer, whose commits then wait for that only where
/// the log grows faster. Its connection is made when it is first needed.
#[derive(Default)]
pub(crate) struct Folding(Option<Connection>);

impl Folding {
    /// Copies what nobody reads in the log any more; once it is all, the log is written from its beginning
    /// again. Waits for nobody.
    pub(crate) fn fold(&mut self, log: &Path) -> Result<(), sqlx::Error> {
        let db = match &mut self.0 {
            Some(db) => db,
            none => none.insert(Self::connect(log)?),
        };
        embedded::run(db, "PRAGMA wal_checkpoint(PASSIVE)")
    }

    fn connect(log: &Path) -> Result<Connection, sqlx::Error> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let path = log.with_file_name(DATABASE_FILE);
        Connection::open_with_flags(path, flags).map_err(embedded::said)
    }
}

/// Like [`writer`], by a thread of its own that hands over rows as they are asked for.
pub(crate) async fn carrier(folder: &Path) -> Result<SqliteConnection, StoreError> {
    let path = database_path(folder);
    let is_new = make(&path).map_err(folder::at(&path))?;
    let options = of_writers(is_new)
        .into_iter()
        .fold(options(folder), |options, (name, value)| options.pragma(name, value));
    let mut db = options.connect().await?;
    sqlx::raw_sql(WRITE_AHEAD).execute(&mut db).await?;
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

/// How connections that write are set up, in this order.
fn of_writers(is_new: bool) -> Vec<(&'static str, String)> {
    // How an empty file was before need not be on disk: spares the first start three waits.
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

/// How all connections are set up.
fn of_all() -> [(&'static str, String); 2] {
    [("temp_store", "memory".to_owned()), ("trusted_schema", "OFF".to_owned())]
}

fn options(folder: &Path) -> SqliteConnectOptions {
    let options = SqliteConnectOptions::new()
        .filename(database_path(folder))
        .busy_timeout(BUSY)
        .statement_cache_capacity(STATEMENTS_KEPT)
        .disable_statement_logging();
    of_all().into_iter().fold(options, |options, (name, value)| options.pragma(name, value))
}
