//! Data folder: readable only by its owner, and locked by one server at a time. `engine` owns the
//! database in it, and `vault` the key.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, Read, Seek, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::Path;

use rustix::fs::{FlockOperation, flock};

use crate::StoreError;

const LOCK_FILE: &str = "aloft.lock";

/// Lock on a data folder. The system releases it when the process ends for any reason.
#[derive(Debug)]
pub(crate) struct FolderLock {
    file: File,
}

impl Drop for FolderLock {
    /// Unlocks explicitly. A child process that is being started also has the file open until it
    /// executes its program, and would hold the lock that long.
    fn drop(&mut self) {
        // If unlocking fails, closing the file still releases the lock.
        let _ = flock(&self.file, FlockOperation::Unlock);
    }
}

/// Creates the folder if it does not exist, readable only by its owner.
pub(crate) fn create(folder: &Path) -> Result<(), StoreError> {
    DirBuilder::new().recursive(true).mode(0o700).create(folder).map_err(at(folder))
}

/// Takes the lock. Fails with the holder if another process has it.
pub(crate) fn lock(folder: &Path) -> Result<FolderLock, StoreError> {
    let path = folder.join(LOCK_FILE);
    let mut file = OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .mode(0o600)
        .open(&path)
        .map_err(at(&path))?;
    match flock(&file, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => {}
        Err(rustix::io::Errno::WOULDBLOCK) => {
            return Err(StoreError::Locked {
                folder: folder.to_owned(),
                holder: read_holder(&mut file),
            });
        }
        Err(errno) => return Err(at(&path)(errno.into())),
    }
    write_holder(&mut file).map_err(at(&path))?;
    Ok(FolderLock { file })
}

/// Adds the path to an error of the system.
pub(crate) fn at(path: &Path) -> impl FnOnce(io::Error) -> StoreError {
    let path = path.to_owned();
    move |why| StoreError::Folder { path, why }
}

fn write_holder(file: &mut File) -> io::Result<()> {
    file.set_len(0)?;
    file.rewind()?;
    writeln!(file, "{}", std::process::id())
}

fn read_holder(file: &mut File) -> String {
    let mut pid = String::new();
    match file.read_to_string(&mut pid) {
        Ok(_) if !pid.trim().is_empty() => format!("process {}", pid.trim()),
        Ok(_) | Err(_) => "another process".to_owned(),
    }
}
