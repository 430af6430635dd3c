//! Subscriptions by email, end to end through a mail server in a process of its own.
//!
//! The tests also cover what responses hide and one-click unsubscription. Module `access` covers
//! the access of subscribers.

mod access;

use std::time::Duration;

use http::{Method, StatusCode};
use serde_json::json;
use testkit::mail::{AcceptedMail, MailServer};
use testkit::server::{MAINTENANCES, Reply, STATUS_PAGES, STATUS_REPORTS, TestServer};
use testkit::target::{HttpTarget, ScriptedResponse};

use super::members::{PUBLIC_URL, sends_mail};
use super::{Site, well};
use crate::pipeline::until;

const FORM: &str = "application/x-www-form-urlencoded";
const ADA: &str = "ada@example.com";

/// Page that accepts subscriptions, and the mail server that receives its emails.
struct Subscribing {
    site: Site,
    mail: MailServer,
}

impl Subscribing {
    async fn open() -> Self {
        let mail = MailServer::start().await;
        let server = TestServer::start_with(|settings| sends_mail(settings, &mail)).await;
        Self { site: Site::open_on(server, &well().await).await, mail }
    }

    async fn posts(&self, path: &str, fields: &[(&str, &str)]) -> Reply {
        self.posts_as(path, fields, FORM).await
    }

    async fn posts_as(&self, path: &str, fields: &[(&str, &str)], form: &str) -> Reply {
        let body =
            url::form_urlencoded::Serializer::new(String::new()).extend_pairs(fields).finish();
        self.site.anybody().send(Method::POST, path, form, body).await
    }

    async fn asks(&self, fields: &[(&str, &str)]) -> Reply {
        self.posts("/status/acme/subscribe", fields).await
    }

    /// Waits for this many emails and returns the newest.
    async fn nth_mail(&self, count: usize) -> AcceptedMail {
        self.mail.takes(count).await.remove(count - 1)
    }

    /// Confirms the subscription in the newest of this many emails.
    async fn confirms(&self, count: usize) {
        let path = path_in(&self.nth_mail(count).await, "/confirm/");
        assert_eq!(self.posts(&path, &[]).await.status, StatusCode::OK);
    }

    /// Opens a report or adds an update to it, and notifies subscribers. Returns the report.
    async fn reports(&self, status: &str, report: Option<&str>) -> String {
        let update = json!({ "status": status, "text": "We look." });
        let (method, request) = match report {
            None => {
                let report = json!({ "pageId": self.site.page["id"], "title": "Log-in is slow" });
                let request = json!({ "statusReport": report, "update": update, "notify": true });
                ("CreateStatusReport", request)
            }
            Some(id) => {
                ("AddStatusReportUpdate", json!({ "id": id, "update": update, "notify": true }))
            }
        };
        let reply = self.site.owner.call(STATUS_REPORTS, method, request).await;
        assert_eq!(reply.status, 200, "{reply}");
        reply.json()["statusReport"]["id"].as_str().unwrap().to_owned()
    }
}

/// Returns the path of the first link in an email that contains `to`.
fn path_in(mail: &AcceptedMail, to: &str) -> String {
    let links = mail.text.split_whitespace().filter_map(|word| word.strip_prefix(PUBLIC_URL));
    let path = links.into_iter().find(|path| path.contains(to));
    path.unwrap_or_else(|| panic!("no link to {to} in {}", mail.text)).to_owned()
}

fn text(reply: &Reply) -> String {
    String::from_utf8(reply.body.to_vec()).unwrap()
}

// issue 7: "email with double opt-in and one-click unsubscribe headers (RFC 8058)"
#[tokio::test]
async fn subscriber_is_notified_and_unsubscribes_with_one_click() {
    let page = Subscribing::open().await;
    let form = page.site.text("/subscribe").await;
    assert!(
        form.contains("action=\"/status/acme/subscribe\"") && form.contains("API &#38; more"),
        "{form}"
    );
    assert_eq!(page.asks(&[("email", ADA)]).await.status, StatusCode::OK);
    let asked = page.nth_mail(1).await;
    assert_eq!(
        (asked.to.as_slice(), asked.header("list-unsubscribe")),
        (&[ADA.to_owned()][..], None)
    );
    let confirm = path_in(&asked, "/confirm/");
    assert!(!confirm.contains("ada"), "{confirm}");

    // Mail programs follow links: opening one confirms nothing.
    for _ in 0..2 {
        let question = page.site.anybody().get(&confirm).await;
        assert!(text(&question).contains(&format!("action=\"{confirm}\"")), "{question}");
    }
    page.confirms(1).await;

    let report = page.reports("investigating", None).await;
    let notice = page.nth_mail(2).await;
    assert_eq!(notice.subject, "Acme <Ops>: Investigating: Log-in is slow");
    assert_eq!(notice.header("auto-submitted"), Some("auto-generated"));
    assert_eq!(notice.header("list-unsubscribe-post"), Some("List-Unsubscribe=One-Click"));
    let header = notice.header("list-unsubscribe").unwrap();
    let url = header.strip_prefix('<').unwrap().strip_suffix('>').unwrap();
    let unsubscribe = url.strip_prefix(PUBLIC_URL).unwrap().to_owned();
    page.reports("identified", Some(&report)).await;
    let second = page.nth_mail(3).await;
    assert_eq!(notice.header("references"), second.header("references"));
    assert_ne!(notice.header("message-id"), second.header("message-id"));

    let question = page.site.anybody().get(&unsubscribe).await;
    assert_eq!(question.status, StatusCode::OK, "a GET request does not unsubscribe");
    let one_click = page.posts(&unsubscribe, &[("List-Unsubscribe", "One-Click")]).await;
    assert_eq!(one_click.status, StatusCode::OK, "{one_click}");
    page.reports("resolved", Some(&report)).await;
    // The next email goes to a new subscriber, so no email went out before it.
    page.asks(&[("email", "eve@example.com")]).await;
    let next = page.nth_mail(4).await;
    assert_eq!(next.to, ["eve@example.com"]);
    let again = page.posts(&unsubscribe, &[]).await;
    assert_eq!(again.status, StatusCode::OK, "what has ended has ended");
    assert_eq!(page.posts(&confirm, &[]).await.status, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn maintenance_email_uses_the_subscribers_language() {
    let page = Subscribing::open().await;
    let components: serde_json::Value =
        serde_json::from_str(&page.site.text("/status.json").await).unwrap();
    let component = components["sections"][0]["component"]["id"].as_str().unwrap().to_owned();
    let headers = [("accept-language", "de")];
    let form = page.site.visit("/subscribe", &headers).await;
    assert!(text(&form).contains("Updates per E-Mail erhalten"), "{form}");
    let request = http::Request::post("/status/acme/subscribe")
        .header("host", "acme")
        .header("accept-language", "de")
        .header("content-type", FORM);
    let body = format!("email=ada%40example.com&component={component}&topic=maintenance");
    let request = request.body(http_body_util::Full::from(body)).unwrap();
    assert_eq!(page.site.anybody().request(request).await.status, StatusCode::OK);
    page.confirms(1).await;

    let window = |component: &str| {
        json!({ "maintenance": {
            "title": "New disks", "startsAt": "2100-01-01T00:00:00Z", "duration": "1h",
            "componentIds": [component],
        } })
    };
    let other = components["sections"][1]["group"]["components"][0]["id"].as_str().unwrap();
    for component in [other, component.as_str()] {
        let planned =
            page.site.owner.call(MAINTENANCES, "CreateMaintenance", window(component)).await;
        assert_eq!(planned.status, 200, "{planned}");
    }
    page.reports("investigating", None).await;
    let notice = page.nth_mail(2).await;
    assert_eq!(notice.subject, "Acme <Ops>: Geplante Wartung: New disks");
    assert!(notice.text.contains("Komponenten: API & more"), "{}", notice.text);
    // The next email goes to a new subscriber, so a subscriber of one component's maintenance
    // received nothing else.
    page.asks(&[("email", "eve@example.com")]).await;
    assert_eq!(page.nth_mail(3).await.to, ["eve@example.com"]);
}

#[tokio::test]
async fn signup_reveals_nothing_and_is_rate_limited() {
    let page = Subscribing::open().await;
    let mut answers = vec![text(&page.asks(&[("email", ADA)]).await)];
    page.confirms(1).await;
    for _ in 0..4 {
        // Requests at the same instant cause one email.
        page.site.watched.server.advance(Duration::from_secs(1));
        answers.push(text(&page.asks(&[("email", ADA)]).await));
    }
    answers.push(text(&page.asks(&[("email", "eve@example.com")]).await));
    answers.dedup();
    assert_eq!(answers.len(), 1, "the answer tells nothing: {answers:?}");
    let taken = page.mail.takes(4).await;
    let to_ada: Vec<_> = taken.iter().filter(|mail| mail.to == [ADA]).collect();
    assert_eq!(to_ada.len(), 3, "one that asks, and two that say that it is known");
    assert!(
        to_ada[1].subject.starts_with("Your subscription to") || to_ada[1].text.contains("already")
    );

    let mut last = StatusCode::OK;
    for number in 0..20 {
        last = page.asks(&[("email", &format!("{number}@example.com"))]).await.status;
    }
    assert_eq!(last, StatusCode::TOO_MANY_REQUESTS, "one address asks so often an hour");
    let wrong = Subscribing::open().await.asks(&[("email", "nobody")]).await;
    assert_eq!(wrong.status, StatusCode::BAD_REQUEST);
}

#[tokio::test]
async fn expired_link_is_replaced_by_signing_up_again() {
    let page = Subscribing::open().await;
    page.asks(&[("email", ADA)]).await;
    let late = path_in(&page.nth_mail(1).await, "/confirm/");
    page.site.watched.server.advance(Duration::from_hours(24));
    assert_eq!(page.posts(&late, &[]).await.status, StatusCode::NOT_FOUND);

    page.asks(&[("email", "eve@example.com")]).await;
    page.confirms(2).await;
    page.reports("investigating", None).await;
    let manage = path_in(&page.nth_mail(3).await, "/manage/");
    let shown = text(&page.site.anybody().get(&manage).await);
    assert_eq!(shown.matches(" checked").count(), 2, "{shown}");
    let saved = page.posts(&manage, &[("topic", "incidents")]).await;
    assert_eq!(saved.status, StatusCode::OK, "{saved}");
    let shown = text(&page.site.anybody().get(&manage).await);
    assert_eq!(shown.matches(" checked").count(), 1, "{shown}");
    assert_eq!(page.posts(&manage.replace("/manage/", "/unsubscribe/"), &[]).await.status, 404);
}

// issue 7: "One gate before HTML, JSON, feeds …"; a token identifies its subscriber
#[tokio::test]
async fn signup_form_requires_access_and_valid_token() {
    let page = Subscribing::open().await;
    page.asks(&[("email", ADA)]).await;
    page.confirms(1).await;
    page.reports("investigating", None).await;
    let unsubscribe = path_in(&page.nth_mail(2).await, "/unsubscribe/");
    let forged = unsubscribe.replace("/unsubscribe/", "/unsubscribe/A");
    let closed = [
        (json!({ "accessType": "password", "password": "open sesame" }), StatusCode::UNAUTHORIZED),
        (
            json!({ "accessType": "email-domain", "authEmailDomains": ["acme.com"] }),
            StatusCode::FORBIDDEN,
        ),
    ];
    for (access, refused) in closed {
        page.site.update(access).await;
        for path in ["/confirm/x", "/manage/x", "/unsubscribe/x", "/subscribe"] {
            let path = format!("/status/acme{path}");
            let looked = page.site.anybody().get(&path).await;
            assert_eq!(looked.status, refused, "{path}");
            let posted = page.posts(&path, &[("email", "eve@example.com")]).await;
            assert_eq!(posted.status, refused, "{path}");
            assert!(!text(&posted).contains("API"), "{path}");
        }
        assert_eq!(page.posts(&forged, &[]).await.status, refused);
        assert_eq!(page.site.anybody().get(&unsubscribe).await.status, StatusCode::OK);
    }
    page.site.owns("UnpublishStatusPage").await;
    assert_eq!(page.posts("/status/acme/subscribe", &[]).await.status, StatusCode::NOT_FOUND);
    let multipart = "multipart/form-data; boundary=x";
    let ended = page.posts_as(&unsubscribe, &[("List-Unsubscribe", "One-Click")], multipart).await;
    assert_eq!(ended.status, StatusCode::OK, "{ended}");
}

// issue 7: "webhook, per component; through the same outbox as alerts"
#[tokio::test]
async fn signed_webhook_is_sent_until_removed() {
    let hook = HttpTarget::start().await;
    hook.on("/hook", ScriptedResponse::status(204));
    let site = Site::open(&well().await).await;
    let subscriber = json!({ "pageId": site.page["id"], "webhookUrl": hook.url("/hook") });
    let request = json!({ "subscriber": subscriber });
    let added = site.owner.call(STATUS_PAGES, "AddSubscriber", request).await;
    assert_eq!(added.status, 200, "{added}");
    let report = json!({ "pageId": site.page["id"], "title": "Log-in is slow" });
    let update = json!({ "status": "investigating", "text": "We look." });
    let request = json!({ "statusReport": report, "update": update, "notify": true });
    let opened = site.owner.call(STATUS_REPORTS, "CreateStatusReport", request).await;
    assert_eq!(opened.status, 200, "{opened}");
    let notice = until(async || hook.received().into_iter().next()).await;
    assert!(notice.header("webhook-id").unwrap().contains("upd_"), "{notice:?}");
    assert!(notice.header("webhook-signature").unwrap().starts_with("v1,"));
    let body: serde_json::Value = serde_json::from_str(&notice.body).unwrap();
    assert_eq!((&body["version"], &body["type"]), (&json!(1), &json!("page.report.opened")));
    assert_eq!(body["data"]["page"]["title"], "Acme <Ops>");
    assert_eq!(body["data"]["events"][0]["report"]["text"], "We look.");
    let end = json!({ "id": added.json()["subscriber"]["id"] });
    assert_eq!(site.owner.call(STATUS_PAGES, "RemoveSubscriber", end).await.status, 200);
}

#[tokio::test]
async fn without_a_mail_server_nothing_is_offered() {
    let site = Site::open(&well().await).await;
    let shown = site.text("/subscribe").await;
    assert!(!shown.contains("<form") && shown.contains("/feed.atom"), "{shown}");
    let posted = site
        .anybody()
        .send(Method::POST, "/status/acme/subscribe", FORM, "email=a%40b.example")
        .await;
    assert_eq!(posted.status, StatusCode::NOT_FOUND);
}
