//! Access of subscribers. A page sends nothing to subscribers without access, and a token does not
//! reveal it.
//!
//! A token is valid on its own page only, and redirects to the current address of the page.

use axum::body::Body;
use axum::http::Request;
use serde_json::Value;
use testkit::mail::RefusedAt;
use testkit::server::NOTIFICATIONS;
use tokio_util::sync::CancellationToken;
use tower::ServiceExt as _;

use super::super::{At, DOMAIN, made};
use super::*;

const EVE: &str = "eve@evil.example";

impl Subscribing {
    /// Subscribes an address to a public page, after `before` emails were sent.
    async fn subscribes(&self, email: &str, before: usize) {
        assert_eq!(self.asks(&[("email", email)]).await.status, StatusCode::OK);
        self.confirms(before + 1).await;
    }

    /// Returns the reason a subscriber is not notified: null if it is notified, `None` if it does
    /// not exist.
    async fn reason(&self, email: &str) -> Option<Value> {
        let listed = self.site.owner.call(STATUS_PAGES, "ListSubscribers", json!({})).await;
        assert_eq!(listed.status, 200, "{listed}");
        let all = listed.json()["subscribers"].as_array().unwrap().clone();
        let found = all.into_iter().find(|it| it["email"] == email);
        found.map(|it| it["suppressionReason"].clone())
    }

    /// Waits for `count` emails after the first `before` and returns their recipients.
    async fn recipients(&self, before: usize, count: usize) -> Vec<String> {
        let taken = self.mail.takes(before + count).await;
        let mut to: Vec<_> = taken[before..].iter().flat_map(|mail| mail.to.clone()).collect();
        to.sort();
        to
    }
}

// issue 7: "Access"; subscribers without access to a page are not notified
#[tokio::test]
async fn closed_page_notifies_members_only_until_reopened() {
    let page = Subscribing::open().await;
    page.subscribes(EVE, 0).await;
    page.subscribes("ann@acme.com", 1).await;
    let members = json!({ "accessType": "email-domain", "authEmailDomains": ["acme.com"] });
    page.site.update(members).await;
    assert_eq!(page.reason(EVE).await, Some(json!("other_domain")));
    assert_eq!(page.reason("ann@acme.com").await, Some(Value::Null));
    let report = page.reports("investigating", None).await;
    assert_eq!(page.recipients(2, 1).await, ["ann@acme.com"]);
    page.site.update(json!({ "accessType": "public" })).await;
    assert_eq!(page.reason(EVE).await, Some(Value::Null));
    page.reports("identified", Some(&report)).await;
    assert_eq!(page.recipients(3, 2).await, ["ann@acme.com", EVE]);

    page.site.update(json!({ "accessType": "email-domain" })).await;
    let outside = json!({ "pageId": page.site.page["id"], "email": "bob@sub.acme.com" });
    let added =
        page.site.owner.call(STATUS_PAGES, "AddSubscriber", json!({ "subscriber": outside }));
    let added = added.await;
    assert_eq!(added.status, 400, "{added}");
    assert!(added.json()["message"].as_str().unwrap().contains("subscriber.email"), "{added}");
    // A member may subscribe only members.
    page.posts("/status/acme/enter", &[("email", "ann@acme.com")]).await;
    let link = path_in(&page.nth_mail(6).await, "/enter/");
    let cookie = page.posts(&link, &[]).await.headers["set-cookie"].to_str().unwrap().to_owned();
    let ask = async |email: &str| {
        let request = Request::post("/status/acme/subscribe")
            .header("host", "acme")
            .header("cookie", cookie.split(';').next().unwrap())
            .header("content-type", FORM);
        let body = format!("email={}", email.replace('@', "%40"));
        let request = request.body(http_body_util::Full::from(body)).unwrap();
        page.site.anybody().request(request).await
    };
    let refused = ask("bob@evil.example").await;
    assert_eq!(refused.status, StatusCode::BAD_REQUEST);
    assert!(text(&refused).contains("Only email addresses of this page’s members"), "{refused}");
    assert_eq!(ask("bob@acme.com").await.status, StatusCode::OK);
    assert_eq!(page.nth_mail(7).await.to, ["bob@acme.com"]);
}

#[tokio::test]
async fn closing_a_page_cancels_pending_deliveries() {
    let page = Subscribing::open().await;
    page.subscribes(EVE, 0).await;
    page.mail.refuse(RefusedAt::Message, 1, 451, "later").await;
    let (server, recipients) =
        (&page.site.watched.server, page.reports("investigating", None).await);
    page.mail.wait_for_rejected(1).await;
    let (store, now) = (&server.running().app().store, server.running().app().ctx.now());
    // Advance the clock only after the retry is stored.
    until(async || {
        for recipient in store.outbox().waiting().await.unwrap() {
            if store.outbox().due(recipient, now, 1).await.unwrap().next_at.is_some() {
                return Some(());
            }
        }
        None
    })
    .await;
    page.site.update(json!({ "accessType": "password", "password": "open sesame" })).await;
    assert_eq!(page.reason(EVE).await, Some(json!("password")));
    server.advance(Duration::from_hours(1));
    let added = json!({ "pageId": page.site.page["id"], "email": ADA });
    let request = json!({ "subscriber": added, "confirm": false });
    assert_eq!(page.site.owner.call(STATUS_PAGES, "AddSubscriber", request).await.status, 200);
    page.reports("identified", Some(&recipients)).await;
    assert_eq!(page.recipients(1, 1).await, [ADA], "only the new subscriber is notified");
}

// issue 7: tokens
#[tokio::test]
async fn subscriber_token_is_valid_only_for_its_page() {
    let page = Subscribing::open().await;
    let other = json!({ "title": "Other", "slug": "other" });
    let other = made(&page.site.owner, "CreateStatusPage", "statusPage", other).await;
    page.asks(&[("email", ADA)]).await;
    let confirm = path_in(&page.nth_mail(1).await, "/confirm/");
    let there = |path: &str| path.replace("/status/acme/", "/status/other/");
    assert_eq!(page.posts(&there(&confirm), &[]).await.status, StatusCode::NOT_FOUND);
    page.confirms(1).await;
    page.reports("investigating", None).await;
    let message = page.nth_mail(2).await;
    for purpose in ["/manage/", "/unsubscribe/"] {
        let path = there(&path_in(&message, purpose));
        let looked = page.site.anybody().get(&path).await;
        assert_eq!(looked.status, StatusCode::NOT_FOUND, "{purpose}");
        assert!(!text(&looked).contains("Acme"), "{purpose}: {looked}");
        assert_eq!(page.posts(&path, &[("topic", "incidents")]).await.status, 404, "{purpose}");
    }
    let access = json!({ "id": other["id"], "accessType": "password", "password": "x" });
    let request = json!({ "statusPage": access, "updateMask": "accessType,password" });
    page.site.owner.call(STATUS_PAGES, "UpdateStatusPage", request).await;
    let unsubscribe = path_in(&message, "/unsubscribe/");
    assert_eq!(page.posts(&there(&unsubscribe), &[]).await.status, StatusCode::UNAUTHORIZED);
    assert_eq!(page.reason(ADA).await, Some(Value::Null), "nothing came of any of it");
    // Unsubscribe links in emails sent before the slug changed still work.
    page.site.update(json!({ "slug": "renamed" })).await;
    assert_eq!(page.posts(&path_in(&message, "/manage/"), &[]).await.status, 404);
    assert_eq!(page.posts(&unsubscribe, &[]).await.status, StatusCode::OK);
    assert_eq!(page.reason(ADA).await, None);
}

#[tokio::test]
async fn managing_requires_page_access_but_unsubscribing_does_not() {
    let page = Subscribing::open().await;
    page.subscribes(ADA, 0).await;
    page.reports("investigating", None).await;
    let message = page.nth_mail(2).await;
    page.site.update(json!({ "accessType": "password", "password": "open sesame" })).await;
    let manage = path_in(&message, "/manage/");
    let looked = page.site.anybody().get(&manage).await;
    assert_eq!(looked.status, StatusCode::UNAUTHORIZED);
    assert!(!text(&looked).contains("API"), "{looked}");
    assert_eq!(page.posts(&manage, &[("topic", "incidents")]).await.status, 401);
    let cookie = page.site.unlock("open+sesame").await.1.unwrap();
    let inside = |request: http::request::Builder| {
        request.header("host", "acme").header("cookie", &cookie).header("content-type", FORM)
    };
    let request = inside(Request::get(&manage)).body(http_body_util::Full::default()).unwrap();
    let looked = page.site.anybody().request(request).await;
    assert!(text(&looked).contains("API &#38; more"), "{looked}");
    assert_eq!(page.reason(ADA).await, Some(json!("password")));
    let request = inside(Request::post(&manage)).body("topic=reports".into()).unwrap();
    assert_eq!(page.site.anybody().request(request).await.status, StatusCode::OK);
    assert_eq!(
        page.reason(ADA).await,
        Some(Value::Null),
        "a visitor with the password is notified again"
    );
    let unsubscribe = path_in(&message, "/unsubscribe/");
    let ended = page.posts(&unsubscribe, &[("List-Unsubscribe", "One-Click")]).await;
    assert_eq!(ended.status, StatusCode::OK, "{ended}");
}

// issue 7: "a custom domain's root"
#[tokio::test]
async fn emails_link_to_the_custom_domain() {
    let page = Subscribing::open().await;
    page.subscribes(ADA, 0).await;
    page.site.has_a_domain().await;
    page.reports("investigating", None).await;
    let message = page.nth_mail(2).await;
    let home = format!("https://{DOMAIN}");
    assert!(!message.text.contains("/status/acme"), "{}", message.text);
    let link = message.text.split_whitespace().find(|word| word.contains("/manage/")).unwrap();
    let manage = link.strip_prefix(&home).unwrap();
    let shown = page.site.ask(At::Domain, manage, &[]).await;
    let shown = super::super::body(shown).await;
    assert!(shown.contains(&format!("action=\"{manage}\"")), "{shown}");
    let header = message.header("list-unsubscribe").unwrap();
    let url = header.strip_prefix('<').unwrap().strip_suffix('>').unwrap();
    let path = url.strip_prefix(&home).unwrap();
    let app = page.site.watched.server.running().app();
    let router = app.page_router(DOMAIN, CancellationToken::new());
    let request = Request::post(path).body(Body::from("List-Unsubscribe=One-Click")).unwrap();
    assert_eq!(router.oneshot(request).await.unwrap().status(), StatusCode::OK);
    assert_eq!(page.reason(ADA).await, None);
}

// issue 7: "through the same outbox as alerts"
#[tokio::test]
async fn dead_subscriber_email_is_listed_and_can_replay() {
    let page = Subscribing::open().await;
    page.subscribes(ADA, 0).await;
    page.mail.refuse(RefusedAt::Receiver, 1, 550, "no such mailbox").await;
    page.reports("investigating", None).await;
    let list = async |request: Value| {
        let listed = page.site.owner.call(NOTIFICATIONS, "ListDeliveries", request).await;
        assert_eq!(listed.status, 200, "{listed}");
        listed.json()["deliveries"].as_array().unwrap().clone()
    };
    let of_page = json!({ "pageId": page.site.page["id"], "state": "dead" });
    let dead = until(async || list(of_page.clone()).await.pop()).await;
    assert_eq!(dead["event"], "page.report.opened");
    assert!(
        dead["attempts"][0]["response"].as_str().unwrap().contains("no such mailbox"),
        "{dead}"
    );
    let to = list(json!({ "subscriberId": dead["subscriberId"], "state": "dead" })).await;
    assert_eq!(to, std::slice::from_ref(&dead));
    assert_eq!(list(json!({})).await, [] as [Value; 0], "without a name it is those to channels");
    let both = json!({ "pageId": page.site.page["id"], "monitorId": "mon_0000000000001" });
    let both = page.site.owner.call(NOTIFICATIONS, "ListDeliveries", both).await;
    assert_eq!(both.status, 400, "{both}");
    let id = json!({ "id": dead["id"] });
    let read = page.site.owner.call(NOTIFICATIONS, "GetDelivery", id.clone()).await;
    assert_eq!(read.json()["delivery"], dead);
    let replayed = page.site.owner.call(NOTIFICATIONS, "ReplayDelivery", id.clone()).await;
    assert_eq!(replayed.status, 200, "{replayed}");
    assert_eq!(page.recipients(1, 1).await, [ADA]);
    until(async || {
        let read = page.site.owner.call(NOTIFICATIONS, "GetDelivery", id.clone()).await;
        (read.json()["delivery"]["state"] == "accepted").then_some(())
    })
    .await;
    let again = page.site.owner.call(NOTIFICATIONS, "ReplayDelivery", id).await;
    assert_eq!(again.status, 400, "{again}");
}
