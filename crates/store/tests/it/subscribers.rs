//! Subscribers: stored values read back equal, workspaces are isolated, and deletion with their
//! page. `signup` tests confirmation and expiry, `pending` the limits of unconfirmed addresses,
//! `fan_out` the fan-out, `access` restricted pages, and `deliveries` the delivery log.

mod access;
mod deliveries;
mod fan_out;
mod pending;
mod signup;

use std::net::{IpAddr, Ipv4Addr};
use std::time::Duration;

use domain::notify::PageEventKind;
use rules::status_page::{
    ComponentScope, Destination, Language, StatusPage, Subscriber, SubscriberDraft, SubscriberKind,
    SubscriberSettings, SubscriberState, Topic,
};
use rules::{ComponentId, PageId, Secret, SubscriberId, limits};
use store::{
    Created, DueDelivery, Idempotency, InitialState, NewSubscriber, Page, SignupOutcome,
    SignupSource, StoreError, SubscriberFilter, SubscriptionChoice,
};

use crate::components;
use crate::harness::{Engine, Home, a_workspace, at, for_each_engine, instant, workspace_id};
use crate::pages::{a_page, page_id};

const ALL: Page<SubscriberId> = Page { limit: 50, offset: 0, after: None };

const fn subscriber_id(number: u64) -> SubscriberId {
    SubscriberId::from_bits(number)
}

/// Returns settings for this address and page.
fn subscriber_settings(
    page: PageId,
    email: &str,
    change: impl FnOnce(&mut SubscriberDraft),
) -> SubscriberSettings {
    let mut draft = SubscriberDraft {
        page_id: Some(page.to_string()),
        email: Some(email.to_owned()),
        ..SubscriberDraft::default()
    };
    change(&mut draft);
    draft.parse().unwrap()
}

fn new(number: u64, settings: SubscriberSettings) -> NewSubscriber {
    let (id, workspace) = (subscriber_id(number), workspace_id(1));
    NewSubscriber {
        id,
        workspace,
        settings,
        initial_state: InitialState::Confirmed,
        idempotency: None,
    }
}

async fn add(
    home: &Home,
    number: u64,
    settings: SubscriberSettings,
) -> Result<Subscriber, StoreError> {
    let added = home.store.subscribers().add(new(number, settings), at(0)).await;
    added.map(Created::into_inner)
}

/// Signs up an address, from a different network for each number.
async fn asks(
    home: &Home,
    page: &StatusPage,
    number: u64,
    settings: SubscriberSettings,
    now: i64,
) -> SignupOutcome {
    let network = IpAddr::V4(Ipv4Addr::from_bits(u32::try_from(number).unwrap()));
    sign_up_from(home, page, (number, network), settings, now).await
}

async fn sign_up_from(
    home: &Home,
    page: &StatusPage,
    (number, network): (u64, IpAddr),
    settings: SubscriberSettings,
    now: i64,
) -> SignupOutcome {
    let visit = SignupSource { page: page.clone(), network };
    let store = home.store.subscribers();
    store.sign_up(subscriber_id(number), settings, visit, instant(now)).await.unwrap()
}

/// Adds a subscriber to this component, on a server that has announced maintenance.
pub(crate) async fn a_full_one(home: &Home, page: PageId, component: ComponentId) {
    let settings = subscriber_settings(page, "a@example.com", |draft| {
        draft.component_ids = vec![component.to_string()];
    });
    add(home, 1, settings).await.unwrap();
    home.store.subscribers().announce_maintenance(instant(0)).await.unwrap();
}

async fn due(home: &Home, subscriber: u64, now: i64) -> Vec<DueDelivery> {
    let queue = home.store.outbox().due(subscriber_id(subscriber), instant(now), 100).await;
    queue.unwrap().due
}

async fn ids(home: &Home, filter: SubscriberFilter) -> Vec<u64> {
    let listed = home.store.subscribers().list(home.workspace, filter, ALL).await.unwrap();
    assert_eq!(listed.total as usize, listed.rows.len());
    listed.rows.iter().map(|row| row.subscriber.id.bits()).collect()
}

#[tokio::test]
async fn subscribers_read_back_equal_and_lists_filter() {
    for_each_engine(async |home| {
        let (first, second) = (a_page(home, 1).await.id, a_page(home, 2).await.id);
        let component =
            components::settings(first, None, |draft| draft.name = Some("A".to_owned()));
        let component = components::create(home, 1, component).await.unwrap().id;
        let full = subscriber_settings(first, "Ada@example.com", |draft| {
            draft.language = Some("ja".to_owned());
            draft.component_ids = vec![component.to_string()];
            draft.topics = vec!["incidents".to_owned(), "reports".to_owned()];
        });
        let written = add(home, 1, full.clone()).await.unwrap();
        assert_eq!((&written.settings, written.confirmed_at), (&full, Some(instant(0))));
        assert_eq!(full.language, Language::Ja);
        let read = home.store.subscribers().get(home.workspace, written.id).await.unwrap();
        assert_eq!(read, written);
        let webhook = subscriber_settings(second, "", |draft| {
            draft.email = None;
            draft.webhook_url = Some(Secret::new("https://hooks.example/x".to_owned()));
        });
        add(home, 2, webhook).await.unwrap();
        let asked = NewSubscriber {
            initial_state: InitialState::Unconfirmed,
            ..new(3, subscriber_settings(second, "b@example.com", |_| {}))
        };
        home.store.subscribers().add(asked, at(0)).await.unwrap();

        let all = SubscriberFilter::default();
        assert_eq!(ids(home, all).await, [3, 2, 1]);
        assert_eq!(ids(home, SubscriberFilter { page: Some(second), ..all }).await, [3, 2]);
        let webhooks = SubscriberFilter { kind: Some(SubscriberKind::Webhook), ..all };
        assert_eq!(ids(home, webhooks).await, [2]);
        for (state, found) in
            [(SubscriberState::Pending, vec![3]), (SubscriberState::Active, vec![2, 1])]
        {
            assert_eq!(ids(home, SubscriberFilter { state: Some(state), ..all }).await, found);
        }
        let other = home.store.subscribers().get(workspace_id(2), written.id).await;
        assert!(matches!(other, Err(StoreError::NotFound { .. })), "{other:?}");
    })
    .await;
}

#[tokio::test]
async fn unknown_references_and_repeated_addresses_are_rejected() {
    for_each_engine(async |home| {
        home.store.workspaces().create(a_workspace(2), at(1)).await.unwrap();
        let (page, other) = (a_page(home, 1).await.id, a_page(home, 2).await.id);
        let foreign = components::settings(other, None, |draft| draft.name = Some("B".to_owned()));
        let foreign = components::create(home, 1, foreign).await.unwrap().id;
        let refused = |refused: Result<Subscriber, StoreError>| match refused {
            Err(StoreError::Refused(violation) | StoreError::Taken(violation)) => violation.field,
            other => panic!("{other:?}"),
        };
        let nowhere = add(home, 1, subscriber_settings(page_id(9), "a@example.com", |_| {})).await;
        assert_eq!(refused(nowhere), "page_id");
        let strange = subscriber_settings(page, "a@example.com", |draft| {
            draft.component_ids = vec![foreign.to_string()];
        });
        assert_eq!(refused(add(home, 1, strange).await), "component_ids");
        assert_eq!(home.count("subscribers").await, 0);

        add(home, 1, subscriber_settings(page, "a@example.com", |_| {})).await.unwrap();
        assert_eq!(
            refused(add(home, 2, subscriber_settings(page, "A@Example.com", |_| {})).await),
            "email"
        );
        add(home, 3, subscriber_settings(other, "a@example.com", |_| {})).await.unwrap();
        let theirs = NewSubscriber {
            workspace: workspace_id(2),
            ..new(4, subscriber_settings(page, "c@example.com", |_| {}))
        };
        let theirs = home.store.subscribers().add(theirs, at(0)).await.map(Created::into_inner);
        assert_eq!(refused(theirs), "page_id");
    })
    .await;
}

#[tokio::test]
async fn idempotency_key_adds_a_subscriber_once() {
    for_each_engine(async |home| {
        let page = a_page(home, 1).await.id;
        let call = Idempotency { method: "AddSubscriber", key: "k".to_owned(), request: [7; 32] };
        let settings = subscriber_settings(page, "a@example.com", |_| {});
        let again = |number| NewSubscriber {
            idempotency: Some(call.clone()),
            ..new(number, settings.clone())
        };
        home.store.subscribers().add(again(1), at(0)).await.unwrap();
        let before = home.store.subscribers().add(again(2), at(1)).await.unwrap();
        assert!(matches!(before, Created::Before(before) if before.id == subscriber_id(1)));
        home.store.subscribers().remove(home.workspace, subscriber_id(1), at(2)).await.unwrap();
        let gone = home.store.subscribers().add(again(3), at(3)).await;
        assert!(matches!(gone, Err(StoreError::Gone { .. })), "{gone:?}");
        let removed =
            home.store.subscribers().remove(home.workspace, subscriber_id(1), at(2)).await;
        assert!(matches!(removed, Err(StoreError::NotFound { .. })), "{removed:?}");
    })
    .await;
}

#[tokio::test]
async fn subscriber_choice_follows_deleted_components() {
    for_each_engine(async |home| {
        let inside = a_page(home, 1).await;
        let page = inside.id;
        let mut shown = Vec::new();
        for number in 1..=2 {
            let settings =
                components::settings(page, None, |draft| draft.name = Some("C".to_owned()));
            shown.push(components::create(home, number, settings).await.unwrap().id);
        }
        add(home, 1, subscriber_settings(page, "a@example.com", |_| {})).await.unwrap();
        let store = home.store.subscribers();
        let choose = async |scope, topics| {
            let (wanted, inside) = (SubscriptionChoice { scope, topics }, inside.clone());
            let chosen = store.choose(subscriber_id(1), wanted, inside, instant(5)).await;
            chosen.unwrap().unwrap().subscriber.settings
        };
        let one: Vec<ComponentId> = vec![shown[1]];
        let chosen = choose(ComponentScope::Some(one.clone()), vec![Topic::Incidents]).await;
        assert_eq!(
            (chosen.scope, chosen.topics),
            (ComponentScope::Some(one), vec![Topic::Incidents])
        );
        home.store.components().delete(home.workspace, shown[1], at(6)).await.unwrap();
        let read = store.get(home.workspace, subscriber_id(1)).await.unwrap();
        assert_eq!(read.settings.scope, ComponentScope::Some(Vec::new()));
        let chosen = choose(ComponentScope::All, Vec::new()).await;
        assert_eq!((chosen.scope, &chosen.topics[..]), (ComponentScope::All, Topic::BY_DEFAULT));
    })
    .await;
}

#[tokio::test]
async fn deleted_page_deletes_its_encrypted_subscribers() {
    for_each_engine(async |home| {
        let page = a_page(home, 1).await.id;
        let email = subscriber_settings(page, "hunter2@example.com", |_| {});
        assert!(matches!(email.destination, Destination::Email(_)));
        let asked = NewSubscriber { initial_state: InitialState::Unconfirmed, ..new(1, email) };
        home.store.subscribers().add(asked, at(0)).await.unwrap();
        assert_eq!(due(home, 1, 0).await.len(), 1);
        assert_eq!(home.count("audit WHERE detail LIKE '%hunter2%'").await, 0);
        if let Ok(bytes) = std::fs::read(home.folder.path().join("aloft.db")) {
            let plain = bytes.windows(7).any(|window| window == b"hunter2");
            assert!(!plain, "an address is unencrypted in the database");
        }
        home.store.pages().delete(home.workspace, page, at(1)).await.unwrap();
        assert_eq!(home.count("subscribers").await, 0);
        assert_eq!(due(home, 1, 1).await, []);
    })
    .await;
}

/// Inserts one subscriber less than the maximum.
fn almost_full(engine: Engine) -> &'static str {
    match engine {
        Engine::Sqlite => {
            "WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t WHERE n < 9999) \
             INSERT INTO subscribers SELECT 'many_' || n, p.workspace_id, p.id, 'email', \
             CAST(n AS BLOB), CAST(n AS BLOB), 'en', 1, 1, 1, 1, 0, 0, 0, 0, NULL, NULL FROM t, pages p"
        }
        Engine::Postgres => {
            "WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t WHERE n < 9999) \
             INSERT INTO subscribers SELECT 'many_' || n, p.workspace_id, p.id, 'email', \
             CAST(CAST(n AS TEXT) AS BYTEA), CAST(CAST(n AS TEXT) AS BYTEA), 'en', TRUE, TRUE, \
             TRUE, TRUE, 0, 0, 0, FALSE, NULL, NULL FROM t, pages p"
        }
    }
}

#[tokio::test]
async fn subscriber_beyond_the_limit_is_rejected() {
    for_each_engine(async |home| {
        let shown = a_page(home, 1).await;
        let page = shown.id;
        home.execute(almost_full(home.engine)).await;
        let early = subscriber_settings(page, "early@example.com", |_| {});
        assert_eq!(asks(home, &shown, 3, early, 1).await, SignupOutcome::New);
        add(home, 1, subscriber_settings(page, "last@example.com", |_| {})).await.unwrap();
        let confirmed = "subscribers WHERE confirmed_at IS NOT NULL";
        assert_eq!(home.count(confirmed).await, i64::from(limits::SUBSCRIBERS_MAX));
        let refused = add(home, 2, subscriber_settings(page, "late@example.com", |_| {})).await;
        assert!(matches!(refused, Err(StoreError::Refused(_))), "{refused:?}");
        let late = subscriber_settings(page, "late@example.com", |_| {});
        assert_eq!(asks(home, &shown, 2, late, 1).await, SignupOutcome::Full);
        let store = home.store.subscribers();
        let early = store.confirm(subscriber_id(3), None, instant(2)).await;
        assert!(matches!(early, Err(StoreError::Refused(_))), "{early:?}");
        store.remove(home.workspace, subscriber_id(1), at(3)).await.unwrap();
        assert!(store.confirm(subscriber_id(3), None, instant(4)).await.unwrap().is_some());
    })
    .await;
}
