//! PostgreSQL only: one owner at a time, and a connection that is lost and restored. `replicas` has
//! standbys, `restarts` a server that is killed or hangs, `tls` its certificates, `days` its partitions,
//! and `round_trips` counts statements.

mod days;
mod replicas;
mod restarts;
mod round_trips;
mod tls;

use rules::Secret;
use sqlx::{Connection, PgConnection};
use store::{Database, Store, StoreError};

use crate::flaky_proxy::FlakyProxy;
use crate::harness::{Engine, Home, a_workspace, at, settings_of, until};
use crate::server;

/// Ends every session of the store, like a restart of the database.
const CUT_CONNECTIONS: &str = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity \
    WHERE datname = current_database() AND application_name LIKE 'aloft %'";

/// Takes the lock of an owner, as a store does.
const OWN: &str = "SELECT pg_advisory_lock(x'00616c6f66740001'::BIGINT)";

/// Counts the sessions that hold the lock of an owner.
const OWNERS: &str = "SELECT COUNT(*) FROM pg_locks WHERE locktype = 'advisory' AND granted AND database = \
    (SELECT oid FROM pg_database WHERE datname = current_database())";

/// Writes until the error contains this text.
async fn until_refused(home: &Home, why: &str) {
    until(async || {
        let refusal = home.store.workspaces().create(a_workspace(9), at(9)).await.unwrap_err();
        refusal.to_string().contains(why).then_some(())
    })
    .await;
}

#[tokio::test]
async fn second_server_is_rejected_with_the_database_holder() {
    let home = Home::new(Engine::Postgres).await;
    let folder = tempfile::tempdir().unwrap();
    // Without the key, its lack would be the reason.
    let [own, copy] = [home.folder.path(), folder.path()].map(|it| it.join("aloft.key"));
    std::fs::copy(own, copy).unwrap();
    let second = Store::open(settings_of(&folder, &home.database)).await.unwrap_err();
    let holder = format!("aloft process {}", std::process::id());
    assert!(
        matches!(&second, StoreError::DatabaseInUse { holder: named } if *named == holder),
        "{second}"
    );
    home.store.workspaces().create(a_workspace(2), at(1)).await.unwrap();
}

#[tokio::test]
async fn restored_connection_keeps_committed_data() {
    let home = Home::new(Engine::Postgres).await;
    let monitor = home.monitor(1).await.id;
    for number in 2..=5 {
        home.execute(CUT_CONNECTIONS).await;
        until(async || {
            let written = home.store.workspaces().create(a_workspace(number), at(1)).await;
            written.ok()
        })
        .await;
        until(async || home.store.ready().await.ok()).await;
    }
    let slugs: Vec<String> = until(async || home.store.workspaces().list().await.ok())
        .await
        .into_iter()
        .map(|workspace| workspace.slug)
        .collect();
    assert_eq!(slugs, ["team-5", "team-4", "team-3", "team-2", "team-1"]);
    assert_eq!(
        home.store.monitors().get(home.workspace, monitor).await.unwrap().monitor.id,
        monitor
    );
}

#[tokio::test]
async fn writes_fail_while_another_process_holds_the_lock() {
    let home = Home::new(Engine::Postgres).await;
    let mut other = home.beside().await;
    home.execute(CUT_CONNECTIONS).await;
    sqlx::raw_sql(OWN).execute(&mut other).await.unwrap();
    until_refused(&home, "the database is in use by ").await;
    home.store.ready().await.unwrap_err();
    // Another server may write meanwhile, so nothing may be cached.
    assert_eq!(home.store.generation(home.workspace), None);
    other.close().await.unwrap();
    until(async || home.store.workspaces().create(a_workspace(2), at(1)).await.ok()).await;
    home.store.ready().await.unwrap();
    assert!(home.store.generation(home.workspace).is_some());
}

#[tokio::test]
async fn server_stops_writing_after_a_takeover() {
    let home = Home::new(Engine::Postgres).await;
    home.execute(CUT_CONNECTIONS).await;
    let folder = tempfile::tempdir().unwrap();
    std::fs::copy(home.folder.path().join("aloft.key"), folder.path().join("aloft.key")).unwrap();
    let next = Store::open(settings_of(&folder, &home.database)).await.unwrap();
    // Both while the other server runs, and after it has stopped.
    until_refused(&home, "another server took over the database").await;
    next.close().await.unwrap();
    until_refused(&home, "another server took over the database").await;
    // A server that lost ownership is notified once and for good.
    home.store.wait_for_takeover().await;
    let refusal = home.store.workspaces().create(a_workspace(9), at(9)).await;
    assert!(matches!(refusal, Err(StoreError::TakenOver)), "{refusal:?}");
    assert!(matches!(home.store.ready().await, Err(StoreError::TakenOver)));
    let stored = home.store.workspaces().list().await;
    assert_eq!(stored.unwrap(), [a_workspace(1)]);
}

#[tokio::test]
async fn address_error_omits_the_password() {
    let folder = tempfile::tempdir().unwrap();
    let open = async |address: &str| {
        let database = Database::Postgres(Secret::new(address.to_owned()));
        Store::open(settings_of(&folder, &database)).await.unwrap_err().to_string()
    };
    let unread = open("postgres://aloft:hunter2@localhost:port/aloft").await;
    assert_eq!(unread, "invalid database address: error with configuration: invalid port number");
    let unreached = open("postgres:///aloft?host=/nowhere&user=aloft&password=hunter2").await;
    assert!(unreached.starts_with("the database failed: "), "{unreached}");
    assert!(!unreached.contains("hunter2"), "{unreached}");
}

#[tokio::test]
async fn silent_database_fails_within_the_time_limit() {
    let (folder, second) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let line = FlakyProxy::start(&server::database()).await;
    let database = Database::Postgres(Secret::new(line.address()));
    let store = Store::open(settings_of(&folder, &database)).await.unwrap();
    store.workspaces().create(a_workspace(1), at(1)).await.unwrap();
    store.workspaces().list().await.unwrap();
    line.silence();
    let workspaces = store.workspaces();
    let (ready, read, opened) = tokio::join!(
        store.ready(),
        workspaces.list(),
        Store::open(settings_of(&second, &database)),
    );
    for refusal in [ready.unwrap_err(), read.unwrap_err(), opened.unwrap_err()] {
        assert!(refusal.to_string().contains("did not respond"), "{refusal}");
    }
    line.cut();
    line.restore();
    until(async || store.workspaces().create(a_workspace(3), at(3)).await.ok()).await;
    store.ready().await.unwrap();
}

/// Opens a home that reaches its database through a proxy, and a direct connection.
async fn home_behind_a_proxy() -> (Home, FlakyProxy, PgConnection) {
    let address = server::database();
    let line = FlakyProxy::start(&address).await;
    let database = Database::Postgres(Secret::new(line.address()));
    let home = Home::at(Engine::Postgres, tempfile::tempdir().unwrap(), database).await;
    home.store.workspaces().create(a_workspace(1), at(1)).await.unwrap();
    (home, line, PgConnection::connect(&address).await.unwrap())
}

async fn owners(db: &mut PgConnection) -> i64 {
    sqlx::query_scalar(OWNERS).fetch_one(db).await.unwrap()
}

// The connection stays open, so its session would hold the lock against the next one.
#[tokio::test]
async fn unusable_connection_is_closed_before_it_is_replaced() {
    let (home, line, mut direct) = home_behind_a_proxy().await;
    line.garble();
    home.store.workspaces().create(a_workspace(2), at(2)).await.unwrap_err();
    until(async || (owners(&mut direct).await == 0).then_some(())).await;
    line.restore();
    until(async || home.store.workspaces().create(a_workspace(3), at(3)).await.ok()).await;
    home.store.ready().await.unwrap();
    assert_eq!(owners(&mut direct).await, 1);
    let stored = home.store.workspaces().list().await.unwrap();
    assert!(stored.contains(&a_workspace(1)), "{stored:?}");
}

#[tokio::test]
async fn session_that_outlives_its_connection_is_ended() {
    let (home, line, mut direct) = home_behind_a_proxy().await;
    line.cut_half();
    home.store.workspaces().create(a_workspace(2), at(2)).await.unwrap_err();
    assert_eq!(owners(&mut direct).await, 1);
    line.restore();
    until(async || home.store.workspaces().create(a_workspace(3), at(3)).await.ok()).await;
    home.store.ready().await.unwrap();
    assert_eq!(owners(&mut direct).await, 1);
    let stored = home.store.workspaces().list().await.unwrap();
    assert!(stored.contains(&a_workspace(1)), "{stored:?}");
}
