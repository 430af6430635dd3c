//! Copies of the embedded database: one taken while the server goes on, and one put in the place of
//! what is there. The key lies beside the database and is not in the copy. PostgreSQL has tools of its
//! own for both.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use crate::db;
use crate::engine::{DATABASE_FILE, Engine, fold, set_aside};
use crate::migrate::{self, MIGRATIONS};
use crate::{Database, Settings, Store, StoreError, folder, store};

/// Folder beside the database in which a copy is tried before it takes the database's place.
const TRIAL: &str = "restoring";
/// What the database is named that a copy took the place of.
const REPLACED: &str = "aloft.db.before-restore";

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

/// Puts a copy in the place of the embedded database of a folder that no server holds. The copy is
/// tried first: it must be whole, of this program or an older one, and sealed with the folder's key.
/// What was there is kept as `aloft.db.before-restore`.
pub async fn restore(settings: &Settings, file: &Path) -> Result<(), StoreError> {
    match settings.database {
        Database::Embedded => {}
        Database::Postgres(_) => return Err(StoreError::NotEmbedded),
    }
    folder::make(&settings.folder)?;
    let _lock = folder::lock(&settings.folder)?;
    let trial = settings.folder.join(TRIAL);
    if trial.exists() {
        fs::remove_dir_all(&trial).map_err(folder::at(&trial))?;
    }
    folder::make(&trial)?;
    let tried = try_out(settings, file, &trial).await;
    let replaced = tried
        .and_then(|()| replace(&settings.folder, &trial).map_err(folder::at(&settings.folder)));
    fs::remove_dir_all(&trial).map_err(folder::at(&trial))?;
    replaced
}

async fn try_out(settings: &Settings, file: &Path, trial: &Path) -> Result<(), StoreError> {
    let copy = trial.join(DATABASE_FILE);
    make(&copy).map_err(folder::at(&copy))?;
    fs::copy(file, &copy).map_err(folder::at(file))?;
    let mut db = Engine::Sqlite(trial.to_owned()).writer().await?;
    let found: Option<String> = db::query("PRAGMA quick_check(1)").scalar(&mut db).await?;
    if found.as_deref() != Some("ok") {
        return Err(StoreError::corrupt(file.display().to_string(), found.unwrap_or_default()));
    }
    if db::query("SELECT 1 FROM sqlite_schema WHERE name = 'vault'")
        .fetch_optional(&mut db)
        .await?
        .is_none()
    {
        return Err(StoreError::corrupt(file.display().to_string(), "it is no copy of ours"));
    }
    migrate::migrate(&mut db, trial, MIGRATIONS).await?;
    store::unlock_vault(settings, &mut db).await?;
    db::run(&mut db, "COMMIT").await?;
    fold(&mut db).await?;
    db.close().await
}

fn replace(folder: &Path, trial: &Path) -> io::Result<()> {
    set_aside(folder, REPLACED)?;
    fs::rename(trial.join(DATABASE_FILE), folder.join(DATABASE_FILE))?;
    File::open(folder)?.sync_all()
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
