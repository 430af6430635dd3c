//! Backups of the embedded database, taken while the server runs. The key is beside the database and
//! not in the backup. PostgreSQL has tools of its own; putting a backup back belongs to `restore`.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use crate::{Store, StoreError, db, folder};

impl Store {
    /// Writes a copy of the embedded database, of what is committed now, to a file that is not there
    /// yet; answers when it is on disk, with its size in bytes. Writing goes on meanwhile.
    pub async fn back_up(&self, file: &Path) -> Result<u64, StoreError> {
        let mut db = self.read().await?;
        if !db.is_embedded() {
            return Err(StoreError::NotEmbedded);
        }
        make(file).map_err(folder::at(file))?;
        let copy = db::query("VACUUM INTO $1").bind(file.to_string_lossy().into_owned());
        let copied = copy.execute(&mut db).await;
        if let Err(error) = copied {
            // Half a copy would be taken for a whole one.
            fs::remove_file(file).map_err(folder::at(file))?;
            return Err(error.into());
        }
        synced(file).map_err(folder::at(file))
    }
}

/// Makes a file that is not there yet, for its owner alone.
fn make(file: &Path) -> io::Result<()> {
    OpenOptions::new().write(true).create_new(true).mode(0o600).open(file).map(|_| ())
}

fn synced(file: &Path) -> io::Result<u64> {
    let copy = File::open(file)?;
    copy.sync_all()?;
    Ok(copy.metadata()?.len())
}
