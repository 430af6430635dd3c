//! A real PostgreSQL server that is killed, starts again, or hangs. Everything that was reported as
//! stored stays.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use rules::{MonitorId, Region, Secret};
use store::{Batch, Database, Store, StoreError};
use tokio::task::JoinHandle;

use crate::harness::{Engine, Home, a_result, a_workspace, at, until};
use crate::server::PostgresServer;

/// Number of kills.
const KILLS: i64 = 4;
/// Number of commits between two kills.
const COMMITS: i64 = 20;

async fn home_on(server: &PostgresServer) -> Home {
    let database = Database::Postgres(Secret::new(server.create("aloft")));
    let home = Home::at(Engine::Postgres, tempfile::tempdir().unwrap(), database).await;
    home.store.workspaces().create(a_workspace(1), at(0)).await.unwrap();
    home
}

/// Stores one result at a time, each until it is acknowledged, as the judge does. Counts them.
fn keep_storing(store: Store, monitor: MonitorId, stored: Arc<AtomicI64>) -> JoinHandle<()> {
    tokio::spawn(async move {
        for slot in 0.. {
            let results = vec![a_result(monitor, Region::FlyAms, slot)];
            let batch = Arc::new(Batch { results, ..Batch::default() });
            while store.commit(Arc::clone(&batch)).await.is_err() {
                tokio::task::yield_now().await;
            }
            stored.store(slot + 1, Ordering::SeqCst);
        }
    })
}

// issue 19, point 6: "bounded waits on reconnect"
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn killed_database_loses_no_acknowledged_result() {
    let server = PostgresServer::start(None, "", &[]);
    let home = home_on(&server).await;
    let monitor = home.monitor(1).await.id;
    let stored = Arc::new(AtomicI64::new(0));
    let storing = keep_storing(home.store.clone(), monitor, Arc::clone(&stored));
    let reached = |count| {
        let stored = &stored;
        until(async move || (stored.load(Ordering::SeqCst) >= count).then_some(()))
    };
    for kill in 1..=KILLS {
        reached(kill * COMMITS).await;
        server.kill();
        let refusal = home.store.workspaces().create(a_workspace(2), at(1)).await.unwrap_err();
        let is_clear = matches!(
            refusal,
            StoreError::NotCommitted { .. }
                | StoreError::Unconfirmed { .. }
                | StoreError::Database(_)
        );
        assert!(is_clear, "{refusal}");
        home.store.ready().await.unwrap_err();
        server.start_again();
        reached(stored.load(Ordering::SeqCst) + 1).await;
        until(async || home.store.ready().await.ok()).await;
    }
    storing.abort();
    let _ = storing.await;
    let acknowledged = stored.load(Ordering::SeqCst);
    let found = until(async || {
        home.store.results().newest(home.workspace, monitor, at(0).at, u32::MAX).await.ok()
    })
    .await;
    // The last commit may be stored without its reply. A slot is never listed twice.
    let extra = found.len() as i64 - acknowledged;
    assert!((0..=1).contains(&extra), "{} stored of {acknowledged}", found.len());
    let mut slots: Vec<_> = found.iter().map(|result| result.identity.slot).collect();
    slots.sort_unstable();
    slots.dedup();
    assert_eq!(slots.len(), found.len());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn paused_database_is_reported_and_continues() {
    let server = PostgresServer::start(None, "", &[]);
    let home = home_on(&server).await;
    let monitor = home.monitor(1).await.id;
    server.pause();
    let results = vec![a_result(monitor, Region::FlyAms, 1)];
    let batch = Arc::new(Batch { results, ..Batch::default() });
    let writing = {
        let (store, batch) = (home.store.clone(), Arc::clone(&batch));
        tokio::spawn(async move { store.commit(batch).await })
    };
    let refusal = home.store.ready().await.unwrap_err();
    assert!(refusal.to_string().contains("did not respond within 5 s"), "{refusal}");
    assert!(!writing.is_finished(), "nothing is acknowledged meanwhile");
    server.resume();
    assert_eq!(writing.await.unwrap().unwrap().stored, 1);
    until(async || home.store.ready().await.ok()).await;
    let found = home.store.results().newest(home.workspace, monitor, at(0).at, 10).await.unwrap();
    assert_eq!(found.len(), 1);
}
