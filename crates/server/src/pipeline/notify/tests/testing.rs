//! Tests of channels: sent at once, told truthfully, and closed where a receiver would keep them.

use domain::notify::{EventKind, Subject};
use rules::MonitorKind;

use super::*;

fn a_test() -> Event {
    Event {
        kind: EventKind::Test,
        at: START,
        workspace: "Acme".to_owned(),
        monitor: Subject {
            id: MonitorId::from_bits(1),
            name: "API".to_owned(),
            kind: MonitorKind::Http,
            target: "https://example.com".to_owned(),
            method: None,
        },
        incident: None,
        began_at: START,
        closed: None,
        grounds: Grounds::default(),
        reminder: 0,
    }
}

async fn test(bench: &Bench, provider: Provider) -> Tested {
    let settings = settings(&[], provider);
    let channel = ChannelId::from_bits(7);
    bench.notifier().test(WORKSPACE, channel, &settings, &a_test()).await.unwrap()
}

#[tokio::test]
async fn a_test_says_truthfully_what_the_receiver_answered() {
    let (bench, receiver) = (Bench::new().await, Receiver::start().await);
    receiver.answers([Answer::ok("thanks"), Answer::status(401).body("who are you?")]);
    let url = receiver.target.url("/hook");
    let taken = test(&bench, hook(&url)).await;
    assert_eq!((taken.accepted, taken.status), (true, Some(200)));
    assert_eq!(taken.answer, "answered 200 “thanks”");
    let refused = test(&bench, hook(&url)).await;
    assert_eq!((refused.accepted, refused.status), (false, Some(401)));
    assert!(refused.answer.starts_with("answered 401 “who are you?”"), "{}", refused.answer);
    assert!(bench.deliveries().await.is_empty(), "nothing of it is stored");
}

#[tokio::test]
async fn what_a_test_opened_is_closed_by_a_second_message() {
    let (mut bench, mut receiver) = (Bench::new().await, Receiver::start().await);
    bench.servers.pagerduty = receiver.target.url("");
    assert!(test(&bench, pagerduty()).await.accepted);
    let mut told = Vec::new();
    for _ in 0..2 {
        let body: serde_json::Value = serde_json::from_str(&receiver.next().await.body).unwrap();
        told.push(format!("{} {}", body["event_action"], body["dedup_key"]));
    }
    let thread = format!("\"test-{}\"", START.as_millis());
    assert_eq!(told, [format!("\"trigger\" {thread}"), format!("\"resolve\" {thread}")]);
}

#[tokio::test]
async fn a_test_of_a_kind_that_this_server_cannot_send_names_the_setting() {
    let bench = Bench::new().await;
    let email = rules::notification::Email { email: "ops@example.com".to_owned() };
    let tested = test(&bench, Provider::Email(email)).await;
    assert_eq!((tested.accepted, tested.status), (false, None));
    assert!(tested.answer.ends_with("set `smtp_url`"), "{}", tested.answer);
}

#[tokio::test]
async fn a_test_to_a_closed_network_names_the_way_out() {
    let (bench, receiver) = (Bench::new().await, Receiver::start().await);
    let client = Client::new(probe::Settings::default());
    let notifier = Notifier::new(Parts {
        ctx: bench.ctx.clone(),
        store: bench.store.clone(),
        metrics: Metrics::new(),
        client,
        mail: None,
        extra_roots: &[] as &[Vec<u8>],
        servers: Servers::default(),
        public_url: None,
    })
    .unwrap();
    let settings = settings(&[], hook(&receiver.target.url("/")));
    let channel = ChannelId::from_bits(7);
    let tested = notifier.test(WORKSPACE, channel, &settings, &a_test()).await.unwrap();
    assert!(!tested.accepted && tested.answer.contains("--allow-private-networks"), "{tested:?}");
    assert_eq!(receiver.hits(), 0);
}
