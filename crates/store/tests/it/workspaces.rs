//! Workspaces: found by their slug, which is unique.

use domain::history::UptimeTarget;
use rules::monitor::MonitorSettings;
use rules::plan::Plans;
use rules::{Periodicity, Role};
use store::{StoreError, Usage, WorkspaceEdit};

use crate::harness::{
    a_workspace, at, for_each_engine, instant, key_id, monitor_id, settings, workspace_id,
};
use crate::members::{add, by, by_key};
use crate::users;

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

// issue 18, point 6: "against a target"
#[tokio::test]
async fn uptime_target_is_kept_until_changed() {
    for_each_engine(async |home| {
        let workspaces = home.store.workspaces();
        let target = async || workspaces.uptime_target(home.workspace).await.unwrap();
        assert_eq!(target().await, UptimeTarget::DEFAULT);
        let wanted = UptimeTarget::parse("99.95").unwrap();
        workspaces.edit(home.workspace, WorkspaceEdit::UptimeTarget(wanted), at(30)).await.unwrap();
        assert_eq!(target().await, wanted);
        users::a_full_one(home).await;
        add(home, 2, Role::Editor).await;
        let edit = WorkspaceEdit::UptimeTarget(UptimeTarget::DEFAULT);
        let refused = workspaces.edit(home.workspace, edit, by(2)).await;
        assert!(matches!(refused, Err(StoreError::RoleRequired { role: Role::Admin })));
        assert_eq!(target().await, wanted);
        assert!(workspaces.uptime_target(workspace_id(9)).await.is_err());
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

// issue 18 point 2: "delete (delayed) workspaces"
#[tokio::test]
async fn scheduled_deletion_rests_until_due_or_cancelled() {
    for_each_engine(async |home| {
        users::a_full_one(home).await;
        let (workspaces, id) = (home.store.workspaces(), home.workspace);
        let monitor = home.monitor(1).await;
        let schedule = WorkspaceEdit::ScheduleDeletion(instant(500));
        workspaces.edit(id, schedule, by(1)).await.unwrap();
        assert_eq!(workspaces.get(id).await.unwrap().deletes_at, Some(instant(500)));
        assert_eq!(workspaces.due_for_deletion(instant(499)).await.unwrap(), []);
        assert_eq!(workspaces.due_for_deletion(instant(500)).await.unwrap().len(), 1);
        let booted = home.store.monitors().all_for_boot().next_batch().await.unwrap();
        assert!(booted.is_none(), "its monitors do not start");
        for actor in [by(1), by_key(1)] {
            let changed = home.store.monitors().delete(id, monitor.id, actor).await;
            assert!(matches!(changed, Err(StoreError::DeletionScheduled)));
        }
        assert!(home.store.monitors().get(id, monitor.id).await.is_ok(), "rolled back");
        workspaces.edit(id, WorkspaceEdit::CancelDeletion, by(1)).await.unwrap();
        assert_eq!(workspaces.get(id).await.unwrap(), a_workspace(1));
        assert_eq!(workspaces.due_for_deletion(instant(500)).await.unwrap(), []);
        home.store.monitors().delete(id, monitor.id, by(1)).await.unwrap();
    })
    .await;
}

#[tokio::test]
async fn leaving_workspace_still_revokes_access() {
    for_each_engine(async |home| {
        users::a_full_one(home).await;
        add(home, 2, Role::Viewer).await;
        crate::keys::stored(home, 1).await;
        let id = home.workspace;
        let schedule = WorkspaceEdit::ScheduleDeletion(instant(500));
        home.store.workspaces().edit(id, schedule, by(1)).await.unwrap();
        home.store.keys().revoke(id, key_id(1), by_key(1)).await.unwrap();
        home.store.members().remove(id, users::user_id(2), by(1)).await.unwrap();
        let rename = WorkspaceEdit::Rename { slug: "new".to_owned(), name: "New".to_owned() };
        let renamed = home.store.workspaces().edit(id, rename, by(1)).await;
        assert!(matches!(renamed, Err(StoreError::DeletionScheduled)));
    })
    .await;
}

#[tokio::test]
async fn only_owner_schedules_the_deletion() {
    for_each_engine(async |home| {
        users::a_full_one(home).await;
        add(home, 2, Role::Admin).await;
        for edit in [WorkspaceEdit::ScheduleDeletion(instant(500)), WorkspaceEdit::CancelDeletion] {
            for actor in [by(2), by_key(1)] {
                let refused =
                    home.store.workspaces().edit(home.workspace, edit.clone(), actor).await;
                assert!(matches!(refused, Err(StoreError::RoleRequired { role: Role::Owner })));
            }
        }
    })
    .await;
}

#[tokio::test]
async fn creator_owns_the_new_workspace() {
    for_each_engine(async |home| {
        users::a_full_one(home).await;
        let user = users::user_id(1);
        home.store.workspaces().create_owned(a_workspace(2), user, by(1)).await.unwrap();
        let role = home.store.members().role(a_workspace(2).id, user).await.unwrap();
        assert_eq!(role, Some(Role::Owner));
    })
    .await;
}
