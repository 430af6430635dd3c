//! The writer: work that waits together is committed together, and what fails is undone alone.

use std::future::Future;
use std::pin::Pin;

use store::{ApiKey, KeyHash, StoreError, Workspace};
use tokio::task::JoinSet;

use crate::harness::{a_workspace, at, for_each_engine, instant, key_id};

#[tokio::test]
async fn of_two_changes_that_wait_together_one_may_fail_alone() {
    for_each_engine(async |home| {
        let taken = Workspace { slug: "team-1".to_owned(), ..a_workspace(2) };
        let workspaces = home.store.workspaces();
        let (refused, stored) = tokio::join!(
            workspaces.create(taken, at(1)),
            workspaces.create(a_workspace(3), at(1)),
        );
        assert!(matches!(refused, Err(StoreError::AlreadyExists { .. })));
        stored.unwrap();
        assert_eq!(workspaces.list().await.unwrap(), [a_workspace(1), a_workspace(3)]);
    })
    .await;
}

#[tokio::test]
async fn of_many_changes_at_once_exactly_the_good_ones_are_stored() {
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
            // Each third has the hash of its predecessor, which is unique.
            let hash = KeyHash::of(&(number - u64::from(number % 3 == 0)).to_string());
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
async fn a_change_whose_caller_went_away_is_stored_all_the_same() {
    for_each_engine(async |home| {
        let workspaces = home.store.workspaces();
        let mut change: Pin<Box<dyn Future<Output = _>>> =
            Box::pin(workspaces.create(a_workspace(2), at(1)));
        let polled = std::future::poll_fn(|cx| std::task::Poll::Ready(change.as_mut().poll(cx)));
        assert!(polled.await.is_pending());
        drop(change);
        // What is asked for later is done later: when this is answered, the first is stored too.
        home.store.workspaces().create(a_workspace(3), at(2)).await.unwrap();
        assert_eq!(home.store.workspaces().list().await.unwrap().len(), 3);
    })
    .await;
}

#[tokio::test]
async fn a_closed_store_says_so() {
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
