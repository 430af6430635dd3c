//! From an event to its receiver: identity, order, retries, digests and faulty receivers.

use domain::notify::EventKind;
use store::DeliveryState;

use super::*;
use crate::observe::metrics::MessageOutcome;

#[tokio::test]
async fn event_is_sent_and_recorded_once() {
    let (bench, mut receiver) = (NotifierFixture::new().await, Receiver::start().await);
    let monitor = bench.monitor(1).await;
    bench.webhook(1, &[monitor], &receiver).await;
    let notifier = bench.notifier();
    let _running = notifier.start();
    bench.breaks(monitor, 1).await;
    let received = receiver.next().await;
    assert!(received.header("webhook-signature").is_some_and(|it| it.starts_with("v1,")));
    assert!(received.body.contains("\"link\":null"), "no page shows it: {}", received.body);
    let delivered = bench.once(|it| it.state == DeliveryState::Accepted).await;
    let attempt = &delivered[0].attempts[0];
    assert_eq!((attempt.status, attempt.response.as_str()), (Some(200), "answered 200 “ok”"));
    bench.quiet(&notifier).await;
    assert_eq!(receiver.hits(), 1);
    let metrics = &notifier.0.context.metrics;
    let counted = |outcome| metrics.messages(ProviderType::Webhook, outcome).get();
    assert_eq!(counted(MessageOutcome::Accepted), 1);
}

// issue 6: "retry with back-off and jitter for 24 h, Retry-After honoured"
#[tokio::test]
async fn retry_waits_as_requested_with_same_key() {
    let (bench, mut receiver) = (NotifierFixture::new().await, Receiver::start().await);
    receiver.answers([ScriptedResponse::status(503).header("retry-after", "90").body("busy")]);
    let monitor = bench.monitor(1).await;
    bench.webhook(1, &[monitor], &receiver).await;
    let _running = bench.notifier().start();
    bench.breaks(monitor, 1).await;
    let first = receiver.next_message().await;
    let waiting = bench.once(|it| it.attempt_count == 1).await;
    assert_eq!(waiting[0].due_at, START + Duration::from_secs(90));
    assert_eq!(waiting[0].attempts[0].response, "answered 503 “busy”");
    bench.clock.advance(Duration::from_secs(90));
    assert_eq!(receiver.next_message().await, first);
    bench.once(|it| it.state == DeliveryState::Accepted && it.attempt_count == 2).await;
}

// issue 6: "permanent answers (410, 404, 401) reported at once"
#[tokio::test]
async fn final_failure_is_a_replayable_dead_letter() {
    let (bench, mut receiver) = (NotifierFixture::new().await, Receiver::start().await);
    let elsewhere = Receiver::start().await;
    receiver.answers([ScriptedResponse::redirect(302, elsewhere.target.url("/"))]);
    let monitor = bench.monitor(1).await;
    bench.webhook(1, &[monitor], &receiver).await;
    let _running = bench.notifier().start();
    bench.breaks(monitor, 1).await;
    let first = receiver.next_message().await;
    let dead = bench.once(|it| it.state == DeliveryState::Dead).await;
    let answer = &dead[0].attempts[0].response;
    assert!(
        answer.contains("answered 302") && answer.contains("enter its final address"),
        "{answer}"
    );
    assert_eq!(elsewhere.hits(), 0);
    // Replay at the time of death: attempts at the same instant are separate.
    bench.store.outbox().replay(WORKSPACE, dead[0].id, change()).await.unwrap();
    assert_eq!(receiver.next_message().await, first);
    bench.once(|it| it.state == DeliveryState::Accepted).await;
}

// issue 6: "in order per monitor and channel"
#[tokio::test]
async fn deliveries_of_a_monitor_stay_in_order() {
    let (bench, mut receiver) = (NotifierFixture::new().await, Receiver::start().await);
    receiver.answers([ScriptedResponse::status(500), ScriptedResponse::status(500)]);
    let monitor = bench.monitor(1).await;
    bench.webhook(1, &[monitor], &receiver).await;
    let _running = bench.notifier().start();
    bench.breaks(monitor, 1).await;
    let error = receiver.next_message().await;
    bench.recovers(monitor, 1).await;
    let is_tried = |it: &Delivery, attempts| {
        it.about.event.kind == EventKind::Recovered || it.attempt_count == attempts
    };
    bench.once(|it| is_tried(it, 1)).await;
    bench.clock.advance(Duration::from_secs(10));
    assert_eq!(receiver.next_message().await, error);
    bench.once(|it| is_tried(it, 2)).await;
    bench.clock.advance(Duration::from_secs(10));
    assert_eq!(receiver.next_message().await, error);
    let recovered = receiver.next_message().await;
    assert!(error.contains("error inc_") && recovered.contains("recovered inc_"), "{recovered}");
}

// issue 6: "one slow receiver delays nobody else"
#[tokio::test]
async fn hanging_receiver_delays_nobody_else() {
    let (bench, mut hangs) = (NotifierFixture::new().await, Receiver::start().await);
    let mut answers = Receiver::start().await;
    hangs.answers((0..100).map(|_| ScriptedResponse::silent()));
    let mut monitors = Vec::new();
    for number in 1..=3 {
        monitors.push(bench.monitor(number).await);
    }
    for number in 1..=8 {
        bench.webhook(number, &monitors, &hangs).await;
    }
    bench.webhook(9, &monitors, &answers).await;
    let _running = bench.notifier().start();
    for (monitor, incident) in monitors.iter().zip(1..) {
        bench.breaks(*monitor, incident).await;
    }
    for _ in 0..3 {
        answers.next().await;
    }
    // Sixteen messages are in progress there, and no more start.
    for _ in 0..16 {
        hangs.next().await;
    }
    assert_eq!(hangs.hits(), 16);
}

// issue 6: "the first three of a minute on one channel go at once, the rest in one message"
#[tokio::test]
async fn digest_is_one_message_with_one_key() {
    let (bench, mut receiver) = (NotifierFixture::new().await, Receiver::start().await);
    let mut monitors = Vec::new();
    for number in 1..=6 {
        monitors.push(bench.monitor(number).await);
    }
    bench.webhook(1, &monitors, &receiver).await;
    let _running = bench.notifier().start();
    for (monitor, incident) in monitors.iter().zip(1..) {
        bench.breaks(*monitor, incident).await;
    }
    for _ in 0..3 {
        assert!(receiver.next_message().await.contains("error inc_"));
    }
    bench.once(|it| it.state == DeliveryState::Accepted || it.hold_reason.is_some()).await;
    receiver.answers([ScriptedResponse::status(500)]);
    bench.clock.advance(Duration::from_mins(1));
    let digest = receiver.next_message().await;
    assert!(digest.contains(" digest-3-inc_"), "{digest}");
    bench.once(|it| it.attempt_count == 1).await;
    bench.clock.advance(Duration::from_mins(1));
    assert_eq!(receiver.next_message().await, digest);
    bench.once(|it| it.state == DeliveryState::Accepted).await;
    assert_eq!(receiver.hits(), 5);
}

// issue 6: "never for PagerDuty and Opsgenie, which group themselves"
#[tokio::test]
async fn grouping_vendors_receive_each_event() {
    let (mut bench, mut receiver) = (NotifierFixture::new().await, Receiver::start().await);
    bench.servers.pagerduty = receiver.target.url("");
    let mut monitors = Vec::new();
    for number in 1..=6 {
        monitors.push(bench.monitor(number).await);
    }
    bench.channel(1, &monitors, pagerduty()).await;
    let _running = bench.notifier().start();
    for (monitor, incident) in monitors.iter().zip(1..) {
        bench.breaks(*monitor, incident).await;
    }
    let mut keys = Vec::new();
    for _ in 0..6 {
        let body: serde_json::Value = serde_json::from_str(&receiver.next().await.body).unwrap();
        assert_eq!(body["event_action"], "trigger");
        keys.push(body["dedup_key"].as_str().unwrap().to_owned());
    }
    keys.sort_unstable();
    keys.dedup();
    assert_eq!(keys.len(), 6);
}

// design: §4, channels whose server side is not configured
#[tokio::test]
async fn unconfigured_kind_is_dead_and_names_the_setting() {
    let (mut bench, mut receiver) = (NotifierFixture::new().await, Receiver::start().await);
    let monitor = bench.monitor(1).await;
    let chat = rules::notification::Telegram { chat_id: "1".to_owned() };
    bench.channel(1, &[monitor], Provider::Telegram(chat)).await;
    let running = bench.notifier().start();
    bench.breaks(monitor, 1).await;
    let dead = bench.once(|it| it.state == DeliveryState::Dead).await;
    let attempt = &dead[0].attempts[0];
    assert_eq!(attempt.status, None);
    assert!(attempt.response.ends_with("set `ALOFT_TELEGRAM_TOKEN`"), "{}", attempt.response);
    running.stop().await;
    let (base, token) = (receiver.target.url(""), Secret::new("1:token".to_owned()));
    bench.servers.telegram = Some(BotAccount { base, token });
    let _running = bench.notifier().start();
    bench.store.outbox().replay(WORKSPACE, dead[0].id, change()).await.unwrap();
    assert_eq!(receiver.next().await.target, "/bot1:token/sendMessage");
}

// issue 6: "speaks no HTTP: a delivery attempt that failed with its reason, and nothing else"
#[tokio::test]
async fn failure_without_http_is_retried_with_reason() {
    let (bench, mut receiver) = (NotifierFixture::new().await, Receiver::start().await);
    receiver.answers([ScriptedResponse::raw("220 mail.example.com ESMTP\r\n")]);
    let monitor = bench.monitor(1).await;
    bench.webhook(1, &[monitor], &receiver).await;
    let _running = bench.notifier().start();
    bench.breaks(monitor, 1).await;
    receiver.next().await;
    let waiting = bench.once(|it| it.attempt_count == 1).await;
    assert_eq!(waiting[0].state, DeliveryState::Waiting);
    assert!(waiting[0].attempts[0].response.contains("invalid HTTP response"), "{waiting:?}");
}

#[tokio::test]
async fn channel_change_applies_from_the_next_attempt() {
    let (bench, mut before) = (NotifierFixture::new().await, Receiver::start().await);
    let mut after = Receiver::start().await;
    before.answers([ScriptedResponse::status(500)]);
    let monitor = bench.monitor(1).await;
    let channel = bench.webhook(1, &[monitor], &before).await;
    let _running = bench.notifier().start();
    bench.breaks(monitor, 1).await;
    let message = before.next_message().await;
    bench.once(|it| it.attempt_count == 1).await;
    let seen = bench.store.channels().get(WORKSPACE, channel).await.unwrap();
    let settings = settings(&[monitor], hook(&after.target.url("/")));
    bench.store.channels().update(seen, settings, change()).await.unwrap();
    bench.clock.advance(Duration::from_secs(10));
    assert_eq!(after.next_message().await, message);
}

#[tokio::test]
async fn deleted_channel_receives_nothing() {
    let (bench, mut receiver) = (NotifierFixture::new().await, Receiver::start().await);
    receiver.answers([ScriptedResponse::status(500)]);
    let monitor = bench.monitor(1).await;
    let channel = bench.webhook(1, &[monitor], &receiver).await;
    let notifier = bench.notifier();
    let _running = notifier.start();
    bench.breaks(monitor, 1).await;
    receiver.next().await;
    bench.once(|it| it.attempt_count == 1).await;
    bench.store.channels().delete(WORKSPACE, channel, change()).await.unwrap();
    bench.clock.advance(Duration::from_secs(10));
    bench.quiet(&notifier).await;
    assert_eq!(receiver.hits(), 1);
    bench.once(|it| it.state == DeliveryState::Cancelled).await;
}

#[tokio::test]
async fn cleanup_delays_no_alert() {
    let (bench, mut receiver) = (NotifierFixture::new().await, Receiver::start().await);
    let monitor = bench.monitor(1).await;
    bench.webhook(1, &[monitor], &receiver).await;
    let notifier = bench.notifier();
    let mut wakeups = bench.store.outbox().listen();
    bench.breaks(monitor, 1).await;
    let never = std::future::pending::<()>();
    tokio::select! {
        _ = receiver.next() => {}
        _ = wake_workers_during(&notifier.0, &mut wakeups, never) => panic!("nobody stopped it"),
    }
}
