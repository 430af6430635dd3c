//! Workspaces: found by their slug, which is unique.

use rules::plan::Plans;
use store::{StoreError, WorkspaceEdit};

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

// decision 0049: "a workspace keeps results for the plan's time at most"
#[tokio::test]
async fn plan_retention_only_shortens() {
    for_each_engine(async |home| {
        let store = &home.store;
        store.hold_to(Plans::parse("small retention_days=7, large retention_days=90").unwrap(), 30);
        let change = at(1);
        let days = async |expected: &str| {
            let kept = format!("workspaces WHERE results_kept_days {expected}");
            home.count(&kept).await
        };
        for (kept, plan, expected) in [
            (None, "large", "IS NULL"),
            (None, "small", "= 7"),
            (Some(3), "small", "= 3"),
            (Some(30), "small", "= 7"),
        ] {
            store.history().keep_results(home.workspace, kept, change).await.unwrap();
            let edit = WorkspaceEdit::Plan(plan.to_owned());
            store.workspaces().edit(home.workspace, edit, change).await.unwrap();
            store.workspaces().cap_retention().await.unwrap();
            assert_eq!(days(expected).await, 1, "{kept:?} on {plan}: {expected}");
        }
    })
    .await;
}
