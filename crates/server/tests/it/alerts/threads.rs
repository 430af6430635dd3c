//! Threads and idempotency keys: receivers can group related messages and detect duplicates.

use std::time::Duration;

use rules::ProviderType;
use serde_json::Value;
use testkit::receivers::Behaviour;
use testkit::server::TestServer;

use super::fixture::{AlertFixture, Vendors, a_mailbox};

fn json(body: &str) -> Value {
    serde_json::from_str(body).unwrap()
}

// design: §5 "Alerts"; issue 6: "one thread per incident", "a stable dedup key", "close by alias"
#[tokio::test]
async fn incident_messages_share_one_thread() {
    let vendors = Vendors::start().await;
    let server = TestServer::start_with(|settings| vendors.set_up(settings)).await;
    let fixture = AlertFixture::on(server).await;
    let kinds = [
        ProviderType::Pagerduty,
        ProviderType::Opsgenie,
        ProviderType::GoogleChat,
        ProviderType::GrafanaOncall,
    ];
    for kind in kinds {
        fixture.notify(vendors.receiver(kind)).await;
    }
    fixture.channel(&a_mailbox(), &[fixture.monitor]).await;
    fixture.breaks().await;
    for kind in kinds {
        vendors.receiver(kind).takes(1).await;
    }
    vendors.mail.takes(1).await;
    fixture.recovers().await;
    let both = async |kind: ProviderType| {
        let taken = vendors.receiver(kind).takes(2).await;
        let bodies: Vec<Value> = taken.iter().map(|message| json(&message.body)).collect();
        (taken, bodies)
    };
    let (_, pagerduty) = both(ProviderType::Pagerduty).await;
    assert_eq!(pagerduty[0]["dedup_key"], pagerduty[1]["dedup_key"]);
    assert_eq!(
        (&pagerduty[0]["event_action"], &pagerduty[1]["event_action"]),
        (&"trigger".into(), &"resolve".into())
    );
    let (requests, opsgenie) = both(ProviderType::Opsgenie).await;
    let alias = opsgenie[0]["alias"].as_str().unwrap();
    assert_eq!(requests[1].target, format!("/v2/alerts/{alias}/close?identifierType=alias"));
    let (requests, chat) = both(ProviderType::GoogleChat).await;
    assert_eq!(chat[0]["thread"], chat[1]["thread"]);
    assert_eq!(chat[0]["thread"]["threadKey"], alias);
    assert_ne!(requests[0].target, requests[1].target, "each has a request id of its own");
    let (_, oncall) = both(ProviderType::GrafanaOncall).await;
    assert_eq!((&oncall[0]["alert_uid"], &oncall[0]["state"]), (&alias.into(), &"alerting".into()));
    assert_eq!((&oncall[1]["alert_uid"], &oncall[1]["state"]), (&alias.into(), &"ok".into()));
    let mails = vendors.mail.takes(2).await;
    let root = format!("<{alias}@example.com>");
    for mail in &mails {
        assert_eq!(mail.header("references"), Some(root.as_str()));
        assert_eq!(mail.header("in-reply-to"), Some(root.as_str()));
        assert!(mail.secure && mail.user == testkit::mail::USER);
    }
    assert_ne!(mails[0].header("message-id"), mails[1].header("message-id"));
}

// design: §5 "at least once, with an idempotency key (incident, channel, event)"
#[tokio::test]
async fn retry_repeats_the_idempotency_key() {
    let vendors = Vendors::start().await;
    let server = TestServer::start_with(|settings| vendors.set_up(settings)).await;
    let fixture = AlertFixture::on(server).await;
    let (webhook, chat) = (fixture.webhook().await, vendors.receiver(ProviderType::GoogleChat));
    for receiver in [&webhook, chat] {
        receiver.behave_times(1, Behaviour::Status(500));
    }
    let channels = [fixture.notify(&webhook).await, fixture.notify(chat).await];
    fixture.breaks().await;
    for channel in channels {
        fixture.deliveries(channel, |all| all.iter().any(|it| it.attempts.len() == 1)).await;
    }
    fixture.advance(Duration::from_secs(2));
    for receiver in [&webhook, chat] {
        let (first, second) = (&receiver.turned_away()[0], &receiver.takes(1).await[0]);
        assert_eq!(first.target, second.target);
        assert_eq!(first.header("webhook-id"), second.header("webhook-id"));
        assert_eq!(first.body, second.body);
    }
    assert!(webhook.accepted()[0].header("webhook-id").is_some());
}
