//! Backups of the embedded database: taken during writes, and restored only if they fit.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use rules::{Region, Secret};
use store::{Batch, MasterKeySource, Settings, Store, StoreError, restore};

use crate::harness::{Engine, Home, a_result, a_workspace, at};

#[tokio::test]
async fn backup_restores_everything_committed_before_it() {
    let home = Home::new(Engine::Sqlite).await;
    let monitor = home.monitor(1).await.id;
    let results = (0..500).map(|slot| a_result(monitor, Region::FlyAms, slot)).collect();
    home.commit(Batch { results, ..Batch::default() }).await.unwrap();
    let copy = home.folder.path().join("copy.db");
    let workspaces = home.store.workspaces();
    let (bytes, beside) =
        tokio::join!(home.store.back_up(&copy), workspaces.create(a_workspace(2), at(1)));
    beside.unwrap();
    assert_eq!(fs::metadata(&copy).unwrap().len(), bytes.unwrap());
    assert_eq!(fs::metadata(&copy).unwrap().permissions().mode() & 0o777, 0o600);
    workspaces.create(a_workspace(3), at(2)).await.unwrap();
    let again = home.store.back_up(&copy).await;
    assert!(matches!(again, Err(StoreError::Folder { .. })), "an existing file is not replaced");

    let held = restore(&home.settings(), &copy).await;
    assert!(matches!(held, Err(StoreError::Locked { .. })));
    home.store.clone().close().await.unwrap();
    restore(&home.settings(), &copy).await.unwrap();
    let store = Store::open(home.settings()).await.unwrap();
    assert_eq!(store.results().count().await.unwrap(), 500);
    let slugs: Vec<_> =
        store.workspaces().list().await.unwrap().into_iter().map(|it| it.slug).collect();
    assert!(!slugs.contains(&"team-3".to_owned()), "{slugs:?}");
    store.close().await.unwrap();
    assert!(home.folder.path().join("aloft.db.before-restore").exists());
    assert!(!home.folder.path().join("restoring").exists());
}

#[tokio::test]
async fn invalid_backup_or_other_key_changes_nothing() {
    let home = Home::new(Engine::Sqlite).await;
    let copy = home.folder.path().join("copy.db");
    home.store.back_up(&copy).await.unwrap();
    home.store.clone().close().await.unwrap();
    let cut = home.folder.path().join("cut.db");
    let bytes = fs::read(&copy).unwrap();
    fs::write(&cut, &bytes[..bytes.len() / 2]).unwrap();
    let text = home.folder.path().join("text.db");
    fs::write(&text, "these are my notes").unwrap();
    let empty = home.folder.path().join("empty.db");
    fs::write(&empty, "").unwrap();
    for file in [cut, text, empty, home.folder.path().join("not-there.db")] {
        restore(&home.settings(), &file).await.unwrap_err();
    }
    let other = MasterKeySource::Bytes(Secret::new([7; 32]));
    let refusal = restore(&Settings { master_key: other, ..home.settings() }, &copy).await;
    assert!(matches!(refusal, Err(StoreError::WrongMasterKey)));
    let store = Store::open(home.settings()).await.unwrap();
    assert_eq!(store.workspaces().list().await.unwrap(), [a_workspace(1)]);
    assert!(!home.folder.path().join("aloft.db.before-restore").exists());
}

#[tokio::test]
async fn backup_and_restore_reject_postgresql() {
    let home = Home::new(Engine::Postgres).await;
    let copy = home.folder.path().join("copy.db");
    let refusal = home.store.back_up(&copy).await.unwrap_err();
    assert!(matches!(refusal, StoreError::NotEmbedded), "{refusal}");
    assert!(!copy.exists());
    let refusal = restore(&home.settings(), &copy).await;
    assert!(matches!(refusal, Err(StoreError::NotEmbedded)));
}
