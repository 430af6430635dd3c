//! Order: deliveries of one monitor on one channel wait for earlier ones. All others are
//! independent.

use rules::notification::NotificationPreferences;
use store::{DeliveryState, NextStep};

use super::*;
use crate::harness::for_each_engine;

// design: §5 "in order per channel and monitor"
#[tokio::test]
async fn later_delivery_of_monitor_waits_for_earlier_one() {
    for_each_engine(async |home| {
        let monitors = [home.monitor(1).await.id, home.monitor(2).await.id];
        let (channel, other) =
            (opsgenie(home, 1, &monitors).await, opsgenie(home, 2, &monitors).await);
        turn(home, monitors[0], down(1, 10)).await;
        let first = due(home, channel, 10).await.due[0].id;
        record_next_attempt(home, first, 20, NextStep::Again(instant(MINUTE))).await;
        turn(home, monitors[0], up(1, 30)).await;
        turn(home, monitors[1], down(2, 40)).await;
        let queue = due(home, channel, 40).await;
        assert_eq!(queue.due.iter().map(format_due).collect::<Vec<_>>(), ["error 2"]);
        assert_eq!(queue.next_at, Some(instant(MINUTE)));
        assert_eq!(deliver(home, other, 40).await, ["error 1", "recovered 1", "error 2"]);
        let queue = due(home, channel, MINUTE).await.due;
        assert_eq!(queue.iter().map(format_due).collect::<Vec<_>>(), ["error 2", "error 1"]);
        let retried = &queue[1];
        assert_eq!((retried.attempt_count, retried.first_attempt_at), (1, Some(instant(20))));
        assert_eq!(deliver(home, channel, MINUTE).await, ["error 2", "error 1", "recovered 1"]);
    })
    .await;
}

#[tokio::test]
async fn dead_letter_does_not_block_later_deliveries() {
    for_each_engine(async |home| {
        let monitor = home.monitor(1).await.id;
        let channel = slack(home, 1, &[monitor]).await;
        turn(home, monitor, down(1, 10)).await;
        turn(home, monitor, up(1, 20)).await;
        let first = due(home, channel, 20).await.due[0].id;
        record_next_attempt(home, first, 20, NextStep::Dead).await;
        assert_eq!(deliver(home, channel, 20).await, ["recovered 1"]);
    })
    .await;
}

#[tokio::test]
async fn end_of_a_dead_opening_is_not_notified() {
    for_each_engine(async |home| {
        let monitor = home.monitor(1).await.id;
        let channel = slack(home, 1, &[monitor]).await;
        turn(home, monitor, down(1, 10)).await;
        let first = due(home, channel, 20).await.due[0].id;
        record_next_attempt(home, first, 20, NextStep::Dead).await;
        turn(home, monitor, up(1, 30)).await;
        assert_eq!(states(home).await, [(EventKind::Error, DeliveryState::Dead)]);
    })
    .await;
}

#[tokio::test]
async fn attempt_recorded_twice_counts_once() {
    for_each_engine(async |home| {
        let monitor = home.monitor(1).await.id;
        let channel = slack(home, 1, &[monitor]).await;
        turn(home, monitor, down(1, 10)).await;
        let id = due(home, channel, 10).await.due[0].id;
        let outbox = home.store.outbox();
        for _ in 0..2 {
            let again = NextStep::Again(instant(30));
            outbox.record_attempts(vec![attempt_result((id, 1), 20, again)]).await.unwrap();
        }
        record_next_attempt(home, id, 30, NextStep::Accepted).await;
        for gone in [999, u64::MAX] {
            let gone = (DeliveryId::from_bits(gone), 1);
            outbox.record_attempts(vec![attempt_result(gone, 30, NextStep::Dead)]).await.unwrap();
        }
        let delivery = outbox.get(home.workspace, id).await.unwrap();
        assert_eq!((delivery.attempt_count, delivery.attempts.len()), (2, 2));
        assert_eq!(home.count("delivery_attempts").await, 2);
    })
    .await;
}

#[tokio::test]
async fn slow_channel_does_not_block_others() {
    for_each_engine(async |home| {
        let mut monitors = Vec::new();
        for number in 1..=9 {
            monitors.push(home.monitor(number).await.id);
        }
        let (slow, quick) =
            (opsgenie(home, 1, &monitors).await, opsgenie(home, 2, &monitors).await);
        for (number, monitor) in (1..).zip(&monitors) {
            turn(home, *monitor, down(number, number as i64)).await;
        }
        let outbox = home.store.outbox();
        let queue = outbox.due(slow, instant(20), 4).await.unwrap();
        assert_eq!(
            queue.due.iter().map(format_due).collect::<Vec<_>>(),
            ["error 1", "error 2", "error 3", "error 4"]
        );
        assert_eq!(deliver(home, quick, 20).await.len(), 9);
        assert_eq!(outbox.due(slow, instant(20), 100).await.unwrap().due.len(), 9);
    })
    .await;
}

#[tokio::test]
async fn unlinked_channel_gets_the_end_of_its_alerts() {
    for_each_engine(async |home| {
        let (monitor, other) = (home.monitor(1).await.id, home.monitor(2).await.id);
        let channel = slack_with(home, 1, &[monitor], NotificationPreferences::default()).await;
        turn(home, monitor, down(1, 10)).await;
        deliver(home, channel, 10).await;
        let seen = home.store.channels().get(home.workspace, channel).await.unwrap();
        let settings = ChannelSettings { monitor_ids: vec![other], ..seen.settings.clone() };
        home.store.channels().update(seen, settings, at(20)).await.unwrap();
        turn(home, monitor, up(1, 30)).await;
        turn(home, monitor, down(2, 40)).await;
        assert_eq!(deliver(home, channel, 40).await, ["recovered 1"]);
    })
    .await;
}
