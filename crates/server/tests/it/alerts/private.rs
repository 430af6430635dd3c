//! Channels cannot send to private addresses, even if a name resolves to one at send time.

use rules::notification::{IncomingWebhook, Provider};
use rules::{ProviderType, Secret};
use testkit::receivers::Receiver;
use testkit::server::TestServer;
use testkit::target::{DnsTarget, HttpTarget};

use super::fixture::AlertFixture;

// design: §6 "refuses private, loopback … addresses after resolution"
#[tokio::test]
async fn name_resolving_to_private_address_blocks_delivery() {
    let (names, receiver) = (DnsTarget::start().await, Receiver::start(ProviderType::Slack).await);
    names.address_of("inside.test", "127.0.0.1");
    let server = TestServer::start_with(|settings| {
        settings.allow_private_networks = false;
        settings.nameservers = vec![names.address()];
    })
    .await;
    // The target of the monitor is blocked too, so its first check fails.
    let target = HttpTarget::start().await;
    let url = format!("http://inside.test:{}/", target.address().port());
    let fixture = AlertFixture::with_target(
        server,
        target,
        serde_json::json!({ "url": url, "active": false }),
    )
    .await;
    let Provider::Slack(hook) = receiver.provider() else { panic!("it is one of Slack") };
    let inside = hook.webhook_url.expose().replace("127.0.0.1", "inside.test");
    let provider = Provider::Slack(IncomingWebhook { webhook_url: Secret::new(inside) });
    let channel = fixture.channel(&provider, &[fixture.monitor]).await;
    fixture.edit("active", serde_json::json!(true)).await;
    let deliveries =
        fixture.deliveries(channel, |all| all.iter().any(|it| !it.attempts.is_empty())).await;
    let attempt = &deliveries[0].attempts[0];
    assert_eq!(attempt.status, None);
    insta::assert_snapshot!(attempt.response, @r#"`inside.test` is blocked: address 127.0.0.1 is loopback; `--allow-private-networks` opens private and loopback networks"#);
    assert_eq!((receiver.accepted(), receiver.refused()), (Vec::new(), Vec::new()));
}
