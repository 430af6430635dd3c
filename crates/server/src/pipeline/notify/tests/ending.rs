//! Restarts, kills, stops and unresponsive databases: nothing is lost, and duplicates have the same
//! key.

use std::sync::OnceLock;

use store::DeliveryState;
use testkit::flaky_proxy::FlakyProxy;
use tokio_util::sync::CancellationToken;

use super::*;

#[tokio::test]
async fn restart_sends_pending_deliveries() {
    let (bench, mut receiver) = (NotifierFixture::new().await, Receiver::start().await);
    receiver.answers([ScriptedResponse::status(500)]);
    let monitor = bench.monitor(1).await;
    bench.webhook(1, &[monitor], &receiver).await;
    let running = bench.notifier().start();
    bench.breaks(monitor, 1).await;
    let message = receiver.next_message().await;
    bench.once(|it| it.attempt_count == 1).await;
    running.stop().await;
    bench.recovers(monitor, 1).await;
    bench.clock.advance(Duration::from_secs(10));
    let _running = bench.notifier().start();
    assert_eq!(receiver.next_message().await, message);
    assert!(receiver.next_message().await.contains("recovered"));
    bench.once(|it| it.state == DeliveryState::Accepted).await;
}

// issue 6: "duplicates only of what was in flight at the kill, with the same idempotency key"
#[tokio::test]
async fn unrecorded_delivery_is_resent_with_its_key() {
    let kill = Arc::new(OnceLock::<CancellationToken>::new());
    let bench = NotifierFixture::new().await;
    let mut receiver = Receiver::start_with({
        let kill = Arc::clone(&kill);
        move || kill.get().unwrap().cancel()
    })
    .await;
    let monitor = bench.monitor(1).await;
    bench.webhook(1, &[monitor], &receiver).await;
    let notifier = bench.notifier();
    kill.set(notifier.0.context.abandon.clone()).unwrap();
    let _running = notifier.start();
    bench.breaks(monitor, 1).await;
    let message = receiver.next_message().await;
    bench.quiet(&notifier).await;
    assert_eq!(bench.deliveries().await[0].attempt_count, 0, "the kill came first");
    let _next = bench.notifier().start();
    assert_eq!(receiver.next_message().await, message);
    bench.once(|it| it.state == DeliveryState::Accepted && it.attempt_count == 1).await;
}

// issue 6: "duplicates only of what was in flight at the kill, with the same idempotency key"
#[tokio::test]
async fn delivery_sent_alone_is_resent_with_its_key() {
    let kill = Arc::new(OnceLock::<CancellationToken>::new());
    let bench = NotifierFixture::new().await;
    let mut receiver = Receiver::start_with({
        let kill = Arc::clone(&kill);
        move || kill.get().into_iter().for_each(CancellationToken::cancel)
    })
    .await;
    let mut monitors = Vec::new();
    for number in 1..=8 {
        monitors.push(bench.monitor(number).await);
    }
    bench.webhook(1, &monitors, &receiver).await;
    let notifier = bench.notifier();
    let _running = notifier.start();
    for (monitor, incident) in monitors[..4].iter().zip(1..) {
        bench.breaks(*monitor, incident).await;
    }
    for _ in 0..3 {
        receiver.next().await;
    }
    bench.once(|it| it.state == DeliveryState::Accepted || it.hold_reason.is_some()).await;
    kill.set(notifier.0.context.abandon.clone()).unwrap();
    bench.clock.advance(Duration::from_mins(1));
    let alone = receiver.next_message().await;
    bench.quiet(&notifier).await;
    // Another delivery now waits for the digest of the next minute.
    for (monitor, incident) in monitors[4..].iter().zip(5..) {
        bench.breaks(*monitor, incident).await;
    }
    bench.clock.advance(Duration::from_mins(1));
    let _next = bench.notifier().start();
    let mut messages = Vec::new();
    for _ in 0..5 {
        messages.push(receiver.next_message().await);
    }
    assert!(messages.contains(&alone), "{alone}: {messages:?}");
    assert!(!messages.iter().any(|it| it.contains("digest")), "{messages:?}");
}

#[tokio::test]
async fn stop_waits_for_and_records_in_flight_message() {
    let bench = NotifierFixture::new().await;
    let stop = Arc::new(OnceLock::<CancellationToken>::new());
    let mut receiver = Receiver::start_with({
        let stop = Arc::clone(&stop);
        move || stop.get().unwrap().cancel()
    })
    .await;
    let monitor = bench.monitor(1).await;
    bench.webhook(1, &[monitor], &receiver).await;
    let notifier = bench.notifier();
    stop.set(notifier.0.context.stop.clone()).unwrap();
    let running = notifier.start();
    bench.breaks(monitor, 1).await;
    receiver.next().await;
    running.stop().await;
    assert_eq!(bench.deliveries().await[0].state, DeliveryState::Accepted);
    bench.recovers(monitor, 1).await;
    assert_eq!(receiver.hits(), 1, "nothing is begun after a stop");
}

#[tokio::test]
async fn delivery_during_outage_is_recorded_later_not_resent() {
    let line = Arc::new(FlakyProxy::start(&testkit::postgres::database()).await);
    let folder = tempfile::tempdir().unwrap();
    let settings = store::Settings {
        folder: folder.path().join("data"),
        database: Database::Postgres(Secret::new(line.address())),
        master_key: MasterKeySource::File,
    };
    let bench = NotifierFixture::on(Store::open(settings).await.unwrap(), folder).await;
    let mut receiver = Receiver::start_with({
        let line = Arc::clone(&line);
        move || line.cut()
    })
    .await;
    let monitor = bench.monitor(1).await;
    bench.webhook(1, &[monitor], &receiver).await;
    let notifier = bench.notifier();
    let _running = notifier.start();
    bench.breaks(monitor, 1).await;
    receiver.next().await;
    until_a_look_failed(&bench).await;
    line.restore();
    bench.once_mended(|it| it.state == DeliveryState::Accepted && it.attempt_count == 1).await;
    bench.quiet(&notifier).await;
    assert_eq!(receiver.hits(), 1);
}

/// Waits until a worker notices the lost connection.
async fn until_a_look_failed(bench: &NotifierFixture) {
    let page = Page::<DeliveryId> { limit: 1, offset: 0, after: None };
    let filter = DeliveryFilter::default();
    while bench.store.outbox().list(WORKSPACE, filter, page).await.is_ok() {
        tokio::task::yield_now().await;
    }
}

impl NotifierFixture {
    /// Waits like [`NotifierFixture::once`], with a database that may still be recovering.
    async fn once_mended(&self, is: impl Fn(&Delivery) -> bool) {
        let page = Page::<DeliveryId> { limit: 100, offset: 0, after: None };
        let looking = async {
            loop {
                let filter = DeliveryFilter::default();
                let listed = self.store.outbox().list(WORKSPACE, filter, page).await;
                if listed.is_ok_and(|listed| listed.rows.iter().all(&is)) {
                    return;
                }
                tokio::task::yield_now().await;
            }
        };
        tokio::time::timeout(PATIENCE, looking).await.expect("it is written down in the end");
    }
}
