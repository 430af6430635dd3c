//! Monitors: stored values read back equal, lists are newest first, concurrent edits conflict.
//! Idempotency keys prevent repeated creates, and a deletion removes secrets.

use rules::monitor::{Check, DnsCheck, Monitor, MonitorSettings};
use rules::{MonitorStatus, Periodicity};
use store::{Batch, Created, Idempotency, NewMonitor, Page, StoreError};

use crate::harness::{
    Home, a_history, a_workspace, at, check_with_secret, for_each_engine, instant, monitor_id,
    settings, tags, workspace_id,
};

const FIRST_PAGE: Page = Page { limit: 50, offset: 0, after: None };

async fn update(
    home: &Home,
    monitor: &Monitor,
    edit: impl FnOnce(&mut MonitorSettings),
) -> Result<Monitor, StoreError> {
    let mut settings = monitor.settings.clone();
    edit(&mut settings);
    home.store.monitors().update(monitor.clone(), settings, at(100)).await
}

#[tokio::test]
async fn created_monitor_reads_back_equal() {
    for_each_engine(async |home| {
        let dns = Check::Dns(DnsCheck { uri: "example.com".to_owned(), record_assertions: vec![] });
        let checks = [check_with_secret("hunter2"), settings().check, dns];
        for (number, check) in (1..).zip(checks) {
            let written = home.monitor_with(number, MonitorSettings { check, ..settings() }).await;
            let read = home.store.monitors().get(home.workspace, written.id).await.unwrap();
            assert_eq!(read.monitor, written);
            assert_eq!((read.status, read.since), (MonitorStatus::Unknown, None));
        }
        let bare = MonitorSettings {
            description: None,
            tags: vec![],
            regions: vec![],
            degraded_at_ms: Some(0),
            timeout_ms: 0,
            ..settings()
        };
        let written = home.monitor_with(9, bare).await;
        let read = home.store.monitors().get(home.workspace, written.id).await.unwrap();
        assert_eq!(read.monitor, written);
    })
    .await;
}

#[tokio::test]
async fn names_are_sorted_without_deleted_monitors() {
    for_each_engine(async |home| {
        for (number, name) in [(1, "web"), (2, "API"), (3, "old"), (4, "api")] {
            let settings = MonitorSettings { name: name.to_owned(), ..settings() };
            home.monitor_with(number, settings).await;
        }
        let monitors = home.store.monitors();
        monitors.delete(home.workspace, monitor_id(3), at(5)).await.unwrap();
        let names = monitors.all_names(home.workspace).await.unwrap();
        let names: Vec<_> = names.into_iter().map(|it| (it.name, it.id)).collect();
        let expected = [("API", 2), ("api", 4), ("web", 1)];
        assert_eq!(names, expected.map(|(name, id)| (name.to_owned(), monitor_id(id))));
        home.store.workspaces().create(a_workspace(2), at(1)).await.unwrap();
        assert_eq!(monitors.all_names(workspace_id(2)).await.unwrap(), []);
    })
    .await;
}

#[tokio::test]
async fn other_workspace_cannot_access_monitors() {
    for_each_engine(async |home| {
        home.store.workspaces().create(a_workspace(2), at(1)).await.unwrap();
        let other = workspace_id(2);
        let monitor = home.monitor(1).await;
        let monitors = home.store.monitors();
        assert!(matches!(
            monitors.get(other, monitor.id).await,
            Err(StoreError::NotFound { what: "monitor", .. })
        ));
        assert!(matches!(
            monitors.delete(other, monitor.id, at(2)).await,
            Err(StoreError::NotFound { what: "monitor", .. })
        ));
        let foreign = Monitor { workspace: other, ..monitor.clone() };
        assert!(matches!(
            monitors.update(foreign, settings(), at(2)).await,
            Err(StoreError::NotFound { what: "monitor", .. })
        ));
        assert_eq!(monitors.list(other, FIRST_PAGE).await.unwrap().total, 0);
        assert_eq!(monitors.get(home.workspace, monitor.id).await.unwrap().monitor, monitor);
    })
    .await;
}

#[tokio::test]
async fn list_is_newest_first_and_counts_all() {
    for_each_engine(async |home| {
        for number in [3, 1, 5, 2, 4] {
            home.monitor(number).await;
        }
        let cases = [
            (FIRST_PAGE, vec![5, 4, 3, 2, 1]),
            (Page { limit: 2, ..FIRST_PAGE }, vec![5, 4]),
            (Page { limit: 2, offset: 3, ..FIRST_PAGE }, vec![2, 1]),
            (Page { after: Some(monitor_id(3)), ..FIRST_PAGE }, vec![2, 1]),
            (Page { limit: 9, offset: 9, ..FIRST_PAGE }, vec![]),
        ];
        for (page, expected) in cases {
            let part = home.store.monitors().list(home.workspace, page).await.unwrap();
            let ids: Vec<u64> = part.rows.iter().map(|row| row.monitor.id.bits()).collect();
            assert_eq!((ids, part.total), (expected, 5), "{page:?}");
        }
    })
    .await;
}

#[tokio::test]
async fn list_by_tags_has_monitors_with_all() {
    // issue 18, point 3
    let tagged: [&[&str]; 6] = [
        &["api", "Prod"],
        &["prod"],
        &["PROD", "team web"],
        &["product"],
        &["100%", "Ärger", r"a_b\c"],
        &[],
    ];
    for_each_engine(async |home| {
        for (number, texts) in (1..).zip(tagged) {
            let settings = MonitorSettings { tags: tags(texts), ..settings() };
            home.monitor_with(number, settings).await;
        }
        let monitors = home.store.monitors();
        let cases: [(&[&str], Page, &[u64], u32); 12] = [
            (&[], FIRST_PAGE, &[6, 5, 4, 3, 2, 1], 6),
            (&["prod"], FIRST_PAGE, &[3, 2, 1], 3),
            (&["PROD"], Page { limit: 1, ..FIRST_PAGE }, &[3], 3),
            (&["prod"], Page { limit: 1, offset: 1, ..FIRST_PAGE }, &[2], 3),
            (&["prod"], Page { after: Some(monitor_id(3)), ..FIRST_PAGE }, &[2, 1], 3),
            (&["prod", "API"], FIRST_PAGE, &[1], 1),
            (&["prod", "team web"], FIRST_PAGE, &[3], 1),
            (&["api", "team web"], FIRST_PAGE, &[], 0),
            (&["team"], FIRST_PAGE, &[], 0),
            (&["100%", r"A_B\C", "ÄRGER"], FIRST_PAGE, &[5], 1),
            (&["%"], FIRST_PAGE, &[], 0),
            (&["_rod"], FIRST_PAGE, &[], 0),
        ];
        for (wanted, page, expected, total) in cases {
            let wanted = tags(wanted);
            let part = monitors.list_tagged(home.workspace, &wanted, page).await.unwrap();
            let ids: Vec<u64> = part.rows.iter().map(|row| row.monitor.id.bits()).collect();
            assert_eq!((&ids[..], part.total), (expected, total), "{wanted:?} {page:?}");
        }
    })
    .await;
}

#[tokio::test]
async fn changed_tags_are_listed_and_audited() {
    // issue 18, point 3
    for_each_engine(async |home| {
        let monitor = home.monitor(1).await;
        update(home, &monitor, |settings| settings.tags = tags(&["new"])).await.unwrap();
        let monitors = home.store.monitors();
        for (tag, found) in [("Prod", 0), ("new", 1)] {
            let part = monitors.list_tagged(home.workspace, &tags(&[tag]), FIRST_PAGE).await;
            assert_eq!(part.unwrap().total, found, "{tag}");
        }
        let latest = home.store.audit().newest(home.workspace, 1).await.unwrap();
        assert_eq!((latest[0].action.as_str(), latest[0].at), ("monitor.update", instant(100)));
    })
    .await;
}

#[tokio::test]
async fn revision_grows_when_old_results_no_longer_count() {
    type Edit = fn(&mut MonitorSettings);
    let kept: [Edit; 4] = [
        |settings| settings.name = "other".to_owned(),
        |settings| settings.description = None,
        |settings| settings.public = true,
        |settings| settings.tags = tags(&["other"]),
    ];
    let grown: [Edit; 7] = [
        |settings| settings.periodicity = Periodicity::OneHour,
        |settings| settings.timeout_ms = 1,
        |settings| settings.degraded_at_ms = Some(1),
        |settings| settings.retry = 0,
        |settings| settings.active = false,
        |settings| settings.regions.clear(),
        |settings| settings.check = check_with_secret("new"),
    ];
    for_each_engine(async |home| {
        let mut monitor = home.monitor(1).await;
        for (edits, growth) in [(&kept[..], 0), (&grown[..], 1)] {
            for edit in edits {
                let edited = update(home, &monitor, edit).await.unwrap();
                assert_eq!(edited.revision, monitor.revision + growth, "{edited:?}");
                assert!(edited.updated_at > monitor.updated_at);
                monitor = edited;
            }
        }
        let read = home.store.monitors().get(home.workspace, monitor.id).await.unwrap();
        assert_eq!(read.monitor, monitor);
    })
    .await;
}

#[tokio::test]
async fn second_edit_of_same_version_is_a_conflict() {
    for_each_engine(async |home| {
        let seen = home.monitor(1).await;
        let first = update(home, &seen, |settings| settings.retry = 1).await.unwrap();
        let second = update(home, &seen, |settings| settings.retry = 2).await;
        assert!(matches!(second, Err(StoreError::Conflict { what: "monitor", .. })));
        let read = home.store.monitors().get(home.workspace, seen.id).await.unwrap();
        assert_eq!(read.monitor, first);
    })
    .await;
}

// design: §4 "a repeated create returns the first one's result"
#[tokio::test]
async fn repeated_create_returns_the_first_result() {
    for_each_engine(async |home| {
        let call = |number, key: &str| NewMonitor {
            id: monitor_id(number),
            workspace: home.workspace,
            settings: settings(),
            idempotency: Some(Idempotency {
                method: "CreateTcpMonitor",
                key: key.to_owned(),
                request: [7; 32],
            }),
        };
        let monitors = home.store.monitors();
        let (first, again) = tokio::join!(
            monitors.create(call(1, "k"), at(1)),
            monitors.create(call(2, "k"), at(2)),
        );
        let Created::Now(created) = first.unwrap() else { panic!("the first is new") };
        assert_eq!(again.unwrap(), Created::Before(created.clone()));
        let other = monitors.create(call(3, "other"), at(3)).await.unwrap();
        assert!(matches!(other, Created::Now(_)));
        let mut changed = call(5, "k");
        changed.idempotency.as_mut().unwrap().request = [8; 32];
        let refused = monitors.create(changed, at(3)).await;
        assert!(matches!(refused, Err(StoreError::KeyReused { method: "CreateTcpMonitor" })));
        assert_eq!(monitors.list(home.workspace, FIRST_PAGE).await.unwrap().total, 2);

        monitors.delete(home.workspace, created.id, at(4)).await.unwrap();
        let deleted_since = monitors.create(call(4, "k"), at(5)).await;
        assert!(matches!(deleted_since, Err(StoreError::Gone { what: "monitor", .. })));
    })
    .await;
}

#[tokio::test]
async fn monitor_of_unknown_workspace_is_rejected() {
    for_each_engine(async |home| {
        let new = NewMonitor {
            id: monitor_id(1),
            workspace: workspace_id(9),
            settings: settings(),
            idempotency: None,
        };
        let refusal = home.store.monitors().create(new, at(1)).await;
        assert!(matches!(refusal, Err(StoreError::NotFound { what: "workspace", .. })));
    })
    .await;
}

#[tokio::test]
async fn deleted_monitor_disappears_from_every_list() {
    for_each_engine(async |home| {
        let (kept, deleted) = (home.monitor(1).await, home.monitor(2).await);
        let monitors = home.store.monitors();
        monitors.delete(home.workspace, deleted.id, at(5)).await.unwrap();
        assert!(matches!(
            monitors.get(home.workspace, deleted.id).await,
            Err(StoreError::NotFound { .. })
        ));
        let part = monitors.list(home.workspace, FIRST_PAGE).await.unwrap();
        assert_eq!((part.rows.len(), part.total), (1, 1));
        let booted = monitors.all_for_boot().next_batch().await.unwrap().unwrap();
        assert_eq!(booted.iter().map(|row| row.monitor.id).collect::<Vec<_>>(), [kept.id]);
        let again = monitors.delete(home.workspace, deleted.id, at(6)).await;
        assert!(matches!(again, Err(StoreError::NotFound { .. })));
        let edit = update(home, &deleted, |settings| settings.retry = 0).await;
        assert!(matches!(edit, Err(StoreError::NotFound { .. })));
    })
    .await;
}

#[tokio::test]
async fn boot_reads_each_monitor_with_its_judge_state() {
    for_each_engine(async |home| {
        let paused = MonitorSettings { active: false, ..settings() };
        home.monitor_with(1_000, paused).await;
        for number in 1..=600 {
            home.monitor(number).await;
        }
        let history = a_history(MonitorStatus::Degraded, 7);
        let batch =
            Batch { judge_states: vec![(monitor_id(600), history.clone())], ..Batch::default() };
        home.commit(batch).await.unwrap();

        let mut boot = home.store.monitors().all_for_boot();
        let mut seen = Vec::new();
        while let Some(batch) = boot.next_batch().await.unwrap() {
            seen.extend(batch);
        }
        assert_eq!(seen.len(), 601);
        let stored: Vec<_> = seen.iter().filter(|row| row.judge_state.is_some()).collect();
        assert_eq!(stored.len(), 1);
        assert_eq!(
            (stored[0].monitor.id, &stored[0].judge_state),
            (monitor_id(600), &Some(history))
        );
    })
    .await;
}

#[tokio::test]
async fn paused_monitor_has_unknown_status() {
    for_each_engine(async |home| {
        let monitor = home.monitor(1).await;
        let history = a_history(MonitorStatus::Error, 7);
        let batch = Batch { judge_states: vec![(monitor.id, history)], ..Batch::default() };
        home.commit(batch).await.unwrap();
        let read = home.store.monitors().get(home.workspace, monitor.id).await.unwrap();
        assert_eq!((read.status, read.since), (MonitorStatus::Error, Some(instant(7))));
        update(home, &monitor, |settings| settings.active = false).await.unwrap();
        let read = home.store.monitors().get(home.workspace, monitor.id).await.unwrap();
        assert_eq!(read.status, MonitorStatus::Unknown);
    })
    .await;
}
