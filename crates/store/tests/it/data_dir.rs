//! Data folder: one server at a time, private to its owner, encrypted secrets, checked versions.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use domain::check::Outcome;
use rules::monitor::MonitorSettings;
use rules::notification::{ChannelSettings, IncomingWebhook, NotificationPreferences, Provider};
use rules::{ChannelId, Region, Secret};
use store::{Batch, Database, MasterKeySource, NewChannel, Settings, Store, StoreError};
use tempfile::TempDir;

use crate::harness::{
    Engine, Home, a_result, at, check_with_secret, for_each_engine, open, settings, settings_of,
    with_evidence,
};

const SECRET: &str = "correct-horse-battery-staple";

fn embedded(folder: &TempDir) -> Settings {
    settings_of(folder, &Database::Embedded)
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

/// Returns whether any file of the folder contains the text.
pub(crate) fn is_on_disk(folder: &Path, text: &str) -> bool {
    fs::read_dir(folder).unwrap().any(|entry| {
        let bytes = fs::read(entry.unwrap().path()).unwrap();
        bytes.windows(text.len()).any(|window| window == text.as_bytes())
    })
}

// design: §6 "Secrets … are encrypted at rest from the first migration on"
#[tokio::test]
async fn secrets_are_encrypted_on_disk() {
    let home = Home::new(Engine::Sqlite).await;
    let check = check_with_secret(SECRET);
    let monitor = home.monitor_with(1, MonitorSettings { check, ..settings() }).await;
    let answer = a_result(monitor.id, Region::FlyAms, 1);
    let results = vec![with_evidence(answer, Outcome::Failure, SECRET)];
    home.commit(Batch { results, ..Batch::default() }).await.unwrap();
    let hook =
        IncomingWebhook { webhook_url: Secret::new(format!("https://hooks.example/{SECRET}")) };
    let settings = ChannelSettings {
        name: None,
        monitor_ids: Vec::new(),
        provider: Provider::Slack(hook),
        preferences: NotificationPreferences::default(),
    };
    let (id, workspace) = (ChannelId::from_bits(1), home.workspace);
    let channel = NewChannel { id, workspace, settings, idempotency: None };
    home.store.channels().create(channel, at(2)).await.unwrap();
    assert!(!is_on_disk(home.folder.path(), SECRET), "in the write-ahead log");
    home.store.clone().close().await.unwrap();
    assert!(!is_on_disk(home.folder.path(), SECRET), "in the database");
    assert!(is_on_disk(home.folder.path(), "the front door"), "the search finds plain text");
}

#[tokio::test]
async fn deleted_monitor_settings_are_wiped() {
    for_each_engine(async |home| {
        let monitor = home.monitor(1).await;
        home.store.monitors().delete(home.workspace, monitor.id, at(5)).await.unwrap();
        let wiped = home
            .count(
                "monitors WHERE check_sealed IS NULL AND description IS NULL AND tags = '' \
                 AND tag_keys = ''",
            )
            .await;
        assert_eq!(wiped, 1);
    })
    .await;
}

// design: §6 "A server locks its data directory"
#[tokio::test]
async fn second_server_is_rejected_with_the_holder() {
    for_each_engine(async |home| {
        let refusal = Store::open(home.settings()).await.unwrap_err();
        let holder = format!("process {}", std::process::id());
        assert!(
            matches!(&refusal, StoreError::Locked { holder: named, .. } if *named == holder),
            "{refusal}"
        );
        home.store.clone().close().await.unwrap();
        open(home.settings()).await;
    })
    .await;
}

#[tokio::test]
async fn folder_and_key_are_private_to_owner() {
    let parent = tempfile::tempdir().unwrap();
    let folder = parent.path().join("made/by/the/store");
    let settings = Settings { folder: folder.clone(), ..embedded(&parent) };
    let store = open(settings.clone()).await;
    assert_eq!(mode(&folder), 0o700);
    for file in ["aloft.db", "aloft.db-wal", "aloft.key", "aloft.lock"] {
        assert_eq!(mode(&folder.join(file)), 0o600, "{file}");
    }
    store.close().await.unwrap();
    let key = folder.join("aloft.key");
    fs::set_permissions(&key, fs::Permissions::from_mode(0o640)).unwrap();
    let refusal = Store::open(settings).await.unwrap_err();
    assert!(refusal.to_string().ends_with("is readable by others (mode 640); chmod it to 600"));
}

#[tokio::test]
async fn other_master_key_is_rejected_at_open() {
    for_each_engine(async |home| {
        let folder = tempfile::tempdir().unwrap();
        let settings = settings_of(&folder, &home.engine.database());
        let with = |byte| Settings {
            master_key: MasterKeySource::Bytes(Secret::new([byte; 32])),
            ..settings.clone()
        };
        Store::open(with(1)).await.unwrap().close().await.unwrap();
        assert!(!folder.path().join("aloft.key").exists());
        assert!(matches!(Store::open(with(2)).await, Err(StoreError::WrongMasterKey)));
        Store::open(with(1)).await.unwrap().close().await.unwrap();
    })
    .await;
}

#[tokio::test]
async fn lost_or_broken_key_file_is_not_replaced() {
    for_each_engine(async |home| {
        home.store.clone().close().await.unwrap();
        let key = home.folder.path().join("aloft.key");
        for broken in ["", "c2hvcnQ=", "no base 64 at all"] {
            fs::write(&key, broken).unwrap();
            let refusal = Store::open(home.settings()).await;
            assert!(matches!(refusal, Err(StoreError::KeyFile { .. })), "{broken}");
        }
        fs::remove_file(&key).unwrap();
        let refusal = Store::open(home.settings()).await;
        assert!(matches!(refusal, Err(StoreError::KeyFile { .. })));
        assert!(!key.exists());
    })
    .await;
}

#[tokio::test]
async fn unfinished_key_file_is_rewritten() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("aloft.key.new"), "c2hvcnQ=").unwrap();
    open(embedded(&folder)).await.close().await.unwrap();
    assert!(!folder.path().join("aloft.key.new").exists());
    assert_eq!(mode(&folder.path().join("aloft.key")), 0o600);
    open(embedded(&folder)).await.close().await.unwrap();
}

#[tokio::test]
async fn unwritable_database_is_named_at_open() {
    let folder = tempfile::tempdir().unwrap();
    let database = folder.path().join("aloft.db");
    fs::create_dir(&database).unwrap();
    let refusal = Store::open(embedded(&folder)).await.unwrap_err();
    assert!(matches!(&refusal, StoreError::Folder { path, .. } if *path == database), "{refusal}");
}

// design: §6 "A database newer than the binary is refused"
#[tokio::test]
async fn newer_database_is_rejected() {
    for_each_engine(async |home: &Home| {
        home.store.clone().close().await.unwrap();
        home.execute(
            "INSERT INTO migrations (version, checksum) \
             SELECT 999, checksum FROM migrations WHERE version = 1",
        )
        .await;
        let refusal = Store::open(home.settings()).await.unwrap_err();
        assert!(matches!(refusal, StoreError::NewerDatabase { found: 999, .. }), "{refusal}");
        home.execute("DELETE FROM migrations WHERE version = 999").await;
        open(home.settings()).await;
    })
    .await;
}

#[tokio::test]
async fn uncreatable_folder_is_named() {
    let parent = tempfile::tempdir().unwrap();
    let file = parent.path().join("file");
    fs::write(&file, "").unwrap();
    let refusal =
        Store::open(Settings { folder: file.join("data"), ..embedded(&parent) }).await.unwrap_err();
    assert!(matches!(&refusal, StoreError::Folder { path, .. } if path.starts_with(&file)));
}
