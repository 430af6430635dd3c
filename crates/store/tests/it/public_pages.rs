//! Archive of status pages: incidents singly and by month, deleted monitors with their history, and
//! the data of charts.

use std::collections::HashMap;
use std::time::Duration;

use domain::check::{CheckResult, Outcome, Trigger};
use domain::history::Span;
use domain::judge::CloseReason;
use domain::page::ArchiveFacts;
use rules::maintenance::MaintenanceDraft;
use rules::status_page::{Component, ComponentDraft};
use rules::{ComponentId, IncidentId, MaintenanceId, MonitorId, MonitorStatus, PageId, Region};
use store::{Batch, Bucket, Created, NewComponent, NewMaintenance, RetentionPolicy, StoreError};

use crate::commit::{closed, opened};
use crate::harness::{
    Home, a_result, at, for_each_engine, instant, monitor_id, with_evidence, workspace_id,
};
use crate::pages::{a_full_page, a_page, page_id};

const MINUTE: i64 = 60_000;
const HOUR: i64 = 60 * MINUTE;
const DAY: i64 = 24 * HOUR;

/// Creates a component of a page that shows this monitor, or none.
async fn a_component(
    home: &Home,
    number: u64,
    page: PageId,
    monitor: Option<MonitorId>,
) -> Result<Component, StoreError> {
    let draft = ComponentDraft {
        page_id: Some(page.to_string()),
        kind: Some(if monitor.is_some() { "monitor" } else { "static" }.to_owned()),
        monitor_id: monitor.map(|id| id.to_string()),
        name: monitor.is_none().then(|| "Mail".to_owned()),
        ..ComponentDraft::default()
    };
    let (id, workspace) = (ComponentId::from_bits(number), home.workspace);
    let new = NewComponent { id, workspace, settings: draft.parse().unwrap(), idempotency: None };
    home.store.components().create(new, at(number as i64)).await.map(Created::into_inner)
}

async fn a_maintenance(home: &Home, number: u64, start: i64, component: ComponentId) {
    let draft = MaintenanceDraft {
        title: Some("Moving".to_owned()),
        starts_at: Some(instant(start)),
        duration: Some("2h".to_owned()),
        component_ids: vec![component.to_string()],
        ..MaintenanceDraft::default()
    };
    let (id, workspace) = (MaintenanceId::from_bits(number), home.workspace);
    let new = NewMaintenance { id, workspace, settings: draft.parse().unwrap(), idempotency: None };
    home.store.maintenances().create(new, at(start - HOUR)).await.unwrap();
}

async fn turn(home: &Home, monitor: MonitorId, transition: domain::judge::Transition) {
    let transitions = vec![(monitor, transition)];
    home.commit(Batch { transitions, ..Batch::default() }).await.unwrap();
}

async fn past(home: &Home, places: &[(u64, usize)], from: i64, to: i64) -> ArchiveFacts {
    let places: HashMap<_, _> =
        places.iter().map(|(id, place)| (ComponentId::from_bits(*id), *place)).collect();
    let range = Span { from: instant(from), to: instant(to) };
    home.store.public_pages().past(page_id(1), &places, range).await.unwrap()
}

fn ids(facts: &ArchiveFacts) -> Vec<u64> {
    facts.incidents.iter().map(|incident| incident.id.bits()).collect()
}

// issue 7: "a page per incident"
#[tokio::test]
async fn incident_is_found_on_pages_of_its_monitor() {
    for_each_engine(async |home| {
        let (page, other) = (a_page(home, 1).await.id, a_page(home, 2).await.id);
        let monitor = home.monitor(1).await.id;
        a_component(home, 1, page, Some(monitor)).await.unwrap();
        a_component(home, 2, other, None).await.unwrap();
        let failed =
            |region| with_evidence(a_result(monitor_id(1), region, 9), Outcome::Failure, "secret");
        let results = vec![failed(Region::FlyAms), failed(Region::KoyebSin)];
        let transitions = vec![(monitor, opened(1, 10))];
        home.commit(Batch { results, transitions, ..Batch::default() }).await.unwrap();
        turn(home, monitor, closed(1, 70)).await;
        let shown = home.store.public_pages();
        let (incident, mut regions) =
            shown.incident(page, IncidentId::from_bits(1)).await.unwrap().unwrap();
        assert_eq!((incident.monitor, incident.opened_at), (monitor, instant(10)));
        regions.sort_unstable();
        assert_eq!(regions, [Region::FlyAms, Region::KoyebSin]);
        assert_eq!(incident.closed, Some((instant(70), CloseReason::Recovered)));
        for (page, id) in [(other, 1), (page, 2), (page_id(9), 1)] {
            let found = shown.incident(page, IncidentId::from_bits(id)).await.unwrap();
            assert_eq!(found, None, "{page} {id}");
        }
    })
    .await;
}

// Links in messages never lead to pages that are hidden, restricted, or incomplete.
#[tokio::test]
async fn public_page_with_all_monitors_is_found() {
    for_each_engine(async |home| {
        let (one, other) = (home.monitor(1).await.id, home.monitor(2).await.id);
        let locked = a_full_page(home, 1).await;
        a_component(home, 1, locked.id, Some(one)).await.unwrap();
        let found = async |monitors: &[MonitorId]| {
            let found =
                home.store.public_pages().open_page(home.workspace, monitors).await.unwrap();
            found.map(|page| (page.slug, page.component.bits()))
        };
        assert_eq!(found(&[one]).await, None, "the page is restricted");
        let (page, wide) = (a_page(home, 2).await, a_page(home, 3).await);
        a_component(home, 2, page.id, Some(one)).await.unwrap();
        a_component(home, 3, wide.id, Some(other)).await.unwrap();
        a_component(home, 4, wide.id, Some(one)).await.unwrap();
        let of = |slug: &str, component| Some((slug.to_owned(), component));
        assert_eq!(found(&[one]).await, of("page-2", 2));
        assert_eq!(found(&[one, other]).await, of("page-3", 4));
        assert_eq!(found(&[]).await, None);
        let foreign = home.store.public_pages().open_page(workspace_id(2), &[one]).await.unwrap();
        assert_eq!(foreign, None);
        home.store.pages().set_published(home.workspace, page.id, false, at(9)).await.unwrap();
        assert_eq!(found(&[one]).await, of("page-3", 4));
        home.store.monitors().delete(home.workspace, one, at(10)).await.unwrap();
        assert_eq!(found(&[one]).await, of("page-3", 4), "its history stays on the page");
    })
    .await;
}

// The future windows of a daily maintenance hid the active one.
#[tokio::test]
async fn active_window_is_kept_among_many() {
    for_each_engine(async |home| {
        let page = a_page(home, 1).await;
        let mut components = Vec::new();
        for number in 1..=40 {
            components.push(a_component(home, number, page.id, None).await.unwrap().id.to_string());
        }
        let draft = MaintenanceDraft {
            title: Some("Backup".to_owned()),
            starts_at: Some(instant(HOUR)),
            duration: Some("2h".to_owned()),
            recurrence: Some("FREQ=DAILY".to_owned()),
            component_ids: components,
            ..MaintenanceDraft::default()
        };
        let (id, workspace) = (MaintenanceId::from_bits(1), home.workspace);
        let settings = draft.parse().unwrap();
        let new = NewMaintenance { id, workspace, settings, idempotency: None };
        home.store.maintenances().create(new, at(0)).await.unwrap();
        let now = instant(2 * HOUR);
        let facts = home.store.public_pages().facts(page, now).await.unwrap();
        let active = facts.maintenances.iter().find(|it| it.window.from <= now);
        assert_eq!(active.map(|it| it.components.len()), Some(40));
        assert_eq!(facts.maintenances.len(), 61, "no window within 60 days is missing");
    })
    .await;
}

// Newer incidents hid one that was still open.
#[tokio::test]
async fn open_incident_is_kept_among_many() {
    for_each_engine(async |home| {
        let page = a_page(home, 1).await;
        let (failing, flapping) = (home.monitor(1).await.id, home.monitor(2).await.id);
        a_component(home, 1, page.id, Some(failing)).await.unwrap();
        a_component(home, 2, page.id, Some(flapping)).await.unwrap();
        turn(home, failing, opened(1, 0)).await;
        let flaps = (2..=502).flat_map(|incident: u64| {
            let at = incident as i64 * MINUTE;
            [opened(incident, at), closed(incident, at + 1)]
        });
        let transitions = flaps.map(|transition| (flapping, transition)).collect();
        home.commit(Batch { transitions, ..Batch::default() }).await.unwrap();
        let facts = home.store.public_pages().facts(page, instant(DAY)).await.unwrap();
        let open: Vec<_> = facts.incidents.iter().filter(|it| it.closed.is_none()).collect();
        assert_eq!(open.iter().map(|it| it.id.bits()).collect::<Vec<_>>(), [1]);
        assert_eq!(facts.incidents.len(), 500);
    })
    .await;
}

// Issue 7: "/history": as far back as anything is stored, bounded.
#[tokio::test]
async fn archive_is_read_by_range_with_its_start() {
    for_each_engine(async |home| {
        let page = a_page(home, 1).await.id;
        let places = [(1, 1), (2, 0)];
        assert_eq!(past(home, &places, 0, DAY).await, ArchiveFacts::default());
        let (monitor, foreign) = (home.monitor(1).await.id, home.monitor(2).await.id);
        a_component(home, 1, page, Some(monitor)).await.unwrap();
        let fixed = a_component(home, 2, page, None).await.unwrap().id;
        for (incident, monitor, begins) in
            [(1, monitor, HOUR), (2, foreign, 0), (3, monitor, 3 * DAY), (4, monitor, 5 * DAY)]
        {
            turn(home, monitor, opened(incident, begins)).await;
            turn(home, monitor, closed(incident, begins + MINUTE)).await;
        }
        a_maintenance(home, 1, DAY, fixed).await;
        let first = past(home, &places, 0, 2 * DAY).await;
        assert_eq!((ids(&first), first.first, first.is_cut), (vec![1], Some(instant(HOUR)), false));
        let windows: Vec<_> =
            first.maintenances.iter().map(|it| (it.window.from, it.components.clone())).collect();
        assert_eq!(windows, [(instant(DAY), vec![0])]);
        let later = past(home, &places, 2 * DAY, 6 * DAY).await;
        assert_eq!((ids(&later), later.maintenances.len()), (vec![4, 3], 0));
        a_maintenance(home, 2, -DAY, fixed).await;
        assert_eq!(past(home, &places, 0, 1).await.first, Some(instant(-DAY)));
    })
    .await;
}

// design: §4 "Deleting a monitor keeps its page components"
#[tokio::test]
async fn component_keeps_history_of_its_deleted_monitor() {
    for_each_engine(async |home| {
        let page = a_page(home, 1).await;
        let monitor = home.monitor(1).await.id;
        let component = a_component(home, 1, page.id, Some(monitor)).await.unwrap();
        turn(home, monitor, opened(1, HOUR)).await;
        turn(home, monitor, closed(1, 2 * HOUR)).await;
        home.store.monitors().delete(home.workspace, monitor, at(3 * HOUR)).await.unwrap();
        // Everything old enough expires, except the data that the page shows.
        let (retention, now) = (home.store.retention(), instant(60 * DAY));
        retention.step(RetentionPolicy::default(), now).await.unwrap();
        retention.records(now).await.unwrap();
        let facts = home.store.public_pages().facts(page.clone(), instant(4 * HOUR)).await.unwrap();
        let shown = facts.components[0].monitor.as_ref().unwrap();
        assert_eq!((shown.id, shown.name.as_str(), shown.runs), (monitor, "API", false));
        let changes: Vec<_> = shown.changes.iter().map(|it| (it.at, it.status)).collect();
        // Even if the judge never recorded the end.
        assert_eq!(
            changes,
            [
                (instant(HOUR), MonitorStatus::Error),
                (instant(2 * HOUR), MonitorStatus::Active),
                (instant(3 * HOUR), MonitorStatus::Unknown),
            ]
        );
        assert_eq!(facts.components[0].component.settings.monitor_id, None);
        let found =
            home.store.public_pages().incident(page.id, IncidentId::from_bits(1)).await.unwrap();
        assert!(found.is_some(), "its incidents are shown, too");
        let long_after =
            home.store.public_pages().facts(page.clone(), instant(200 * DAY)).await.unwrap();
        let shown = long_after.components[0].monitor.as_ref().unwrap();
        assert_eq!((shown.status(), shown.changes.len()), (MonitorStatus::Unknown, 0));

        let other = home.monitor(2).await.id;
        let mut draft = ComponentDraft::from(&component.settings);
        draft.monitor_id = Some(other.to_string());
        let seen = home.store.components().get(home.workspace, component.id).await.unwrap();
        let settings = draft.parse().unwrap();
        home.store.components().update(seen, settings, at(5 * HOUR)).await.unwrap();
        let facts = home.store.public_pages().facts(page, instant(6 * HOUR)).await.unwrap();
        let shown = facts.components[0].monitor.as_ref().unwrap();
        assert_eq!((shown.id, shown.runs, shown.changes.len()), (other, true, 0));
    })
    .await;
}

/// Returns a check each minute from `from`, in two regions. Every tenth fails.
fn checks(monitor: MonitorId, from: i64, minutes: i64) -> Vec<CheckResult> {
    let result = |(minute, region)| {
        let mut result = a_result(monitor, region, from + minute * MINUTE);
        if minute % 10 == 0 {
            result.outcome = Outcome::Failure;
        }
        result
    };
    let regions = [Region::FlyAms, Region::KoyebSin];
    (0..minutes).flat_map(|minute| regions.map(|region| (minute, region))).map(result).collect()
}

// Issue 7: "percentiles and phases chart": few rows are read, whether results are compacted or not.
#[tokio::test]
async fn compaction_does_not_change_charts() {
    for_each_engine(async |home| {
        let monitor = home.monitor(1).await.id;
        // Hours of Unix time start here.
        let begin = -(instant(0).as_millis() % HOUR) + HOUR;
        let mut results = checks(monitor, begin, 90);
        let mut curious = a_result(monitor, Region::FlyAms, begin + 61 * MINUTE);
        curious.identity.trigger = Trigger::Manual;
        results.push(curious);
        home.commit(Batch { results, ..Batch::default() }).await.unwrap();
        let history = home.store.history();
        let read = async || {
            let range = Span { from: instant(begin), to: instant(begin + 2 * HOUR - 1) };
            let (workspace, hour) = (home.workspace, Bucket::Hour);
            let rollups = history.buckets(workspace, monitor, hour, range).await.unwrap();
            let moments = [0, 10 * MINUTE, 70 * MINUTE].map(|after| instant(begin + after));
            let phases = history.phases(workspace, monitor, &moments).await.unwrap();
            (rollups, phases)
        };
        let (rollups, phases) = read().await;
        let hours: Vec<_> =
            rollups.iter().map(|(at, sum)| (*at, sum.success, sum.failure)).collect();
        let (first, second) = (instant(begin), instant(begin + HOUR));
        assert_eq!(hours, [(first, 108, 12), (second, 54, 6)]);
        let looked: Vec<_> = phases.iter().map(|(at, sum)| (*at, sum.checks)).collect();
        let blocks = [0, 10 * MINUTE, 70 * MINUTE].map(|after| (instant(begin + after), 18));
        assert_eq!(looked, blocks);
        assert_eq!(phases[0].1.means_us(), Some([900, 12_000, 0, 80_000, 0]));

        while home.store.history().compact().await.unwrap().results > 0 {}
        assert_eq!(read().await, (rollups, phases));
        let range = Span { from: instant(begin), to: instant(begin + 2 * HOUR) };
        let days = history.buckets(home.workspace, monitor, Bucket::Day, range).await.unwrap();
        let all: u32 = days.iter().map(|(_, sum)| sum.checks()).sum();
        assert_eq!(all, 180);
        // A deleted monitor keeps its history, and other workspaces cannot read it.
        home.store.monitors().delete(home.workspace, monitor, at(3 * HOUR)).await.unwrap();
        assert_eq!(read().await.0.len(), 2);
        let foreign = history.buckets(workspace_id(2), monitor, Bucket::Day, range).await;
        assert!(matches!(foreign, Err(StoreError::NotFound { .. })), "{foreign:?}");
    })
    .await;
}

#[tokio::test]
async fn chart_queries_are_bounded() {
    for_each_engine(async |home| {
        let monitor = home.monitor(1).await.id;
        home.commit(Batch { results: checks(monitor, 0, 5), ..Batch::default() }).await.unwrap();
        let history = home.store.history();
        let range = Span { from: instant(0), to: instant(300 * HOUR) };
        let hours = history.buckets(home.workspace, monitor, Bucket::Hour, range).await;
        assert_eq!(hours.unwrap(), [], "only the newest 256 hours are read");
        let step = Duration::from_mins(10);
        let moments: Vec<_> = (0..300).map(|count| instant(0) + step * count).collect();
        let phases = history.phases(home.workspace, monitor, &moments).await.unwrap();
        assert_eq!(phases, [], "only the last 256 times are read");
    })
    .await;
}
