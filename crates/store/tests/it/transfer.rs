//! Transfers from one engine to the other and back: no row is lost, added or changed.

use std::collections::BTreeMap;
use std::path::Path;

use domain::cadence::{Missed, MissedReason};
use domain::check::Outcome;
use rules::{ChannelId, MonitorStatus, Region, Scope};
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{AssertSqlSafe, ConnectOptions as _};
use store::{
    ApiKey, Batch, Database, Idempotency, KeyHash, MasterKeySource, NewMonitor, Settings, Store,
    StoreError, transfer,
};

use crate::commit::opened;
use crate::harness::{
    Engine, Home, a_history, a_result, at, check_with_secret, instant, key_id, monitor_id,
    settings, with_evidence,
};
use crate::{
    certificates, channels, components, heartbeats, invitations, maintenances, outbox, probes,
    reports, subscribers, uptime_reports, users,
};

/// Tables that are not transferred.
const OWN_TABLES: [&str; 2] = ["migrations", "owner"];
const HOUR: i64 = 3_600_000;

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
        judge_states: vec![(monitor, a_history(MonitorStatus::Error, 10))],
        transitions: vec![(monitor, opened(1, 10))],
        ..Batch::default()
    };
    home.commit(batch).await.unwrap();
    home.store.monitors().delete(home.workspace, other, at(9)).await.unwrap();
    channels::create(&home, 1, &[monitor]).await;
    home.store.clone().close().await.unwrap();
    home
}

async fn transferred(home: &Home, from: Database, to: Database) -> Result<Vec<String>, StoreError> {
    let done = transfer(home.folder.path(), &MasterKeySource::File, from, to).await?;
    let filled = done.iter().filter(|it| it.rows > 0);
    Ok(filled.map(|it| format!("{} {}", it.table, it.rows)).collect())
}

// issue 4: "verified by counts and checksums"
#[tokio::test]
async fn round_trip_to_postgresql_keeps_everything() {
    let home = filled().await;
    let postgres = Engine::Postgres.database();
    let there = transferred(&home, Database::Embedded, postgres.clone()).await.unwrap();
    let due = ["vault 1", "monitors 2", "recent_results 5", "evidence 1", "channels 1"];
    for table in due.into_iter().chain(["channel_monitors 1", "audit 5"]) {
        assert!(there.iter().any(|it| it == table), "{table} is not in {there:?}");
    }
    let settings = Settings { database: postgres.clone(), ..home.settings() };
    let store = Store::open(settings).await.unwrap();
    let page = store.monitors().all_for_boot().next_batch().await.unwrap().unwrap();
    assert_eq!(page.len(), 1);
    assert_eq!(page[0].judge_state, Some(a_history(MonitorStatus::Error, 10)));
    let monitor = &page[0].monitor;
    assert_eq!(monitor.settings.check, check_with_secret("hunter2"));
    let incidents = store.incidents().open(home.workspace).await.unwrap();
    assert_eq!(incidents.len(), 1);
    let channel = store.channels().get(home.workspace, ChannelId::from_bits(1)).await.unwrap();
    assert_eq!(channel.settings, channels::settings(&[monitor.id]));
    // Sequences continue after the transferred rows.
    let results = vec![with_evidence(
        a_result(monitor.id, Region::FlyAms, 900),
        Outcome::Failure,
        "broken again",
    )];
    store.commit(Batch { results, ..Batch::default() }.into()).await.unwrap();
    store.close().await.unwrap();

    transferred(&home, postgres, Database::Embedded).await.unwrap();
    let store = Store::open(home.settings()).await.unwrap();
    assert_eq!(store.results().count().await.unwrap(), 302);
    assert_eq!(store.results().latest_slot().await.unwrap(), Some(instant(900)));
    assert_eq!(store.audit().newest(home.workspace, 10).await.unwrap().len(), 5);
    store.close().await.unwrap();
}

#[tokio::test]
async fn non_empty_target_is_rejected() {
    let (home, other) = (filled().await, Home::new(Engine::Postgres).await);
    other.store.clone().close().await.unwrap();
    let refusal = transferred(&home, Database::Embedded, other.database.clone()).await.unwrap_err();
    assert!(
        matches!(&refusal, StoreError::NotEmpty { table } if table == "workspaces"),
        "{refusal}"
    );
    let store = Store::open(other.settings()).await.unwrap();
    assert_eq!(store.workspaces().list().await.unwrap().len(), 1);
}

// A command that does not name PostgreSQL would change a database that no server reads any more.
#[tokio::test]
async fn transferred_database_opens_only_after_renaming_it_back() {
    let home = filled().await;
    let before = content(home.folder.path()).await;
    transferred(&home, Database::Embedded, Engine::Postgres.database()).await.unwrap();
    let file = |name: &str| home.folder.path().join(name);
    let refusal = Store::open(home.settings()).await.unwrap_err();
    assert!(matches!(refusal, StoreError::Moved { .. }), "{refusal}");
    assert!(refusal.to_string().contains("ALOFT_DATABASE"), "{refusal}");
    assert!(!file("aloft.db").exists(), "no empty database is created");
    let again = transferred(&home, Database::Embedded, Engine::Postgres.database()).await;
    assert!(matches!(again, Err(StoreError::Moved { .. })));

    std::fs::rename(file("aloft.db.moved"), file("aloft.db")).unwrap();
    assert_eq!(content(home.folder.path()).await, before, "nothing is lost");
    Store::open(home.settings()).await.unwrap().close().await.unwrap();
}

#[tokio::test]
async fn file_of_earlier_transfer_is_not_replaced() {
    let home = filled().await;
    let left = home.folder.path().join("aloft.db.moved");
    std::fs::write(&left, "earlier").unwrap();
    let postgres = Engine::Postgres.database();
    let refusal = transferred(&home, Database::Embedded, postgres).await.unwrap_err();
    assert!(refusal.to_string().contains("move it elsewhere first"), "{refusal}");
    assert_eq!(std::fs::read(&left).unwrap(), b"earlier");
    Store::open(home.settings()).await.unwrap().close().await.unwrap();
}

#[tokio::test]
async fn locked_or_missing_database_is_not_transferred() {
    let home = Home::new(Engine::Sqlite).await;
    let refusal = transferred(&home, Database::Embedded, Engine::Postgres.database()).await;
    assert!(matches!(refusal, Err(StoreError::Locked { .. })));
    let folder = tempfile::tempdir().unwrap();
    let (from, to) = (Database::Embedded, Engine::Postgres.database());
    let refusal = transfer(folder.path(), &MasterKeySource::File, from, to).await;
    assert!(matches!(refusal, Err(StoreError::Folder { .. })), "there is nothing to transfer");
}

/// Creates a database with rows in every table.
async fn filled_everywhere() -> Home {
    let home = Home::new(Engine::Sqlite).await;
    let key = ApiKey {
        id: key_id(1),
        workspace: home.workspace,
        name: "ci".to_owned(),
        scope: Some(Scope::Read),
        created_at: instant(5),
        expires_at: None,
        last_used_at: None,
        revoked_at: None,
    };
    home.store.keys().create(key, KeyHash::new("secret"), at(5)).await.unwrap();
    home.execute_owned(format!(
        "INSERT INTO configured_resources VALUES (1, '{}', 'all', 'http_monitor', 'a', 'mon_1', 5)",
        home.workspace
    ))
    .await;
    home.execute("INSERT INTO unreadable_rows VALUES ('recent_results', 7, 'it ends', x'00')")
        .await;
    let idempotency =
        Idempotency { method: "CreateTcpMonitor", key: "once".to_owned(), request: [7; 32] };
    let new = NewMonitor {
        id: monitor_id(1),
        workspace: home.workspace,
        settings: settings(),
        idempotency: Some(idempotency),
    };
    home.store.monitors().create(new, at(6)).await.unwrap();
    let monitor = monitor_id(1);
    let slots = (0..180).map(|minute| minute * HOUR / 60);
    let mut results: Vec<_> = slots.map(|slot| a_result(monitor, Region::FlyAms, slot)).collect();
    let failed = a_result(monitor, Region::FlyArn, 7);
    results.push(with_evidence(failed, Outcome::Failure, "broken"));
    let missed = Missed {
        monitor,
        region: Region::FlyAms,
        first_slot: instant(-HOUR),
        last_slot: instant(-HOUR),
        count: 1,
        reason: MissedReason::Changed,
    };
    let batch = Batch {
        results,
        missed: vec![missed],
        judge_states: vec![(monitor, a_history(MonitorStatus::Error, 10))],
        transitions: vec![(monitor, opened(1, 10))],
        ..Batch::default()
    };
    heartbeats::a_full_one(&home, 2).await;
    channels::create(&home, 1, &[monitor]).await;
    home.commit(batch).await.unwrap();
    outbox::deliver(&home, outbox::channel_id(1), 20).await;
    let component = components::a_full_page_with_one(&home, monitor).await;
    maintenances::a_full_one(&home, monitor, component.id).await;
    reports::a_full_one(&home, component.settings.page_id, component.id).await;
    subscribers::a_full_one(&home, component.settings.page_id, component.id).await;
    certificates::a_full_one(&home).await;
    users::a_full_one(&home).await;
    invitations::a_full_one(&home).await;
    uptime_reports::a_full_one(&home).await;
    probes::a_full_one(&home).await;
    probes::a_suspicion(&home).await;
    while home.store.history().compact().await.unwrap().results > 0 {}
    home.store.clone().close().await.unwrap();
    home
}

/// Returns every row of every table of the embedded database, by table. The tables come from the
/// schema.
async fn content(folder: &Path) -> BTreeMap<String, Vec<String>> {
    let options = SqliteConnectOptions::new().filename(folder.join("aloft.db"));
    let mut db = options.connect().await.unwrap();
    let tables: Vec<String> = sqlx::query_scalar(
        "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'",
    )
    .fetch_all(&mut db)
    .await
    .unwrap();
    let mut content = BTreeMap::new();
    for table in tables.into_iter().filter(|table| !OWN_TABLES.contains(&table.as_str())) {
        let columns: Vec<String> =
            sqlx::query_scalar("SELECT 'quote(' || name || ')' FROM pragma_table_info($1)")
                .bind(&table)
                .fetch_all(&mut db)
                .await
                .unwrap();
        let row = columns.join(" || ', ' || ");
        let rows = AssertSqlSafe(format!("SELECT {row} FROM {table} ORDER BY 1"));
        content.insert(table, sqlx::query_scalar(rows).fetch_all(&mut db).await.unwrap());
    }
    content
}

/// Returns the tables of PostgreSQL with their numbers of rows.
async fn counted(home: &Home, database: &Database) -> BTreeMap<String, usize> {
    let Database::Postgres(address) = database else { panic!("this test needs PostgreSQL") };
    let options: sqlx::postgres::PgConnectOptions = address.expose().parse().unwrap();
    let mut db = options.options([("search_path", "aloft")]).connect().await.unwrap();
    // Partitions belong to their table.
    let tables: Vec<String> = sqlx::query_scalar(
        "SELECT relname::TEXT FROM pg_class WHERE relnamespace = 'aloft'::regnamespace \
         AND relkind IN ('r', 'p') AND NOT relispartition",
    )
    .fetch_all(&mut db)
    .await
    .unwrap();
    let mut counted = BTreeMap::new();
    for table in tables.into_iter().filter(|table| !OWN_TABLES.contains(&table.as_str())) {
        let statement = AssertSqlSafe(format!("SELECT COUNT(*) FROM {table}"));
        let rows: i64 = sqlx::query_scalar(statement).fetch_one(&mut db).await.unwrap();
        counted.insert(table, usize::try_from(rows).unwrap());
    }
    assert!(!counted.is_empty(), "{:?} has a schema", home.engine);
    counted
}

// A table that is added later is found by the schema, and must be filled here.
#[tokio::test]
async fn every_table_is_transferred_with_every_row() {
    let home = filled_everywhere().await;
    let before = content(home.folder.path()).await;
    let empty: Vec<&String> =
        before.iter().filter(|(_, rows)| rows.is_empty()).map(|(table, _)| table).collect();
    assert!(empty.is_empty(), "this test must fill {empty:?} to cover their transfer");

    let postgres = Engine::Postgres.database();
    transferred(&home, Database::Embedded, postgres.clone()).await.unwrap();
    let there = counted(&home, &postgres).await;
    let here = before.iter().map(|(table, rows)| (table.clone(), rows.len())).collect();
    assert_eq!(there, here, "both engines have the same tables, and the same rows");

    transferred(&home, postgres, Database::Embedded).await.unwrap();
    let back = content(home.folder.path()).await;
    assert_eq!(back, before, "the round trip changes nothing");
}

#[tokio::test]
async fn changed_row_fails_the_checksum_and_rolls_back() {
    let home = filled_everywhere().await;
    let before = content(home.folder.path()).await;
    let target = Home::new(Engine::Postgres).await;
    target.store.clone().close().await.unwrap();
    target.execute("DELETE FROM audit; DELETE FROM signing_secrets; DELETE FROM workspaces").await;
    // The target has a trigger that changes names.
    target
        .execute(
            "CREATE FUNCTION aloft.other() RETURNS trigger LANGUAGE plpgsql AS \
             $$ BEGIN NEW.name := 'Other'; RETURN NEW; END $$; \
             CREATE TRIGGER other BEFORE INSERT ON aloft.workspaces \
             FOR EACH ROW EXECUTE FUNCTION aloft.other()",
        )
        .await;
    let refusal =
        transferred(&home, Database::Embedded, target.database.clone()).await.unwrap_err();
    assert!(refusal.to_string().contains("table `workspaces`"), "{refusal}");
    assert_eq!(target.count("workspaces").await, 0);
    // The source is unchanged and in its place.
    assert_eq!(content(home.folder.path()).await, before);
    Store::open(home.settings()).await.unwrap().close().await.unwrap();
}
