//! Tests of channels: sent immediately, reported accurately, and closed at receivers that keep
//! alerts.

use domain::notify::{EventKind, MonitorSnapshot};
use rules::MonitorKind;

use super::*;

fn a_test() -> Event {
    Event {
        kind: EventKind::Test,
        at: START,
        workspace: "Acme".to_owned(),
        monitor: MonitorSnapshot {
            id: MonitorId::from_bits(1),
            name: "API".to_owned(),
            kind: MonitorKind::Http,
            target: "https://example.com".to_owned(),
            method: None,
        },
        incident: None,
        began_at: START,
        closed: None,
        cause: Cause::default(),
        reminder: 0,
    }
}

async fn test(bench: &NotifierFixture, provider: Provider) -> Tested {
    let settings = settings(&[], provider);
    let channel = ChannelId::from_bits(7);
    let notifier = bench.notifier();
    let stop = notifier.test_stop_token();
    notifier.test(WORKSPACE, channel, &settings, &a_test(), &stop).await.unwrap()
}

#[tokio::test]
async fn test_reports_the_response() {
    let (bench, receiver) = (NotifierFixture::new().await, Receiver::start().await);
    receiver.answers([
        ScriptedResponse::ok("thanks"),
        ScriptedResponse::status(401).body("who are you?"),
    ]);
    let url = receiver.target.url("/hook");
    let taken = test(&bench, hook(&url)).await;
    assert_eq!((taken.accepted, taken.status), (true, Some(200)));
    assert_eq!(taken.response, "answered 200 “thanks”");
    let refused = test(&bench, hook(&url)).await;
    assert_eq!((refused.accepted, refused.status), (false, Some(401)));
    assert!(refused.response.starts_with("answered 401 “who are you?”"), "{}", refused.response);
    assert!(bench.deliveries().await.is_empty(), "nothing of it is stored");
}

#[tokio::test]
async fn second_message_closes_a_test_alert() {
    let (mut bench, mut receiver) = (NotifierFixture::new().await, Receiver::start().await);
    bench.servers.pagerduty = receiver.target.url("");
    assert!(test(&bench, pagerduty()).await.accepted);
    let mut messages = Vec::new();
    for _ in 0..2 {
        let body: serde_json::Value = serde_json::from_str(&receiver.next().await.body).unwrap();
        messages.push(format!("{} {}", body["event_action"], body["dedup_key"]));
    }
    let thread = format!("\"test-{}\"", START.as_millis());
    assert_eq!(messages, [format!("\"trigger\" {thread}"), format!("\"resolve\" {thread}")]);
}

#[tokio::test]
async fn test_of_unconfigured_kind_names_the_setting() {
    let bench = NotifierFixture::new().await;
    let email = rules::notification::Email { email: "ops@example.com".to_owned() };
    let tested = test(&bench, Provider::Email(email)).await;
    assert_eq!((tested.accepted, tested.status), (false, None));
    assert!(tested.response.ends_with("set `ALOFT_SMTP_URL`"), "{}", tested.response);
}

#[tokio::test]
async fn test_to_blocked_network_explains_the_fix() {
    let (bench, receiver) = (NotifierFixture::new().await, Receiver::start().await);
    let client = Client::new(probe::Settings::default());
    let notifier = Notifier::new(NotifierParts {
        ctx: bench.ctx.clone(),
        store: bench.store.clone(),
        metrics: Metrics::new(),
        client,
        mail: None,
        extra_roots: &[] as &[Vec<u8>],
        vendors: VendorConfig::default(),
        public_url: None,
    })
    .unwrap();
    let settings = settings(&[], hook(&receiver.target.url("/")));
    let channel = ChannelId::from_bits(7);
    let stop = notifier.test_stop_token();
    let tested = notifier.test(WORKSPACE, channel, &settings, &a_test(), &stop).await.unwrap();
    assert!(!tested.accepted && tested.response.contains("--allow-private-networks"), "{tested:?}");
    assert_eq!(receiver.hits(), 0);
}

#[tokio::test]
async fn cancelled_test_sends_nothing() {
    let (bench, receiver) = (NotifierFixture::new().await, Receiver::start().await);
    let notifier = bench.notifier();
    let concurrency = &notifier.0.context.sender.concurrency;
    let (url, to) = (receiver.target.url("/"), receiver.target.address().to_string());
    let held: Vec<_> = std::iter::from_fn(|| concurrency.try_acquire(WORKSPACE, &to)).collect();
    let (settings, event) = (settings(&[], hook(&url)), a_test());
    let stop = notifier.test_stop_token();
    let mut testing =
        std::pin::pin!(notifier.test(WORKSPACE, ChannelId::from_bits(7), &settings, &event, &stop));
    tokio::select! {
        biased;
        ended = &mut testing => panic!("there was no place, and it ended: {ended:?}"),
        () = tokio::task::yield_now() => stop.cancel(),
    }
    drop(held);
    assert!(matches!(testing.await, Err(StoreError::Closed)));
    assert_eq!(receiver.hits(), 0);
    assert!(!notifier.test_stop_token().is_cancelled(), "others are tested all the same");
}

#[tokio::test]
async fn cancelled_test_still_closes_its_alert() {
    let mut bench = NotifierFixture::new().await;
    let stop = Arc::new(std::sync::OnceLock::<CancellationToken>::new());
    let mut receiver = Receiver::start_with({
        let stop = Arc::clone(&stop);
        move || stop.get().unwrap().cancel()
    })
    .await;
    bench.servers.pagerduty = receiver.target.url("");
    let notifier = bench.notifier();
    let stop = stop.get_or_init(|| notifier.test_stop_token());
    let (channel, settings) = (ChannelId::from_bits(7), settings(&[], pagerduty()));
    let tested = notifier.test(WORKSPACE, channel, &settings, &a_test(), stop).await.unwrap();
    assert!(tested.accepted && tested.response.starts_with("answered 200"), "{tested:?}");
    for action in ["trigger", "resolve"] {
        let body: serde_json::Value = serde_json::from_str(&receiver.next().await.body).unwrap();
        assert_eq!(body["event_action"], action);
    }
}
