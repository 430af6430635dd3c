//! Workspaces: found by their slug, which is unique.

use store::StoreError;

use crate::harness::{a_workspace, at, for_each_engine};

#[tokio::test]
async fn workspace_is_found_by_its_slug() {
    for_each_engine(async |home| {
        home.store.workspaces().create(a_workspace(2), at(1)).await.unwrap();
        let found = home.store.workspaces().by_slug("team-2").await.unwrap();
        assert_eq!(found, a_workspace(2));
        assert_eq!(home.store.workspaces().get(found.id).await.unwrap(), found);
        let all = home.store.workspaces().list().await.unwrap();
        assert_eq!(all, [a_workspace(2), a_workspace(1)]);
    })
    .await;
}

#[tokio::test]
async fn unknown_slug_is_not_found() {
    for_each_engine(async |home| {
        let refusal = home.store.workspaces().by_slug("nobody").await.unwrap_err();
        assert_eq!(refusal.to_string(), "workspace `nobody` not found");
    })
    .await;
}

#[tokio::test]
async fn repeated_slug_is_rejected() {
    for_each_engine(async |home| {
        let mut second = a_workspace(2);
        second.slug = "team-1".to_owned();
        let refusal = home.store.workspaces().create(second, at(1)).await.unwrap_err();
        assert!(
            matches!(&refusal, StoreError::AlreadyExists { what: "workspace", name } if name == "team-1"),
            "{refusal}"
        );
        assert_eq!(home.store.workspaces().list().await.unwrap().len(), 1);
    })
    .await;
}
