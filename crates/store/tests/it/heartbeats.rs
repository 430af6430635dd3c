//! Heartbeats: tokens find their monitor until they are replaced or the monitor is deleted, and calls are
//! kept.

use domain::check::{HeartbeatState, Signal};
use rules::Periodicity;
use rules::monitor::{Check, HeartbeatCheck, Monitor, MonitorSettings};
use store::StoreError;

use crate::harness::{Home, a_workspace, at, for_each_engine, instant, settings, workspace_id};

async fn a_heartbeat(home: &Home) -> Monitor {
    heartbeat(home, 1).await
}

/// Creates a monitor that has been called.
pub(crate) async fn a_full_one(home: &Home, number: u64) {
    let monitor = heartbeat(home, number).await;
    let heartbeats = home.store.heartbeats();
    let found = heartbeats.find(&token(home, &monitor).await).await.unwrap().unwrap();
    let failed = Signal::Failure { exit_code: Some(3) };
    for (signal, second) in [(Signal::Success, 1), (failed, 2), (Signal::Start, 3)] {
        heartbeats.record(found, signal, instant(second)).await.unwrap();
    }
}

async fn heartbeat(home: &Home, number: u64) -> Monitor {
    let check = Check::Heartbeat(HeartbeatCheck::new(3_600));
    let fixed = MonitorSettings::new("backup", Periodicity::ThirtySeconds, check);
    home.monitor_with(number, MonitorSettings { active: settings().active, ..fixed }).await
}

async fn token(home: &Home, monitor: &Monitor) -> String {
    let read = home.store.monitors().get(home.workspace, monitor.id).await.unwrap();
    read.heartbeat.unwrap().token.expose().clone()
}

#[tokio::test]
async fn replaced_token_finds_nothing() {
    for_each_engine(async |home| {
        let monitor = a_heartbeat(home).await;
        let (heartbeats, first) = (home.store.heartbeats(), token(home, &monitor).await);
        let found = heartbeats.find(&first).await.unwrap().unwrap();
        assert_eq!((found.monitor, found.workspace), (monitor.id, home.workspace));
        heartbeats.rotate(home.workspace, monitor.id, at(5)).await.unwrap();
        let second = token(home, &monitor).await;
        assert_eq!(heartbeats.find(&first).await.unwrap(), None);
        assert_eq!(heartbeats.find(&second).await.unwrap(), Some(found));
        let entries = home.store.audit().newest(home.workspace, 10).await.unwrap();
        let shown = format!("{entries:?}");
        assert!(shown.contains("monitor.rotate_url"), "{shown}");
        assert!(!shown.contains(&first) && !shown.contains(&second), "{shown}");
    })
    .await;
}

#[tokio::test]
async fn other_workspace_cannot_replace_a_token() {
    for_each_engine(async |home| {
        let monitor = a_heartbeat(home).await;
        let first = token(home, &monitor).await;
        home.store.workspaces().create(a_workspace(2), at(1)).await.unwrap();
        let other = workspace_id(2);
        let refused = home.store.heartbeats().rotate(other, monitor.id, at(5)).await;
        assert!(matches!(refused, Err(StoreError::NotFound { .. })), "{refused:?}");
        assert_eq!(token(home, &monitor).await, first);
    })
    .await;
}

#[tokio::test]
async fn monitor_without_its_row_gets_a_new_url() {
    for_each_engine(async |home| {
        let monitor = a_heartbeat(home).await;
        home.execute("DELETE FROM heartbeats").await;
        let page = home.store.monitors().all_for_boot().next_batch().await.unwrap().unwrap();
        assert_eq!((page.len(), page[0].heartbeat), (1, None));
        let read = home.store.monitors().get(home.workspace, monitor.id).await.unwrap();
        assert_eq!(read.heartbeat, None);
        home.store.heartbeats().rotate(home.workspace, monitor.id, at(5)).await.unwrap();
        let token = token(home, &monitor).await;
        let found = home.store.heartbeats().find(&token).await.unwrap().unwrap();
        assert_eq!(found.monitor, monitor.id);
        let state = home.store.heartbeats().state(monitor.id).await.unwrap().unwrap();
        assert_eq!(state, HeartbeatState::waiting(instant(5)));
    })
    .await;
}

#[tokio::test]
async fn monitor_of_another_kind_gets_no_url() {
    for_each_engine(async |home| {
        let monitor = home.monitor(1).await.id;
        let refused = home.store.heartbeats().rotate(home.workspace, monitor, at(5)).await;
        assert!(matches!(refused, Err(StoreError::NotFound { .. })), "{refused:?}");
    })
    .await;
}

#[tokio::test]
async fn deleted_monitor_receives_no_call() {
    for_each_engine(async |home| {
        let monitor = a_heartbeat(home).await;
        let (heartbeats, token) = (home.store.heartbeats(), token(home, &monitor).await);
        let found = heartbeats.find(&token).await.unwrap().unwrap();
        home.store.monitors().delete(home.workspace, monitor.id, at(5)).await.unwrap();
        assert_eq!(heartbeats.find(&token).await.unwrap(), None);
        // It was found just before.
        let recorded = heartbeats.record(found, Signal::Success, instant(6)).await.unwrap();
        assert_eq!(recorded, None);
    })
    .await;
}

#[tokio::test]
async fn recorded_calls_read_back_equal() {
    for_each_engine(async |home| {
        let monitor = a_heartbeat(home).await;
        let (heartbeats, token) = (home.store.heartbeats(), token(home, &monitor).await);
        let found = heartbeats.find(&token).await.unwrap().unwrap();
        for (second, signal) in [
            (1, Signal::Success),
            (2, Signal::Start),
            (3, Signal::from_exit_code(3)),
            (4, Signal::Start),
        ] {
            let recorded = heartbeats.record(found, signal, instant(second)).await.unwrap();
            let read = heartbeats.state(monitor.id).await.unwrap();
            assert_eq!(recorded.map(|recorded| recorded.state), read);
        }
    })
    .await;
}
