//! The end of an outage in regions that take turns: one message, and a truthful end of the incident.

use domain::judge::CloseReason;
use rules::{ChannelId, ProviderType};
use serde_json::{Value, json};
use testkit::receivers::Receiver;
use testkit::server::{NOTIFICATIONS, TestServer};
use testkit::target::{HttpTarget, ScriptedResponse};

use super::fixture::AlertFixture;
use crate::pipeline::PERIOD;

fn title(body: &str) -> String {
    let body: Value = serde_json::from_str(body).unwrap();
    body["text"].as_str().unwrap().to_owned()
}

impl AlertFixture {
    /// Advances the clock by a third of a period, in which one of three regions is checked.
    async fn next_region(&self) {
        let before = self.watched.stored.at_least(3, self.monitor).await.len();
        self.advance(PERIOD / 3);
        self.watched.stored.at_least(before + 1, self.monitor).await;
    }

    /// Limits a channel to these events.
    async fn subscribe(&self, channel: ChannelId, events: &[&str]) {
        let change = json!({ "id": channel.to_string(), "events": events });
        let request = json!({ "notification": change, "updateMask": "events" });
        let reply = self.caller.call(NOTIFICATIONS, "UpdateNotification", request).await;
        assert_eq!(reply.status, 200, "{reply}");
    }
}

// issue 16, point 26: "Send one message on recovery with the total duration"
#[tokio::test]
async fn staggered_regions_recover_with_one_message() {
    let target = HttpTarget::start().await;
    target.on("/", ScriptedResponse::ok("fine"));
    let regions = json!({ "regions": ["fly-ams", "fly-iad", "fly-sin"] });
    let server = TestServer::start().await;
    let fixture = Box::pin(AlertFixture::with_target(server, target, regions)).await;
    let (all, two) =
        (Receiver::start(ProviderType::Slack).await, Receiver::start(ProviderType::Slack).await);
    fixture.notify(&all).await;
    fixture.subscribe(fixture.notify(&two).await, &["error", "recovered"]).await;
    fixture.target.on("/", ScriptedResponse::status(503));
    // Each region fails twice, the second one opens the incident.
    for _ in 0..6 {
        fixture.next_region().await;
    }
    fixture.target.on("/", ScriptedResponse::ok("fine"));
    for _ in 0..3 {
        fixture.next_region().await;
    }
    let stored = &fixture.watched.stored;
    let incident = stored.incident(fixture.monitor, |incident| incident.closed.is_some()).await;
    let closed = incident.closed.unwrap();
    assert_eq!(closed.reason, CloseReason::Recovered);
    assert_eq!(closed.at, incident.opened_at + 7 * (PERIOD / 3), "the last region recovered");
    // Long enough for anything else that waits.
    for _ in 0..9 {
        fixture.next_region().await;
    }
    for receiver in [all, two] {
        let titles: Vec<String> =
            receiver.takes(2).await.iter().map(|it| title(&it.body)).collect();
        let expected = [
            "🔴 Down: API &amp; &lt;shop&gt;",
            "🟢 Recovered after 1 min 10 s: API &amp; &lt;shop&gt;",
        ];
        assert_eq!(titles, expected);
    }
}
