//! Storms: the first three of a minute on one channel go at once, the rest in one message; never where
//! the vendor groups by itself.

use domain::notify::Holds;
use store::Then;

use super::*;
use crate::harness::for_each_engine;

async fn monitors(home: &Home, count: u64) -> Vec<MonitorId> {
    let mut monitors = Vec::new();
    for number in 1..=count {
        monitors.push(home.monitor(number).await.id);
    }
    monitors
}

/// Each of them goes down, a second after the other.
async fn break_all(home: &Home, monitors: &[MonitorId]) {
    for (number, monitor) in (1..).zip(monitors) {
        turn(home, *monitor, down(number, (number as i64 - 1) * SECOND)).await;
    }
}

// issue 6: "the first three of a minute on one channel go at once, the rest in one message"
#[tokio::test]
async fn the_first_three_of_a_minute_go_at_once_and_the_rest_in_one_message() {
    for_each_engine(async |home| {
        let monitors = monitors(home, 6).await;
        let (channel, keeps) =
            (slack(home, 1, &monitors).await, opsgenie(home, 2, &monitors).await);
        break_all(home, &monitors).await;
        turn(home, monitors[4], up(5, 10 * SECOND)).await;
        assert_eq!(deliver(home, channel, 10 * SECOND).await, ["error 1", "error 2", "error 3"]);
        assert_eq!(due(home, channel, MINUTE - 1).await.due, []);
        let storm = ["error 4 + error 5 + error 6 + recovered 5"];
        assert_eq!(deliver(home, channel, MINUTE).await, storm);
        assert_eq!(deliver(home, keeps, 10 * SECOND).await.len(), 7, "never where alerts are kept");
    })
    .await;
}

#[tokio::test]
async fn one_that_is_left_alone_is_told_as_one() {
    for_each_engine(async |home| {
        let monitors = monitors(home, 4).await;
        let channel = slack(home, 1, &monitors).await;
        break_all(home, &monitors).await;
        deliver(home, channel, 4 * SECOND).await;
        let alone = due(home, channel, MINUTE).await.due;
        assert_eq!((alone.len(), alone[0].holds), (1, Some(Holds::Storm)));
        answer(home, alone[0].id, MINUTE, Then::Again(instant(2 * MINUTE))).await;
        let again = &due(home, channel, 2 * MINUTE).await.due[0];
        assert_eq!((again.tries, again.holds, again.storm.as_deref()), (1, None, None));
    })
    .await;
}

#[tokio::test]
async fn a_storm_that_was_tried_keeps_its_set_and_its_key() {
    for_each_engine(async |home| {
        let monitors = monitors(home, 7).await;
        let channel = slack(home, 1, &monitors).await;
        break_all(home, &monitors[..5]).await;
        deliver(home, channel, 5 * SECOND).await;
        let storm: Vec<_> = due(home, channel, MINUTE).await.due.iter().map(|it| it.id).collect();
        let outbox = home.store.outbox();
        for _ in 0..2 {
            let fixed = outbox.begin_storm(&storm, "storm-2".to_owned()).await.unwrap();
            assert_eq!(fixed, storm, "the same again changes nothing");
        }
        let (again, later) = (instant(2 * MINUTE), 2 * MINUTE);
        let failed = storm.iter().map(|id| tried(*id, MINUTE, Then::Again(again))).collect();
        outbox.attempted(failed).await.unwrap();
        turn(home, monitors[3], up(4, 61 * SECOND)).await;
        turn(home, monitors[5], down(6, 62 * SECOND)).await;
        assert_eq!(shown(home, channel, 63 * SECOND).await, ["error 6"]);
        let due = due(home, channel, later).await.due;
        let keys: Vec<_> = due.iter().map(|it| (show(it), it.storm.as_deref())).collect();
        let of_storm = |text: &str| (text.to_owned(), Some("storm-2"));
        assert_eq!(keys, [("error 6".to_owned(), None), of_storm("error 4"), of_storm("error 5")]);
        let told = deliver(home, channel, later).await;
        assert_eq!(told, ["error 6", "error 4 + error 5", "recovered 4"]);
    })
    .await;
}

#[tokio::test]
async fn a_storm_leaves_out_what_was_cancelled_and_what_has_to_wait() {
    for_each_engine(async |home| {
        let monitors = monitors(home, 5).await;
        let channel = slack(home, 1, &monitors).await;
        break_all(home, &monitors[..1]).await;
        let first = due(home, channel, 0).await.due[0].id;
        answer(home, first, 0, Then::Again(instant(HOUR))).await;
        break_all(home, &monitors).await;
        // The end of the first waits behind its opening, which is tried again in an hour.
        turn(home, monitors[0], up(1, 9 * SECOND)).await;
        let storm: Vec<_> = shown(home, channel, MINUTE).await;
        assert_eq!(storm, ["error 2", "error 3", "error 4", "error 5"]);
        let loose = due(home, channel, MINUTE).await.due;
        let loose: Vec<_> = loose.iter().filter(|it| it.holds.is_some()).map(|it| it.id).collect();
        assert_eq!(loose.len(), 2);
        home.store.channels().delete(home.workspace, channel, at(2 * MINUTE)).await.unwrap();
        let fixed = home.store.outbox().begin_storm(&loose, "storm".to_owned()).await.unwrap();
        assert_eq!(fixed, [], "the channel is gone");
    })
    .await;
}

#[tokio::test]
async fn a_morning_after_quiet_hours_is_a_storm_too() {
    use rules::notification::{Held, QuietHours};
    use rules::{TimeOfDay, TimeZone};
    for_each_engine(async |home| {
        let monitors = monitors(home, 5).await;
        let time = |text| TimeOfDay::parse(text).unwrap();
        let time_zone = TimeZone::parse("UTC").unwrap();
        let (from, until) = (time("07:00"), time("09:00"));
        let quiet_hours = Some(QuietHours { from, until, time_zone, held: Held::All });
        let wishes = Wishes { quiet_hours, ..Wishes::default() };
        let channel = wishing(home, 1, &monitors, wishes).await;
        break_all(home, &monitors).await;
        assert_eq!(deliver(home, channel, HOUR).await, ["error 1", "error 2", "error 3"]);
        assert_eq!(deliver(home, channel, HOUR + MINUTE).await, ["error 4 + error 5"]);
    })
    .await;
}
