//! Committed data survives anything that happens to the process afterwards.

use std::fs;
use std::path::Path;

use rules::Region;
use store::{Batch, Store};

use crate::harness::{
    Engine, Home, a_result, a_workspace, at, for_each_engine, instant, open, settings_of, until,
};

#[tokio::test]
async fn dropped_store_keeps_committed_data() {
    for_each_engine(async |home| {
        let folder = tempfile::tempdir().unwrap();
        let settings = settings_of(&folder, &home.engine.database());
        let store = open(settings.clone()).await;
        store.workspaces().create(a_workspace(1), at(0)).await.unwrap();
        drop(store);
        let reopened = until(async || Store::open(settings.clone()).await.ok()).await;
        assert_eq!(reopened.workspaces().list().await.unwrap(), [a_workspace(1)]);
        assert_eq!(home.store.workspaces().list().await.unwrap().len(), 1);
    })
    .await;
}

#[tokio::test]
async fn copied_files_contain_all_committed_data() {
    let home = Home::new(Engine::Sqlite).await;
    let monitor = home.monitor(1).await.id;
    for slot in 1..=20 {
        let results = (0..50).map(|part| a_result(monitor, Region::FlyAms, slot * 100 + part));
        let batch = Batch { results: results.collect(), ..Batch::default() };
        home.commit(batch).await.unwrap();
        // A process killed now leaves the files in this state.
        let left_behind = tempfile::tempdir().unwrap();
        copy(home.folder.path(), left_behind.path());
        let next = open(settings_of(&left_behind, &home.database)).await;
        assert_eq!(next.results().count().await.unwrap(), slot as u64 * 50);
        assert_eq!(next.results().latest_slot().await.unwrap(), Some(instant(slot * 100 + 49)));
        next.close().await.unwrap();
    }
}

#[tokio::test]
async fn closed_store_leaves_a_single_database_file() {
    let home = Home::new(Engine::Sqlite).await;
    home.monitor(1).await;
    home.store.clone().close().await.unwrap();
    assert!(!home.folder.path().join("aloft.db-wal").exists());
    let reopened = open(home.settings()).await;
    assert_eq!(reopened.workspaces().list().await.unwrap(), [a_workspace(1)]);
}

fn copy(from: &Path, to: &Path) {
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        fs::copy(entry.path(), to.join(entry.file_name())).unwrap();
    }
}
