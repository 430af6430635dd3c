//! Events that cannot be read any more: dead letters with the reason, which hold up nobody.

use store::Delivery;

use super::*;
use crate::harness::for_each_engine;

/// Writes what is sealed of the last event over that of the first.
const CHANGED: &str = "UPDATE events SET sealed = (SELECT l.sealed FROM events l \
    WHERE l.number = (SELECT MAX(number) FROM events)) \
    WHERE number = (SELECT MIN(number) FROM events)";

/// The dead letter, which is the only one.
async fn dead(home: &Home) -> Delivery {
    let state = Some(DeliveryState::Dead);
    let filter = DeliveryFilter { state, ..DeliveryFilter::default() };
    let page = Page { limit: 9, offset: 0, after: None };
    let mut rows = home.store.outbox().list(home.workspace, filter, page).await.unwrap().rows;
    assert_eq!(rows.len(), 1);
    rows.remove(0)
}

#[tokio::test]
async fn an_event_that_cannot_be_read_is_a_dead_letter_and_its_channel_goes_on() {
    for_each_engine(async |home| {
        let monitors = [home.monitor(1).await.id, home.monitor(2).await.id];
        let channel = slack(home, 1, &monitors).await;
        turn(home, monitors[0], down(1, 10)).await;
        turn(home, monitors[1], down(2, 20)).await;
        home.execute(CHANGED).await;
        assert_eq!(deliver(home, channel, 30).await, ["error 2"]);
        let letter = dead(home).await;
        assert_eq!((letter.channel, letter.monitor), (channel, Some(monitors[0])));
        assert_eq!(letter.event.incident, Some(IncidentId::from_bits(1)));
        assert_eq!((letter.event.kind, letter.done_at), (EventKind::Error, Some(instant(30))));
        let [attempt] = letter.attempts.as_slice() else { panic!("it is said once: {letter:?}") };
        let why = "unreadable event: events.sealed of `inc_0000000000001-error` in the database \
            cannot be read: it was altered, or belongs to another row";
        assert_eq!((attempt.answer.as_str(), attempt.status), (why, None));
        // Who tells it again is told the same, and no more waits behind it than before.
        home.store.outbox().replay(home.workspace, letter.id, at(40)).await.unwrap();
        turn(home, monitors[1], up(2, 50)).await;
        assert_eq!(deliver(home, channel, 60).await, ["recovered 2"]);
        assert_eq!(dead(home).await.attempts.len(), 2);
    })
    .await;
}

#[tokio::test]
async fn what_waited_for_its_time_and_cannot_be_read_is_a_dead_letter_too() {
    for_each_engine(async |home| {
        let monitors = [home.monitor(1).await.id, home.monitor(2).await.id];
        let channel = slack(home, 1, &monitors).await;
        turn(home, monitors[0], slow(10)).await;
        turn(home, monitors[1], slow(20)).await;
        home.execute(CHANGED).await;
        assert_eq!(deliver(home, channel, 2 * MINUTE).await, ["degraded 2"]);
        assert_eq!(dead(home).await.event.kind, EventKind::Degraded);
    })
    .await;
}
