//! Unreadable events: their deliveries become dead letters with the reason, and do not block
//! others.

use store::Delivery;

use super::*;
use crate::harness::for_each_engine;

/// Overwrites the sealed data of the first event with that of the last.
const CHANGED: &str = "UPDATE events SET sealed = (SELECT l.sealed FROM events l \
    WHERE l.number = (SELECT MAX(number) FROM events)) \
    WHERE number = (SELECT MIN(number) FROM events)";

/// Returns the only dead letter.
async fn dead(home: &Home) -> Delivery {
    let state = Some(DeliveryState::Dead);
    let filter = DeliveryFilter { state, ..DeliveryFilter::default() };
    let page = Page { limit: 9, offset: 0, after: None };
    let mut rows = home.store.outbox().list(home.workspace, filter, page).await.unwrap().rows;
    assert_eq!(rows.len(), 1);
    rows.remove(0)
}

#[tokio::test]
async fn unreadable_event_does_not_block_its_channel() {
    for_each_engine(async |home| {
        let monitors = [home.monitor(1).await.id, home.monitor(2).await.id];
        let channel = slack(home, 1, &monitors).await;
        turn(home, monitors[0], down(1, 10)).await;
        turn(home, monitors[1], down(2, 20)).await;
        home.execute(CHANGED).await;
        assert_eq!(deliver(home, channel, 30).await, ["error 2"]);
        let delivery = dead(home).await;
        assert_eq!((delivery.about.channel, delivery.about.monitor), (channel, Some(monitors[0])));
        assert_eq!(delivery.about.event.incident, Some(IncidentId::from_bits(1)));
        assert_eq!(
            (delivery.about.event.kind, delivery.completed_at),
            (EventKind::Error, Some(instant(30)))
        );
        let [attempt] = delivery.attempts.as_slice() else {
            panic!("one attempt is recorded: {delivery:?}")
        };
        let why = "unreadable event: events.sealed of `inc_0000000000001-error` in the database \
            cannot be read: it was altered, or belongs to another row";
        assert_eq!((attempt.response.as_str(), attempt.status), (why, None));
        // A replay gives the same result, and does not block later deliveries either.
        home.store.outbox().replay(home.workspace, delivery.id, at(40)).await.unwrap();
        turn(home, monitors[1], up(2, 50)).await;
        assert_eq!(deliver(home, channel, 60).await, ["recovered 2"]);
        assert_eq!(dead(home).await.attempts.len(), 2);
    })
    .await;
}

#[tokio::test]
async fn unreadable_held_event_becomes_a_dead_letter() {
    for_each_engine(async |home| {
        let monitors = [home.monitor(1).await.id, home.monitor(2).await.id];
        let channel = slack(home, 1, &monitors).await;
        turn(home, monitors[0], slow(10)).await;
        turn(home, monitors[1], slow(20)).await;
        home.execute(CHANGED).await;
        assert_eq!(deliver(home, channel, 2 * MINUTE).await, ["degraded 2"]);
        assert_eq!(dead(home).await.about.event.kind, EventKind::Degraded);
    })
    .await;
}
