//! Content and language of a page, and its headers for caches and browsers.

use std::io::Read as _;
use std::time::Duration;

use flate2::read::GzDecoder;
use http::{Method, Request, StatusCode};
use http_body_util::Full;
use serde_json::{Value, json};
use testkit::server::TestServer;
use testkit::target::ScriptedResponse;

use super::{Site, well};

#[tokio::test]
async fn page_state_is_shown_in_the_visitors_language() {
    let target = well().await;
    let site = Site::open(&target).await;
    site.results(1).await;
    site.watched.server.advance(Duration::from_secs(30));
    site.results(2).await;
    let english = site.text("").await;
    for there in [
        "<html lang=\"en\"",
        "<h1>All systems operational</h1>",
        "API &#38; more",
        "Acme &#60;Ops&#62;",
        "Behind",
        "What we run",
        "100.00 % uptime",
        "Checked <time datetime=\"2026-11-21T00:00:30.000Z\">21 Nov 2026, 00:00 UTC</time>",
    ] {
        assert!(english.contains(there), "{there} is not in {english}");
    }
    let german = site.visit("", &[("accept-language", "de-CH, en;q=0.5")]).await;
    let german = String::from_utf8(german.body.to_vec()).unwrap();
    assert!(german.contains("<html lang=\"de\"") && german.contains("Alle Systeme funktionieren"));
}

// issue 7: "A change of verdict is on the page … within 1 s"
#[tokio::test]
async fn failure_and_recovery_appear_on_next_load() {
    let target = well().await;
    let site = Site::open(&target).await;
    site.results(1).await;
    assert!(site.text("").await.contains("All systems operational"));
    target.on("/", ScriptedResponse::status(503));
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

    target.on("/", ScriptedResponse::ok("fine"));
    site.watched.server.advance(Duration::from_secs(30));
    site.results(3).await;
    let page = site.text("").await;
    assert!(
        page.contains("All systems operational") && page.contains("API &#38; more was down"),
        "{page}"
    );
}

#[tokio::test]
async fn page_is_compressed_and_revalidated_by_etag() {
    let target = well().await;
    let site = Site::open(&target).await;
    let page = site.visit("", &[("accept-encoding", "br, gzip")]).await;
    assert_eq!(page.headers["content-encoding"], "br");
    let page = site.visit("", &[("accept-encoding", "br;q=0, gzip")]).await;
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

#[tokio::test]
async fn feeds_are_read_by_a_feed_reader() {
    let target = well().await;
    target.on("/", ScriptedResponse::status(503));
    let site = Site::open(&target).await;
    site.results(1).await;
    for form in ["/feed.atom", "/feed.rss"] {
        let feed = feed_rs::parser::parse(site.text(form).await.as_bytes()).unwrap();
        assert_eq!(feed.title.unwrap().content, "Acme <Ops>", "{form}");
        assert_eq!(feed.entries[0].title.as_ref().unwrap().content, "API & more is down", "{form}");
        assert!(feed.entries[0].published.is_some(), "{form}");
    }
}

// The service for method calls answered with an empty 404.
#[tokio::test]
async fn unknown_path_is_not_found_in_any_language() {
    let target = well().await;
    let site = Site::open(&target).await;
    let anybody = site.watched.server.with_key("nobody");
    let slug = "/status/acme";
    let paths = ["/", "/nonsense", "/api/v2/nonsense.json", "/component/x/week/y", "/history/1/2"];
    let paths = paths.map(|rest| format!("{slug}{rest}"));
    for path in paths.iter().map(String::as_str).chain(["/status", "/status/"]) {
        for method in [Method::GET, Method::POST, Method::PUT, Method::DELETE] {
            let request = Request::builder().method(&method).uri(path).header("host", "localhost");
            let request = request.header("accept-language", "de").body(Full::from("a=b")).unwrap();
            let reply = anybody.request(request).await;
            let body = String::from_utf8_lossy(&reply.body);
            assert_eq!(reply.status, StatusCode::NOT_FOUND, "{method} {path}");
            assert!(body.contains("Seite nicht gefunden"), "{method} {path}: {body}");
            assert_eq!(reply.headers["content-type"], "text/html; charset=utf-8");
        }
    }
    for (path, allowed) in [(slug.to_owned(), "GET,HEAD"), (format!("{slug}/unlock"), "POST")] {
        let request = Request::put(path).header("host", "localhost");
        let reply = anybody.request(request.body(Full::default()).unwrap()).await;
        assert_eq!(reply.status, StatusCode::METHOD_NOT_ALLOWED);
        assert_eq!(reply.headers["allow"], allowed);
    }
}

#[tokio::test]
async fn not_found_page_is_localized() {
    let server = TestServer::start().await;
    let anybody = server.with_key("nobody");
    let long = "a".repeat(5_000);
    for path in [
        "/status/nothing",
        "/status/nothing/status.json",
        "/status/nothing/nonsense",
        "/status/%00",
        &format!("/status/{long}"),
    ] {
        let reply = anybody.get(path).await;
        assert_eq!(reply.status, StatusCode::NOT_FOUND, "{path}");
        assert!(String::from_utf8_lossy(&reply.body).contains("Page not found"), "{path}");
    }
    let target = well().await;
    let site = Site::open(&target).await;
    for rest in ["/day/2020-01-01", "/day/nonsense", "/component/cmp_0000000000001", "/component/x"]
    {
        assert_eq!(site.visit(rest, &[]).await.status, StatusCode::NOT_FOUND, "{rest}");
    }
}
