//! Held deliveries: degradations and reminders wait for their minimum duration, others for the end
//! of maintenance or quiet hours. Events that are over before are cancelled.

use rules::notification::{NotificationPreferences, QuietHours, QuietHoursScope};
use rules::{Interval, TimeOfDay, TimeZone};
use store::DeliveryState;

use super::*;
use crate::harness::for_each_engine;

/// Returns preferences with quiet hours from half past eight in the morning until noon. The tests
/// start at eight.
fn quiet(held: QuietHoursScope) -> NotificationPreferences {
    let time = |text| TimeOfDay::parse(text).unwrap();
    let time_zone = TimeZone::parse("Europe/Berlin").unwrap();
    let (from, until) = (time("09:30"), time("13:00"));
    NotificationPreferences {
        quiet_hours: Some(QuietHours { from, until, time_zone, applies_to: held }),
        ..NotificationPreferences::default()
    }
}

fn reminded() -> NotificationPreferences {
    NotificationPreferences {
        remind_every: Some(Interval::parse("1h").unwrap()),
        ..NotificationPreferences::default()
    }
}

// design: §5 "`degraded` that lasts two periods"
#[tokio::test]
async fn degradation_of_two_periods_is_notified() {
    for_each_engine(async |home| {
        let monitor = home.monitor(1).await.id;
        let channel = slack(home, 1, &[monitor]).await;
        turn(home, monitor, slow(0)).await;
        let queue = due(home, channel, MINUTE - 1).await;
        assert_eq!(queue, DueDeliveries { due: Vec::new(), next_at: Some(instant(MINUTE)) });
        assert_eq!(deliver(home, channel, MINUTE).await, ["degraded 1"]);
        turn(home, monitor, fine(2 * MINUTE)).await;
        assert_eq!(deliver(home, channel, 2 * MINUTE).await, ["recovered 1"]);
    })
    .await;
}

#[tokio::test]
async fn shorter_degradation_is_cancelled() {
    for_each_engine(async |home| {
        let monitors =
            [home.monitor(1).await.id, home.monitor(2).await.id, home.monitor(3).await.id];
        let channel = slack(home, 1, &monitors).await;
        let [fine_again, down_then, unsure] = monitors;
        for monitor in monitors {
            turn(home, monitor, slow(0)).await;
        }
        turn(home, fine_again, fine(MINUTE - 1)).await;
        let error = transition(MonitorStatus::Degraded, MonitorStatus::Error, MINUTE - 1);
        turn(home, down_then, Transition { from: MonitorStatus::Degraded, ..down(1, MINUTE - 1) })
            .await;
        let unknown = Transition { to: MonitorStatus::Unknown, ..error };
        turn(home, unsure, unknown).await;
        assert_eq!(deliver(home, channel, HOUR).await, ["error 2"]);
        let cancelled = (EventKind::Degraded, DeliveryState::Cancelled);
        let error = (EventKind::Error, DeliveryState::Accepted);
        assert_eq!(states(home).await, [cancelled, cancelled, cancelled, error]);
    })
    .await;
}

// Issue 16, point 11: an event has the time of the outage, and its delivery that of storing.
#[tokio::test]
async fn event_stored_late_is_held_by_storage_time() {
    for_each_engine(async |home| {
        let monitor = home.monitor(1).await.id;
        let channel = slack_with(home, 1, &[monitor], quiet(QuietHoursScope::All)).await;
        let transitions = vec![(monitor, down(1, 29 * MINUTE))];
        let stored_late = Batch { transitions, at: instant(HOUR), ..Batch::default() };
        home.commit(stored_late).await.unwrap();
        let shown = due_events(home, channel, HOUR).await;
        assert!(shown.is_empty(), "quiet hours have started since: {shown:?}");
        let queue = due(home, channel, 4 * HOUR).await;
        let [first] = &queue.due[..] else { panic!("{queue:?}") };
        assert_eq!((alert(first).at, alert(first).began_at), {
            let at = instant(29 * MINUTE);
            (at, at)
        });
    })
    .await;
}

#[tokio::test]
async fn alert_in_quiet_hours_waits_for_their_end() {
    for_each_engine(async |home| {
        let monitor = home.monitor(1).await.id;
        let (all, but_errors) = (quiet(QuietHoursScope::All), quiet(QuietHoursScope::AllButErrors));
        let channel = slack_with(home, 1, &[monitor], all).await;
        let loud = slack_with(home, 2, &[monitor], but_errors).await;
        turn(home, monitor, down(1, HOUR)).await;
        turn(home, monitor, up(1, 2 * HOUR)).await;
        let queue = due(home, channel, 4 * HOUR - 1).await;
        assert_eq!(queue, DueDeliveries { due: Vec::new(), next_at: Some(instant(4 * HOUR)) });
        assert_eq!(deliver(home, channel, 4 * HOUR).await, ["error 1", "recovered 1"]);
        assert_eq!(deliver(home, loud, 2 * HOUR).await, ["error 1", "recovered 1"]);
    })
    .await;
}

#[tokio::test]
async fn removing_quiet_hours_releases_held_alerts() {
    for_each_engine(async |home| {
        let monitor = home.monitor(1).await.id;
        let channel = slack_with(home, 1, &[monitor], quiet(QuietHoursScope::All)).await;
        turn(home, monitor, down(1, HOUR)).await;
        let seen = home.store.channels().get(home.workspace, channel).await.unwrap();
        let settings = ChannelSettings {
            preferences: NotificationPreferences::default(),
            ..seen.settings.clone()
        };
        let mut wakeups = home.store.outbox().listen();
        home.store.channels().update(seen, settings, at(2 * HOUR)).await.unwrap();
        assert_eq!(wakeups.try_recv(), Ok(channel.into()));
        assert_eq!(deliver(home, channel, 2 * HOUR).await, ["error 1"]);
    })
    .await;
}

#[tokio::test]
async fn unacknowledged_outage_is_reminded() {
    for_each_engine(async |home| {
        let monitor = home.monitor(1).await.id;
        let channel = slack_with(home, 1, &[monitor], reminded()).await;
        let plain = slack(home, 2, &[monitor]).await;
        turn(home, monitor, down(1, 0)).await;
        deliver(home, channel, 5).await;
        deliver(home, plain, 5).await;
        assert_eq!(due(home, channel, HOUR - 1).await.next_at, Some(instant(HOUR)));
        assert_eq!(due(home, plain, HOUR).await, DueDeliveries::default());
        let reminders = due(home, channel, HOUR).await.due;
        let event = alert(&reminders[0]);
        assert_eq!(
            (event.reminder, event.at, event.duration()),
            (1, instant(HOUR), Duration::from_hours(1))
        );
        assert_eq!(reminders[0].key, "inc_0000000000001-chn_0000000000001-error-1");
        deliver(home, channel, HOUR).await;
        // After a downtime, the server skips the reminders before the latest one.
        assert_eq!(deliver(home, channel, 5 * HOUR).await.len(), 2);
        assert_eq!(home.count("events WHERE reminder IN (1, 2, 5)").await, 3);
        assert_eq!(due(home, channel, 5 * HOUR).await.next_at, Some(instant(6 * HOUR)));
        turn(home, monitor, up(1, 6 * HOUR - 1)).await;
        assert_eq!(deliver(home, channel, 6 * HOUR).await, ["recovered 1"]);
        assert_eq!(deliver(home, plain, 6 * HOUR).await, ["recovered 1"]);
        assert_eq!(home.count("deliveries WHERE is_open OR state = 'waiting'").await, 0);
    })
    .await;
}

#[tokio::test]
async fn acknowledged_incident_is_not_reminded() {
    for_each_engine(async |home| {
        let monitors = [home.monitor(1).await.id, home.monitor(2).await.id];
        let channel = slack_with(home, 1, &monitors, reminded()).await;
        turn(home, monitors[0], down(1, 0)).await;
        turn(home, monitors[1], down(2, 0)).await;
        deliver(home, channel, 5).await;
        let taken = IncidentId::from_bits(1);
        home.store.incidents().acknowledge(home.workspace, taken, at(10)).await.unwrap();
        assert_eq!(deliver(home, channel, HOUR).await, ["error 2"]);
        turn(home, monitors[0], up(1, HOUR)).await;
        assert_eq!(deliver(home, channel, HOUR).await, ["recovered 1"]);
    })
    .await;
}
