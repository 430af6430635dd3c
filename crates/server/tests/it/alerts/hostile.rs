//! Hostile and broken receivers: the only effect is a failed attempt with its reason.

use std::time::Duration;

use insta::assert_snapshot;
use rules::{ChannelId, ProviderType};
use store::{Delivery, DeliveryState};
use testkit::receivers::{Behaviour, Receiver};
use testkit::server::TestServer;

use super::fixture::{AlertFixture, stable};

/// Duration that exceeds every pause before the first retry.
const PAUSE: Duration = Duration::from_secs(10);

/// Formats one attempt of the only delivery.
fn attempt(deliveries: &[Delivery]) -> String {
    let [delivery] = deliveries else { panic!("one event is one delivery: {deliveries:#?}") };
    let [attempt] = delivery.attempts.as_slice() else {
        panic!("the clock stands, so it was tried once: {delivery:#?}")
    };
    let status = attempt.status.map(|status| status.to_string());
    format!("{} {} {}", delivery.state.as_str(), status.as_deref().unwrap_or("-"), attempt.response)
}

// issue 6: "A receiver that answers with a gigabyte, never ends, redirects to a private address or
// speaks no HTTP: a delivery attempt that failed with its reason, and nothing else."
#[tokio::test]
async fn hostile_receiver_fails_only_its_own_deliveries() {
    let fixture = AlertFixture::on(TestServer::start().await).await;
    let bystander = Receiver::start(ProviderType::Slack).await;
    fixture.notify(&bystander).await;
    let lure = Receiver::start(ProviderType::Slack).await;
    let mut hostile: Vec<(Behaviour, Receiver, ChannelId)> = Vec::new();
    for behaviour in [
        Behaviour::Status(500),
        Behaviour::Busy(7),
        Behaviour::Status(401),
        Behaviour::Status(404),
        Behaviour::Status(410),
        Behaviour::Redirect(lure.base()),
        Behaviour::Close,
        Behaviour::Garbage,
        Behaviour::Gigabyte,
        Behaviour::Endless,
        Behaviour::Hang,
    ] {
        let receiver = Receiver::start(ProviderType::Slack).await;
        receiver.behave(behaviour.clone());
        let channel = fixture.notify(&receiver).await;
        hostile.push((behaviour, receiver, channel));
    }
    fixture.breaks().await;
    bystander.takes(1).await;
    let mut shown = Vec::new();
    for (behaviour, receiver, channel) in &hostile {
        receiver.wait_for_turned_away(1).await;
        let tried = |all: &[Delivery]| all.iter().all(|delivery| !delivery.attempts.is_empty());
        let deliveries = fixture.deliveries(*channel, |all| !all.is_empty() && tried(all)).await;
        let names = [
            (receiver.base(), "http://receiver"),
            (address(receiver), "receiver"),
            (lure.base(), "http://lure"),
        ];
        let shown_behaviour = stable(&format!("{behaviour:?}"), &names);
        shown.push(format!("{shown_behaviour}: {}", stable(&attempt(&deliveries), &names)));
    }
    assert_snapshot!(shown.join("\n"), @r#"
    Status(500): waiting 500 answered 500
    Busy(7): waiting 429 answered 429
    Status(401): dead 401 answered 401; it rejected the credentials: correct them in the channel
    Status(404): dead 404 answered 404; it no longer exists: enter its new address in the channel
    Status(410): dead 410 answered 410; it no longer exists: enter its new address in the channel
    Redirect("http://lure"): dead 307 answered 307; it redirects: enter its final address in the channel
    Close: waiting - receiver reset the connection before the response was complete
    Garbage: waiting - receiver sent an invalid HTTP response: invalid HTTP version parsed
    Gigabyte: waiting - answered 200 with an endless body
    Endless: waiting - answered 200 with an endless body
    Hang: waiting - timed out after 10000 ms while waiting for the response from receiver
    "#);
    assert_eq!(lure.accepted().len() + lure.refused().len(), 0, "the redirect was followed");
    assert_eq!(fixture.watched.server.nobody().get("/readyz").await.status, 200);
    // Receivers that recover get the message. Permanent failures are not retried.
    for (_, receiver, _) in &hostile {
        receiver.behave_well();
    }
    fixture.advance(PAUSE);
    for (behaviour, receiver, channel) in &hostile {
        let ended = |all: &[Delivery]| all.iter().all(|it| it.state != DeliveryState::Waiting);
        let deliveries = fixture.deliveries(*channel, ended).await;
        let is_dead = deliveries[0].state == DeliveryState::Dead;
        let expected = usize::from(!is_dead);
        assert_eq!(receiver.accepted().len(), expected, "{behaviour:?}: {deliveries:#?}");
    }
    assert_eq!(bystander.accepted().len(), 1);
}

fn address(receiver: &Receiver) -> String {
    receiver.base().trim_start_matches("http://").to_owned()
}
