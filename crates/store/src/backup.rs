//! Backups of the embedded database, taken while the server runs. The key is beside the database
//! and not in the backup. PostgreSQL has its own tools. `restore` restores a backup.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use crate::{Store, StoreError, data_dir, db};

impl Store {
    /// Copies the committed state of the embedded database to a new file. Returns the size in bytes
    /// when the file is on disk. Writes continue meanwhile.
    pub async fn back_up(&self, file: &Path) -> Result<u64, StoreError> {
        let mut db = self.read().await?;
        if !db.is_embedded() {
            return Err(StoreError::NotEmbedded);
        }
        create_file(file).map_err(data_dir::at(file))?;
        let copy = db::query("VACUUM INTO $1").bind(file.to_string_lossy().into_owned());
        let copied = copy.execute(&mut db).await;
        if let Err(error) = copied {
            // A partial copy could be mistaken for a complete one.
            fs::remove_file(file).map_err(data_dir::at(file))?;
            return Err(error.into());
        }
        sync_file(file).map_err(data_dir::at(file))
    }
}

/// Creates a new file, readable only by its owner.
fn create_file(file: &Path) -> io::Result<()> {
    OpenOptions::new().write(true).create_new(true).mode(0o600).open(file).map(|_| ())
}

fn sync_file(file: &Path) -> io::Result<u64> {
    let copy = File::open(file)?;
    copy.sync_all()?;
    Ok(copy.metadata()?.len())
}
