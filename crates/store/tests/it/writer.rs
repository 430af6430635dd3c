//! Writer: waiting work is committed together, and failed work is rolled back alone.

use std::future::Future;
use std::pin::Pin;

use store::{ApiKey, KeyHash, StoreError, Workspace};
use tokio::task::JoinSet;

use crate::harness::{a_workspace, at, for_each_engine, instant, key_id};

#[tokio::test]
async fn failed_change_does_not_affect_its_group() {
    for_each_engine(async |home| {
        let taken = Workspace { slug: "team-1".to_owned(), ..a_workspace(2) };
        let workspaces = home.store.workspaces();
        let (refused, stored) = tokio::join!(
            workspaces.create(taken, at(1)),
            workspaces.create(a_workspace(3), at(1)),
        );
        assert!(matches!(refused, Err(StoreError::AlreadyExists { .. })));
        stored.unwrap();
        assert_eq!(workspaces.list().await.unwrap(), [a_workspace(3), a_workspace(1)]);
    })
    .await;
}

#[tokio::test]
async fn concurrent_valid_changes_are_all_stored() {
    for_each_engine(async |home| {
        let mut changes = JoinSet::new();
        for number in 1..=300_u64 {
            let key = ApiKey {
                id: key_id(number),
                workspace: home.workspace,
                name: format!("key {number}"),
                scope: None,
                created_at: instant(0),
                expires_at: None,
                last_used_at: None,
                revoked_at: None,
            };
            // Each third key has the hash of its predecessor, which must be unique.
            let hash = KeyHash::new(&(number - u64::from(number % 3 == 0)).to_string());
            let store = home.store.clone();
            changes.spawn(async move { (number, store.keys().create(key, hash, at(1)).await) });
        }
        let mut refused: Vec<u64> = changes
            .join_all()
            .await
            .into_iter()
            .filter_map(|(number, outcome)| outcome.err().map(|_| number))
            .collect();
        refused.sort_unstable();
        let stored = home.store.keys().list(home.workspace).await.unwrap();
        assert_eq!(refused, (1..=100).map(|third| third * 3).collect::<Vec<u64>>());
        assert_eq!(stored.len(), 200);
    })
    .await;
}

#[tokio::test]
async fn change_of_cancelled_caller_is_stored() {
    for_each_engine(async |home| {
        let workspaces = home.store.workspaces();
        let mut change: Pin<Box<dyn Future<Output = _>>> =
            Box::pin(workspaces.create(a_workspace(2), at(1)));
        let polled = std::future::poll_fn(|cx| std::task::Poll::Ready(change.as_mut().poll(cx)));
        assert!(polled.await.is_pending());
        drop(change);
        // Later work is done later, so the first change is stored when this one returns.
        home.store.workspaces().create(a_workspace(3), at(2)).await.unwrap();
        assert_eq!(home.store.workspaces().list().await.unwrap().len(), 3);
    })
    .await;
}

#[tokio::test]
async fn closed_store_rejects_work() {
    for_each_engine(async |home| {
        home.store.clone().close().await.unwrap();
        let written = home.store.workspaces().create(a_workspace(2), at(1)).await;
        assert!(matches!(written, Err(StoreError::Closed)));
        let read = home.store.workspaces().list().await;
        assert!(matches!(read, Err(StoreError::Closed)));
        home.store.clone().close().await.unwrap();
    })
    .await;
}
