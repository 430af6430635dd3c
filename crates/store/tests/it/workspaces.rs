//! Workspaces: found by their slug, which is unique.

use rules::Periodicity;
use rules::monitor::MonitorSettings;
use rules::plan::Plans;
use store::{StoreError, Usage};

use crate::harness::{a_workspace, at, for_each_engine, monitor_id, settings};

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

// issue 16 point 20: "Show plan, limits and usage"
#[tokio::test]
async fn usage_counts_the_limited_quantities() {
    for_each_engine(async |home| {
        let store = &home.store;
        store.set_plans(Plans::default(), 30);
        let usage = async || store.workspaces().usage(home.workspace).await.unwrap();
        let nothing =
            Usage { monitors: 0, shortest_period: None, pages: 0, channels: 0, retention_days: 30 };
        assert_eq!(usage().await, nothing);
        let period = |periodicity| MonitorSettings { periodicity, ..settings() };
        for (number, periodicity) in [
            (1, Periodicity::OneHour),
            (2, Periodicity::OneMinute),
            (3, Periodicity::ThirtySeconds),
        ] {
            home.monitor_with(number, period(periodicity)).await;
        }
        store.monitors().delete(home.workspace, monitor_id(3), at(1)).await.unwrap();
        store.history().set_retention(home.workspace, Some(7), at(1)).await.unwrap();
        let shortest_period = Some(Periodicity::OneMinute);
        assert_eq!(
            usage().await,
            Usage { monitors: 2, shortest_period, retention_days: 7, ..nothing }
        );
        // One damaged monitor does not hide the workspace.
        home.execute("UPDATE monitors SET periodicity = '7w' WHERE periodicity = '1m'").await;
        assert_eq!(usage().await.shortest_period, Some(Periodicity::OneHour));
    })
    .await;
}
