//! Replaces the embedded database with a backup. The backup is first prepared in a folder beside
//! it: checked, migrated and synced. An intent file then decides the restore. From there every step
//! is repeatable, and the next open of the data folder finishes them. A crash therefore leaves the
//! old database (no intent yet) or the new one.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::engine::{self, DATABASE_FILE, Engine, FILE_SUFFIXES};
use crate::migrate::{self, MIGRATIONS};
use crate::vault::unlock_vault;
use crate::{Database, Settings, StoreError, data_dir, db};

/// Directory in which a backup is prepared.
const PREPARED: &str = "restoring";
/// File that decides a restore.
const INTENT: &str = "aloft.restore";
/// Name of the replaced database. Later ones get a number as suffix.
const REPLACED: &str = "aloft.db.before-restore";

/// Outcome of a restore.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Restored {
    /// Path of the replaced database. `None` if there was none.
    pub replaced: Option<PathBuf>,
}

/// Restore that is decided.
#[derive(Debug, Serialize, Deserialize)]
struct Intent {
    /// Path of the backup, for log messages.
    backup: String,
    /// Name of the replaced database in the data folder.
    replaced: String,
}

/// Restores a backup into a data folder that no server uses. The backup must be complete, written
/// by this program or an older one, and sealed with the folder's key. The replaced database is
/// kept. No earlier copy is overwritten.
pub async fn restore(settings: &Settings, backup: &Path) -> Result<Restored, StoreError> {
    match settings.database {
        Database::Embedded => {}
        Database::Postgres(_) => return Err(StoreError::NotEmbedded),
    }
    let folder = settings.folder.as_path();
    data_dir::create(folder)?;
    let _lock = data_dir::lock(folder)?;
    finish(folder)?;
    let prepared = folder.join(PREPARED);
    data_dir::create(&prepared)?;
    let tried = prepare(settings, backup, &prepared).await;
    let decided = tried.and_then(|()| decide(folder, backup).map_err(data_dir::at(folder)));
    match decided {
        Ok(intent) => {
            let had_database = folder.join(DATABASE_FILE).exists();
            replace(folder, &intent).map_err(data_dir::at(folder))?;
            Ok(Restored { replaced: had_database.then(|| folder.join(intent.replaced)) })
        }
        Err(why) => {
            fs::remove_dir_all(&prepared).map_err(data_dir::at(&prepared))?;
            Err(why)
        }
    }
}

/// Returns whether a decided restore is unfinished.
pub(crate) fn is_under_way(folder: &Path) -> bool {
    folder.join(INTENT).exists()
}

/// Finishes an interrupted restore if it was decided, and removes its preparations otherwise.
/// Requires the lock of the data folder.
pub(crate) fn finish(folder: &Path) -> Result<(), StoreError> {
    let path = folder.join(INTENT);
    let text = match fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return give_up(folder),
        Err(error) => return Err(data_dir::at(&path)(error)),
    };
    let intent: Intent = serde_json::from_str(&text)
        .map_err(|why| data_dir::at(&path)(io::Error::new(io::ErrorKind::InvalidData, why)))?;
    replace(folder, &intent).map_err(data_dir::at(folder))?;
    tracing::warn!(
        "finished an interrupted restore: the database of `{}` is now that of `{}`, and the one \
         before is `{}`",
        folder.display(),
        intent.backup,
        intent.replaced
    );
    Ok(())
}

/// Removes the preparations of a restore that was not decided.
fn give_up(folder: &Path) -> Result<(), StoreError> {
    let prepared = folder.join(PREPARED);
    if !prepared.exists() {
        return Ok(());
    }
    fs::remove_dir_all(&prepared).map_err(data_dir::at(&prepared))?;
    tracing::warn!(
        "an interrupted restore changed nothing: the database of `{}` is the one before; run \
         `aloft restore` again",
        folder.display()
    );
    Ok(())
}

/// Copies the backup and turns it into a database that only has to be moved.
async fn prepare(settings: &Settings, backup: &Path, prepared: &Path) -> Result<(), StoreError> {
    for end in ["", "-wal"] {
        let from = PathBuf::from(format!("{}{end}", backup.display()));
        // A replaced database of a killed server has a write-ahead log beside it.
        if end.is_empty() || from.exists() {
            let to = prepared.join(format!("{DATABASE_FILE}{end}"));
            copy(&from, &to).map_err(data_dir::at(&from))?;
        }
    }
    let mut db = Engine::Sqlite(prepared.to_owned()).writer().await?;
    let found: Option<String> = db::query("PRAGMA quick_check(1)").scalar(&mut db).await?;
    if found.as_deref() != Some("ok") {
        return Err(StoreError::corrupt(backup.display().to_string(), found.unwrap_or_default()));
    }
    if db::query("SELECT 1 FROM sqlite_schema WHERE name = 'vault'")
        .fetch_optional(&mut db)
        .await?
        .is_none()
    {
        return Err(StoreError::corrupt(backup.display().to_string(), "not a backup of Aloft"));
    }
    migrate::migrate(&mut db, prepared, MIGRATIONS).await?;
    unlock_vault(&settings.master_key, &settings.folder, &mut db).await?;
    db::run(&mut db, "COMMIT").await?;
    engine::checkpoint(&mut db).await?;
    db.close().await?;
    let database = prepared.join(DATABASE_FILE);
    let synced = File::open(&database).and_then(|file| file.sync_all());
    synced.and_then(|()| sync_folder(prepared)).map_err(data_dir::at(&database))
}

/// Writes the intent. After that, the restore is finished even if this process ends.
fn decide(folder: &Path, backup: &Path) -> io::Result<Intent> {
    let intent = Intent { backup: backup.display().to_string(), replaced: free_name(folder) };
    let unfinished = folder.join(format!("{INTENT}.new"));
    let mut file =
        OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&unfinished)?;
    file.write_all(&serde_json::to_vec(&intent)?)?;
    file.sync_all()?;
    sync_folder(folder)?;
    fs::rename(&unfinished, folder.join(INTENT))?;
    sync_folder(folder)?;
    Ok(intent)
}

/// Moves the old database away and the prepared one to its place. While the prepared one is in its
/// own folder, the database of the data folder is the old one.
fn replace(folder: &Path, intent: &Intent) -> io::Result<()> {
    let prepared = folder.join(PREPARED);
    if prepared.join(DATABASE_FILE).exists() {
        for end in FILE_SUFFIXES {
            let old = folder.join(format!("{DATABASE_FILE}{end}"));
            if old.exists() {
                fs::rename(old, folder.join(format!("{}{end}", intent.replaced)))?;
            }
        }
        sync_folder(folder)?;
        fs::rename(prepared.join(DATABASE_FILE), folder.join(DATABASE_FILE))?;
        sync_folder(folder)?;
    }
    if prepared.exists() {
        fs::remove_dir_all(&prepared)?;
    }
    fs::remove_file(folder.join(INTENT))?;
    sync_folder(folder)
}

/// Returns an unused name for the replaced database.
fn free_name(folder: &Path) -> String {
    let is_free = |name: &String| {
        FILE_SUFFIXES.iter().all(|end| !folder.join(format!("{name}{end}")).exists())
    };
    let numbered = (2_u64..).map(|number| format!("{REPLACED}.{number}"));
    let mut names = std::iter::once(REPLACED.to_owned()).chain(numbered);
    names.find(is_free).expect("a folder has a finite number of files")
}

/// Copies a file, readable only by its owner.
fn copy(from: &Path, to: &Path) -> io::Result<()> {
    let mut source = File::open(from)?;
    let mut target = OpenOptions::new().write(true).create_new(true).mode(0o600).open(to)?;
    io::copy(&mut source, &mut target)?;
    target.sync_all()
}

fn sync_folder(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}
