//! Planned maintenance: stored values read back equal, concurrent edits conflict, workspaces are
//! isolated. Coverage and excluded uptime follow changes. `alerts` tests the effect on alerts, and
//! `windows` the extension of windows.

mod alerts;
mod windows;

use domain::history::Span;
use domain::maintenance::MaintenanceStatus;
use rules::maintenance::{MaintenanceDraft, MaintenanceSettings};
use rules::{ComponentId, MaintenanceId, MonitorId};
use store::{
    Created, Idempotency, MaintenanceFilter, NewMaintenance, Page, PlannedMaintenance, StoreError,
};

use crate::components;
use crate::harness::{Home, a_workspace, at, for_each_engine, instant, monitor_id, workspace_id};
use crate::pages::page_id;

pub(crate) const HOUR: i64 = 3_600_000;
const ALL: Page<MaintenanceId> = Page { limit: 50, offset: 0, after: None };

const fn maintenance_id(number: u64) -> MaintenanceId {
    MaintenanceId::from_bits(number)
}

/// Returns a single window of two hours for this monitor.
fn from(start: i64, monitor: MonitorId) -> MaintenanceSettings {
    with(start, |draft| draft.monitor_ids = vec![monitor.to_string()])
}

pub(crate) fn with(start: i64, change: impl FnOnce(&mut MaintenanceDraft)) -> MaintenanceSettings {
    let mut draft = MaintenanceDraft {
        title: Some("Moving".to_owned()),
        starts_at: Some(instant(start)),
        duration: Some("2h".to_owned()),
        ..MaintenanceDraft::default()
    };
    change(&mut draft);
    draft.parse().unwrap()
}

fn new(number: u64, settings: MaintenanceSettings) -> NewMaintenance {
    let (id, workspace) = (maintenance_id(number), workspace_id(1));
    NewMaintenance { id, workspace, settings, idempotency: None }
}

pub(crate) async fn create(
    home: &Home,
    number: u64,
    settings: MaintenanceSettings,
) -> Result<PlannedMaintenance, StoreError> {
    let created = home.store.maintenances().create(new(number, settings), at(0)).await;
    created.map(Created::into_inner)
}

/// Creates a maintenance with all fields, for this monitor and component.
pub(crate) async fn a_full_one(home: &Home, monitor: MonitorId, component: ComponentId) {
    let settings = with(HOUR, |draft| {
        draft.description = Some("d".to_owned());
        draft.recurrence = Some("FREQ=DAILY".to_owned());
        draft.monitor_ids = vec![monitor.to_string()];
        draft.component_ids = vec![component.to_string()];
    });
    create(home, 1, settings).await.unwrap();
}

async fn read(home: &Home, number: u64, now: i64) -> Result<PlannedMaintenance, StoreError> {
    home.store.maintenances().get(home.workspace, maintenance_id(number), instant(now)).await
}

fn span(from: i64, to: i64) -> Span {
    Span { from: instant(from), to: instant(to) }
}

/// Returns the excluded uptime of a monitor, in hours from the start.
async fn excluded_spans(home: &Home, monitor: MonitorId) -> Vec<(i64, i64)> {
    let range = span(-1_000 * HOUR, 1_000 * HOUR);
    let spans =
        home.store.maintenances().excluded_spans(home.workspace, monitor, range).await.unwrap();
    let hours = |at: rules::Timestamp| (at.as_millis() - instant(0).as_millis()) / HOUR;
    let mut spans: Vec<_> = spans.iter().map(|span| (hours(span.from), hours(span.to))).collect();
    spans.sort_unstable();
    spans
}

#[tokio::test]
async fn maintenance_reads_back_equal_with_its_status() {
    for_each_engine(async |home| {
        let monitor = home.monitor(1).await.id;
        let component = components::a_full_page_with_one(home, monitor).await.id;
        let full = with(HOUR, |draft| {
            draft.description = Some(String::new());
            draft.time_zone = Some("Europe/Berlin".to_owned());
            draft.recurrence = Some("freq=daily;count=2".to_owned());
            draft.monitor_ids = vec![monitor.to_string()];
            draft.component_ids = vec![component.to_string()];
        });
        let written = create(home, 1, full.clone()).await.unwrap();
        assert_eq!(written.maintenance.settings, full);
        let (first, second) = (span(HOUR, 3 * HOUR), span(25 * HOUR, 27 * HOUR));
        for (now, current, next, course) in [
            (0, None, Some(first), MaintenanceStatus::Scheduled),
            (HOUR, Some(first), Some(second), MaintenanceStatus::Active),
            (3 * HOUR, None, Some(second), MaintenanceStatus::Scheduled),
            (25 * HOUR, Some(second), None, MaintenanceStatus::Active),
            (27 * HOUR, None, None, MaintenanceStatus::Completed),
        ] {
            let seen = read(home, 1, now).await.unwrap();
            assert_eq!((seen.current, seen.next, seen.status()), (current, next, course), "{now}");
            assert_eq!(seen.maintenance, written.maintenance);
        }
    })
    .await;
}

#[tokio::test]
async fn unknown_references_and_past_schedules_are_rejected() {
    for_each_engine(async |home| {
        home.store.workspaces().create(a_workspace(2), at(1)).await.unwrap();
        let (monitor, deleted) = (home.monitor(1).await.id, home.monitor(2).await.id);
        home.store.monitors().delete(home.workspace, deleted, at(3)).await.unwrap();
        let over = with(-2 * HOUR, |draft| draft.monitor_ids = vec![monitor.to_string()]);
        let never = with(HOUR, |draft| {
            draft.monitor_ids = vec![monitor.to_string()];
            draft.recurrence = Some("FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30".to_owned());
        });
        let component = with(HOUR, |draft| {
            draft.component_ids = vec![ComponentId::from_bits(9).to_string()];
        });
        let cases = [
            ("monitor_ids", from(HOUR, monitor_id(9))),
            ("monitor_ids", from(HOUR, deleted)),
            ("component_ids", component),
            ("starts_at", over),
            ("recurrence", never),
        ];
        let stored = create(home, 9, from(HOUR, monitor)).await.unwrap().maintenance;
        for (field, settings) in cases {
            let created = create(home, 1, settings.clone()).await.map(|_| ());
            let updated = home.store.maintenances().update(stored.clone(), settings, at(9)).await;
            for refusal in [created, updated.map(|_| ())] {
                let is_named =
                    matches!(&refusal, Err(StoreError::Refused(it)) if it.field == field);
                assert!(is_named, "{field}: {refusal:?}");
            }
        }
        let elsewhere =
            NewMaintenance { workspace: workspace_id(2), ..new(1, from(HOUR, monitor)) };
        let refusal = home.store.maintenances().create(elsewhere, at(0)).await;
        assert!(matches!(refusal, Err(StoreError::Refused(_))), "{refusal:?}");
        assert_eq!(home.count("maintenances").await, 1, "rejected requests store nothing");
        assert_eq!(read(home, 9, 0).await.unwrap().maintenance, stored);
    })
    .await;
}

#[tokio::test]
async fn repeated_create_returns_maintenance_until_deleted() {
    for_each_engine(async |home| {
        let monitor = home.monitor(1).await.id;
        let once =
            Idempotency { method: "CreateMaintenance", key: "k".to_owned(), request: [7; 32] };
        let maintenances = home.store.maintenances();
        let call = |number, now| {
            let new = NewMaintenance {
                idempotency: Some(once.clone()),
                ..new(number, from(HOUR, monitor))
            };
            maintenances.create(new, at(now))
        };
        let Created::Now(first) = call(1, 0).await.unwrap() else {
            panic!("the create is not repeated")
        };
        // A retry succeeds even if the create would be rejected now.
        let Created::Before(again) = call(2, 9 * HOUR).await.unwrap() else {
            panic!("the create is repeated")
        };
        assert_eq!(again.maintenance, first.maintenance);
        home.store.maintenances().delete(home.workspace, maintenance_id(1), at(1)).await.unwrap();
        assert!(matches!(call(3, 2).await, Err(StoreError::Gone { .. })));
    })
    .await;
}

#[tokio::test]
async fn stale_edit_conflicts_and_changes_are_audited() {
    for_each_engine(async |home| {
        let monitor = home.monitor(1).await.id;
        let seen = create(home, 1, from(HOUR, monitor)).await.unwrap().maintenance;
        let renamed = MaintenanceSettings { title: "On".to_owned(), ..seen.settings.clone() };
        let maintenances = home.store.maintenances();
        let edited = maintenances.update(seen.clone(), renamed.clone(), at(0)).await.unwrap();
        assert_eq!(edited.maintenance.settings, renamed);
        assert_eq!(edited.maintenance.updated_at, instant(1), "later than the seen version");
        let conflict = maintenances.update(seen.clone(), renamed, at(2)).await;
        assert!(matches!(conflict, Err(StoreError::Conflict { .. })), "{conflict:?}");
        maintenances.end(home.workspace, seen.id, at(2 * HOUR)).await.unwrap();
        maintenances.delete(home.workspace, seen.id, at(3 * HOUR)).await.unwrap();
        for gone in [
            maintenances.update(edited.maintenance.clone(), seen.settings, at(9)).await.map(|_| ()),
            maintenances.end(home.workspace, seen.id, at(9)).await.map(|_| ()),
            maintenances.delete(home.workspace, seen.id, at(9)).await,
            read(home, 1, 9).await.map(|_| ()),
        ] {
            assert!(matches!(gone, Err(StoreError::NotFound { .. })), "{gone:?}");
        }
        let audit = home.store.audit().newest(home.workspace, 4).await.unwrap();
        let actions: Vec<_> = audit.iter().rev().map(|entry| entry.action.as_str()).collect();
        let [create, update] = ["maintenance.create", "maintenance.update"];
        assert_eq!(actions, [create, update, "maintenance.end", "maintenance.delete"]);
    })
    .await;
}

#[tokio::test]
async fn lists_filter_by_status_and_monitor() {
    for_each_engine(async |home| {
        let (monitor, other) = (home.monitor(1).await.id, home.monitor(2).await.id);
        for (number, start) in [(1, -HOUR), (2, 10 * HOUR), (3, HOUR)] {
            create(home, number, from(start, monitor)).await.unwrap();
        }
        create(home, 4, from(10 * HOUR, other)).await.unwrap();
        let list = async |workspace, course, monitor, page| {
            let filter = MaintenanceFilter { course, monitor };
            let now = instant(2 * HOUR);
            let listed = home.store.maintenances().list(workspace, filter, page, now).await;
            let listed = listed.unwrap();
            let ids: Vec<u64> = listed.rows.iter().map(|it| it.maintenance.id.bits()).collect();
            (ids, listed.total)
        };
        let ours = home.workspace;
        assert_eq!(list(ours, None, None, ALL).await, (vec![4, 3, 2, 1], 4));
        assert_eq!(list(ours, Some(MaintenanceStatus::Completed), None, ALL).await, (vec![1], 1));
        assert_eq!(list(ours, Some(MaintenanceStatus::Active), None, ALL).await, (vec![3], 1));
        assert_eq!(
            list(ours, Some(MaintenanceStatus::Scheduled), None, ALL).await,
            (vec![4, 2], 2)
        );
        assert_eq!(
            list(ours, Some(MaintenanceStatus::Scheduled), Some(other), ALL).await,
            (vec![4], 1)
        );
        let second = Page { limit: 2, offset: 1, after: Some(maintenance_id(4)) };
        assert_eq!(list(ours, None, None, second).await, (vec![2, 1], 4));
        assert_eq!(list(workspace_id(2), None, None, ALL).await, (vec![], 0));
        let theirs =
            home.store.maintenances().get(workspace_id(2), maintenance_id(1), instant(0)).await;
        assert!(matches!(theirs, Err(StoreError::NotFound { .. })));
        let theirs =
            home.store.maintenances().delete(workspace_id(2), maintenance_id(1), at(9)).await;
        assert!(matches!(theirs, Err(StoreError::NotFound { .. })));
    })
    .await;
}

#[tokio::test]
async fn past_maintenance_stays_excluded_from_uptime() {
    // issue 6: "left out of uptime"; design: §5 "Uptime"
    for_each_engine(async |home| {
        let (monitor, other) = (home.monitor(1).await.id, home.monitor(2).await.id);
        // The first window started an hour ago, and counts from now.
        let seen = create(home, 1, from(-HOUR, monitor)).await.unwrap().maintenance;
        assert_eq!(excluded_spans(home, monitor).await, [(0, 1)]);
        let later = with(10 * HOUR, |draft| {
            draft.monitor_ids = vec![monitor.to_string()];
            draft.recurrence = Some("FREQ=HOURLY;INTERVAL=4;COUNT=3".to_owned());
        });
        let maintenances = home.store.maintenances();
        let seen = maintenances.update(seen, later, at(5 * HOUR)).await.unwrap().maintenance;
        let all = [(0, 1), (10, 12), (14, 16), (18, 20)];
        assert_eq!(excluded_spans(home, monitor).await, all, "past windows stay");
        let both = with(10 * HOUR, |draft| {
            draft.monitor_ids = vec![other.to_string()];
            draft.recurrence = Some("FREQ=HOURLY;INTERVAL=4;COUNT=3".to_owned());
        });
        maintenances.update(seen, both, at(15 * HOUR)).await.unwrap();
        assert_eq!(excluded_spans(home, monitor).await, [(0, 1), (10, 12), (14, 15)]);
        assert_eq!(excluded_spans(home, other).await, [(15, 16), (18, 20)]);
        maintenances.delete(home.workspace, maintenance_id(1), at(19 * HOUR)).await.unwrap();
        assert_eq!(excluded_spans(home, other).await, [(15, 16), (18, 19)]);
    })
    .await;
}

#[tokio::test]
async fn end_of_maintenance_is_visible_to_its_workspace() {
    for_each_engine(async |home| {
        let (monitor, other) = (home.monitor(1).await.id, home.monitor(2).await.id);
        create(home, 1, from(HOUR, monitor)).await.unwrap();
        let maintenances = home.store.maintenances();
        for (workspace, of, now, until) in [
            (home.workspace, monitor, HOUR - 1, None),
            (home.workspace, monitor, HOUR, Some(instant(3 * HOUR))),
            (home.workspace, monitor, 3 * HOUR, None),
            (home.workspace, other, HOUR, None),
            (workspace_id(2), monitor, HOUR, None),
        ] {
            let found = maintenances.active_until(workspace, of, instant(now)).await.unwrap();
            assert_eq!(found, until, "{workspace} {of} {now}");
        }
    })
    .await;
}

#[tokio::test]
async fn ending_a_window_keeps_the_next_one() {
    for_each_engine(async |home| {
        let monitor = home.monitor(1).await.id;
        let daily = with(HOUR, |draft| {
            draft.monitor_ids = vec![monitor.to_string()];
            draft.recurrence = Some("FREQ=DAILY;COUNT=2".to_owned());
        });
        create(home, 1, daily).await.unwrap();
        let maintenances = home.store.maintenances();
        let end = |now| maintenances.end(home.workspace, maintenance_id(1), at(now));
        let before = end(0).await.unwrap();
        assert_eq!(
            before,
            read(home, 1, 0).await.unwrap(),
            "nothing changes without an active window"
        );
        let ended = end(2 * HOUR).await.unwrap();
        assert_eq!((ended.current, ended.next), (None, Some(span(25 * HOUR, 27 * HOUR))));
        assert_eq!(end(2 * HOUR).await.unwrap(), ended, "ending it again changes nothing");
        assert_eq!(excluded_spans(home, monitor).await, [(1, 2), (25, 27)]);
        let at_once = end(25 * HOUR).await.unwrap();
        assert_eq!(
            at_once.status(),
            MaintenanceStatus::Completed,
            "a window ended at its start is removed"
        );
        assert_eq!(excluded_spans(home, monitor).await, [(1, 2)]);
    })
    .await;
}

#[tokio::test]
async fn coverage_follows_the_monitor_of_a_component() {
    for_each_engine(async |home| {
        let (first, second) = (home.monitor(1).await.id, home.monitor(2).await.id);
        let component = components::a_full_page_with_one(home, first).await;
        let of_component = with(0, |draft| {
            draft.component_ids = vec![component.id.to_string()];
        });
        create(home, 1, of_component).await.unwrap();
        let mut repointed = component.settings.clone();
        repointed.monitor_id = Some(second);
        home.store.components().update(component.clone(), repointed, at(HOUR)).await.unwrap();
        assert_eq!(excluded_spans(home, first).await, [(0, 1)]);
        assert_eq!(excluded_spans(home, second).await, [(1, 2)]);
    })
    .await;
}

#[tokio::test]
async fn deleted_objects_are_removed_from_maintenance() {
    for_each_engine(async |home| {
        let (monitor, other) = (home.monitor(1).await.id, home.monitor(2).await.id);
        let component = components::a_full_page_with_one(home, other).await;
        let both = with(0, |draft| {
            draft.monitor_ids = vec![monitor.to_string()];
            draft.component_ids = vec![component.id.to_string()];
        });
        create(home, 1, both.clone()).await.unwrap();
        create(home, 2, both).await.unwrap();
        home.store.monitors().delete(home.workspace, monitor, at(HOUR)).await.unwrap();
        let seen = read(home, 1, HOUR).await.unwrap().maintenance;
        assert_eq!(
            (seen.settings.monitor_ids.as_slice(), seen.updated_at),
            (&[][..], instant(HOUR))
        );
        home.store.components().delete(home.workspace, component.id, at(HOUR)).await.unwrap();
        let seen = read(home, 2, HOUR).await.unwrap().maintenance;
        assert!(seen.settings.is_without_targets());
        assert_eq!(seen.updated_at, instant(HOUR + 1));
        let twice = [(0, 1), (0, 1)];
        assert_eq!(excluded_spans(home, monitor).await, twice, "past coverage stays");
        assert_eq!(excluded_spans(home, other).await, twice);
        let audit = home.store.audit().newest(home.workspace, 20).await.unwrap();
        let noted = audit.iter().filter(|entry| entry.action == "maintenance.update");
        assert_eq!(noted.count(), 4);
    })
    .await;
}

#[tokio::test]
async fn deleted_page_removes_its_components_from_maintenance() {
    for_each_engine(async |home| {
        let monitor = home.monitor(1).await.id;
        let component = components::a_full_page_with_one(home, monitor).await;
        create(home, 1, with(0, |draft| draft.component_ids = vec![component.id.to_string()]))
            .await
            .unwrap();
        home.store.pages().delete(home.workspace, page_id(1), at(HOUR)).await.unwrap();
        assert!(read(home, 1, HOUR).await.unwrap().maintenance.settings.is_without_targets());
        assert_eq!(excluded_spans(home, monitor).await, [(0, 1)]);
    })
    .await;
}
