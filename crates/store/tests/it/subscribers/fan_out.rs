//! Fan-out: page events reach the right subscribers, once and in order, even if the process stops
//! in between.

use domain::judge::Transition;
use domain::notify::PageEvent;
use rules::report::{ComponentImpact, Impact, ReportDraft, ReportStatus, UpdateSettings};
use rules::{MonitorId, ReportId, UpdateId};
use store::{Batch, FanOutProgress, NewReport, NewUpdate};

use super::*;
use crate::commit::{closed, opened};
use crate::maintenances;

const HOUR: i64 = 3_600_000;

/// Fans out everything that is due.
pub(super) async fn fan_out(home: &Home, page: PageId, now: i64) -> FanOutProgress {
    loop {
        match home.store.outbox().fan_out(page, instant(now)).await.unwrap() {
            FanOutProgress::More => {}
            rest @ (FanOutProgress::Later(_) | FanOutProgress::Done) => return rest,
        }
    }
}

/// Delivers everything that is due to a subscriber. Returns the names of the events.
async fn received(home: &Home, page: PageId, subscriber: u64, now: i64) -> Vec<&'static str> {
    fan_out(home, page, now).await;
    let mut words = Vec::new();
    loop {
        let due = due(home, subscriber, now).await;
        let Some(first) = due.into_iter().next() else { return words };
        words.push(first.content.page_event().map(PageEvent::word).unwrap());
        crate::outbox::accept(home, &first, now).await;
    }
}

async fn commit_transition(home: &Home, monitor: MonitorId, transition: Transition) {
    let transitions = vec![(monitor, transition)];
    home.commit(Batch { transitions, ..Batch::default() }).await.unwrap();
}

/// Creates a page with two components: one of a monitor, and a static one.
async fn a_page_of(home: &Home, monitor: MonitorId) -> (PageId, [ComponentId; 2]) {
    let page = a_page(home, 1).await.id;
    let settings = components::settings(page, Some(monitor), |_| {});
    let affected = components::create(home, 1, settings).await.unwrap().id;
    let settings = components::settings(page, None, |draft| draft.name = Some("Shop".to_owned()));
    let other = components::create(home, 2, settings).await.unwrap().id;
    (page, [affected, other])
}

/// Returns settings for all topics of these components.
fn settings_for(page: PageId, email: &str, components: &[ComponentId]) -> SubscriberSettings {
    subscriber_settings(page, email, |draft| {
        draft.component_ids = components.iter().map(ToString::to_string).collect();
        draft.topics = Topic::WORDS.iter().map(|&word| word.to_owned()).collect();
    })
}

// issue 7: "per component"
#[tokio::test]
async fn incident_reaches_subscribers_of_its_component() {
    for_each_engine(async |home| {
        let monitor = home.monitor(1).await.id;
        let (page, [affected, other]) = a_page_of(home, monitor).await;
        add(home, 1, settings_for(page, "all@example.com", &[])).await.unwrap();
        add(home, 2, settings_for(page, "shown@example.com", &[affected])).await.unwrap();
        add(home, 3, settings_for(page, "still@example.com", &[other])).await.unwrap();
        add(home, 4, subscriber_settings(page, "default@example.com", |_| {})).await.unwrap();
        commit_transition(home, monitor, opened(1, 10)).await;
        for (subscriber, count) in [(1, 1), (2, 1), (3, 0), (4, 0)] {
            let names = received(home, page, subscriber, 10).await;
            assert_eq!(names, vec!["page.incident.opened"; count], "{subscriber}");
        }
        let late = new(5, settings_for(page, "late@example.com", &[]));
        home.store.subscribers().add(late, at(15)).await.unwrap();
        commit_transition(home, monitor, closed(1, 20)).await;
        for (subscriber, count) in [(1, 1), (2, 1), (3, 0), (4, 0), (5, 0)] {
            let names = received(home, page, subscriber, 20).await;
            assert_eq!(names, vec!["page.incident.closed"; count], "{subscriber}");
        }
    })
    .await;
}

// design: §5 "Maintenance mutes alerts"
#[tokio::test]
async fn incident_within_maintenance_waits_or_is_dropped() {
    for_each_engine(async |home| {
        let monitor = home.monitor(1).await.id;
        let (page, _) = a_page_of(home, monitor).await;
        add(home, 1, settings_for(page, "all@example.com", &[])).await.unwrap();
        let settings = maintenances::with(0, |draft| draft.monitor_ids = vec![monitor.to_string()]);
        maintenances::create(home, 1, settings).await.unwrap();
        commit_transition(home, monitor, opened(1, HOUR)).await;
        assert_eq!(fan_out(home, page, HOUR).await, FanOutProgress::Later(instant(2 * HOUR)));
        assert_eq!(received(home, page, 1, 2 * HOUR).await, ["page.incident.opened"]);
        commit_transition(home, monitor, closed(1, 3 * HOUR)).await;
        assert_eq!(received(home, page, 1, 3 * HOUR).await, ["page.incident.closed"]);
    })
    .await;
    for_each_engine(async |home| {
        let monitor = home.monitor(1).await.id;
        let (page, _) = a_page_of(home, monitor).await;
        add(home, 1, settings_for(page, "all@example.com", &[])).await.unwrap();
        let settings = maintenances::with(0, |draft| draft.monitor_ids = vec![monitor.to_string()]);
        maintenances::create(home, 1, settings).await.unwrap();
        commit_transition(home, monitor, opened(1, HOUR)).await;
        commit_transition(home, monitor, closed(1, HOUR + 1)).await;
        assert_eq!(received(home, page, 1, 3 * HOUR).await, [""; 0]);
    })
    .await;
}

#[tokio::test]
async fn each_maintenance_phase_is_announced_once() {
    for_each_engine(async |home| {
        let monitor = home.monitor(1).await.id;
        let (page, [affected, other]) = a_page_of(home, monitor).await;
        add(home, 1, subscriber_settings(page, "all@example.com", |_| {})).await.unwrap();
        add(home, 2, settings_for(page, "still@example.com", &[other])).await.unwrap();
        home.store.subscribers().announce_maintenance(instant(0)).await.unwrap();
        let settings =
            maintenances::with(HOUR, |draft| draft.component_ids = vec![affected.to_string()]);
        maintenances::create(home, 1, settings).await.unwrap();
        assert_eq!(received(home, page, 1, 0).await, ["page.maintenance.scheduled"]);
        for (now, word) in [
            (HOUR - 1, None),
            (HOUR, Some("page.maintenance.started")),
            (2 * HOUR, None),
            (3 * HOUR, Some("page.maintenance.completed")),
            (4 * HOUR, None),
        ] {
            for _ in 0..2 {
                home.store.subscribers().announce_maintenance(instant(now)).await.unwrap();
            }
            let names: Vec<_> = word.into_iter().collect();
            assert_eq!(received(home, page, 1, now).await, names, "{now}");
        }
        assert_eq!(received(home, page, 2, 4 * HOUR).await, [""; 0]);
    })
    .await;
}

// issue 7: "upcoming maintenance"
#[tokio::test]
async fn recurring_windows_are_announced_unless_daily() {
    for_each_engine(async |home| {
        let monitor = home.monitor(1).await.id;
        let (page, [affected, _]) = a_page_of(home, monitor).await;
        add(home, 1, subscriber_settings(page, "all@example.com", |_| {})).await.unwrap();
        home.store.subscribers().announce_maintenance(instant(0)).await.unwrap();
        for (number, rule) in [(1, "FREQ=WEEKLY;COUNT=3"), (2, "FREQ=DAILY;COUNT=20")] {
            let settings = maintenances::with(HOUR, |draft| {
                draft.component_ids = vec![affected.to_string()];
                draft.recurrence = Some(rule.to_owned());
            });
            maintenances::create(home, number, settings).await.unwrap();
        }
        let announced = async |now: i64| {
            home.store.subscribers().announce_maintenance(instant(now)).await.unwrap();
            let names = received(home, page, 1, now).await;
            names.iter().filter(|word| **word == "page.maintenance.scheduled").count()
        };
        assert_eq!(announced(0).await, 2, "both are announced when planned");
        let week = 7 * 24 * HOUR;
        assert_eq!(announced(week - 24 * HOUR).await, 0);
        assert_eq!(
            announced(week - 23 * HOUR).await,
            1,
            "the second weekly window is announced a day ahead"
        );
        assert_eq!(announced(week).await, 0, "it is announced once");
        assert_eq!(announced(2 * week - 23 * HOUR).await, 1);
    })
    .await;
}

#[tokio::test]
async fn deleted_maintenance_announces_its_end_once() {
    for_each_engine(async |home| {
        let monitor = home.monitor(1).await.id;
        let (page, [_, other]) = a_page_of(home, monitor).await;
        add(home, 1, subscriber_settings(page, "all@example.com", |_| {})).await.unwrap();
        home.store.subscribers().announce_maintenance(instant(0)).await.unwrap();
        let settings =
            maintenances::with(HOUR, |draft| draft.component_ids = vec![other.to_string()]);
        let planned = maintenances::create(home, 1, settings).await.unwrap();
        home.store.subscribers().announce_maintenance(instant(HOUR)).await.unwrap();
        let begun = ["page.maintenance.scheduled", "page.maintenance.started"];
        assert_eq!(received(home, page, 1, HOUR).await, begun);
        let id = planned.maintenance.id;
        home.store.maintenances().delete(home.workspace, id, at(2 * HOUR)).await.unwrap();
        assert_eq!(received(home, page, 1, 2 * HOUR).await, ["page.maintenance.completed"]);
        home.store.subscribers().announce_maintenance(instant(2 * HOUR + 1)).await.unwrap();
        assert_eq!(received(home, page, 1, 4 * HOUR).await, [""; 0]);
    })
    .await;
}

// issue 7: "a step that is done again writes nothing twice"
#[tokio::test]
async fn fan_out_in_steps_reaches_each_subscriber_once() {
    for_each_engine(async |home| {
        let monitor = home.monitor(1).await.id;
        let (page, _) = a_page_of(home, monitor).await;
        for number in 1..=501 {
            add(home, number, settings_for(page, &format!("{number}@example.com"), &[]))
                .await
                .unwrap();
        }
        commit_transition(home, monitor, opened(1, 10)).await;
        assert_eq!(
            home.store.outbox().fan_out(page, instant(10)).await.unwrap(),
            FanOutProgress::More
        );
        assert_eq!(home.count("deliveries WHERE kind = 'email'").await, 500);
        // Deliveries from before an interrupted step are not repeated.
        home.execute("UPDATE deliveries SET state = 'accepted' WHERE kind = 'email'").await;
        fan_out(home, page, 10).await;
        assert_eq!(home.count("deliveries WHERE kind = 'email'").await, 501);
        assert_eq!(home.count("deliveries WHERE kind = 'page' AND state = 'accepted'").await, 1);
        assert_eq!(home.count("events").await, 1);
    })
    .await;
}

#[tokio::test]
async fn hidden_page_sends_no_events() {
    for_each_engine(async |home| {
        let monitor = home.monitor(1).await.id;
        let (page, _) = a_page_of(home, monitor).await;
        add(home, 1, settings_for(page, "all@example.com", &[])).await.unwrap();
        commit_transition(home, monitor, opened(1, 10)).await;
        fan_out(home, page, 10).await;
        home.store.pages().set_published(home.workspace, page, false, at(11)).await.unwrap();
        commit_transition(home, monitor, closed(1, 20)).await;
        assert_eq!(received(home, page, 1, 20).await, [""; 0]);
        home.store.pages().set_published(home.workspace, page, true, at(21)).await.unwrap();
        commit_transition(home, monitor, opened(2, 30)).await;
        assert_eq!(received(home, page, 1, 30).await, ["page.incident.opened"]);
    })
    .await;
}

#[tokio::test]
async fn fourth_incident_of_a_minute_starts_a_digest() {
    for_each_engine(async |home| {
        let page = a_page(home, 1).await.id;
        let mut monitors = Vec::new();
        for number in 1..=6 {
            let monitor = home.monitor(number).await.id;
            let settings = components::settings(page, Some(monitor), |_| {});
            components::create(home, number, settings).await.unwrap();
            monitors.push(monitor);
        }
        add(home, 1, settings_for(page, "all@example.com", &[])).await.unwrap();
        for (number, monitor) in (1..).zip(&monitors) {
            commit_transition(home, *monitor, opened(number, 10)).await;
        }
        fan_out(home, page, 10).await;
        let alone = due(home, 1, 10).await;
        assert_eq!(alone.iter().filter(|due| due.hold_reason.is_none()).count(), 3);
        let later = due(home, 1, 70_000).await;
        assert_eq!(later.iter().filter(|due| due.hold_reason.is_some()).count(), 3, "{later:?}");
    })
    .await;
}

// issue 7: "opened, each update with notify, resolved"
#[tokio::test]
async fn report_updates_reach_subscribers_in_order() {
    for_each_engine(async |home| {
        let monitor = home.monitor(1).await.id;
        let (page, [affected, other]) = a_page_of(home, monitor).await;
        add(home, 1, subscriber_settings(page, "all@example.com", |_| {})).await.unwrap();
        add(home, 2, settings_for(page, "still@example.com", &[other])).await.unwrap();
        let draft = ReportDraft {
            page_id: Some(page.to_string()),
            title: Some("Disks".to_owned()),
            ..ReportDraft::default()
        };
        let update = |status, at| UpdateSettings {
            status,
            text: "We look".to_owned(),
            at: instant(at),
            components: vec![ComponentImpact { component: affected, impact: Impact::Down }],
        };
        let (report, workspace) = (ReportId::from_bits(1), home.workspace);
        let first = NewReport {
            id: report,
            workspace,
            settings: draft.parse().unwrap(),
            update: UpdateId::from_bits(1),
            first: update(ReportStatus::Investigating, 5),
            notify: true,
            idempotency: None,
        };
        home.store.reports().create(first, at(5)).await.unwrap();
        let updates = [
            (2, ReportStatus::Identified, true),
            (3, ReportStatus::Monitoring, false),
            (4, ReportStatus::Resolved, true),
        ];
        for (number, status, notify) in updates {
            let update = NewUpdate {
                id: UpdateId::from_bits(number),
                workspace,
                report,
                settings: update(status, 10 * number as i64),
                notify,
                idempotency: None,
            };
            home.store.reports().add(update, at(10 * number as i64)).await.unwrap();
        }
        let words = ["page.report.opened", "page.report.updated", "page.report.resolved"];
        assert_eq!(received(home, page, 1, HOUR).await, words);
        assert_eq!(received(home, page, 2, HOUR).await, [""; 0]);
    })
    .await;
}

// issue 16, point 7: "Quarantine it: keep the row, log it, run everything else"
#[tokio::test]
async fn unreadable_rows_hold_no_event_back() {
    for_each_engine(async |home| {
        let monitor = home.monitor(1).await.id;
        let (page, _) = a_page_of(home, monitor).await;
        for number in [1, 2] {
            let email = format!("{number}@example.com");
            add(home, number, settings_for(page, &email, &[])).await.unwrap();
        }
        home.execute_owned(format!(
            "UPDATE subscribers SET kind = 'pigeon' WHERE id = '{}'",
            subscriber_id(1)
        ))
        .await;
        commit_transition(home, monitor, opened(1, 10)).await;
        let damage = if home.is_embedded() { "x'00'" } else { "'\\x00'::bytea" };
        home.execute_owned(format!("UPDATE events SET sealed = {damage}")).await;
        commit_transition(home, monitor, closed(1, 20)).await;
        commit_transition(home, monitor, opened(2, 30)).await;
        assert_eq!(received(home, page, 2, 30).await, ["page.incident.opened"]);
        // The unreadable event waits for its repair.
        assert_eq!(home.count("deliveries WHERE kind = 'page' AND state = 'waiting'").await, 1);
        let day = 24 * HOUR;
        assert_eq!(received(home, page, 2, day + 30).await, Vec::<&str>::new());
        assert_eq!(home.count("deliveries WHERE kind = 'page' AND state = 'dead'").await, 1);
        let unreadable = home.store.quarantine().rows();
        assert_eq!(
            unreadable.iter().map(|row| row.table).collect::<Vec<_>>(),
            ["events", "subscribers"]
        );
        assert_eq!(unreadable[1].key, subscriber_id(1).to_string());
    })
    .await;
}
