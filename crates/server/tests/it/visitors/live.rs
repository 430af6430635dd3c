//! Live updates of open browsers: one event for each change, and none for visitors without access.

use std::time::Duration;

use axum::response::Response;
use http_body_util::BodyExt as _;
use serde_json::json;
use testkit::target::ScriptedResponse;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use super::{At, Site, well};
use crate::pipeline::until;

/// Timeout that no event exceeds, even on a busy machine.
const PATIENCE: Duration = Duration::from_mins(1);

/// Returns the next event of a stream and skips keep-alives. Returns `None` at its end.
async fn next(stream: &mut Response) -> Option<String> {
    loop {
        let frame = tokio::time::timeout(PATIENCE, stream.body_mut().frame()).await.unwrap()?;
        let text = String::from_utf8(frame.unwrap().into_data().unwrap().to_vec()).unwrap();
        if !text.starts_with(':') {
            return Some(text);
        }
    }
}

// issue 7: "A change of verdict is on the page and on open browsers within 1 s"
#[tokio::test]
async fn open_browsers_get_changes_at_each_address() {
    let target = well().await;
    let site = Site::open(&target).await;
    site.has_a_domain().await;
    site.results(1).await;
    let mut streams = Vec::new();
    for at in [At::Slug, At::Slug, At::Domain] {
        streams.push(site.ask(at, "/events", &[]).await);
    }
    target.on("/", ScriptedResponse::status(503));
    site.watched.server.advance(Duration::from_secs(30));
    site.results(2).await;
    for stream in &mut streams {
        assert_eq!(stream.headers()["content-type"], "text/event-stream");
        let word = next(stream).await.unwrap();
        assert!(word.starts_with("event: changed\ndata: 2026-11-21T00:00:30"), "{word}");
    }
    assert!(site.text("").await.contains("API &#38; more is down"));
}

// issue 7: "One gate before … SSE"
#[tokio::test]
async fn stream_ends_when_access_is_revoked() {
    let target = well().await;
    let site = Site::open(&target).await;
    site.results(1).await;
    let mut stream = site.ask(At::Slug, "/events", &[]).await;
    site.update(json!({ "accessType": "password", "password": "open sesame" })).await;
    assert_eq!(next(&mut stream).await, None);
    let mut stream = {
        let cookie = site.unlock("open+sesame").await.1.unwrap();
        site.ask(At::Slug, "/events", &[("cookie", &cookie)]).await
    };
    site.owns("UnpublishStatusPage").await;
    assert_eq!(next(&mut stream).await, None);
}

#[tokio::test]
async fn a_browser_that_goes_away_is_let_go() {
    let target = well().await;
    let site = Site::open(&target).await;
    let waiting = async || site.metric("aloft_page_streams").await;
    let mut browser = TcpStream::connect(site.watched.server.address()).await.unwrap();
    browser.write_all(b"GET /status/acme/events HTTP/1.1\r\nhost: acme\r\n\r\n").await.unwrap();
    let mut begun = [0; 15];
    browser.read_exact(&mut begun).await.unwrap();
    assert_eq!(&begun, b"HTTP/1.1 200 OK");
    assert_eq!(waiting().await, 1);
    drop(browser);
    until(async || (waiting().await == 0).then_some(())).await;
}

// issue 7: open streams are bounded
#[tokio::test]
async fn excess_connections_get_retry_after() {
    let target = well().await;
    let site = Site::open(&target).await;
    let mut waiting = Vec::new();
    let refused = loop {
        let stream = site.ask(At::Slug, "/events", &[]).await;
        if stream.status() != 200 {
            break stream;
        }
        waiting.push(stream);
        assert!(waiting.len() <= 1_000, "nobody is refused");
    };
    assert_eq!(
        (refused.status().as_u16(), &refused.headers()["retry-after"]),
        (429, &"60".parse().unwrap())
    );
    assert_eq!(site.text("").await.matches("<h1>").count(), 1, "the page is there for all");
    drop(waiting.pop());
    assert_eq!(site.ask(At::Slug, "/events", &[]).await.status(), 200);
}
