//! The data folder: made for its owner alone, and held by one server at a time. What lies in it
//! belongs to `engine` (the database) and `vault` (the key).

use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, Read, Seek, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::Path;

use rustix::fs::{FlockOperation, flock};

use crate::StoreError;

const LOCK_FILE: &str = "aloft.lock";

/// The lock on a data folder; the system lets go of it when the process ends, however it ends.
#[derive(Debug)]
pub(crate) struct FolderLock {
    file: File,
}

impl Drop for FolderLock {
    /// Closing the file is not enough: a process that is being started has it open too, until it is
    /// another program, and would hold the lock for that moment.
    fn drop(&mut self) {
        // A lock that cannot be let go of now goes with the file.
        let _ = flock(&self.file, FlockOperation::Unlock);
    }
}

/// Makes the folder where there is none, readable by its owner only.
pub(crate) fn make(folder: &Path) -> Result<(), StoreError> {
    DirBuilder::new().recursive(true).mode(0o700).create(folder).map_err(at(folder))
}

/// Takes the lock, or says who has it.
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
                holder: holder(&mut file),
            });
        }
        Err(errno) => return Err(at(&path)(errno.into())),
    }
    note_holder(&mut file).map_err(at(&path))?;
    Ok(FolderLock { file })
}

/// An error of the system, with the path it happened at.
pub(crate) fn at(path: &Path) -> impl FnOnce(io::Error) -> StoreError {
    let path = path.to_owned();
    move |why| StoreError::Folder { path, why }
}

fn note_holder(file: &mut File) -> io::Result<()> {
    file.set_len(0)?;
    file.rewind()?;
    writeln!(file, "{}", std::process::id())
}

fn holder(file: &mut File) -> String {
    let mut pid = String::new();
    match file.read_to_string(&mut pid) {
        Ok(_) if !pid.trim().is_empty() => format!("process {}", pid.trim()),
        Ok(_) | Err(_) => "another process".to_owned(),
    }
}
