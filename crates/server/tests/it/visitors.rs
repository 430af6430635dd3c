//! Status pages as visitors see them: what is on them, in which language, who may look, and what
//! caches and browsers are told.

use std::io::Read as _;
use std::time::Duration;

use flate2::read::GzDecoder;
use http::{Method, Request, StatusCode};
use http_body_util::Full;
use rules::{MonitorId, Scope};
use serde_json::{Value, json};
use testkit::server::{Caller, Reply, STATUS_PAGES, TestServer};
use testkit::target::{Answer, HttpTarget};

use crate::pipeline::Watched;

/// Everything below a page's address that tells something of it.
const FORMS: [&str; 12] = [
    "",
    "/status.json",
    "/api/v2/summary.json",
    "/api/v2/status.json",
    "/api/v2/components.json",
    "/api/v2/incidents.json",
    "/api/v2/scheduled-maintenances.json",
    "/feed.atom",
    "/feed.rss",
    "/badge.svg",
    "/day/2026-11-21",
    "/events",
];

/// A page that is shown, and who changes it.
struct Site {
    watched: Watched,
    owner: Caller,
    page: Value,
    monitor: Option<MonitorId>,
}

impl Site {
    /// A page with one component that shows a monitor, and one that stands for itself in a group.
    async fn open(target: &HttpTarget) -> Self {
        let watched = Watched::start().await;
        let owner = watched.server.caller(Scope::Write);
        let monitor = watched.monitor(&target.url("/")).await;
        let page = json!({ "title": "Acme <Ops>", "slug": "acme", "description": "What we run" });
        let page = made(&owner, "CreateStatusPage", "statusPage", page).await;
        let group = json!({ "pageId": page["id"], "name": "Behind" });
        let group = made(&owner, "CreateComponentGroup", "componentGroup", group).await;
        let api = json!({
            "pageId": page["id"], "type": "monitor", "monitorId": monitor.to_string(),
            "name": "API & more", "order": 1,
        });
        made(&owner, "CreateComponent", "component", api).await;
        let mail = json!({
            "pageId": page["id"], "type": "static", "name": "Mail", "groupId": group["id"],
        });
        made(&owner, "CreateComponent", "component", mail).await;
        Self { watched, owner, page, monitor: Some(monitor) }
    }

    /// Waits until so many results of the monitor are stored.
    async fn results(&self, count: usize) {
        self.watched.stored.at_least(count, self.monitor.unwrap()).await;
    }

    async fn update(&self, fields: Value) {
        let mut page = json!({ "id": self.page["id"] });
        let names: Vec<_> = fields.as_object().unwrap().keys().cloned().collect();
        page.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        let request = json!({ "statusPage": page, "updateMask": names.join(",") });
        let reply = self.owner.call(STATUS_PAGES, "UpdateStatusPage", request).await;
        assert_eq!(reply.status, 200, "{reply}");
    }

    /// What a visitor is answered who sends these headers.
    async fn visit(&self, rest: &str, headers: &[(&str, &str)]) -> Reply {
        let mut request = Request::get(format!("/status/acme{rest}")).header("host", "acme");
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        self.anybody().request(request.body(Full::default()).unwrap()).await
    }

    fn anybody(&self) -> Caller {
        self.watched.server.with_key("nobody")
    }

    async fn text(&self, rest: &str) -> String {
        let reply = self.visit(rest, &[]).await;
        assert_eq!(reply.status, 200, "{rest}: {reply}");
        String::from_utf8(reply.body.to_vec()).unwrap()
    }

    /// The cookie that this password brings, where it is right.
    async fn unlock(&self, password: &str) -> (StatusCode, Option<String>) {
        let form = "application/x-www-form-urlencoded";
        let body = format!("password={password}");
        let reply = self.anybody().send(Method::POST, "/status/acme/unlock", form, body).await;
        let cookie = reply.headers.get("set-cookie").map(|it| it.to_str().unwrap());
        let pair = cookie.and_then(|it| it.split(';').next()).map(str::to_owned);
        (reply.status, pair)
    }
}

async fn made(owner: &Caller, method: &str, field: &str, fields: Value) -> Value {
    let reply = owner.call(STATUS_PAGES, method, json!({ field: fields })).await;
    assert_eq!(reply.status, 200, "{method}: {reply}");
    reply.json()[field].clone()
}

async fn well() -> HttpTarget {
    let target = HttpTarget::start().await;
    target.on("/", Answer::ok("fine"));
    target
}

#[tokio::test]
async fn a_page_says_in_the_visitor_s_language_how_what_stands_on_it_is() {
    let target = well().await;
    let site = Site::open(&target).await;
    site.results(1).await;
    site.watched.server.advance(Duration::from_secs(30));
    site.results(2).await;
    let english = site.text("").await;
    for there in [
        "<html lang=\"en\"",
        "<h1>Everything works</h1>",
        "API &#38; more",
        "Acme &#60;Ops&#62;",
        "Behind",
        "What we run",
        "100.00 % up",
        "Checked <time datetime=\"2026-11-21T00:00:30.000Z\">21 Nov 2026, 00:00 UTC</time>",
    ] {
        assert!(english.contains(there), "{there} is not in {english}");
    }
    let german = site.visit("", &[("accept-language", "de-CH, en;q=0.5")]).await;
    let german = String::from_utf8(german.body.to_vec()).unwrap();
    assert!(german.contains("<html lang=\"de\"") && german.contains("Alles funktioniert"));
}

// issue 7: "A change of verdict is on the page … within 1 s"
#[tokio::test]
async fn a_failure_is_on_the_page_with_the_next_look_and_its_recovery_too() {
    let target = well().await;
    let site = Site::open(&target).await;
    site.results(1).await;
    assert!(site.text("").await.contains("Everything works"));
    target.on("/", Answer::status(503));
    site.watched.server.advance(Duration::from_secs(30));
    site.results(2).await;
    let page = site.text("").await;
    assert!(page.contains("<h1>API &#38; more is down</h1>"), "{page}");
    let json: Value = serde_json::from_str(&site.text("/status.json").await).unwrap();
    assert_eq!((&json["status"], &json["about"]), (&json!("down"), &json!(["API & more"])));
    assert_eq!(json["openIncidents"].as_array().unwrap().len(), 1);
    let v2: Value = serde_json::from_str(&site.text("/api/v2/summary.json").await).unwrap();
    assert_eq!(v2["status"]["indicator"], "major");
    assert_eq!(v2["components"][0]["status"], "major_outage");
    assert_eq!(v2["incidents"][0]["status"], "investigating");
    assert!(site.text("/badge.svg").await.contains(": Down</title>"));
    assert!(site.text("/feed.atom").await.contains("<title>API &amp; more is down</title>"));
    assert!(site.text("/feed.rss").await.contains("<title>API &amp; more is down</title>"));

    target.on("/", Answer::ok("fine"));
    site.watched.server.advance(Duration::from_secs(30));
    site.results(3).await;
    let page = site.text("").await;
    assert!(
        page.contains("Everything works") && page.contains("API &#38; more was down"),
        "{page}"
    );
}

// issue 7: "One gate before HTML, JSON, feeds, badges, images, SSE …: a test walks all routes × access types"
#[tokio::test]
async fn every_form_of_a_page_stands_behind_the_same_gate() {
    let target = well().await;
    let site = Site::open(&target).await;
    let component = site.text("/status.json").await;
    let component: Value = serde_json::from_str(&component).unwrap();
    let component = component["sections"][0]["component"]["id"].as_str().unwrap();
    let forms = FORMS.map(str::to_owned).into_iter().chain([format!("/component/{component}")]);
    let forms: Vec<String> = forms.collect();
    site.update(json!({ "accessType": "password", "password": "open sesame" })).await;
    let (status, cookie) = site.unlock("open+sesame").await;
    let cookie = cookie.unwrap();
    assert_eq!(status, StatusCode::SEE_OTHER);
    for form in &forms {
        let shut = site.visit(form, &[]).await;
        let text = String::from_utf8_lossy(&shut.body);
        assert_eq!(shut.status, StatusCode::UNAUTHORIZED, "{form}");
        assert!(!text.contains("API") && !text.contains("Mail"), "{form} tells {text}");
        assert_eq!(shut.headers["cache-control"], "private, no-store", "{form}");
        let forged = site.visit(form, &[("cookie", &cookie.replace('.', ".A"))]).await;
        assert_eq!(forged.status, StatusCode::UNAUTHORIZED, "{form}");
        if form != "/events" {
            let open = site.visit(form, &[("cookie", &cookie)]).await;
            assert_eq!(open.status, StatusCode::OK, "{form}");
            assert_eq!(open.headers["cache-control"], "private, no-store", "{form}");
        }
    }
    site.update(json!({ "accessType": "email-domain", "authEmailDomains": ["acme.com"] })).await;
    for form in &forms {
        let shut = site.visit(form, &[("cookie", &cookie)]).await;
        assert_eq!(shut.status, StatusCode::FORBIDDEN, "{form}");
        assert!(!String::from_utf8_lossy(&shut.body).contains("API"), "{form}");
    }
    let unpublished = json!({ "id": site.page["id"] });
    let reply = site.owner.call(STATUS_PAGES, "UnpublishStatusPage", unpublished).await;
    assert_eq!(reply.status, 200, "{reply}");
    for form in &forms {
        assert_eq!(site.visit(form, &[]).await.status, StatusCode::NOT_FOUND, "{form}");
    }
}

// design: §6 "Log-ins, page passwords and keys are rate-limited"
#[tokio::test]
async fn wrong_passwords_are_counted_and_a_new_password_ends_sessions() {
    let target = well().await;
    let site = Site::open(&target).await;
    site.update(json!({ "accessType": "password", "password": "first" })).await;
    let cookie = site.unlock("first").await.1.unwrap();
    for _ in 0..5 {
        assert_eq!(site.unlock("wrong").await, (StatusCode::UNAUTHORIZED, None));
    }
    assert_eq!(site.unlock("first").await, (StatusCode::TOO_MANY_REQUESTS, None));
    site.watched.server.advance(Duration::from_mins(1));
    assert_eq!(site.unlock("first").await.0, StatusCode::SEE_OTHER);
    assert_eq!(site.visit("", &[("cookie", &cookie)]).await.status, StatusCode::OK);
    site.update(json!({ "password": "second" })).await;
    assert_eq!(site.visit("", &[("cookie", &cookie)]).await.status, StatusCode::UNAUTHORIZED);
    let cookie = site.unlock("second").await.1.unwrap();
    site.watched.server.advance(Duration::from_hours(12));
    assert_eq!(site.visit("", &[("cookie", &cookie)]).await.status, StatusCode::UNAUTHORIZED);
}

#[tokio::test]
async fn what_a_browser_has_is_not_sent_again_and_travels_compressed() {
    let target = well().await;
    let site = Site::open(&target).await;
    let page = site.visit("", &[("accept-encoding", "br, gzip")]).await;
    assert_eq!(page.headers["content-encoding"], "gzip");
    let mut text = String::new();
    GzDecoder::new(&page.body[..]).read_to_string(&mut text).unwrap();
    assert!(text.ends_with("</html>"), "{text}");
    let etag = page.headers["etag"].to_str().unwrap();
    let again = site.visit("", &[("if-none-match", etag)]).await;
    assert_eq!((again.status, again.body.len()), (StatusCode::NOT_MODIFIED, 0));
    let policy = page.headers["content-security-policy"].to_str().unwrap();
    assert!(policy.starts_with("default-src 'none'; style-src 'sha256-"), "{policy}");
    assert!(!text.contains("style=\"") && !text.contains("onclick"), "the policy forbids it");
}

// issue 7: "when the database is away the last page is still served and says how old it is"
#[tokio::test]
async fn while_the_database_is_away_the_last_page_is_shown_with_its_age() {
    let target = well().await;
    let site = Site::open(&target).await;
    site.results(1).await;
    assert!(!site.text("").await.contains("cannot be read"));
    site.watched.server.running().app().store.clone().close().await.unwrap();
    site.watched.server.advance(Duration::from_mins(1));
    let page = site.text("").await;
    let said = "What is stored cannot be read at the moment. This is how it was on 21 Nov 2026, 00:00 UTC.";
    assert!(page.contains(said) && page.contains("API &#38; more"), "{page}");
    let json: Value = serde_json::from_str(&site.text("/status.json").await).unwrap();
    assert_eq!(json["cutOff"], true);
    let unseen = site.anybody().get("/status/other").await;
    assert_eq!(unseen.status, StatusCode::SERVICE_UNAVAILABLE);
}

// issue 7: "30 components × 90 days: HTML+CSS at most 30 KB compressed"
#[tokio::test]
async fn a_page_of_thirty_components_is_small() {
    let watched = Watched::start().await;
    let owner = watched.server.caller(Scope::Write);
    let page = json!({ "title": "Acme", "slug": "acme" });
    let page = made(&owner, "CreateStatusPage", "statusPage", page).await;
    for number in 0..30 {
        let monitor = json!({
            "name": format!("Service number {number}"), "url": "http://127.0.0.1:9/",
            "periodicity": "30s", "active": false,
        });
        let monitor = owner.rpc("CreateHttpMonitor", json!({ "monitor": monitor })).await.json();
        let component = json!({
            "pageId": page["id"], "type": "monitor", "monitorId": monitor["monitor"]["id"],
        });
        made(&owner, "CreateComponent", "component", component).await;
    }
    let site = Site { watched, owner, page, monitor: None };
    let page = site.visit("", &[("accept-encoding", "gzip")]).await;
    assert!(page.body.len() <= 30_000, "{} bytes", page.body.len());
}

#[tokio::test]
async fn feeds_are_read_by_a_feed_reader() {
    let target = well().await;
    target.on("/", Answer::status(503));
    let site = Site::open(&target).await;
    site.results(1).await;
    for form in ["/feed.atom", "/feed.rss"] {
        let feed = feed_rs::parser::parse(site.text(form).await.as_bytes()).unwrap();
        assert_eq!(feed.title.unwrap().content, "Acme <Ops>", "{form}");
        assert_eq!(feed.entries[0].title.as_ref().unwrap().content, "API & more is down", "{form}");
        assert!(feed.entries[0].published.is_some(), "{form}");
    }
}

#[tokio::test]
async fn what_is_not_there_is_not_found_in_the_visitor_s_words() {
    let server = TestServer::start().await;
    let anybody = server.with_key("nobody");
    let long = "a".repeat(5_000);
    for path in [
        "/status/nothing",
        "/status/nothing/status.json",
        "/status/%00",
        &format!("/status/{long}"),
    ] {
        let reply = anybody.get(path).await;
        assert_eq!(reply.status, StatusCode::NOT_FOUND, "{path}");
        assert!(String::from_utf8_lossy(&reply.body).contains("There is no such page"), "{path}");
    }
    let target = well().await;
    let site = Site::open(&target).await;
    for rest in ["/day/2020-01-01", "/day/nonsense", "/component/cmp_0000000000001", "/component/x"]
    {
        assert_eq!(site.visit(rest, &[]).await.status, StatusCode::NOT_FOUND, "{rest}");
    }
}
