//! Channels are created, tested, edited and deleted. Their deliveries are listed and sent again.

use std::collections::HashSet;

use serde_json::json;
use testkit::browser::{Browser, View};
use testkit::person::Person;
use testkit::server::TestServer;
use testkit::target::{HttpTarget, ScriptedResponse};

use super::settings::between;

const NOTHING: [String; 0] = [];

/// Returns a receiver of webhooks that accepts messages at `/hook` and rejects them at `/gone`.
async fn receiver() -> HttpTarget {
    let receiver = HttpTarget::start().await;
    receiver.on("/hook", ScriptedResponse::status(204));
    receiver.on("/gone", ScriptedResponse::status(410).body("no such hook"));
    receiver
}

/// Creates a webhook channel and returns its path.
async fn a_channel(ada: &Person, endpoint: &str) -> String {
    let fields = [("webhook.endpoint", endpoint), ("name", "Ops"), ("action", "create")];
    let created = ada.post("/w/acme/channels/new?kind=webhook", &fields).await;
    assert_eq!(created.status, 303, "{created}");
    created.location().unwrap()
}

async fn a_monitor(server: &TestServer, name: &str) -> String {
    let monitor = json!({ "name": name, "url": "https://example.com", "periodicity": "1m" });
    let caller = server.caller(rules::Scope::Write);
    let created = caller.rpc("CreateHttpMonitor", json!({ "monitor": monitor })).await;
    created.json()["monitor"]["id"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn form_says_that_later_monitors_are_added() {
    let server = TestServer::start().await;
    let ada = Person::set_up(&server).await;
    a_monitor(&server, "API").await;
    let form = ada.get("/w/acme/channels/new?kind=webhook").await.text();
    assert!(form.contains("All 1 current monitors"), "{form}");
    assert!(form.contains("cannot include those that you create later"), "{form}");
}

// issue 18, point 5: "instructions per vendor for finding the webhook or token"
#[tokio::test]
async fn each_kind_has_instructions_beside_its_form() {
    let server = TestServer::start().await;
    let ada = Person::set_up(&server).await;
    let kinds = ada.get("/w/acme/channels/new").await.text();
    let mut guides = HashSet::new();
    for kind in rules::ProviderType::ALL {
        let path = format!("/w/acme/channels/new?kind={kind}");
        assert!(kinds.contains(&format!("href=\"{path}\"")), "{kind}: {kinds}");
        let form = ada.get(&path).await.text();
        let guide = between(&form, "<h2 id=\"guide\">How to set up ", "</aside>");
        assert!(guide.matches("<li>").count() > 1, "{kind}: {guide}");
        let link = between(guide, "<a href=\"", "\"");
        if link.starts_with('/') {
            assert_eq!(ada.get(link).await.status, 200, "{kind}: {link}");
        } else {
            assert!(link.starts_with("https://"), "{kind}: {link}");
        }
        assert!(guides.insert(guide.to_owned()), "{kind} has the guide of another kind");
        assert!(form.contains("name=\"action\" value=\"test\""), "{kind}: {form}");
    }
    assert_eq!(guides.len(), 13);
}

#[tokio::test]
async fn list_shows_the_last_delivery_of_each_channel() {
    let (server, receiver) = (TestServer::start().await, receiver().await);
    let ada = Person::set_up(&server).await;
    let channel = a_channel(&ada, &receiver.url("/gone")).await;
    a_channel(&ada, &receiver.url("/hook")).await;
    assert_eq!(ada.get("/w/acme/channels").await.text().matches("None yet").count(), 2);
    ada.post(&format!("{channel}/test"), &[]).await;
    let list = ada.get("/w/acme/channels").await.text();
    assert_eq!((list.matches("None yet").count(), list.matches("</svg>Failed").count()), (1, 1));
    assert!(list.contains(&format!("{channel}/deliveries/")), "{list}");
}

// issue 18, point 5: "Channels (test, delivery log, replay, …)"
#[tokio::test]
async fn dead_letter_is_sent_again() {
    let (server, receiver) = (TestServer::start().await, receiver().await);
    let ada = Person::set_up(&server).await;
    let channel = a_channel(&ada, &receiver.url("/gone")).await;
    let tested = ada.post(&format!("{channel}/test"), &[]).await.location().unwrap();
    let page = ada.get(&tested).await.text();
    assert!(page.contains("The test alert failed") && page.contains("no such hook"), "{page}");
    let delivery = page.split("/deliveries/").nth(1).unwrap();
    let delivery = format!("{channel}/deliveries/{}", delivery.split('"').next().unwrap());
    let shown = ada.get(&delivery).await;
    assert!(shown.text().contains("answered 410 “no such hook”"), "{shown}");
    assert!(ada.get("/w/acme/channels").await.text().contains("Failed"));

    receiver.on("/gone", ScriptedResponse::status(200));
    let replayed = ada.post(&format!("{delivery}/replay"), &[]).await;
    assert_eq!(replayed.location().as_deref(), Some(delivery.as_str()), "{replayed}");
    let accepted = async {
        while !ada.get(&delivery).await.text().contains("Accepted") {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(std::time::Duration::from_mins(2), accepted).await.unwrap();
}

// issue 18, bad input: "Show each field's message beside it and keep the input"
#[tokio::test]
async fn unsaved_channel_is_tested_with_its_input_kept() {
    let (server, receiver) = (TestServer::start().await, receiver().await);
    let ada = Person::set_up(&server).await;
    let (form, url) = ("/w/acme/channels/new?kind=webhook", receiver.url("/gone"));
    let fields = [
        ("webhook.endpoint", url.as_str()),
        ("webhook.headers[0].key", "x-team"),
        ("webhook.headers[0].value", "core"),
        ("action", "test"),
    ];
    let reply = ada.post(form, &fields).await;
    let text = reply.text();
    assert!(reply.status == 200 && text.contains("no such hook"), "{reply}");
    assert!(text.contains(&format!("value=\"{url}\"")) && text.contains("value=\"x-team\""));
    assert_eq!(receiver.received()[0].header("x-team"), Some("core"));

    let fields = [
        ("webhook.endpoint", "ftp://example.com"),
        ("remind_every", "1s"),
        ("quiet_hours.from", "25:00"),
        ("action", "create"),
    ];
    let reply = ada.post(form, &fields).await;
    let text = reply.text();
    assert_eq!(reply.status, 422);
    for field in ["webhook.endpoint", "remind_every", "quiet_hours.from", "quiet_hours.time_zone"] {
        assert!(text.contains(&format!("id=\"{field}-error\"")), "{field}: {text}");
    }
    assert!(text.contains("value=\"ftp://example.com\"") && text.contains("value=\"25:00\""));
    assert!(ada.get("/w/acme/channels").await.text().contains("Nobody is alerted yet"));
}

#[tokio::test]
async fn channel_is_edited_and_deleted() {
    let (server, receiver) = (TestServer::start().await, receiver().await);
    let ada = Person::set_up(&server).await;
    let channel = a_channel(&ada, &receiver.url("/hook")).await;
    let form = ada.get(&format!("{channel}/edit")).await.text();
    let revision = form.split("name=\"revision\" value=\"").nth(1).unwrap();
    let revision = revision.split('"').next().unwrap();
    let url = receiver.url("/hook");
    let edit = [
        ("revision", revision),
        ("webhook.endpoint", url.as_str()),
        ("name", "Night"),
        ("events", "error"),
        ("remind_every", "30m"),
    ];
    let saved = ada.post(&format!("{channel}/edit"), &edit).await;
    assert_eq!(saved.location().as_deref(), Some(channel.as_str()), "{saved}");
    let page = ada.get(&channel).await.text();
    assert!(page.contains("Only outages · reminder every 30m"), "{page}");
    let stale = ada.post(&format!("{channel}/edit"), &edit).await;
    assert!(stale.status == 422 && stale.text().contains("role=\"alert\""), "{stale}");

    assert!(ada.get(&format!("{channel}/delete")).await.text().contains("Delete “Night”?"));
    ada.post(&format!("{channel}/delete"), &[]).await;
    assert_eq!(ada.get(&channel).await.status, 404);
}

#[tokio::test]
async fn monitors_of_a_channel_are_searched_and_chosen() {
    let (server, receiver) = (TestServer::start().await, receiver().await);
    let ada = Person::set_up(&server).await;
    let shop = a_monitor(&server, "Shop").await;
    let api = a_monitor(&server, "API").await;
    let channel = a_channel(&ada, &receiver.url("/hook")).await;
    assert!(ada.get(&channel).await.text().contains("2 monitors"));
    let found = ada.get(&format!("{channel}/monitors?q=sho")).await.text();
    assert!(found.contains(&shop) && !found.contains(&api), "{found}");
    let unchecked = [("shown", shop.as_str())];
    ada.post(&format!("{channel}/monitors?q=sho"), &unchecked).await;
    assert!(ada.get(&channel).await.text().contains("1 monitor "));
    let others = ada.get(&format!("{channel}/monitors?show=other")).await.text();
    assert!(others.contains(&shop) && !others.contains(&api), "{others}");
    let all = [("action", "add_matching")];
    ada.post(&format!("{channel}/monitors?show=other"), &all).await;
    assert!(ada.get(&channel).await.text().contains("2 monitors"));
}

#[tokio::test]
async fn new_signing_secret_is_shown_once() {
    let server = TestServer::start().await;
    let ada = Person::set_up(&server).await;
    let wrong = ada.post("/w/acme/channels/signing", &[("overlap_hours", "169")]).await;
    assert!(wrong.status == 422 && wrong.text().contains("overlap_hours-error"), "{wrong}");
    let rotated = ada.post("/w/acme/channels/signing", &[("overlap_hours", "24")]).await;
    assert!(rotated.status == 200 && rotated.text().contains("whsec_"), "{rotated}");
    let again = ada.get("/w/acme/channels/signing").await.text();
    assert!(again.contains("sgn_") && !again.contains("whsec_"), "{again}");
}

#[tokio::test]
async fn channel_of_another_workspace_does_not_exist() {
    let server = TestServer::start().await;
    let ada = Person::set_up(&server).await;
    let other = json!({ "providerType": "email", "email": { "email": "eve@example.com" } });
    let service = "notification.v1.NotificationService";
    let request = json!({ "notification": other });
    let created = server.stranger().call(service, "CreateNotification", request).await;
    let id = created.json()["notification"]["id"].as_str().unwrap().to_owned();
    for path in ["", "/edit", "/monitors", "/delete"] {
        assert_eq!(ada.get(&format!("/w/acme/channels/{id}{path}")).await.status, 404, "{path}");
    }
}

#[tokio::test]
async fn monitors_are_found_as_people_type() {
    let (server, receiver) = (TestServer::start().await, receiver().await);
    let ada = Person::set_up(&server).await;
    for name in ["Shop", "API"] {
        a_monitor(&server, name).await;
    }
    let channel = a_channel(&ada, &receiver.url("/hook")).await;
    let browser = Browser::start().await;
    let origin = format!("http://{}", server.address());
    let cookie = format!("aloft_session={}", ada.cookie("aloft_session").unwrap());
    let tab = browser.open(&origin, View::DESKTOP, Some(&cookie)).await;
    tab.visit(&format!("{channel}/monitors")).await;
    tab.fill("#q", "sho").await;
    tab.until("document.querySelectorAll('.choices li').length == 1").await;
    tab.until("location.search.includes('q=sho')").await;
    // A click stores the choice without another button.
    tab.click(".choices input[type=checkbox]").await;
    tab.until("document.querySelector('.tabs').innerText.includes('Chosen (1)')").await;
    assert!(ada.get(&channel).await.text().contains("1 monitor "));
    assert_eq!(tab.errors().await, NOTHING);
}
