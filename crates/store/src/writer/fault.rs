//! Fault of the disk: the reason why the last write failed, until a write succeeds again. `/readyz`
//! reports it at once, even if no later write has failed yet.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use sqlx::error::DatabaseError;
use sqlx::postgres::PgDatabaseError;

use crate::StoreError;
use crate::db::Connection;

/// Free space at which a full disk counts as usable again. Small writes may fit before, into parts
/// of the log that are reused.
const SPACE_MIN: u64 = 1024 * 1024;
/// SQLite's primary codes, the low byte of a code: <https://sqlite.org/rescode.html>.
const SQLITE_READONLY: i32 = 8;
const SQLITE_IOERR: i32 = 10;
const SQLITE_FULL: i32 = 13;
/// SQLSTATEs of a full disk and of an I/O error.
const DISK_FULL: &str = "53100";
const IO_ERROR: &str = "58030";

/// Reason why the disk does not accept a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// The named disk is full.
    NoSpace(&'static str),
    /// The disk is read-only or broken.
    Io,
}

/// Fault of the last write. Clones share it.
#[derive(Clone, Default)]
pub(crate) struct DiskHealth(Arc<FaultState>);

#[derive(Default)]
struct FaultState {
    /// Data folder; `None` if the database is on another machine.
    folder: Option<PathBuf>,
    fault: Mutex<Option<Fault>>,
}

impl Fault {
    /// Returns the fault that caused an error of the database, if a fault of the disk did.
    pub(super) fn from_error(error: &sqlx::Error) -> Option<Self> {
        let error = error.as_database_error()?;
        match error.try_downcast_ref::<PgDatabaseError>() {
            Some(error) => match error.code() {
                DISK_FULL => Some(Self::NoSpace("the database's disk")),
                IO_ERROR => Some(Self::Io),
                _ => None,
            },
            None => Self::from_sqlite(error),
        }
    }

    fn from_sqlite(error: &dyn DatabaseError) -> Option<Self> {
        match error.code()?.parse::<i32>().ok()? & 0xff {
            SQLITE_FULL => Some(Self::NoSpace("the data folder's disk")),
            SQLITE_IOERR | SQLITE_READONLY => Some(Self::Io),
            _ => None,
        }
    }

    /// Returns the error of a write that this fault prevented.
    pub(super) fn error(self, why: &impl ToString) -> StoreError {
        match self {
            Self::NoSpace(disk) => StoreError::NoSpace { disk },
            Self::Io => StoreError::NotCommitted { why: why.to_string() },
        }
    }
}

impl DiskHealth {
    /// Creates the state of a connection that writes.
    pub(super) fn new(db: &Connection) -> Self {
        let folder = db.wal_path().and_then(|log| log.parent().map(Path::to_owned));
        Self(Arc::new(FaultState { folder, fault: Mutex::default() }))
    }

    /// Records the fault of a failed write.
    pub(super) fn failed(&self, fault: Fault) {
        self.set(Some(fault));
    }

    /// Records a successful write. On a disk that is full, it only used space that it had.
    pub(super) fn succeeded(&self) {
        if let Some(fault) = self.fault()
            && !self.lasts(fault)
        {
            self.set(None);
        }
    }

    /// Returns the fault of the last write.
    pub(super) fn fault(&self) -> Option<Fault> {
        *self.0.fault.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns whether the disk is known to still have this fault, without writing.
    pub(super) fn lasts(&self, fault: Fault) -> bool {
        let Some(folder) = self.0.folder.as_ref().filter(|_| fault != Fault::Io) else {
            return false;
        };
        space(folder).is_some_and(|space| space < SPACE_MIN)
    }

    fn set(&self, fault: Option<Fault>) {
        *self.0.fault.lock().unwrap_or_else(PoisonError::into_inner) = fault;
    }
}

/// Returns the space on the disk of a folder that this process may use, in bytes.
fn space(folder: &Path) -> Option<u64> {
    let disk = rustix::fs::statvfs(folder).ok()?;
    // Only root may use the reserved blocks.
    let is_root = rustix::process::geteuid().is_root();
    let blocks = if is_root { disk.f_bfree } else { disk.f_bavail };
    Some(blocks.saturating_mul(disk.f_frsize))
}
