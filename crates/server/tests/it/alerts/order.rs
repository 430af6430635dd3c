//! Grouping and order of messages.

use rules::{MonitorId, ProviderType};
use serde_json::Value;
use testkit::receivers::{Behaviour, Receiver};
use testkit::server::TestServer;
use testkit::target::ScriptedResponse;

use super::fixture::{AlertFixture, Vendors};
use crate::pipeline::PERIOD;

fn title(body: &str) -> String {
    let body: Value = serde_json::from_str(body).unwrap();
    body["text"].as_str().unwrap().to_owned()
}

// issue 6: "the first three of a minute on one channel go at once, the rest in one message (never for
// PagerDuty and Opsgenie, which group themselves)"
#[tokio::test]
async fn excess_alerts_become_three_messages_and_digest() {
    let vendors = Vendors::start().await;
    let server = TestServer::start_with(|settings| vendors.set_up(settings)).await;
    let fixture = AlertFixture::on(server).await;
    let mut monitors: Vec<MonitorId> = vec![fixture.monitor];
    for number in 2..=6 {
        monitors.push(fixture.another(&format!("monitor {number}")).await);
    }
    let kinds = [ProviderType::Slack, ProviderType::Pagerduty, ProviderType::Opsgenie];
    for kind in kinds {
        fixture.channel(&vendors.receiver(kind).provider(), &monitors).await;
    }
    fixture.becomes(ScriptedResponse::status(503), &monitors).await;
    vendors.receiver(ProviderType::Pagerduty).takes(6).await;
    vendors.receiver(ProviderType::Opsgenie).takes(6).await;
    let slack = vendors.receiver(ProviderType::Slack);
    assert!(slack.takes(3).await.iter().all(|it| title(&it.body).starts_with("🔴 Down: ")));
    // The remaining events follow a minute after the first.
    fixture.advance(PERIOD);
    assert_eq!(slack.accepted().len(), 3);
    fixture.advance(PERIOD);
    let taken = slack.takes(4).await;
    assert_eq!(title(&taken[3].body), "🔴 3 events: 3 down");
    for kind in [ProviderType::Pagerduty, ProviderType::Opsgenie] {
        assert_eq!(vendors.receiver(kind).accepted().len(), 6, "{kind} groups by itself");
    }
}

// issue 6: "in order per monitor and channel, in parallel across channels; one slow receiver delays
// nobody else"
#[tokio::test]
async fn recovery_waits_only_for_its_own_channel_error() {
    let fixture = AlertFixture::on(TestServer::start().await).await;
    let slow = Receiver::start(ProviderType::Slack).await;
    let quick = Receiver::start(ProviderType::Slack).await;
    slow.behave(Behaviour::Busy(90));
    let channel = fixture.notify(&slow).await;
    fixture.notify(&quick).await;
    fixture.breaks().await;
    fixture.deliveries(channel, |all| all.iter().any(|it| it.attempts.len() == 1)).await;
    quick.takes(1).await;
    fixture.recovers().await;
    quick.takes(2).await;
    assert_eq!(slow.accepted(), []);
    slow.behave_well();
    fixture.advance(3 * PERIOD);
    let titles: Vec<String> = slow.takes(2).await.iter().map(|it| title(&it.body)).collect();
    assert!(
        titles[0].starts_with("🔴 Down: ") && titles[1].starts_with("🟢 Recovered "),
        "{titles:?}"
    );
}
