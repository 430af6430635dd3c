//! Pages for members. A visitor with an address at one of the page's domains logs in by an emailed
//! link.

use std::time::Duration;

use axum::body::Body;
use http::{Method, Request, StatusCode};
use serde_json::json;
use server::config::Settings;
use testkit::mail::{AcceptedMail, MailServer};
use testkit::server::{Reply, STATUS_PAGES, TestServer};
use tokio_util::sync::CancellationToken;
use tower::ServiceExt as _;

use super::{At, DOMAIN, Site, body, well};

pub(super) const PUBLIC_URL: &str = "https://up.example";
const FORM: &str = "application/x-www-form-urlencoded";

/// Page for members and the mail server that receives its links.
struct Club {
    site: Site,
    mail: MailServer,
}

impl Club {
    async fn open(domains: &[&str]) -> Self {
        let mail = MailServer::start().await;
        let server = TestServer::start_with(|settings| sends_mail(settings, &mail)).await;
        let site = Site::open_on(server, &well().await).await;
        site.update(json!({ "accessType": "email-domain", "authEmailDomains": domains })).await;
        Self { site, mail }
    }

    /// Requests a link for this mailbox.
    async fn asks(&self, mailbox: &str) -> Reply {
        let body: String = url::form_urlencoded::Serializer::new(String::new())
            .append_pair("email", mailbox)
            .finish();
        self.site.anybody().send(Method::POST, "/status/acme/enter", FORM, body).await
    }

    /// Submits the form behind a link. Returns the status and the pair of the cookie.
    async fn enters(&self, path: &str) -> (StatusCode, Option<String>) {
        let reply = self.site.anybody().send(Method::POST, path, FORM, "").await;
        let cookie = reply.headers.get("set-cookie").map(|it| it.to_str().unwrap());
        let pair = cookie.and_then(|it| it.split(';').next()).map(str::to_owned);
        (reply.status, pair)
    }

    /// Returns the `number`-th email and the path of its link.
    async fn link(&self, number: usize) -> (AcceptedMail, String) {
        let taken = self.mail.takes(number).await.remove(number - 1);
        let url = taken.text.split_whitespace().find(|word| word.starts_with(PUBLIC_URL)).unwrap();
        let path = url.strip_prefix(PUBLIC_URL).unwrap().to_owned();
        assert!(taken.html.contains(url), "{}", taken.html);
        assert!(taken.html.contains(domain::notify::email_style::CARD), "as all our emails look");
        (taken, path)
    }
}

pub(super) fn sends_mail(settings: &mut Settings, mail: &MailServer) {
    settings.public_url = Some(PUBLIC_URL.to_owned());
    mail.set_up(settings);
}

fn text(reply: &Reply) -> String {
    String::from_utf8(reply.body.to_vec()).unwrap()
}

// issue 7: "`email-domain` (magic link by email, domains matched exactly)"
#[tokio::test]
async fn sign_in_link_works_once() {
    let club = Club::open(&["acme.com", "b\u{fc}cher.example"]).await;
    let login_page = club.site.visit("", &[]).await;
    assert_eq!(login_page.status, StatusCode::FORBIDDEN);
    assert!(
        text(&login_page).contains("<form method=\"post\" action=\"/status/acme/enter\">"),
        "{login_page}"
    );
    assert_eq!(club.asks("Ann@ACME.com").await.status, StatusCode::ACCEPTED);
    let (taken, path) = club.link(1).await;
    assert_eq!(taken.to, ["Ann@ACME.com"]);
    assert_eq!(taken.subject, "Your sign-in link for Acme <Ops>");
    let button = club.site.anybody().get(&path).await;
    assert_eq!(button.status, StatusCode::OK, "whoever looks through mail may follow links");
    assert!(text(&button).contains(&format!("action=\"{path}\"")), "{button}");
    let (status, cookie) = club.enters(&path).await;
    let cookie = cookie.unwrap();
    assert_eq!(status, StatusCode::SEE_OTHER);
    assert_eq!(club.site.visit("", &[("cookie", &cookie)]).await.status, StatusCode::OK);
    assert_eq!(club.site.visit("/feed.atom", &[("cookie", &cookie)]).await.status, StatusCode::OK);
    assert_eq!(club.enters(&path).await, (StatusCode::FORBIDDEN, None), "it works once");
    assert_eq!(club.site.anybody().get(&path).await.status, StatusCode::FORBIDDEN);
    // Unicode and ASCII forms of an international domain are the same domain.
    assert_eq!(club.asks("eva@B\u{dc}CHER.example").await.status, StatusCode::ACCEPTED);
    let (_, path) = club.link(2).await;
    let cookie = club.enters(&path).await.1.unwrap();
    assert_eq!(club.site.visit("", &[("cookie", &cookie)]).await.status, StatusCode::OK);
    club.site.update(json!({ "authEmailDomains": ["acme.com"] })).await;
    let answer = club.site.visit("", &[("cookie", &cookie)]).await;
    assert_eq!(answer.status, StatusCode::FORBIDDEN, "a session ends with its domain");
}

#[tokio::test]
async fn only_members_receive_links_with_identical_responses() {
    let club = Club::open(&["acme.com"]).await;
    let mut answers = Vec::new();
    for mailbox in
        ["eve@evil.example", "eve@sub.acme.com", "eve@notacme.com", "eve@acme.com.evil.example"]
    {
        let reply = club.asks(mailbox).await;
        assert_eq!(reply.status, StatusCode::ACCEPTED, "{mailbox}");
        answers.push(text(&reply));
    }
    let member = club.asks("ann@acme.com").await;
    answers.push(text(&member));
    answers.dedup();
    assert_eq!(answers.len(), 1, "the answer tells nothing: {answers:?}");
    // Only the member receives an email.
    let (taken, _) = club.link(1).await;
    assert_eq!(taken.to, ["ann@acme.com"]);
}

#[tokio::test]
async fn sign_in_link_expires_after_15_minutes() {
    let club = Club::open(&["acme.com"]).await;
    assert_eq!(club.asks("ann@acme.com").await.status, StatusCode::ACCEPTED);
    let (_, path) = club.link(1).await;
    club.site.update(json!({ "accessType": "public" })).await;
    assert_eq!(club.enters(&path).await, (StatusCode::NOT_FOUND, None));
    club.site.update(json!({ "accessType": "email-domain" })).await;
    let forged = path.replace("/enter/", "/enter/A");
    assert_eq!(club.enters(&forged).await, (StatusCode::FORBIDDEN, None));
    club.site.watched.server.advance(Duration::from_mins(15));
    assert_eq!(club.enters(&path).await, (StatusCode::FORBIDDEN, None));
}

// design: §6 "Log-ins … are rate-limited by account and by address"
#[tokio::test]
async fn link_requests_are_rate_limited_and_validated() {
    let club = Club::open(&["acme.com"]).await;
    for wrong in ["", "ann", "ann@", "@acme.com", "ann@acme.com\r\nbcc: all@acme.com"] {
        assert_eq!(club.asks(wrong).await.status, StatusCode::BAD_REQUEST, "{wrong:?}");
    }
    for number in 0..5 {
        let reply = club.asks(&format!("a{number}@evil.example")).await;
        assert_eq!(reply.status, StatusCode::ACCEPTED);
    }
    assert_eq!(club.asks("ann@acme.com").await.status, StatusCode::TOO_MANY_REQUESTS);
    club.site.watched.server.advance(Duration::from_mins(15));
    assert_eq!(club.asks("ann@acme.com").await.status, StatusCode::ACCEPTED);
}

#[tokio::test]
async fn a_server_that_sends_no_emails_says_so() {
    let site = Site::open(&well().await).await;
    site.update(json!({ "accessType": "email-domain", "authEmailDomains": ["acme.com"] })).await;
    let body = "email=ann%40acme.com";
    let reply = site.anybody().send(Method::POST, "/status/acme/enter", FORM, body).await;
    assert_eq!(reply.status, StatusCode::SERVICE_UNAVAILABLE);
    assert!(text(&reply).contains("cannot send emails"), "{reply}");
}

// The page shows no form then; both follow from one condition.
#[tokio::test]
async fn domain_without_public_url_sends_no_links() {
    let mail = MailServer::start().await;
    let server = TestServer::start_with(|settings| mail.set_up(settings)).await;
    let site = Site::open_on(server, &well().await).await;
    site.has_a_domain().await;
    site.update(json!({ "accessType": "email-domain", "authEmailDomains": ["acme.com"] })).await;
    let shown = body(site.ask(At::Domain, "", &[]).await).await;
    assert!(!shown.contains("<form"), "{shown}");
    let running = site.watched.server.running();
    let router = running.app().page_router(DOMAIN, CancellationToken::new());
    let request = Request::post("/enter").header("content-type", FORM);
    let request = request.body(Body::from("email=ann%40acme.com")).unwrap();
    let reply = router.oneshot(request).await.unwrap();
    assert_eq!(reply.status(), StatusCode::SERVICE_UNAVAILABLE);
}

// issue 16 points 23 and 28: "Warn when an `email-domain` page is created on a server without mail",
// "hide forms that cannot work"
#[tokio::test]
async fn members_page_without_smtp_warns_and_hides_form() {
    let site = Site::open(&well().await).await;
    let page = json!({
        "id": site.page["id"], "accessType": "email-domain", "authEmailDomains": ["acme.example"],
    });
    let request = json!({ "statusPage": page, "updateMask": "accessType,authEmailDomains" });
    let reply = site.owner.call(STATUS_PAGES, "UpdateStatusPage", request).await;
    assert_eq!(reply.status, 200, "{reply}");
    let get = json!({ "id": site.page["id"] });
    let got = site.owner.call(STATUS_PAGES, "GetStatusPage", get).await.json();
    assert_eq!(got["warnings"], reply.json()["warnings"]);
    let [warning] = got["warnings"].as_array().unwrap().as_slice() else { panic!("{got}") };
    assert_eq!(warning["field"], "status_page.access_type");
    assert!(warning["message"].as_str().unwrap().contains("ALOFT_SMTP_URL"), "{warning}");
    let login_page = site.visit("", &[]).await;
    assert_eq!(login_page.status, StatusCode::FORBIDDEN);
    let login_page = String::from_utf8(login_page.body.to_vec()).unwrap();
    assert!(!login_page.contains("<form") && login_page.contains("Acme"), "{login_page}");
    assert!(!login_page.contains("What we run"), "only its name: {login_page}");
}
