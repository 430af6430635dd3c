//! Digests: the first three deliveries of a minute on one channel are sent at once, the rest in one
//! message. Receivers that track alert states get no digests.

use domain::notify::HoldReason;
use store::NextStep;

use super::*;
use crate::harness::for_each_engine;

async fn monitors(home: &Home, count: u64) -> Vec<MonitorId> {
    let mut monitors = Vec::new();
    for number in 1..=count {
        monitors.push(home.monitor(number).await.id);
    }
    monitors
}

/// Commits that each monitor goes down, one second apart.
async fn break_all(home: &Home, monitors: &[MonitorId]) {
    for (number, monitor) in (1..).zip(monitors) {
        turn(home, *monitor, down(number, (number as i64 - 1) * SECOND)).await;
    }
}

// issue 6: "the first three of a minute on one channel go at once, the rest in one message"
#[tokio::test]
async fn fourth_alert_of_a_minute_starts_a_digest() {
    for_each_engine(async |home| {
        let monitors = monitors(home, 6).await;
        let (channel, keeps) =
            (slack(home, 1, &monitors).await, opsgenie(home, 2, &monitors).await);
        break_all(home, &monitors).await;
        turn(home, monitors[4], up(5, 10 * SECOND)).await;
        assert_eq!(deliver(home, channel, 10 * SECOND).await, ["error 1", "error 2", "error 3"]);
        assert_eq!(due(home, channel, MINUTE - 1).await.due, []);
        let digest = ["error 4 + error 5 + error 6 + recovered 5"];
        assert_eq!(deliver(home, channel, MINUTE).await, digest);
        assert_eq!(
            deliver(home, keeps, 10 * SECOND).await.len(),
            7,
            "stateful receivers get no digests"
        );
    })
    .await;
}

#[tokio::test]
async fn digest_of_one_is_sent_singly() {
    for_each_engine(async |home| {
        let monitors = monitors(home, 4).await;
        let channel = slack(home, 1, &monitors).await;
        break_all(home, &monitors).await;
        deliver(home, channel, 4 * SECOND).await;
        let alone = due(home, channel, MINUTE).await.due;
        assert_eq!((alone.len(), alone[0].hold_reason), (1, Some(HoldReason::Digest)));
        let id = alone[0].id;
        assert!(home.store.outbox().fix_single(id).await.unwrap(), "it may be sent");
        assert!(
            !home.store.outbox().fix_single(id).await.unwrap(),
            "it is not in a digest any more"
        );
        let begun = &due(home, channel, MINUTE).await.due[0];
        assert_eq!((begun.id, begun.hold_reason, begun.digest_key.as_deref()), (id, None, None));
        record_next_attempt(home, alone[0].id, MINUTE, NextStep::Again(instant(2 * MINUTE))).await;
        let again = &due(home, channel, 2 * MINUTE).await.due[0];
        assert_eq!(
            (again.attempt_count, again.hold_reason, again.digest_key.as_deref()),
            (1, None, None)
        );
    })
    .await;
}

#[tokio::test]
async fn single_delivery_joins_no_digest() {
    for_each_engine(async |home| {
        let monitors = monitors(home, 6).await;
        let channel = slack(home, 1, &monitors).await;
        break_all(home, &monitors[..4]).await;
        deliver(home, channel, 4 * SECOND).await;
        let outbox = home.store.outbox();
        let alone = due(home, channel, MINUTE).await.due.remove(0);
        assert!(outbox.fix_single(alone.id).await.unwrap());
        // The next deliveries form a digest without it.
        turn(home, monitors[4], down(5, 59 * SECOND)).await;
        turn(home, monitors[5], down(6, 59 * SECOND)).await;
        let queue = due(home, channel, MINUTE).await.due;
        let keys: Vec<_> = queue.iter().map(|it| (format_due(it), it.hold_reason)).collect();
        let loose = |text: &str| (text.to_owned(), Some(HoldReason::Digest));
        assert_eq!(keys, [("error 4".to_owned(), None), loose("error 5"), loose("error 6")]);
        assert_eq!(queue[0].key, alone.key);
        let ids: Vec<_> = queue.iter().map(|it| it.id).collect();
        let fixed = outbox.fix_digest(&ids, "digest-3".to_owned()).await.unwrap();
        assert_eq!(fixed, ids[1..], "it joins no digest any more");
    })
    .await;
}

// The channel may have changed to a kind that gets no digests.
#[tokio::test]
async fn delivery_sent_singly_leaves_its_digest() {
    for_each_engine(async |home| {
        let monitors = monitors(home, 6).await;
        let channel = slack(home, 1, &monitors).await;
        break_all(home, &monitors).await;
        deliver(home, channel, 6 * SECOND).await;
        let digest: Vec<_> = due(home, channel, MINUTE).await.due.iter().map(|it| it.id).collect();
        let outbox = home.store.outbox();
        outbox.fix_digest(&digest, "digest-3".to_owned()).await.unwrap();
        assert!(outbox.fix_single(digest[1]).await.unwrap());
        let left = outbox.fix_digest(&digest, "digest-3".to_owned()).await.unwrap();
        assert_eq!(left, [digest[0], digest[2]]);
        let keys: Vec<_> =
            due(home, channel, MINUTE).await.due.into_iter().map(|it| it.digest_key).collect();
        let of_digest = Some("digest-3".to_owned());
        assert_eq!(keys, [None, of_digest.clone(), of_digest]);
    })
    .await;
}

#[tokio::test]
async fn dead_letters_of_a_digest_are_replayed_singly() {
    for_each_engine(async |home| {
        let monitors = monitors(home, 5).await;
        let channel = slack(home, 1, &monitors).await;
        break_all(home, &monitors).await;
        deliver(home, channel, 5 * SECOND).await;
        let digest: Vec<_> = due(home, channel, MINUTE).await.due.iter().map(|it| it.id).collect();
        let outbox = home.store.outbox();
        outbox.fix_digest(&digest, "digest-2".to_owned()).await.unwrap();
        let refused =
            digest.iter().map(|id| attempt_result((*id, 1), MINUTE, NextStep::Dead)).collect();
        outbox.record_attempts(refused).await.unwrap();
        for id in &digest {
            outbox.replay(home.workspace, *id, at(HOUR)).await.unwrap();
        }
        let again = due(home, channel, HOUR).await.due;
        let keys: Vec<_> = again.iter().map(|it| (it.id, it.digest_key.as_deref())).collect();
        assert_eq!(keys, [(digest[0], None), (digest[1], None)]);
        assert_eq!(deliver(home, channel, HOUR).await, ["error 4", "error 5"]);
    })
    .await;
}

#[tokio::test]
async fn attempted_digest_keeps_its_set_and_key() {
    for_each_engine(async |home| {
        let monitors = monitors(home, 7).await;
        let channel = slack(home, 1, &monitors).await;
        break_all(home, &monitors[..5]).await;
        deliver(home, channel, 5 * SECOND).await;
        let digest: Vec<_> = due(home, channel, MINUTE).await.due.iter().map(|it| it.id).collect();
        let outbox = home.store.outbox();
        for _ in 0..2 {
            let fixed = outbox.fix_digest(&digest, "digest-2".to_owned()).await.unwrap();
            assert_eq!(fixed, digest, "a repeated call changes nothing");
        }
        let (again, later) = (instant(2 * MINUTE), 2 * MINUTE);
        let failed = digest
            .iter()
            .map(|id| attempt_result((*id, 1), MINUTE, NextStep::Again(again)))
            .collect();
        outbox.record_attempts(failed).await.unwrap();
        turn(home, monitors[3], up(4, 61 * SECOND)).await;
        turn(home, monitors[5], down(6, 62 * SECOND)).await;
        assert_eq!(due_events(home, channel, 63 * SECOND).await, ["error 6"]);
        let due = due(home, channel, later).await.due;
        let keys: Vec<_> =
            due.iter().map(|it| (format_due(it), it.digest_key.as_deref())).collect();
        let of_digest = |text: &str| (text.to_owned(), Some("digest-2"));
        assert_eq!(
            keys,
            [("error 6".to_owned(), None), of_digest("error 4"), of_digest("error 5")]
        );
        let delivered = deliver(home, channel, later).await;
        assert_eq!(delivered, ["error 6", "error 4 + error 5", "recovered 4"]);
    })
    .await;
}

#[tokio::test]
async fn digest_excludes_cancelled_and_blocked_deliveries() {
    for_each_engine(async |home| {
        let monitors = monitors(home, 5).await;
        let channel = slack(home, 1, &monitors).await;
        break_all(home, &monitors[..1]).await;
        let first = due(home, channel, 0).await.due[0].id;
        record_next_attempt(home, first, 0, NextStep::Again(instant(HOUR))).await;
        break_all(home, &monitors).await;
        // The end of the first outage waits for its opening, whose next attempt is in an hour.
        turn(home, monitors[0], up(1, 9 * SECOND)).await;
        let digest: Vec<_> = due_events(home, channel, MINUTE).await;
        assert_eq!(digest, ["error 2", "error 3", "error 4", "error 5"]);
        let loose = due(home, channel, MINUTE).await.due;
        let loose: Vec<_> =
            loose.iter().filter(|it| it.hold_reason.is_some()).map(|it| it.id).collect();
        assert_eq!(loose.len(), 2);
        home.store.channels().delete(home.workspace, channel, at(2 * MINUTE)).await.unwrap();
        let fixed = home.store.outbox().fix_digest(&loose, "digest".to_owned()).await.unwrap();
        assert_eq!(fixed, [], "the channel is deleted");
    })
    .await;
}

#[tokio::test]
async fn alerts_after_quiet_hours_form_a_digest() {
    use rules::notification::{QuietHours, QuietHoursScope};
    use rules::{TimeOfDay, TimeZone};
    for_each_engine(async |home| {
        let monitors = monitors(home, 5).await;
        let time = |text| TimeOfDay::parse(text).unwrap();
        let time_zone = TimeZone::parse("UTC").unwrap();
        let (from, until) = (time("07:00"), time("09:00"));
        let quiet_hours =
            Some(QuietHours { from, until, time_zone, applies_to: QuietHoursScope::All });
        let preferences =
            NotificationPreferences { quiet_hours, ..NotificationPreferences::default() };
        let channel = slack_with(home, 1, &monitors, preferences).await;
        break_all(home, &monitors).await;
        assert_eq!(deliver(home, channel, HOUR).await, ["error 1", "error 2", "error 3"]);
        assert_eq!(deliver(home, channel, HOUR + MINUTE).await, ["error 4 + error 5"]);
    })
    .await;
}
