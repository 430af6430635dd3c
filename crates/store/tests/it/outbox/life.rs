//! From the verdict to the receiver: deliveries are written with the verdict, once, and survive a
//! restart.

use std::sync::Arc;

use domain::judge::{CloseReason, IncidentChange, Transition};
use domain::notify::EventKind;
use rules::MonitorStatus;
use rules::monitor::MonitorSettings;
use store::{Batch, DeliveryFilter, DeliveryState, NextStep, OrderingKey, Page};

use super::*;
use crate::harness::{
    a_history, check_with_secret, for_each_engine, monitor_id, open, settings, until,
};

// design: §5 "To `error`: an incident opens"
#[tokio::test]
async fn outage_alert_has_cause_and_recovery_has_duration() {
    for_each_engine(async |home| {
        let check = check_with_secret("hunter2");
        let monitor = home.monitor_with(1, MonitorSettings { check, ..settings() }).await.id;
        let channel = slack(home, 1, &[monitor]).await;
        turn(home, monitor, down(1, 10 * SECOND)).await;
        let queue = due(home, channel, 10 * SECOND).await;
        let [first] = &queue.due[..] else { panic!("{queue:?}") };
        let event = alert(first);
        assert_eq!((event.kind, event.at, event.began_at), {
            let at = instant(10 * SECOND);
            (EventKind::Error, at, at)
        });
        assert_eq!(event.workspace, "Team 1");
        assert_eq!(event.monitor.target, "https://example.com/health");
        assert_eq!(event.monitor.method.as_deref(), Some("GET"));
        assert_eq!(event.cause, cause("the status is 503"));
        assert_eq!(first.key, "inc_0000000000001-chn_0000000000001-error");
        assert_eq!((first.attempt_count, first.first_attempt_at), (0, None));
        assert_eq!(first.ordering_key, OrderingKey::Monitor(monitor));

        record_next_attempt(home, first.id, 11 * SECOND, NextStep::Accepted).await;
        assert_eq!(due(home, channel, HOUR).await, DueDeliveries::default());
        turn(home, monitor, up(1, 70 * SECOND)).await;
        let queue = due(home, channel, 70 * SECOND).await;
        let [second] = &queue.due[..] else { panic!("{queue:?}") };
        assert_eq!(alert(second).closed, Some(CloseReason::Recovered));
        assert_eq!(alert(second).duration(), Duration::from_mins(1));
        record_next_attempt(home, second.id, 71 * SECOND, NextStep::Accepted).await;
        let (error, over) = (EventKind::Error, EventKind::Recovered);
        let accepted = DeliveryState::Accepted;
        assert_eq!(states(home).await, [(error, accepted), (over, accepted)]);
        assert_eq!(home.count("deliveries WHERE is_open").await, 0);
    })
    .await;
}

#[tokio::test]
async fn only_channels_of_the_monitor_are_notified() {
    for_each_engine(async |home| {
        let (monitor, other) = (home.monitor(1).await.id, home.monitor(2).await.id);
        let (first, second) =
            (slack(home, 1, &[monitor]).await, slack(home, 2, &[monitor, other]).await);
        let third = slack(home, 3, &[other]).await;
        turn(home, monitor, down(1, 0)).await;
        for (channel, expected) in [(first, 1), (second, 1), (third, 0)] {
            assert_eq!(due(home, channel, 0).await.due.len(), expected, "{channel}");
        }
        assert_eq!(home.count("events").await, 1, "an event with many recipients is stored once");
    })
    .await;
}

#[tokio::test]
async fn retried_batch_notifies_once() {
    for_each_engine(async |home| {
        let monitor = home.monitor(1).await.id;
        let channel = slack(home, 1, &[monitor]).await;
        let transitions =
            [down(1, 10), up(1, 20), slow(30), fine(40), down(2, 50), up(2, 60), slow(70)];
        let transitions = transitions.map(|transition| (monitor, transition)).into();
        let batch = Arc::new(Batch { transitions, ..Batch::default() });
        home.store.commit(Arc::clone(&batch)).await.unwrap();
        let once = states(home).await;
        let waits = |kind| (kind, DeliveryState::Waiting);
        let (error, over) = (waits(EventKind::Error), waits(EventKind::Recovered));
        let cancelled = (EventKind::Degraded, DeliveryState::Cancelled);
        let degraded = waits(EventKind::Degraded);
        assert_eq!(once, [error, over, cancelled, error, over, degraded]);
        deliver(home, channel, 100).await;
        let before = states(home).await;
        home.store.commit(batch).await.unwrap();
        assert_eq!(states(home).await, before);
    })
    .await;
}

// Two changes to the same status in one millisecond are one row of `status_changes`, and two
// alerts.
#[tokio::test]
async fn changes_at_the_same_time_are_all_notified() {
    for_each_engine(async |home| {
        let monitor = home.monitor(1).await.id;
        let channel = opsgenie(home, 1, &[monitor]).await;
        let transitions = [down(1, 10), up(1, 10), down(2, 10), up(2, 10)];
        let transitions = transitions.map(|transition| (monitor, transition)).into();
        home.commit(Batch { transitions, ..Batch::default() }).await.unwrap();
        let delivered = deliver(home, channel, 10).await;
        assert_eq!(delivered, ["error 1", "recovered 1", "error 1", "recovered 1"]);
    })
    .await;
}

#[tokio::test]
async fn verdict_rolls_back_if_deliveries_cannot_be_written() {
    for_each_engine(async |home| {
        let monitor = home.monitor(1).await.id;
        let channel = slack(home, 1, &[monitor]).await;
        let mut wakeups = home.store.outbox().listen();
        let transitions = vec![(monitor, down(1, 10))];
        let batch = Arc::new(Batch { transitions, ..Batch::default() });
        home.execute("ALTER TABLE deliveries RENAME TO elsewhere").await;
        home.store.commit(Arc::clone(&batch)).await.unwrap_err();
        home.execute("ALTER TABLE elsewhere RENAME TO deliveries").await;
        assert_eq!(home.store.incidents().open(home.workspace).await.unwrap(), []);
        assert!(wakeups.try_recv().is_err(), "a rolled-back event is not due");
        home.store.commit(batch).await.unwrap();
        assert_eq!(wakeups.try_recv(), Ok(channel.into()));
    })
    .await;
}

// design: §5 "Every channel that received the opening is notified"
#[tokio::test]
async fn pause_and_deletion_notify_alerted_channels() {
    for_each_engine(async |home| {
        let (paused, deleted) = (home.monitor(1).await, home.monitor(2).await);
        let fine = home.monitor(3).await;
        let all = [paused.id, deleted.id, fine.id];
        let (linked, late) = (slack(home, 1, &all).await, channel_id(2));
        turn(home, paused.id, down(1, 10)).await;
        turn(home, deleted.id, down(2, 20)).await;
        deliver(home, linked, 20).await;
        slack(home, 2, &all).await;
        let mut wakeups = home.store.outbox().listen();
        for (monitor, millis) in [(paused.clone(), 30), (fine, 31)] {
            let settings = MonitorSettings { active: false, ..monitor.settings.clone() };
            home.store.monitors().update(monitor, settings, at(millis)).await.unwrap();
        }
        assert_eq!(wakeups.try_recv(), Ok(linked.into()));
        home.store.monitors().delete(home.workspace, deleted.id, at(61_000)).await.unwrap();
        assert_eq!(wakeups.try_recv(), Ok(linked.into()));
        let queue = due(home, linked, 61_000).await;
        let ended: Vec<_> = queue.due.iter().map(|it| (format_due(it), alert(it).closed)).collect();
        let over = |number, how| (format!("recovered {number}"), Some(how));
        assert_eq!(ended, [over(1, CloseReason::Paused), over(2, CloseReason::Deleted)]);
        assert_eq!(alert(&queue.due[1]).monitor.target, "example.com:443");
        assert_eq!(
            due_events(home, late, HOUR).await,
            [""; 0],
            "a channel without an opening gets no end"
        );

        // The judge records it too, later.
        let judged = Transition {
            from: MonitorStatus::Error,
            to: MonitorStatus::Unknown,
            incident: IncidentChange::Closed {
                id: IncidentId::from_bits(1),
                reason: CloseReason::Paused,
            },
            ..up(1, 62_000)
        };
        turn(home, paused.id, judged).await;
        assert_eq!(deliver(home, linked, HOUR).await, ["recovered 1", "recovered 2"]);
    })
    .await;
}

// If the process is killed before its judge learns of the pause, no incident stays open, and the
// next outage is notified.
#[tokio::test]
async fn verdict_on_paused_monitor_is_dropped() {
    for_each_engine(async |home| {
        let monitor = home.monitor(1).await;
        let (id, channel) = (monitor.id, slack(home, 1, &[monitor.id]).await);
        let settings = MonitorSettings { active: false, ..monitor.settings.clone() };
        let monitor = home.store.monitors().update(monitor, settings, at(10)).await.unwrap();
        let judged = Batch {
            transitions: vec![(id, down(1, 20))],
            judge_states: vec![(id, a_history(MonitorStatus::Error, 20))],
            ..Batch::default()
        };
        home.commit(judged).await.unwrap();
        assert_eq!(due_events(home, channel, HOUR).await, [""; 0]);
        assert_eq!(home.count("incidents").await, 0);
        assert_eq!(home.store.judge_states().get(id).await.unwrap(), None);

        let settings = MonitorSettings { active: true, ..monitor.settings.clone() };
        home.store.monitors().update(monitor, settings, at(30)).await.unwrap();
        turn(home, id, down(2, 40)).await;
        assert_eq!(deliver(home, channel, HOUR).await, ["error 1"]);
    })
    .await;
}

#[tokio::test]
async fn resolved_incident_is_notified_once() {
    for_each_engine(async |home| {
        let monitor = home.monitor(1).await.id;
        let channel = slack(home, 1, &[monitor]).await;
        turn(home, monitor, down(1, 10)).await;
        let error = MonitorStatus::Error;
        let (id, reason) = (IncidentId::from_bits(1), CloseReason::Resolved);
        let incident = IncidentChange::Closed { id, reason };
        let resolved = Transition { from: error, to: error, incident, ..up(1, 20) };
        for _ in 0..2 {
            turn(home, monitor, resolved).await;
        }
        let later = transition(error, MonitorStatus::Active, 30);
        turn(home, monitor, later).await;
        assert_eq!(deliver(home, channel, 30).await, ["error 1", "recovered 1"]);
        assert_eq!(home.count("deliveries").await, 2);
    })
    .await;
}

// issue 6: "nothing is lost by a crash"
#[tokio::test]
async fn waiting_deliveries_survive_restart_with_their_keys() {
    for_each_engine(async |home| {
        let monitors = [home.monitor(1).await.id, home.monitor(2).await.id];
        let channel = slack(home, 1, &monitors).await;
        turn(home, monitors[0], down(1, 10)).await;
        turn(home, monitors[1], slow(20)).await;
        let before = due(home, channel, 20).await;
        home.store.clone().close().await.unwrap();
        let store = open(home.settings()).await;
        let waiting = store.outbox().waiting().await.unwrap();
        assert_eq!(waiting, [channel.into()]);
        assert_eq!(store.outbox().due(channel, instant(20), 100).await.unwrap(), before);
        assert_eq!(before.next_at, Some(instant(20 + MINUTE)));
        store.close().await.unwrap();
    })
    .await;
}

#[tokio::test]
async fn wake_ups_reach_the_latest_listener_after_commit() {
    for_each_engine(async |home| {
        let monitors = [home.monitor(1).await.id, home.monitor(2).await.id];
        let channel = slack(home, 1, &monitors).await;
        let mut first = home.store.outbox().listen();
        let mut second = home.store.outbox().listen();
        let transitions = vec![(monitors[0], slow(5)), (monitors[1], down(1, 10))];
        home.commit(Batch { transitions, ..Batch::default() }).await.unwrap();
        let woken = until(async || second.try_recv().ok()).await;
        assert_eq!(woken, channel.into(), "one wake-up for two deliveries");
        assert!(second.try_recv().is_err() && first.try_recv().is_err());
        drop(second);
        turn(home, monitors[1], up(1, 20)).await;
        let mut third = home.store.outbox().listen();
        turn(home, monitor_id(9), down(2, 30)).await;
        assert!(third.try_recv().is_err(), "an unknown monitor wakes no recipient");
    })
    .await;
}

#[tokio::test]
async fn deleted_channel_gets_no_more_deliveries() {
    for_each_engine(async |home| {
        let monitor = home.monitor(1).await.id;
        let (channel, other) = (slack(home, 1, &[monitor]).await, slack(home, 2, &[monitor]).await);
        turn(home, monitor, down(1, 10)).await;
        let in_flight = due(home, channel, 10).await.due[0].id;
        home.store.channels().delete(home.workspace, channel, at(20)).await.unwrap();
        assert_eq!(due(home, channel, 20).await, DueDeliveries::default());
        // A delivery that was in flight is recorded nevertheless.
        record_next_attempt(home, in_flight, 15, NextStep::Accepted).await;
        turn(home, monitor, up(1, 30)).await;
        let filter = DeliveryFilter { channel: Some(channel), ..DeliveryFilter::default() };
        let page = Page { limit: 10, offset: 0, after: None };
        let log = home.store.outbox().list(home.workspace, filter, page).await.unwrap();
        assert_eq!(log.rows.len(), 1);
        assert_eq!(log.rows[0].state, DeliveryState::Accepted);
        assert_eq!(deliver(home, other, 30).await, ["error 1", "recovered 1"]);
    })
    .await;
}
