//! Links in messages: to a public status page that shows the monitor. Without such a page, a
//! message has no link.

use rules::Scope;
use serde_json::{Value, json};
use testkit::receivers::Receiver;
use testkit::server::{STATUS_PAGES, TestServer};

use super::fixture::AlertFixture;

const ORIGIN: &str = "https://aloft.example.com";

async fn a_fixture() -> (AlertFixture, Receiver) {
    let server = TestServer::start_with(|settings| {
        settings.public_url = Some(ORIGIN.to_owned());
    });
    let fixture = AlertFixture::on(server.await).await;
    let webhook = fixture.webhook().await;
    fixture.notify(&webhook).await;
    (fixture, webhook)
}

/// Waits for `count` messages and returns the link of the last one.
async fn leads(webhook: &Receiver, count: usize) -> Option<String> {
    let message = webhook.takes(count).await.remove(count - 1);
    let message: Value = serde_json::from_str(&message.body).unwrap();
    message["data"]["link"].as_str().map(str::to_owned)
}

#[tokio::test]
async fn message_links_to_incident_on_a_public_page() {
    let (fixture, webhook) = Box::pin(a_fixture()).await;
    let page = fixture.create_page(json!({ "title": "Acme", "slug": "acme" })).await;
    fixture.breaks().await;
    let link = leads(&webhook, 1).await.expect("a page shows the monitor");
    let path = link.strip_prefix(ORIGIN).unwrap();
    assert!(path.starts_with("/status/acme/incident/inc_"), "{path}");
    let nobody = fixture.watched.server.with_key("nobody");
    let reply = nobody.get(path).await;
    assert_eq!(reply.status, 200, "{reply}");
    fixture.recovers().await;
    assert_eq!(leads(&webhook, 2).await.as_deref(), Some(&*link), "both tell of one incident");
    // Messages do not link to an unpublished page.
    let owner = fixture.watched.server.caller(Scope::Write);
    let hidden = owner.call(STATUS_PAGES, "UnpublishStatusPage", json!({ "id": page["id"] })).await;
    assert_eq!(hidden.status, 200, "{hidden}");
    fixture.breaks().await;
    assert_eq!(leads(&webhook, 3).await, None);
}

#[tokio::test]
async fn message_has_no_link_to_protected_page() {
    let (fixture, webhook) = Box::pin(a_fixture()).await;
    let locked = json!({
        "title": "Inside", "slug": "inside", "accessType": "password", "password": "open sesame",
    });
    fixture.create_page(locked).await;
    fixture.breaks().await;
    assert_eq!(leads(&webhook, 1).await, None);
}
