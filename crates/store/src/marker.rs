//! Marker of a data folder that has held workspaces. If a server finds the marker and an empty
//! database, the database was lost or is the wrong one. `opening` rejects it.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use crate::{StoreError, data_dir};

const MARKER_FILE: &str = "aloft.workspaces";
/// Text of the file, for people who find it.
const TEXT: &str = "This data folder has held workspaces. While this file exists, `aloft serve` \
                    refuses to start here with an empty database.\n";

/// Marker of one data folder.
#[derive(Clone, Debug)]
pub(crate) struct Marker {
    path: PathBuf,
}

impl Marker {
    pub(crate) fn new(folder: &Path) -> Self {
        Self { path: folder.join(MARKER_FILE) }
    }

    /// Returns whether the folder has held workspaces.
    pub(crate) fn is_set(&self) -> bool {
        self.path.exists()
    }

    /// Records on disk that the folder holds workspaces.
    pub(crate) fn set(&self) -> Result<(), StoreError> {
        if self.is_set() {
            return Ok(());
        }
        let write = || {
            let mut file = OpenOptions::new()
                .write(true)
                .create(true)
                .truncate(true)
                .mode(0o600)
                .open(&self.path)?;
            file.write_all(TEXT.as_bytes())?;
            file.sync_all()?;
            self.sync_folder()
        };
        write().map_err(data_dir::at(&self.path))
    }

    /// Removes the record that the folder held workspaces.
    pub(crate) fn remove(&self) -> Result<(), StoreError> {
        match fs::remove_file(&self.path) {
            Ok(()) => self.sync_folder().map_err(data_dir::at(&self.path)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            Err(error) => Err(data_dir::at(&self.path)(error)),
        }
    }

    fn sync_folder(&self) -> io::Result<()> {
        let folder = self.path.parent().unwrap_or(&self.path);
        File::open(folder)?.sync_all()
    }
}
