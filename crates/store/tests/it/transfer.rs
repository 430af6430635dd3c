//! From one engine to the other and back: nothing is lost, nothing is added to.

use domain::check::Outcome;
use rules::{ChannelId, MonitorStatus, Region};
use store::{Batch, Database, MasterKeySource, Settings, Store, StoreError, transfer};

use crate::channels;
use crate::commit::opened;
use crate::harness::{
    Engine, Home, a_history, a_result, at, check_with_secret, instant, settings, with_evidence,
};

async fn filled() -> Home {
    let home = Home::new(Engine::Sqlite).await;
    let check = check_with_secret("hunter2");
    let monitor = home.monitor_with(1, rules::monitor::MonitorSettings { check, ..settings() });
    let (monitor, other) = (monitor.await.id, home.monitor(2).await.id);
    let mut results: Vec<_> =
        (0..300).map(|slot| a_result(monitor, Region::FlyAms, slot)).collect();
    let failed = a_result(other, Region::FlyArn, 7);
    results.push(with_evidence(failed, Outcome::Failure, "broken"));
    let batch = Batch {
        results,
        histories: vec![(monitor, a_history(MonitorStatus::Error, 10))],
        transitions: vec![(monitor, opened(1, 10))],
        ..Batch::default()
    };
    home.commit(batch).await.unwrap();
    home.store.monitors().delete(home.workspace, other, at(9)).await.unwrap();
    channels::create(&home, 1, &[monitor]).await;
    home.store.clone().close().await.unwrap();
    home
}

async fn carried(home: &Home, from: Database, to: Database) -> Result<Vec<String>, StoreError> {
    let done = transfer(home.folder.path(), &MasterKeySource::File, from, to).await?;
    let filled = done.iter().filter(|it| it.rows > 0);
    Ok(filled.map(|it| format!("{} {}", it.table, it.rows)).collect())
}

// issue 4: "verified by counts and checksums"
#[tokio::test]
async fn everything_goes_to_postgresql_and_back() {
    let home = filled().await;
    let postgres = Engine::Postgres.database();
    let there = carried(&home, Database::Embedded, postgres.clone()).await.unwrap();
    let due = ["vault 1", "monitors 2", "results 301", "evidence 1", "channels 1"];
    for table in due.into_iter().chain(["channel_monitors 1", "audit 5"]) {
        assert!(there.iter().any(|it| it == table), "{table} is not in {there:?}");
    }
    let settings = Settings { database: postgres.clone(), ..home.settings() };
    let store = Store::open(settings).await.unwrap();
    let page = store.monitors().all_for_boot().next_batch().await.unwrap();
    assert_eq!(page.len(), 1);
    assert_eq!(page[0].history, Some(a_history(MonitorStatus::Error, 10)));
    let monitor = &page[0].monitor;
    assert_eq!(monitor.settings.check, check_with_secret("hunter2"));
    let incidents = store.incidents().open(home.workspace).await.unwrap();
    assert_eq!(incidents.len(), 1);
    let channel = store.channels().get(home.workspace, ChannelId::from_bits(1)).await.unwrap();
    assert_eq!(channel.settings, channels::settings(&[monitor.id]));
    // What numbers itself goes on where it was.
    let results = vec![with_evidence(
        a_result(monitor.id, Region::FlyAms, 900),
        Outcome::Failure,
        "broken again",
    )];
    store.commit(Batch { results, ..Batch::default() }.into()).await.unwrap();
    store.close().await.unwrap();

    std::fs::rename(home.folder.path().join("aloft.db"), home.folder.path().join("old")).unwrap();
    carried(&home, postgres, Database::Embedded).await.unwrap();
    let store = Store::open(home.settings()).await.unwrap();
    assert_eq!(store.results().count().await.unwrap(), 302);
    assert_eq!(store.results().latest_slot().await.unwrap(), Some(instant(900)));
    assert_eq!(store.audit().newest(home.workspace, 10).await.unwrap().len(), 5);
    store.close().await.unwrap();
}

#[tokio::test]
async fn a_database_that_holds_something_is_not_filled() {
    let (home, other) = (filled().await, Home::new(Engine::Postgres).await);
    other.store.clone().close().await.unwrap();
    let refusal = carried(&home, Database::Embedded, other.database.clone()).await.unwrap_err();
    assert!(
        matches!(&refusal, StoreError::NotEmpty { table } if table == "workspaces"),
        "{refusal}"
    );
    let store = Store::open(other.settings()).await.unwrap();
    assert_eq!(store.workspaces().list().await.unwrap().len(), 1);
}

#[tokio::test]
async fn a_folder_with_a_server_or_without_a_database_is_left_alone() {
    let home = Home::new(Engine::Sqlite).await;
    let refusal = carried(&home, Database::Embedded, Engine::Postgres.database()).await;
    assert!(matches!(refusal, Err(StoreError::Locked { .. })));
    let folder = tempfile::tempdir().unwrap();
    let (from, to) = (Database::Embedded, Engine::Postgres.database());
    let refusal = transfer(folder.path(), &MasterKeySource::File, from, to).await;
    assert!(matches!(refusal, Err(StoreError::Folder { .. })), "there is nothing to carry");
}
