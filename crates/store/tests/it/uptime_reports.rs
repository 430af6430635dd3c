//! Uptime reports: figures of any range, frozen months, summaries for members, and write-ups of
//! incidents.

use std::time::Duration;

use domain::check::Outcome;
use domain::history::{Sketch, Span, Uptime};
use domain::judge::{IncidentChange, Share, StatusReason, Transition};
use domain::page::Month;
use rules::MonitorStatus::{Active, Error, Unknown};
use rules::{IncidentId, MonitorId, MonitorStatus, Region, ReportId, UserId};
use store::{Batch, Bucket, FreezableMonth, StoreError, UptimeFigures, UptimeSubject, sums_by_tag};

use crate::harness::{Home, a_result, at, for_each_engine, instant, monitor_id, workspace_id};
use crate::maintenances::{self, HOUR};
use crate::{components, users};

const DAY: i64 = 24 * HOUR;
/// The month of `instant(0)`, 2027-01-15 08:00.
const MONTH: &str = "2027-01";
/// Some hours after its end.
const AFTER: i64 = 17 * DAY;

fn month() -> Month {
    Month::parse(MONTH).unwrap()
}

fn january() -> FreezableMonth {
    FreezableMonth { workspace: workspace_id(1), month: month() }
}

fn change(
    monitor: MonitorId,
    millis: i64,
    [from, to]: [MonitorStatus; 2],
    incident: IncidentChange,
) -> (MonitorId, Transition) {
    let why = StatusReason::Fine(Share { votes: 0, of_votes: 1, regions: 0, of_regions: 1 });
    (monitor, Transition { from, to, at: instant(millis), incident, why })
}

/// Has a monitor checked from the beginning, and down for two hours from `from`, with an incident.
pub(crate) async fn outage(home: &Home, monitor: MonitorId, from: i64) {
    let id = IncidentId::from_bits(monitor.bits());
    let closed = IncidentChange::Closed { id, reason: domain::judge::CloseReason::Recovered };
    let transitions = vec![
        change(monitor, 0, [Unknown, Active], IncidentChange::None),
        change(monitor, from, [Active, Error], IncidentChange::Opened(id)),
        change(monitor, from + 2 * HOUR, [Error, Active], closed),
    ];
    let mut slow = a_result(monitor, Region::FlyAms, HOUR);
    slow.latency_us = 300_000;
    let mut failed = a_result(monitor, Region::FlyAms, from);
    failed.outcome = Outcome::Failure;
    let results = vec![a_result(monitor, Region::FlyAms, 0), slow, failed];
    home.commit(Batch { transitions, results, ..Batch::default() }).await.unwrap();
}

pub(crate) async fn figures(home: &Home, range: Span) -> Vec<UptimeFigures> {
    home.store.uptime_reports().monitors(home.workspace, range).await.unwrap()
}

/// Creates rows in every table of this file, for tests of whole databases. The workspace has the
/// incident 1 and a user.
pub(crate) async fn a_full_one(home: &Home) {
    let reports = home.store.uptime_reports();
    reports.freeze(january(), instant(AFTER)).await.unwrap();
    let incident = (home.workspace, IncidentId::from_bits(1));
    let report = Some(ReportId::from_bits(1));
    home.store.incidents().save_write_up(incident, "Why".to_owned(), report, at(20)).await.unwrap();
    let user = UserId::from_bits(1);
    home.store.summaries().subscribe(home.workspace, user, instant(20)).await.unwrap();
}

#[tokio::test]
async fn figures_exclude_maintenance() {
    for_each_engine(async |home| {
        let (monitor, other) = (home.monitor(1).await.id, home.monitor(2).await.id);
        outage(home, monitor, 10 * HOUR).await;
        // One of the two hours of the outage is planned.
        let planned = maintenances::with(9 * HOUR, |draft| {
            draft.monitor_ids = vec![monitor.to_string()];
        });
        maintenances::create(home, 1, planned).await.unwrap();
        let range = Span { from: instant(0), to: instant(20 * HOUR) };
        let found = figures(home, range).await;
        let subjects: Vec<_> = found.iter().map(|it| it.subject.clone()).collect();
        assert_eq!(subjects, [UptimeSubject::Monitor(monitor), UptimeSubject::Monitor(other)]);
        let hours = |hours: i64| (hours * HOUR) as u64;
        let expected = Uptime { known_ms: hours(18), error_ms: hours(1) };
        assert_eq!((found[0].uptime, found[0].incidents), (Some(expected), 1));
        assert_eq!((found[1].uptime, found[1].incidents), (None, 0));
        let before = Span { from: instant(-DAY), to: instant(-HOUR) };
        assert!(figures(home, before).await.is_empty(), "no monitor existed");
        let theirs = home.store.uptime_reports().monitors(workspace_id(2), range).await.unwrap();
        assert!(theirs.is_empty());
    })
    .await;
}

#[tokio::test]
async fn page_sums_up_its_monitors() {
    for_each_engine(async |home| {
        let monitor = home.monitor(1).await.id;
        outage(home, monitor, 10 * HOUR).await;
        components::a_full_page_with_one(home, monitor).await;
        let range = Span { from: month().span().from, to: instant(20 * HOUR) };
        let mut monitors = figures(home, range).await;
        let reports = home.store.uptime_reports();
        reports.add_latencies(home.workspace, range, &mut monitors).await.unwrap();
        let pages = reports.pages(home.workspace, &monitors).await.unwrap();
        assert_eq!(pages.len(), 1);
        assert!(matches!(pages[0].subject, UptimeSubject::Page(_)));
        assert_eq!((pages[0].uptime, pages[0].incidents), (monitors[0].uptime, 1));
        assert_eq!((pages[0].latency.count(), &pages[0].latency), (2, &monitors[0].latency));
    })
    .await;
}

// issue 18, point 6: "latency per monitor, tag, page and period"
#[tokio::test]
async fn latencies_of_many_monitors_equal_single_ones() {
    for_each_engine(async |home| {
        let mut all = Vec::new();
        for number in 1..=3 {
            all.push(home.monitor(number).await.id);
        }
        let mut results = Vec::new();
        for (place, monitor) in all.iter().take(2).enumerate() {
            for hour in 0..30 {
                let mut result = a_result(*monitor, Region::FlyAms, hour * HOUR);
                result.latency_us = 1_000 * (hour as u32 + 1) * (place as u32 + 1);
                results.push(result);
            }
        }
        let late = a_result(all[0], Region::FlyIad, 29 * HOUR);
        home.commit(Batch { results, ..Batch::default() }).await.unwrap();
        let range = Span { from: month().span().from, to: instant(30 * HOUR) };
        let history = home.store.history();
        let ids: Vec<_> = all.iter().copied().chain([monitor_id(9)]).collect();
        let read = async || history.day_latencies(home.workspace, &ids, range).await.unwrap();
        let before = read().await;
        assert_eq!(before.len(), 2, "one has no results, and one does not exist");
        while history.compact().await.unwrap().results > 0 {}
        assert_eq!(read().await, before);
        home.commit(Batch { results: vec![late], ..Batch::default() }).await.unwrap();
        let after = read().await;
        assert_eq!((after[&all[0]].count(), after[&all[1]].count()), (31, 30));
        for monitor in &all[..2] {
            let days = history.buckets(home.workspace, *monitor, Bucket::Day, range).await.unwrap();
            let mut single = Sketch::EMPTY;
            for (_, rollup) in &days {
                single.merge(&rollup.latency);
            }
            assert_eq!(after[monitor], single);
        }
        let first_day = Span { from: range.from, to: month().span().from };
        assert!(history.day_latencies(home.workspace, &ids, first_day).await.unwrap().is_empty());
        let theirs = history.day_latencies(workspace_id(2), &ids, range).await.unwrap();
        assert!(theirs.is_empty());
    })
    .await;
}

#[tokio::test]
async fn frozen_month_keeps_the_tags() {
    for_each_engine(async |home| {
        let tagged = rules::monitor::MonitorSettings {
            tags: crate::harness::tags(&["Prod", "web"]),
            ..crate::harness::settings()
        };
        let monitor = home.monitor_with(1, tagged).await.id;
        outage(home, monitor, 10 * HOUR).await;
        let reports = home.store.uptime_reports();
        reports.freeze(january(), instant(AFTER)).await.unwrap();
        home.store.monitors().delete(home.workspace, monitor, at(AFTER)).await.unwrap();
        let frozen = reports.frozen(home.workspace, month()).await.unwrap().unwrap();
        assert_eq!(frozen[0].tags, crate::harness::tags(&["Prod", "web"]));
        let names: Vec<_> = sums_by_tag(&frozen).into_iter().map(|it| it.name).collect();
        assert_eq!(names, ["Prod", "web"]);
    })
    .await;
}

// issue 18, point 6: "Past months are frozen"
#[tokio::test]
async fn frozen_month_never_changes() {
    for_each_engine(async |home| {
        let monitor = home.monitor(1).await.id;
        outage(home, monitor, 10 * HOUR).await;
        let reports = home.store.uptime_reports();
        assert_eq!(reports.freezable(instant(DAY)).await.unwrap(), [], "the month is not over");
        assert_eq!(reports.freezable(instant(AFTER)).await.unwrap(), [january()]);
        assert_eq!(reports.frozen(home.workspace, month()).await.unwrap(), None);
        reports.freeze(january(), instant(AFTER)).await.unwrap();
        let frozen = reports.frozen(home.workspace, month()).await.unwrap().unwrap();
        assert_eq!((frozen.len(), frozen[0].incidents), (1, 1));
        assert_eq!(frozen[0].uptime.unwrap().error_ms, 2 * HOUR as u64);
        assert_eq!(frozen[0].latency.count(), 2);
        assert_eq!(reports.freezable(instant(AFTER)).await.unwrap(), []);

        home.store.monitors().delete(home.workspace, monitor, at(AFTER)).await.unwrap();
        let planned = maintenances::with(AFTER + HOUR, |draft| {
            draft.monitor_ids = vec![monitor_id(2).to_string()];
        });
        home.monitor(2).await;
        maintenances::create(home, 1, planned).await.unwrap();
        reports.freeze(january(), instant(AFTER + DAY)).await.unwrap();
        let later = reports.frozen(home.workspace, month()).await.unwrap().unwrap();
        assert_eq!(later, frozen);
        let months = reports.frozen_months(home.workspace).await.unwrap();
        assert_eq!(months.into_iter().collect::<Vec<_>>(), [month()]);
    })
    .await;
}

#[tokio::test]
async fn summary_is_due_once_after_its_month() {
    for_each_engine(async |home| {
        users::a_full_one(home).await;
        let (user, summaries) = (UserId::from_bits(1), home.store.summaries());
        assert!(!summaries.is_wanted(home.workspace, user).await.unwrap());
        summaries.subscribe(home.workspace, user, instant(20)).await.unwrap();
        assert!(summaries.is_wanted(home.workspace, user).await.unwrap());
        assert_eq!(summaries.due(month()).await.unwrap(), [], "the month is not frozen");
        home.store.uptime_reports().freeze(january(), instant(AFTER)).await.unwrap();
        let due = summaries.due(month()).await.unwrap();
        assert_eq!((due.len(), due[0].user.email.as_str()), (1, "Jane@example.com"));
        assert!(summaries.claim(&due[0]).await.unwrap());
        assert!(!summaries.claim(&due[0]).await.unwrap(), "it is claimed");
        assert_eq!(summaries.due(month()).await.unwrap(), []);
        summaries.release(&due[0]).await.unwrap();
        assert_eq!(summaries.due(month()).await.unwrap(), due);
        // A member who subscribes after the month gets the next summary first.
        summaries.unsubscribe(home.workspace, user).await.unwrap();
        summaries.subscribe(home.workspace, user, instant(AFTER)).await.unwrap();
        assert_eq!(summaries.due(month()).await.unwrap(), []);
    })
    .await;
}

#[tokio::test]
async fn write_up_keeps_its_report() {
    for_each_engine(async |home| {
        let monitor = home.monitor(1).await.id;
        outage(home, monitor, 10 * HOUR).await;
        let incidents = home.store.incidents();
        let which = (home.workspace, IncidentId::from_bits(1));
        assert_eq!(incidents.write_up(which.0, which.1).await.unwrap(), None);
        let report = ReportId::from_bits(7);
        incidents.save_write_up(which, "First".to_owned(), Some(report), at(20)).await.unwrap();
        incidents.save_write_up(which, "Second".to_owned(), None, at(30)).await.unwrap();
        let stored = incidents.write_up(which.0, which.1).await.unwrap().unwrap();
        assert_eq!((stored.text.as_str(), stored.report), ("Second", Some(report)));
        let theirs = (workspace_id(2), which.1);
        let refused = incidents.save_write_up(theirs, String::new(), None, at(30)).await;
        assert!(matches!(refused, Err(StoreError::NotFound { .. })));
        assert_eq!(incidents.write_up(theirs.0, theirs.1).await.unwrap(), None);
        let later = instant(0) + rules::limits::INCIDENTS_KEPT + Duration::from_hours(24);
        home.store.retention().records(later).await.unwrap();
        assert_eq!(home.count("incident_write_ups").await, 0, "it expires with its incident");
    })
    .await;
}

#[tokio::test]
async fn search_finds_names_without_regard_to_case() {
    for_each_engine(async |home| {
        for (number, name) in [(1, "API 100%"), (2, "api_prod"), (3, "Mail")] {
            let settings = rules::monitor::MonitorSettings {
                name: name.to_owned(),
                ..crate::harness::settings()
            };
            home.monitor_with(number, settings).await;
        }
        let monitors = home.store.monitors();
        let search = async |text: &str, limit| {
            let found = monitors.search(home.workspace, text, limit).await.unwrap();
            found.into_iter().map(|(id, _)| id.bits()).collect::<Vec<_>>()
        };
        assert_eq!(search("API", 10).await, [1, 2]);
        assert_eq!(search("%", 10).await, [1]);
        assert_eq!(search("_", 10).await, [2]);
        assert_eq!(search("", 2).await, [1, 2]);
        assert_eq!(monitors.search(workspace_id(2), "", 10).await.unwrap(), []);
        let names = monitors.names(home.workspace, &[monitor_id(3), monitor_id(9)]).await.unwrap();
        assert_eq!(names, [(monitor_id(3), "Mail".to_owned())]);
    })
    .await;
}

#[tokio::test]
async fn searches_find_incidents_and_pages_by_text() {
    for_each_engine(async |home| {
        for (number, name) in [(1, "API 100%"), (2, "Übersicht"), (3, "api_prod")] {
            let settings = rules::monitor::MonitorSettings {
                name: name.to_owned(),
                ..crate::harness::settings()
            };
            let monitor = home.monitor_with(number, settings).await.id;
            outage(home, monitor, 10 * HOUR).await;
        }
        let incidents = home.store.incidents();
        let found = async |text: &str, limit| {
            let found = incidents.search(home.workspace, text, limit).await.unwrap();
            found.into_iter().map(|it| it.id.bits()).collect::<Vec<_>>()
        };
        assert_eq!(found("api", 8).await, [3, 1]);
        assert_eq!(found("API", 1).await, [3]);
        assert_eq!(found("_", 8).await, [3]);
        assert_eq!(found("Übers", 8).await, [2]);
        assert_eq!(incidents.search(workspace_id(2), "api", 8).await.unwrap(), []);
        let page = crate::pages::a_page(home, 1).await;
        let pages = home.store.pages();
        let slug = page.settings.slug.to_uppercase();
        for text in [page.settings.title.as_str(), slug.as_str()] {
            let found = pages.search(home.workspace, text, 8).await.unwrap();
            assert_eq!((found.len(), found[0].id), (1, page.id), "{text}");
        }
        assert_eq!(pages.search(home.workspace, "nothing", 8).await.unwrap(), []);
        assert_eq!(pages.search(workspace_id(2), &slug, 8).await.unwrap(), []);
    })
    .await;
}

// issue 16, point 7: "Quarantine it: keep the row, log it, run everything else"
#[tokio::test]
async fn month_with_unreadable_rows_stays_open() {
    for_each_engine(async |home| {
        let monitor = home.monitor(1).await.id;
        outage(home, monitor, 10 * HOUR).await;
        home.execute("UPDATE status_changes SET to_status = 'lost' WHERE to_status = 'error'")
            .await;
        let reports = home.store.uptime_reports();
        assert!(!reports.freeze(january(), instant(AFTER)).await.unwrap());
        assert_eq!(reports.freezable(instant(AFTER)).await.unwrap(), [january()]);
        assert_eq!(home.store.doctor().repair().await.unwrap(), 1);
        assert!(reports.freeze(january(), instant(AFTER)).await.unwrap());
        let frozen = reports.frozen(home.workspace, january().month).await.unwrap().unwrap();
        assert_eq!(frozen[0].uptime.unwrap().error_ms, u64::try_from(2 * HOUR).unwrap());
        home.execute("UPDATE frozen_months SET month = 'lost'").await;
        assert_eq!(reports.freezable(instant(AFTER)).await.unwrap(), [january()]);
        let unreadable = home.store.quarantine().rows();
        assert_eq!(unreadable.len(), 1, "{unreadable:?}");
        assert!(reports.freeze(january(), instant(AFTER)).await.unwrap(), "it is repeated safely");
    })
    .await;
}

#[tokio::test]
async fn month_closes_a_week_after_its_end() {
    for_each_engine(async |home| {
        let monitor = home.monitor(1).await.id;
        outage(home, monitor, 10 * HOUR).await;
        home.execute("UPDATE status_changes SET to_status = 'lost', from_status = 'lost'").await;
        let reports = home.store.uptime_reports();
        assert!(!reports.freeze(january(), instant(AFTER)).await.unwrap());
        assert_eq!(home.store.doctor().repair().await.unwrap(), 0);
        let end = january().month.span().to;
        let late = end + std::time::Duration::from_hours(7 * 24);
        assert!(reports.freeze(january(), late).await.unwrap());
        assert_eq!(reports.freezable(late).await.unwrap(), []);
    })
    .await;
}
