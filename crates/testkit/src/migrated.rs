//! Copies of a migrated, empty database. All migrations take longer than most tests, so each test
//! process runs them once for each engine.

use std::fs::{self, DirBuilder, OpenOptions};
use std::io::Write as _;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::Path;
use std::sync::LazyLock;

use store::{Database, MasterKeySource, Settings, Store};
use tempfile::TempDir;
use tokio::runtime::Builder;

/// Files of a data folder without a workspace: the database and the key that it was created with.
const FILES: [&str; 2] = ["aloft.db", "aloft.key"];

static EMBEDDED: LazyLock<[Vec<u8>; 2]> = LazyLock::new(|| {
    let folder = migrate(Database::Embedded);
    FILES.map(|name| fs::read(folder.path().join(name)).expect("the store created the file"))
});

/// Creates a data folder with a migrated database and its key.
pub fn create_folder(folder: &Path) {
    let created = DirBuilder::new().recursive(true).mode(0o700).create(folder);
    created.expect("the parent folder is writable");
    for (name, content) in FILES.iter().zip(&*EMBEDDED) {
        let mut options = OpenOptions::new();
        let file = options.write(true).create_new(true).mode(0o600).open(folder.join(name));
        let written = file.and_then(|mut file| file.write_all(content));
        written.expect("the folder is new and writable");
    }
}

/// Applies all migrations to an empty database, in a data folder that is removed with the result.
pub(crate) fn migrate(database: Database) -> TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder can be created");
    let path = folder.path().to_owned();
    let settings = Settings { folder: path, database, master_key: MasterKeySource::File };
    // The caller is inside the runtime of its test, which cannot wait for another future.
    let migrating = std::thread::spawn(move || {
        let runtime = Builder::new_current_thread().enable_all().build();
        runtime.expect("a runtime can start").block_on(async {
            let store = Store::open(settings).await.expect("the database is empty");
            store.close().await.expect("the store can close");
        });
    });
    migrating.join().expect("the migrations succeed");
    folder
}
