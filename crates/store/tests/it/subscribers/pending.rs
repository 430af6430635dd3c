//! Unconfirmed addresses: they do not count as subscribers, and one network cannot block others.

use super::*;

const NETWORK: IpAddr = IpAddr::V4(Ipv4Addr::new(192, 0, 2, 1));

/// Inserts the maximum number of unconfirmed addresses at a page. The first half has one network
/// each. The rest, all later, share one network.
fn many_unconfirmed(engine: Engine) -> &'static str {
    match engine {
        Engine::Sqlite => {
            "WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t WHERE n < 2000) \
             INSERT INTO subscribers SELECT printf('sub_%013d', n), p.workspace_id, p.id, 'email', \
             CAST(n AS BLOB), CAST(n AS BLOB), 'en', 1, 1, 1, 1, 0, n, NULL, 0, NULL, \
             CAST(MIN(n, 1000) AS BLOB) FROM t, pages p"
        }
        Engine::Postgres => {
            "WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t WHERE n < 2000) \
             INSERT INTO subscribers SELECT 'sub_' || LPAD(CAST(n AS TEXT), 13, '0'), \
             p.workspace_id, p.id, 'email', CAST(CAST(n AS TEXT) AS BYTEA), \
             CAST(CAST(n AS TEXT) AS BYTEA), 'en', TRUE, TRUE, TRUE, TRUE, 0, n, NULL, FALSE, NULL, \
             CAST(CAST(LEAST(n, 1000) AS TEXT) AS BYTEA) FROM t, pages p"
        }
    }
}

#[tokio::test]
async fn requesting_many_addresses_does_not_block_others() {
    for_each_engine(async |home| {
        let page = a_page(home, 1).await;
        home.execute(many_unconfirmed(home.engine)).await;
        let most = i64::from(limits::SUBSCRIBERS_PENDING_MAX);
        assert_eq!(home.count("subscribers").await, most);
        let settings = subscriber_settings(page.id, "honest@example.com", |_| {});
        assert_eq!(asks(home, &page, 9_000, settings, 5_000).await, SignupOutcome::New);
        assert_eq!(home.count("subscribers").await, most);
        let oldest_of_many = "subscribers WHERE id = 'sub_0000000001000'";
        assert_eq!(
            home.count(oldest_of_many).await,
            0,
            "the network with most addresses loses one"
        );
        let store = home.store.subscribers();
        let confirmed = store.confirm(subscriber_id(9_000), None, instant(5_001)).await;
        assert!(confirmed.unwrap().is_some());
    })
    .await;
}

// Networks are stored since migration 13.
#[tokio::test]
async fn addresses_without_network_count_as_one_network() {
    for_each_engine(async |home| {
        let page = a_page(home, 1).await;
        home.execute(many_unconfirmed(home.engine)).await;
        home.execute("UPDATE subscribers SET requester_hash = NULL").await;
        let asked = new(9_001, subscriber_settings(page.id, "added@example.com", |_| {}));
        let asked = NewSubscriber { initial_state: InitialState::Unconfirmed, ..asked };
        home.store.subscribers().add(asked, at(-1)).await.unwrap();
        let before = home.count("subscribers").await;
        let settings = subscriber_settings(page.id, "honest@example.com", |_| {});
        assert_eq!(asks(home, &page, 9_000, settings, 5_000).await, SignupOutcome::New);
        assert_eq!(home.count("subscribers").await, before);
        assert_eq!(home.count("subscribers WHERE id = 'sub_0000000000001'").await, 0);
        assert_eq!(home.count("subscribers WHERE by_owner").await, 1);
    })
    .await;
}

#[tokio::test]
async fn unconfirmed_addresses_per_network_are_limited() {
    for_each_engine(async |home| {
        let page = a_page(home, 1).await;
        let most = u64::from(limits::SUBSCRIBERS_PENDING_PER_NETWORK);
        let ask = async |number: u64| {
            let settings = subscriber_settings(page.id, &format!("{number}@example.com"), |_| {});
            sign_up_from(home, &page, (number, NETWORK), settings, number as i64).await
        };
        for number in 1..=most {
            assert_eq!(ask(number).await, SignupOutcome::New);
        }
        assert_eq!(ask(most + 1).await, SignupOutcome::TooMany);
        assert_eq!(ask(1).await, SignupOutcome::Again, "a known address may be requested again");
        let elsewhere = subscriber_settings(page.id, "elsewhere@example.com", |_| {});
        assert_eq!(asks(home, &page, 99, elsewhere, 50).await, SignupOutcome::New);
        home.store.subscribers().confirm(subscriber_id(1), None, instant(60)).await.unwrap();
        assert_eq!(
            home.count("subscribers WHERE confirmed_at > 0 AND requester_hash IS NOT NULL").await,
            0
        );
        assert_eq!(ask(most + 1).await, SignupOutcome::New);
    })
    .await;
}
