//! Sign-up of visitors: confirmation requests, confirmation, and expiry.

use super::*;

// Issue 7: "double opt-in"; responses do not reveal whether an address is known.
#[tokio::test]
async fn unconfirmed_address_gets_only_confirmation_requests() {
    for_each_engine(async |home| {
        let page = a_page(home, 1).await;
        let ask = async |number, now| {
            let settings = subscriber_settings(page.id, "a@example.com", |_| {});
            asks(home, &page, number, settings, now).await
        };
        let store = home.store.subscribers();
        assert_eq!(ask(1, 10).await, SignupOutcome::New);
        let [first] = &due(home, 1, 10).await[..] else { panic!("one delivery is due") };
        assert!(matches!(
            first.content.page_event().unwrap().about,
            PageEventKind::ConfirmationRequested(_)
        ));
        assert_eq!(ask(2, 20).await, SignupOutcome::Again);
        let [again] = &due(home, 1, 20).await[..] else {
            panic!("the first delivery is cancelled")
        };
        assert_ne!(again.key, first.key);

        let confirmed = store.confirm(subscriber_id(1), None, instant(30)).await.unwrap().unwrap();
        assert_eq!(confirmed.subscriber.confirmed_at, Some(instant(30)));
        assert_eq!(due(home, 1, 30).await, [], "the confirmation request is cancelled");
        let twice = store.confirm(subscriber_id(1), None, instant(40)).await.unwrap().unwrap();
        assert_eq!(twice.subscriber.confirmed_at, Some(instant(30)));
        assert_eq!(ask(3, 50).await, SignupOutcome::Known);
        let [known] = &due(home, 1, 50).await[..] else { panic!("one delivery is due") };
        assert!(matches!(
            known.content.page_event().unwrap().about,
            PageEventKind::AlreadySubscribed(_)
        ));
        assert_eq!(ids(home, SubscriberFilter::default()).await, [1]);

        store.end(subscriber_id(1), instant(60)).await.unwrap();
        assert_eq!(due(home, 1, 60).await, []);
        assert_eq!(home.count("subscribers").await, 0);
        store.end(subscriber_id(1), instant(61)).await.unwrap();
        assert_eq!(store.confirm(subscriber_id(1), None, instant(62)).await.unwrap(), None);
    })
    .await;
}

// Issue 7: an unconfirmed subscriber expires after 24 h.
#[tokio::test]
async fn unconfirmed_subscriber_expires_after_a_day() {
    for_each_engine(async |home| {
        let page = a_page(home, 1).await;
        let store = home.store.subscribers();
        let day = i64::try_from(limits::SUBSCRIBER_PENDING_FOR.as_millis()).unwrap();
        for number in 1..=2 {
            let settings = subscriber_settings(page.id, &format!("{number}@example.com"), |_| {});
            asks(home, &page, number, settings, number as i64).await;
        }
        assert_eq!(
            store.confirm(subscriber_id(1), None, instant(1 + day)).await.unwrap(),
            None,
            "the confirmation is too late"
        );
        assert_eq!(store.expire(instant(day)).await.unwrap(), 0);
        assert_eq!(store.expire(instant(1 + day)).await.unwrap(), 1);
        assert_eq!(ids(home, SubscriberFilter::default()).await, [2]);
        assert_eq!(due(home, 1, 1 + day).await, []);
        store.confirm(subscriber_id(2), None, instant(1 + day)).await.unwrap().unwrap();
        let later = instant(0) + Duration::from_hours(24 * 400);
        assert_eq!(store.expire(later).await.unwrap(), 0);
    })
    .await;
}

#[tokio::test]
async fn expiry_spares_addresses_that_were_requested_again() {
    for_each_engine(async |home| {
        let page = a_page(home, 1).await;
        let day = i64::try_from(limits::SUBSCRIBER_PENDING_FOR.as_millis()).unwrap();
        let settings =
            |number: u64| subscriber_settings(page.id, &format!("{number}@example.com"), |_| {});
        for number in 1..=251 {
            asks(home, &page, number, settings(number), number as i64).await;
        }
        assert_eq!(asks(home, &page, 251, settings(251), day).await, SignupOutcome::Again);
        let store = home.store.subscribers();
        assert_eq!(store.expire(instant(251 + day)).await.unwrap(), 250);
        assert_eq!(ids(home, SubscriberFilter::default()).await, [251]);
        assert_eq!(home.count("deliveries WHERE state = 'waiting'").await, 1);
        assert_eq!(
            due(home, 251, 251 + day).await.len(),
            1,
            "its confirmation request still waits"
        );
    })
    .await;
}
