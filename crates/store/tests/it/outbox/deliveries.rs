//! Delivery log: listings, counts and retention.

use domain::notify::{Event, EventKind};
use rules::{ProviderType, limits};
use store::{
    Delivery, DeliveryState, LastDelivery, Listed, NextStep, OutboxCounts, StoreError, TestDelivery,
};

use super::*;
use crate::harness::{a_workspace, for_each_engine, workspace_id};

const ALL: DeliveryFilter = DeliveryFilter { channel: None, monitor: None, state: None };

async fn listed(home: &Home, filter: DeliveryFilter, page: Page<DeliveryId>) -> Listed<Delivery> {
    home.store.outbox().list(home.workspace, filter, page).await.unwrap()
}

const fn first(limit: u32) -> Page<DeliveryId> {
    Page { limit, offset: 0, after: None }
}

#[tokio::test]
async fn log_lists_deliveries_with_attempts() {
    for_each_engine(async |home| {
        let monitor = home.monitor(1).await.id;
        let channel = slack(home, 1, &[monitor]).await;
        turn(home, monitor, down(1, 10)).await;
        let id = due(home, channel, 10).await.due[0].id;
        for second in 1..=12 {
            let again = NextStep::Again(instant((second + 1) * SECOND));
            record_next_attempt(home, id, second * SECOND, again).await;
        }
        record_next_attempt(home, id, 13 * SECOND, NextStep::Accepted).await;
        let delivery = home.store.outbox().get(home.workspace, id).await.unwrap();
        assert_eq!((delivery.about.channel, delivery.kind), (channel, ProviderType::Slack));
        assert_eq!(
            (delivery.about.monitor, delivery.about.event.kind),
            (Some(monitor), EventKind::Error)
        );
        assert_eq!((delivery.state, delivery.attempt_count), (DeliveryState::Accepted, 13));
        assert_eq!(delivery.completed_at, Some(instant(13 * SECOND + 20)));
        let shown: Vec<_> = delivery.attempts.iter().map(|it| (it.number, it.status)).collect();
        assert_eq!((shown.len(), shown[0], shown[9]), (10, (4, Some(503)), (13, Some(200))));
        let last = &delivery.attempts[9];
        assert_eq!((last.response.as_str(), last.at), ("ok", instant(13 * SECOND)));
        assert_eq!(last.duration, Duration::from_millis(20));
        assert_eq!(listed(home, ALL, first(9)).await.rows, [delivery]);
    })
    .await;
}

#[tokio::test]
async fn log_filters_by_channel_monitor_and_state() {
    for_each_engine(async |home| {
        home.store.workspaces().create(a_workspace(2), at(0)).await.unwrap();
        let monitors = [home.monitor(1).await.id, home.monitor(2).await.id];
        let channels = [slack(home, 1, &monitors).await, slack(home, 2, &monitors[..1]).await];
        for (number, monitor) in (1..).zip([monitors[0], monitors[1], monitors[0]]) {
            turn(home, monitor, down(number, number as i64 * MINUTE)).await;
            turn(home, monitor, up(number, number as i64 * MINUTE + 9)).await;
        }
        let dead = due(home, channels[1], HOUR).await.due[0].id;
        record_next_attempt(home, dead, HOUR, NextStep::Dead).await;
        let (channel, monitor) = (Some(channels[0]), Some(monitors[0]));
        let state = Some(DeliveryState::Dead);
        for (filter, expected) in [
            (ALL, 10),
            (DeliveryFilter { channel, ..ALL }, 6),
            (DeliveryFilter { monitor, ..ALL }, 8),
            (DeliveryFilter { state, ..ALL }, 1),
            (DeliveryFilter { channel, monitor, state: Some(DeliveryState::Waiting) }, 4),
            (DeliveryFilter { channel, state, ..ALL }, 0),
        ] {
            let part = listed(home, filter, first(100)).await;
            assert_eq!((part.total, part.rows.len()), (expected, expected as usize), "{filter:?}");
        }
        let all: Vec<_> = listed(home, ALL, first(100)).await.rows.iter().map(|it| it.id).collect();
        assert!(all.is_sorted_by(|one, next| one > next));
        let mut seen = Vec::new();
        let mut after = None;
        loop {
            let part = listed(home, ALL, Page { limit: 3, offset: 0, after }).await;
            let Some(last) = part.rows.last() else { break };
            after = Some(last.id);
            seen.extend(part.rows.iter().map(|it| it.id));
        }
        assert_eq!(seen, all);
        let skipped = listed(home, ALL, Page { limit: 2, offset: 4, after: None }).await;
        assert_eq!(skipped.rows.iter().map(|it| it.id).collect::<Vec<_>>(), all[4..6]);

        let outbox = home.store.outbox();
        let theirs = outbox.list(workspace_id(2), ALL, first(9)).await.unwrap();
        assert_eq!((theirs.total, theirs.rows), (0, Vec::new()));
        let refusal = outbox.get(workspace_id(2), dead).await.unwrap_err();
        assert!(matches!(refusal, StoreError::NotFound { what: "delivery", .. }), "{refusal}");
    })
    .await;
}

#[tokio::test]
async fn channel_tests_are_listed_in_the_log() {
    for_each_engine(async |home| {
        let monitor = home.monitor(1).await.id;
        let channel = slack(home, 1, &[monitor]).await;
        turn(home, monitor, down(1, 10)).await;
        let event = alert(&due(home, channel, 10).await.due[0]).clone();
        for (millis, arrived) in [(20, true), (30, false)] {
            let event = Event { kind: EventKind::Test, at: instant(millis), ..event.clone() };
            let test = TestDelivery {
                workspace: home.workspace,
                channel,
                kind: ProviderType::Slack,
                event,
                at: instant(millis),
                duration: Duration::from_millis(3),
                status: Some(if arrived { 200 } else { 404 }),
                response: "ok".to_owned(),
                arrived,
            };
            home.store.outbox().record_test(test.clone()).await.unwrap();
            home.store.outbox().record_test(test).await.unwrap();
        }
        let tests = listed(home, ALL, first(2)).await.rows;
        let other = slack(home, 2, &[]).await;
        let outbox = home.store.outbox();
        let last = outbox.last_of_channels(home.workspace, &[channel, other]).await.unwrap();
        let newest = LastDelivery {
            channel,
            id: tests[0].id,
            state: DeliveryState::Dead,
            created_at: tests[0].created_at,
        };
        assert_eq!(last, [newest]);
        assert_eq!(outbox.last_of_channels(workspace_id(2), &[channel]).await.unwrap(), []);
        assert_eq!(outbox.last_of_channels(home.workspace, &[]).await.unwrap(), []);
        let shown: Vec<_> = tests
            .iter()
            .map(|it| (it.about.event.kind, it.state, it.about.monitor, it.attempts.len()))
            .collect();
        let test = |state| (EventKind::Test, state, None, 1);
        assert_eq!(shown, [test(DeliveryState::Dead), test(DeliveryState::Accepted)]);
        // It does not block other deliveries, and can be replayed like any other.
        home.store.outbox().replay(home.workspace, tests[0].id, at(40)).await.unwrap();
        let kinds: Vec<_> =
            due(home, channel, 40).await.due.iter().map(|it| alert(it).kind).collect();
        assert_eq!(kinds, [EventKind::Error, EventKind::Test]);
    })
    .await;
}

#[tokio::test]
async fn waiting_and_dead_deliveries_are_counted() {
    for_each_engine(async |home| {
        let monitors = [home.monitor(1).await.id, home.monitor(2).await.id];
        let channel = slack(home, 1, &monitors).await;
        let counts = async || home.store.outbox().counts().await.unwrap();
        assert_eq!(counts().await, OutboxCounts::default());
        turn(home, monitors[0], down(1, 10)).await;
        turn(home, monitors[1], slow(20)).await;
        let id = due(home, channel, 10).await.due[0].id;
        record_next_attempt(home, id, 15, NextStep::Again(instant(HOUR))).await;
        let oldest_due_at = Some(instant(15));
        assert_eq!(counts().await, OutboxCounts { waiting: 2, dead: 0, oldest_due_at });
        record_next_attempt(home, id, HOUR, NextStep::Dead).await;
        assert_eq!(counts().await, OutboxCounts { waiting: 1, dead: 1, oldest_due_at: None });
    })
    .await;
}

#[tokio::test]
async fn only_completed_closed_deliveries_expire() {
    for_each_engine(async |home| {
        let monitors = [home.monitor(1).await.id, home.monitor(2).await.id];
        let (channel, other) =
            (slack(home, 1, &monitors).await, slack(home, 2, &monitors[..1]).await);
        turn(home, monitors[0], down(1, 10)).await;
        turn(home, monitors[0], up(1, 20)).await;
        turn(home, monitors[1], down(2, 30)).await;
        deliver(home, channel, 40).await;
        let pruned = async |now| home.store.retention().records(now).await.unwrap();
        let kept = instant(61) + limits::DELIVERIES_KEPT;
        assert_eq!(pruned(kept - Duration::from_millis(1)).await.deliveries, 0);
        let gone = pruned(kept).await;
        assert_eq!((gone.deliveries, gone.events), (2, 0), "waiting deliveries stay");
        assert_eq!(home.count("delivery_attempts").await, 1);
        assert_eq!(deliver(home, other, 90 * 24 * HOUR).await, ["error 1", "recovered 1"]);
        turn(home, monitors[1], up(2, 91 * 24 * HOUR)).await;
        assert_eq!(deliver(home, channel, 91 * 24 * HOUR).await, ["recovered 2"]);
        let late = instant(92 * 24 * HOUR) + limits::DELIVERIES_KEPT;
        let (mut deliveries, mut events) = (0, 0);
        for _ in 0..2 {
            let gone = pruned(late).await;
            (deliveries, events) = (deliveries + gone.deliveries, events + gone.events);
        }
        assert_eq!((deliveries, events), (4, 4));
        assert_eq!(home.count("delivery_attempts").await, 0);
    })
    .await;
}
