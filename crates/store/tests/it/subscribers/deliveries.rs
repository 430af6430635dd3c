//! Delivery log of subscribers, for the owners of a page, and replays of dead letters.

use domain::judge::Transition;
use rules::DeliveryId;
use store::{
    AttemptResult, Batch, DeliveryFilter, DeliveryState, NextStep, SubscriberDelivery,
    SubscriberDeliveryFilter,
};

use super::*;
use crate::commit::{closed, opened};
use crate::harness::monitor_id;
use crate::pages::page_settings;

const NEWEST: Page<DeliveryId> = Page { limit: 50, offset: 0, after: None };

async fn commit_and_fan_out(home: &Home, page: PageId, transition: Transition, now: i64) {
    let transitions = vec![(monitor_id(1), transition)];
    home.commit(Batch { transitions, ..Batch::default() }).await.unwrap();
    fan_out::fan_out(home, page, now).await;
}

/// Marks the first due delivery as a dead letter.
async fn kill_first_due(home: &Home, subscriber: u64, now: i64) -> DeliveryId {
    let first = due(home, subscriber, now).await.remove(0);
    let tried = AttemptResult {
        id: first.id,
        number: first.total_attempts + 1,
        at: instant(now),
        duration: Duration::from_millis(5),
        status: Some(550),
        response: "no such mailbox".to_owned(),
        next_step: NextStep::Dead,
    };
    home.store.outbox().record_attempts(vec![tried]).await.unwrap();
    first.id
}

async fn dead(home: &Home, filter: SubscriberDeliveryFilter) -> Vec<SubscriberDelivery> {
    let filter = SubscriberDeliveryFilter { state: Some(DeliveryState::Dead), ..filter };
    let listed =
        home.store.outbox().subscriber_deliveries(home.workspace, filter, NEWEST).await.unwrap();
    assert_eq!(listed.total as usize, listed.rows.len());
    listed.rows
}

async fn is_replay_rejected(home: &Home, delivery: DeliveryId) -> bool {
    let replayed =
        home.store.outbox().replay_subscriber_delivery(home.workspace, delivery, at(50)).await;
    matches!(replayed, Err(StoreError::Refused(_)))
}

#[tokio::test]
async fn dead_letters_are_listed_and_replayed_while_relevant() {
    for_each_engine(async |home| {
        let page = a_page(home, 1).await;
        let other = a_page(home, 2).await.id;
        let monitor = home.monitor(1).await.id;
        let shown = components::settings(page.id, Some(monitor), |_| {});
        components::create(home, 1, shown).await.unwrap();
        for number in 1..=2 {
            let wanted = subscriber_settings(page.id, &format!("{number}@example.com"), |draft| {
                draft.topics = vec!["incidents".to_owned()];
            });
            add(home, number, wanted).await.unwrap();
        }
        commit_and_fan_out(home, page.id, opened(1, 10), 10).await;
        let delivery = kill_first_due(home, 1, 10).await;

        let all = SubscriberDeliveryFilter::default();
        let [listed] = &dead(home, all).await[..] else { panic!("one dead letter is listed") };
        assert_eq!(
            (listed.id, listed.about.subscriber, listed.about.page),
            (delivery, subscriber_id(1), page.id)
        );
        assert_eq!(
            (listed.about.event_kind.as_str(), listed.attempt_count),
            ("page.incident.opened", 1)
        );
        assert_eq!(listed.attempts[0].response, "no such mailbox");
        let of = |subscriber| SubscriberDeliveryFilter {
            subscriber: Some(subscriber_id(subscriber)),
            ..all
        };
        assert_eq!((dead(home, of(1)).await.len(), dead(home, of(2)).await.len()), (1, 0));
        let at_page = |page| SubscriberDeliveryFilter { page: Some(page), ..all };
        assert_eq!(dead(home, at_page(page.id)).await.len(), 1);
        assert_eq!(dead(home, at_page(other)).await.len(), 0);
        let (outbox, channels) = (home.store.outbox(), DeliveryFilter::default());
        let channels = outbox.list(home.workspace, channels, NEWEST).await.unwrap();
        assert_eq!(channels.total, 0, "channels got no deliveries");
        let theirs = home.store.outbox().subscriber_delivery(workspace_id(2), delivery).await;
        assert!(matches!(theirs, Err(StoreError::NotFound { .. })), "{theirs:?}");

        let replayed =
            home.store.outbox().replay_subscriber_delivery(home.workspace, delivery, at(20)).await;
        assert_eq!(replayed.unwrap().state, DeliveryState::Waiting);
        assert!(is_replay_rejected(home, delivery).await, "it is not dead any more");
        assert_eq!(kill_first_due(home, 1, 20).await, delivery);
        let members = page_settings(&page.settings.slug, |draft| {
            draft.access_type = Some("email-domain".to_owned());
            draft.auth_email_domains = vec!["acme.com".to_owned()];
        });
        let closed_page = home.store.pages().update(page.clone(), members, at(21)).await.unwrap();
        assert!(is_replay_rejected(home, delivery).await, "the subscriber is suppressed");
        let open = page.settings.clone();
        home.store.pages().update(closed_page, open, at(22)).await.unwrap();
        commit_and_fan_out(home, page.id, closed(1, 30), 30).await;
        assert!(is_replay_rejected(home, delivery).await, "the incident is closed");
        home.store.subscribers().end(subscriber_id(1), instant(40)).await.unwrap();
        assert_eq!(dead(home, all).await, [], "an ended subscription is not listed");
    })
    .await;
}

#[tokio::test]
async fn replay_of_answered_confirmation_is_rejected() {
    for_each_engine(async |home| {
        let page = a_page(home, 1).await;
        for number in 1..=2 {
            let settings = subscriber_settings(page.id, &format!("{number}@example.com"), |_| {});
            asks(home, &page, number, settings, 0).await;
        }
        let (first, second) =
            (kill_first_due(home, 1, 10).await, kill_first_due(home, 2, 10).await);
        home.store.subscribers().confirm(subscriber_id(1), None, instant(20)).await.unwrap();
        assert!(is_replay_rejected(home, first).await, "the subscriber has confirmed");
        let replayed =
            home.store.outbox().replay_subscriber_delivery(home.workspace, second, at(30)).await;
        assert_eq!(replayed.unwrap().state, DeliveryState::Waiting);
    })
    .await;
}
