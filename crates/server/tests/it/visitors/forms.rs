//! Other representations of a page: badges, image, widget, Markdown and instructions for search
//! engines.
//!
//! Feeds, JSON and the calendar have files of their own, where third-party libraries parse them.

mod calendar;
mod feeds;
mod json;

use std::time::Duration;

use http::StatusCode;
use serde_json::{Value, json};
use server::config::Settings;
use testkit::server::{MAINTENANCES, Reply, STATUS_PAGES, TestServer};
use testkit::target::{HttpTarget, ScriptedResponse};

use super::{At, Site, body, well};

/// Languages of pages.
const LANGUAGES: [&str; 7] = ["en", "de", "fr", "es", "pt", "ja", "zh"];

fn header<'a>(reply: &'a Reply, name: &str) -> &'a str {
    reply.headers.get(name).map_or("", |value| value.to_str().unwrap())
}

fn text(reply: &Reply) -> String {
    String::from_utf8(reply.body.to_vec()).unwrap()
}

/// Opens a page on a server with a public URL.
async fn published(target: &HttpTarget) -> Site {
    let address = |settings: &mut Settings| {
        settings.public_url = Some("https://up.example".to_owned());
    };
    Site::open_on(TestServer::start_with(address).await, target).await
}

/// Returns the text between two strings.
fn between<'a>(text: &'a str, before: &str, after: &str) -> &'a str {
    let (_, rest) = text.split_once(before).unwrap_or_else(|| panic!("no {before} in {text}"));
    rest.split_once(after).unwrap_or_else(|| panic!("no {after} in {rest}")).0
}

impl Site {
    /// Returns the JSON at a path.
    async fn read(&self, rest: &str) -> Value {
        serde_json::from_str(&self.text(rest).await).unwrap()
    }

    /// Returns the ID of the component that shows the monitor.
    async fn component(&self) -> String {
        let page = self.read("/status.json").await;
        page["sections"][0]["component"]["id"].as_str().unwrap().to_owned()
    }

    /// Makes the next check of the monitor succeed or fail and waits for its result, number
    /// `count`.
    async fn turns(&self, target: &HttpTarget, works: bool, count: usize) {
        target.on(
            "/",
            if works { ScriptedResponse::ok("fine") } else { ScriptedResponse::status(503) },
        );
        self.watched.server.advance(Duration::from_secs(30));
        self.results(count).await;
    }

    /// Plans maintenance and returns it.
    async fn plan(&self, fields: Value) -> Value {
        let request = json!({ "maintenance": fields });
        let reply = self.owner.call(MAINTENANCES, "CreateMaintenance", request).await;
        assert_eq!(reply.status, 200, "{reply}");
        reply.json()["maintenance"].clone()
    }

    async fn may_be_listed(&self, allow: bool) {
        let request = json!({ "id": self.page["id"], "allowIndexing": allow });
        let reply = self.owner.call(STATUS_PAGES, "SetStatusPageIndexing", request).await;
        assert_eq!(reply.status, 200, "{reply}");
    }
}

// issue 7: "SVG badge (state; uptime; latency) with text alternative"
#[tokio::test]
async fn badges_have_localized_text_alternatives() {
    let target = well().await;
    let site = Site::open(&target).await;
    site.results(1).await;
    site.turns(&target, true, 2).await;
    let component = site.component().await;
    for path in [
        "/badge.svg",
        "/badge.svg?style=flat-square",
        &format!("/badge.svg?component={component}"),
        "/badge/uptime.svg",
        "/badge/uptime.svg?days=30&style=flat",
        &format!("/badge/uptime.svg?days=60&component={component}"),
        "/badge/latency.svg",
        &format!("/badge/latency.svg?percentile=50&component={component}"),
    ] {
        let mut titles = Vec::new();
        for language in LANGUAGES {
            let badge = site.visit(path, &[("accept-language", language)]).await;
            assert_eq!(badge.status, StatusCode::OK, "{path}: {badge}");
            assert_eq!(header(&badge, "content-type"), "image/svg+xml", "{path}");
            let svg = text(&badge);
            let title = between(&svg, "<title>", "</title>").to_owned();
            let is_named = format!("role=\"img\" aria-label=\"{title}\"");
            assert!(svg.contains(&is_named) && title.contains(": "), "{path}: {svg}");
            titles.push(title);
        }
        titles.dedup();
        // Two languages share a word.
        assert!(titles.len() >= LANGUAGES.len() - 1, "{path}: {titles:?}");
    }
    let title =
        async |path: &str| between(&site.text(path).await, "<title>", "</title>").to_owned();
    assert_eq!(title("/badge.svg").await, "Acme &lt;Ops&gt;: Operational");
    assert_eq!(
        title("/badge/uptime.svg?days=30").await,
        "Acme &lt;Ops&gt; · 30 days: 100.00 % uptime"
    );
}

#[tokio::test]
async fn badges_show_latencies_of_public_monitors_only() {
    let target = well().await;
    let site = Site::open(&target).await;
    site.results(1).await;
    let title =
        async |path: &str| between(&site.text(path).await, "<title>", "</title>").to_owned();
    let silent = "Acme &lt;Ops&gt;, Response time (p95, 24 h): No data";
    assert_eq!(title("/badge/latency.svg").await, silent);
    let monitor = json!({ "id": site.monitor.unwrap().to_string(), "public": true });
    let request = json!({ "monitor": monitor, "updateMask": "public" });
    let reply = site.owner.rpc("UpdateHttpMonitor", request).await;
    assert_eq!(reply.status, 200, "{reply}");
    let latency_title = title("/badge/latency.svg?percentile=50").await;
    let latency_title =
        latency_title.strip_prefix("Acme &lt;Ops&gt;, Response time (p50, 24 h): ").unwrap();
    assert!(latency_title.ends_with(" ms") || latency_title.ends_with(" s"), "{latency_title}");
}

#[tokio::test]
async fn invalid_badge_parameter_error_lists_valid_values() {
    let target = well().await;
    let site = Site::open(&target).await;
    for (path, status, message) in [
        (
            "/badge.svg?days=30",
            400,
            "unknown parameter `days`; expected one of `component`, `style`\n",
        ),
        ("/badge/uptime.svg?days=7", 400, "`days` must be one of 30, 60, 90, not `7`\n"),
        ("/badge/latency.svg?percentile=99", 400, "`percentile` must be one of 50, 95, not `99`\n"),
        (
            "/badge.svg?style=plastic",
            400,
            "`style` must be one of flat, flat-square, not `plastic`\n",
        ),
        (
            "/badge.svg?component=cmp_0000000000001",
            404,
            "the page has no component `cmp_0000000000001`\n",
        ),
    ] {
        let refused = site.visit(path, &[]).await;
        assert_eq!((refused.status.as_u16(), text(&refused).as_str()), (status, message), "{path}");
        assert_eq!(header(&refused, "content-type"), "text/plain; charset=utf-8");
    }
    // A visitor without access does not even see the error.
    site.update(json!({ "accessType": "password", "password": "open sesame" })).await;
    assert_eq!(site.visit("/badge.svg?days=30", &[]).await.status, StatusCode::UNAUTHORIZED);
}

// issue 7: "OpenGraph image"
#[tokio::test]
async fn open_graph_image_and_tags_show_current_state() {
    let target = well().await;
    let site = Site::open(&target).await;
    site.results(1).await;
    let well = site.visit("/og.png", &[("accept-encoding", "br, gzip")]).await;
    assert_eq!(header(&well, "content-type"), "image/png");
    assert_eq!(header(&well, "content-encoding"), "", "a picture is compressed already");
    let picture = tiny_skia::Pixmap::decode_png(&well.body).unwrap();
    assert_eq!((picture.width(), picture.height()), (1_200, 630));
    assert!(well.body.len() < 60_000, "{} bytes", well.body.len());
    let again = site.visit("/og.png", &[("if-none-match", header(&well, "etag"))]).await;
    assert_eq!(again.status, StatusCode::NOT_MODIFIED);
    site.turns(&target, false, 2).await;
    let down = site.visit("/og.png", &[]).await;
    assert_ne!(down.body, well.body);
    // A language without glyphs in the font falls back to another.
    let japanese = site.visit("/og.png", &[("accept-language", "ja")]).await;
    assert_eq!(japanese.body, down.body);
    let page = site.text("").await;
    let url = between(&page, "property=\"og:url\" content=\"", "\"");
    assert!(url.ends_with("/status/acme"), "{url}");
    for there in [
        "<meta property=\"og:type\" content=\"website\">",
        "<meta property=\"og:title\" content=\"Acme &#60;Ops&#62;\">",
        "<meta property=\"og:description\" content=\"API &#38; more is down\">",
        &format!("<meta property=\"og:image\" content=\"{url}/og.png\">"),
        "<meta property=\"og:image:width\" content=\"1200\">",
        "<meta property=\"og:image:alt\" content=\"Acme &#60;Ops&#62;: API &#38; more is down\">",
        "<meta name=\"twitter:card\" content=\"summary_large_image\">",
    ] {
        assert!(page.contains(there), "{there} is not in {page}");
    }
}

// issue 7: "embeddable widget"
#[tokio::test]
async fn only_public_pages_allow_framing_the_widget() {
    let target = well().await;
    let site = Site::open(&target).await;
    site.results(1).await;
    let script = site.visit("/widget.js", &[("accept-language", "de")]).await;
    assert_eq!(header(&script, "content-type"), "text/javascript; charset=utf-8");
    assert!(text(&script).contains(r#""sentence":"Alle Systeme funktionieren""#), "{script}");
    assert_eq!(header(&script, "set-cookie"), "");
    let policy = |reply: &Reply| header(reply, "content-security-policy").to_owned();
    let frame = site.visit("/widget", &[]).await;
    assert!(policy(&frame).ends_with("frame-ancestors *"), "{}", policy(&frame));
    assert!(policy(&frame).starts_with("default-src 'none'; style-src 'sha256-"));
    let html = text(&frame);
    assert!(html.contains("<a class=\"up\" href=\"/status/acme\" target=\"_top\""), "{html}");
    for rest in ["", "/status.json", "/badge.svg"] {
        let other = site.visit(rest, &[]).await;
        assert!(policy(&other).contains("frame-ancestors 'none'"), "{rest}");
    }
    site.update(json!({ "accessType": "password", "password": "open sesame" })).await;
    let cookie = site.unlock("open+sesame").await.1.unwrap();
    for headers in [&[][..], &[("cookie", cookie.as_str())]] {
        let shut = site.visit("/widget", headers).await;
        assert!(policy(&shut).contains("frame-ancestors 'none'"), "{}", policy(&shut));
    }
}

// issue 7: "plain Markdown"
#[tokio::test]
async fn markdown_page_escapes_owner_text() {
    let target = well().await;
    let site = Site::open(&target).await;
    site.results(1).await;
    site.turns(&target, false, 2).await;
    let reply = site.visit("/status.md", &[]).await;
    assert_eq!(header(&reply, "content-type"), "text/markdown; charset=utf-8");
    let markdown = text(&reply);
    let (page, _url) = markdown.split_once("\n<").unwrap();
    insta::assert_snapshot!(page, @r"
    # Acme \<Ops\>

    What we run

    **API \& more is down**

    Checked 21 Nov 2026, 00:00 UTC

    ## Ongoing

    - **API \& more is down**: Since 21 Nov 2026, 00:00 UTC

    ## Components

    - **API \& more**: Down · 100.00 % uptime

    ### Behind: Operational

    - **Mail**: Operational
    ");
    let german = site.visit("/status.md", &[("accept-language", "de")]).await;
    assert!(text(&german).contains("\n## Aktuell\n"), "{german}");
    site.turns(&target, true, 3).await;
    let markdown = site.text("/status.md").await;
    let (before, history) = markdown.split_once("\n## The last 14 days\n").unwrap();
    assert!(!before.contains("## Ongoing"), "{before}");
    assert!(history.contains("- **API \\& more was down**"), "{history}");
}

// issue 7: "`robots` choice"
#[tokio::test]
async fn indexing_setting_controls_robots_headers() {
    let target = well().await;
    let site = Site::open(&target).await;
    site.results(1).await;
    let tag = "<meta name=\"robots\" content=\"noindex\">";
    let robots_tag =
        async |rest: &str| header(&site.visit(rest, &[]).await, "x-robots-tag").to_owned();
    for rest in ["", "/status.json", "/badge.svg", "/feed.atom", "/day/2026-11-21"] {
        assert_eq!(robots_tag(rest).await, "", "{rest}");
    }
    assert!(!site.text("").await.contains(tag));
    site.may_be_listed(false).await;
    for rest in ["", "/status.json", "/badge.svg", "/feed.atom", "/day/2026-11-21"] {
        assert_eq!(robots_tag(rest).await, "noindex", "{rest}");
    }
    assert!(site.text("").await.contains(tag));
    assert!(site.text("/day/2026-11-21").await.contains(tag));
    // Search engines may fetch pages marked `noindex`.
    site.has_a_domain().await;
    let robots = body(site.ask(At::Domain, "/robots.txt", &[]).await).await;
    assert!(robots.ends_with("User-agent: *\nDisallow:\n"), "{robots}");
    site.may_be_listed(true).await;
    // A page that is not public is never listed, whatever the setting.
    site.update(json!({ "accessType": "password", "password": "open sesame" })).await;
    let login_page = site.visit("", &[]).await;
    assert_eq!(header(&login_page, "x-robots-tag"), "noindex");
    assert!(text(&login_page).contains(tag));
    let cookie = site.unlock("open+sesame").await.1.unwrap();
    let inside = site.visit("", &[("cookie", &cookie)]).await;
    assert_eq!(header(&inside, "x-robots-tag"), "noindex");
    assert!(text(&inside).contains(tag));
}
