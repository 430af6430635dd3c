//! Addresses that visitors ask for and nobody confirms: they take nobody's place, and one network takes
//! the room of no other.

use super::*;

const NETWORK: IpAddr = IpAddr::V4(Ipv4Addr::new(192, 0, 2, 1));

/// As many addresses as may wait for an answer at a page: half of them from one network, the others from
/// one network each, and all of these before.
fn many_asked(engine: Engine) -> &'static str {
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
async fn whoever_asks_for_many_addresses_keeps_nobody_out() {
    for_each_engine(async |home| {
        let page = a_page(home, 1).await;
        home.execute(many_asked(home.engine)).await;
        let most = i64::from(limits::SUBSCRIBERS_PENDING_MAX);
        assert_eq!(home.count("subscribers").await, most);
        let settings = wants(page.id, "honest@example.com", |_| {});
        assert_eq!(asks(home, &page, 9_000, settings, 5_000).await, Asked::New);
        assert_eq!(home.count("subscribers").await, most);
        let oldest_of_many = "subscribers WHERE id = 'sub_0000000001000'";
        assert_eq!(home.count(oldest_of_many).await, 0, "the network with most of them gives way");
        let store = home.store.subscribers();
        let confirmed = store.confirm(subscriber_id(9_000), None, instant(5_001)).await;
        assert!(confirmed.unwrap().is_some());
    })
    .await;
}

// Their networks are kept since migration 13.
#[tokio::test]
async fn those_of_before_networks_were_kept_give_way_as_of_one_and_whom_an_owner_added_stays() {
    for_each_engine(async |home| {
        let page = a_page(home, 1).await;
        home.execute(many_asked(home.engine)).await;
        home.execute("UPDATE subscribers SET asked_from = NULL").await;
        let asked = new(9_001, wants(page.id, "added@example.com", |_| {}));
        let asked = NewSubscriber { begins: Begins::Asked, ..asked };
        home.store.subscribers().add(asked, at(-1)).await.unwrap();
        let before = home.count("subscribers").await;
        let settings = wants(page.id, "honest@example.com", |_| {});
        assert_eq!(asks(home, &page, 9_000, settings, 5_000).await, Asked::New);
        assert_eq!(home.count("subscribers").await, before);
        assert_eq!(home.count("subscribers WHERE id = 'sub_0000000000001'").await, 0);
        assert_eq!(home.count("subscribers WHERE by_owner").await, 1);
    })
    .await;
}

#[tokio::test]
async fn one_network_asks_for_so_many_addresses_until_one_is_confirmed() {
    for_each_engine(async |home| {
        let page = a_page(home, 1).await;
        let most = u64::from(limits::SUBSCRIBERS_PENDING_PER_NETWORK);
        let ask = async |number: u64| {
            let settings = wants(page.id, &format!("{number}@example.com"), |_| {});
            asks_from(home, &page, (number, NETWORK), settings, number as i64).await
        };
        for number in 1..=most {
            assert_eq!(ask(number).await, Asked::New);
        }
        assert_eq!(ask(most + 1).await, Asked::TooMany);
        assert_eq!(ask(1).await, Asked::Again, "an address that was asked is asked again");
        let elsewhere = wants(page.id, "elsewhere@example.com", |_| {});
        assert_eq!(asks(home, &page, 99, elsewhere, 50).await, Asked::New);
        home.store.subscribers().confirm(subscriber_id(1), None, instant(60)).await.unwrap();
        assert_eq!(
            home.count("subscribers WHERE confirmed_at > 0 AND asked_from IS NOT NULL").await,
            0
        );
        assert_eq!(ask(most + 1).await, Asked::New);
    })
    .await;
}
