//! Generations: while a workspace's generation is unchanged, the data that callers read is
//! unchanged.

use std::sync::Arc;
use std::time::Duration;

use rules::monitor::MonitorSettings;
use rules::{MonitorStatus, Region, WorkspaceId};
use store::{Batch, Generation, NewMonitor, StoreError};

use crate::channels;
use crate::commit::opened;
use crate::components;
use crate::harness::{
    Home, a_history, a_result, a_workspace, at, for_each_engine, instant, key_id, monitor_id,
    settings, workspace_id,
};
use crate::keys::used;
use crate::outbox;

/// Returns the generations of the home's workspace, which the tests change, and of another.
fn generations(home: &Home) -> (Generation, Generation) {
    let of = |workspace: WorkspaceId| home.store.generation(workspace).unwrap();
    (of(home.workspace), of(workspace_id(2)))
}

/// Returns whether `(ours, theirs)` differ once `change` returns.
async fn changes<T>(home: &Home, change: impl Future<Output = T>) -> (T, (bool, bool)) {
    let before = generations(home);
    let answer = change.await;
    let after = generations(home);
    (answer, (before.0 != after.0, before.1 != after.1))
}

#[tokio::test]
async fn monitor_change_bumps_only_its_workspace() {
    for_each_engine(async |home| {
        home.store.workspaces().create(a_workspace(2), at(0)).await.unwrap();
        let (monitor, changed) = changes(home, home.monitor(1)).await;
        assert_eq!(changed, (true, false));
        let other = MonitorSettings { name: "other".to_owned(), ..settings() };
        let monitors = home.store.monitors();
        let id = monitor.id;
        let (updated, changed) = changes(home, monitors.update(monitor, other, at(1))).await;
        updated.unwrap();
        assert_eq!(changed, (true, false));
        let delete = monitors.delete(home.workspace, id, at(2));
        let (deleted, changed) = changes(home, delete).await;
        deleted.unwrap();
        assert_eq!(changed, (true, false));
    })
    .await;
}

#[tokio::test]
async fn channel_and_page_changes_bump_only_their_workspace() {
    for_each_engine(async |home| {
        home.store.workspaces().create(a_workspace(2), at(0)).await.unwrap();
        let monitor = home.monitor(1).await.id;
        let (channel, changed) = changes(home, channels::create(home, 1, &[monitor])).await;
        assert_eq!(changed, (true, false));
        let made = components::a_full_page_with_one(home, monitor);
        let (component, changed) = changes(home, made).await;
        assert_eq!(changed, (true, false));
        let page = component.settings.page_id;
        let (workspace, store) = (home.workspace, &home.store);
        let pages = store.pages();
        let hide = pages.set_published(workspace, page, false, at(1));
        let (hidden, changed) = changes(home, hide).await;
        assert_eq!((hidden.unwrap().published, changed), (false, (true, false)));
        let gone = [
            changes(home, store.components().delete(workspace, component.id, at(2))).await,
            changes(home, pages.delete(workspace, page, at(3))).await,
            changes(home, store.channels().delete(workspace, channel.id, at(4))).await,
        ];
        for (deleted, changed) in gone {
            deleted.unwrap();
            assert_eq!(changed, (true, false));
        }
    })
    .await;
}

#[tokio::test]
async fn status_change_bumps_its_workspace_results_do_not() {
    for_each_engine(async |home| {
        let monitor = home.monitor(1).await.id;
        let results = vec![a_result(monitor, Region::FlyAms, 10)];
        let plain = Arc::new(Batch { results, ..Batch::default() });
        let (stored, changed) = changes(home, home.store.commit(plain)).await;
        assert_eq!((stored.unwrap().stored, changed), (1, (false, false)));
        let turned = Arc::new(Batch {
            judge_states: vec![(monitor, a_history(MonitorStatus::Error, 20))],
            transitions: vec![(monitor, opened(1, 20))],
            ..Batch::default()
        });
        let (stored, changed) = changes(home, home.store.commit(turned)).await;
        stored.unwrap();
        assert_eq!(changed, (true, false));
    })
    .await;
}

// A server does all of this every few seconds, so it must not invalidate caches.
#[tokio::test]
async fn background_work_keeps_generations() {
    for_each_engine(async |home| {
        let monitor = home.monitor(1).await.id;
        channels::create(home, 1, &[monitor]).await;
        let transitions = vec![(monitor, opened(1, 20))];
        home.commit(Batch { transitions, ..Batch::default() }).await.unwrap();
        let store = &home.store;
        let (now, later) = (instant(20), instant(i64::from(i32::MAX) * 1_000));
        let due = store.outbox().due(outbox::channel_id(1), now, 4).await.unwrap().due.remove(0);
        let work = async {
            store.keys().record_uses(vec![used(key_id(1), 0, 1)]).await.unwrap();
            store.outbox().fix_single(due.id).await.unwrap();
            store.outbox().fix_digest(&[due.id], "storm".to_owned()).await.unwrap();
            outbox::deliver(home, outbox::channel_id(1), 20).await;
            store.maintenances().extend(later).await.unwrap();
            store.maintenances().prune(later).await.unwrap();
            store.retention().step(store::RetentionPolicy::default(), later).await.unwrap();
            store.retention().records(later).await.unwrap();
            store.history().prune(Duration::from_hours(24), later).await.unwrap();
            store.audit().record_probes(Vec::new()).await.unwrap();
        };
        let ((), changed) = changes(home, work).await;
        assert_eq!(changed, (false, false));
        assert_eq!(home.count("audit").await, 0, "expired data was deleted");
    })
    .await;
}

#[tokio::test]
async fn rejected_change_keeps_generations() {
    for_each_engine(async |home| {
        let monitors = home.store.monitors();
        let gone = monitors.delete(home.workspace, monitor_id(9), at(1));
        let (refused, changed) = changes(home, gone).await;
        assert!(matches!(refused, Err(StoreError::NotFound { .. })));
        assert_eq!(changed, (false, false));
    })
    .await;
}

#[tokio::test]
async fn undeclared_change_bumps_all_workspaces() {
    for_each_engine(async |home| {
        let workspaces = home.store.workspaces();
        let create = workspaces.create(a_workspace(3), at(1));
        let (created, changed) = changes(home, create).await;
        created.unwrap();
        assert_eq!(changed, (true, true));
    })
    .await;
}

#[tokio::test]
async fn new_data_is_never_read_under_old_generation() {
    // The reader takes the generation, reads, and then uses its cache. A value that it cached must
    // not be valid under the same generation after it saw a newer one.
    for_each_engine(async |home| {
        let store = &home.store;
        let count = async || {
            let page = store::Page { limit: 100, offset: 0, after: None };
            store.monitors().list(home.workspace, page).await.unwrap().total
        };
        let writes = async {
            for number in 1..=40 {
                let (id, workspace) = (monitor_id(number), home.workspace);
                let new = NewMonitor { id, workspace, settings: settings(), idempotency: None };
                store.monitors().create(new, at(1)).await.unwrap();
            }
        };
        let reads = async {
            let mut seen = 0;
            let mut remembered: Option<(Generation, u32)> = None;
            while seen < 40 {
                let now = store.generation(home.workspace);
                let still = remembered.filter(|(then, _)| Some(*then) == now);
                let total = still.map_or(seen, |(_, total)| total);
                assert!(total >= seen, "stale cache: {total} after {seen} was seen");
                seen = count().await;
                remembered = now.map(|generation| (generation, seen));
            }
        };
        tokio::join!(writes, reads);
    })
    .await;
}
