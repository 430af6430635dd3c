//! Stale pages: while the database is down, and while a page is rendered again.

use std::time::Duration;

use http::StatusCode;
use serde_json::{Value, json};
use testkit::server::START;
use testkit::target::ScriptedResponse;

use super::access::everything;
use super::{At, Site, body, well};
use crate::pipeline::until;

/// Returns the time of the page's snapshot, by the manual clock.
///
/// On a busy machine, a read may exceed the page's timeout and the page is served as stale. The
/// helper then advances the clock past the retry interval and tries again.
async fn snapshot_time(site: &Site) -> String {
    until(async || {
        let json = body(site.ask(At::Slug, "/status.json", &[]).await).await;
        let json: Value = serde_json::from_str(&json).unwrap();
        if json["isOutdated"] == true {
            site.watched.server.advance(Duration::from_secs(5));
            return None;
        }
        Some(json["at"].as_str().unwrap().to_owned())
    })
    .await
}

/// Paths without a snapshot of the status.
const TIMELESS: [&str; 3] = ["/events", "/icon", "/subscribe"];

// issue 7: "when the database is away the last page is still served and says how old it is"
#[tokio::test]
async fn database_outage_serves_last_page_with_its_time() {
    let target = well().await;
    let site = Site::open(&target).await;
    site.results(1).await;
    let notice = "Live data is unavailable. This is the status as of 21 Nov 2026, 00:00 UTC.";
    assert!(!site.text("").await.contains(notice));
    site.watched.server.running().app().store.clone().close().await.unwrap();
    site.watched.server.advance(Duration::from_mins(1));
    let page = site.text("").await;
    assert!(page.contains(notice) && page.contains("API &#38; more"), "{page}");
    let json: Value = serde_json::from_str(&site.text("/status.json").await).unwrap();
    assert_eq!(json["isOutdated"], true);
    let unseen = site.anybody().get("/status/other").await;
    assert_eq!(unseen.status, StatusCode::SERVICE_UNAVAILABLE);
}

// issue 7: "when the database is away the last page is still served and says how old it is"
#[tokio::test]
async fn database_outage_serves_every_format_with_age_header() {
    let target = well().await;
    target.on("/", ScriptedResponse::status(503));
    let site = Site::open(&target).await;
    site.results(1).await;
    let everything = everything(&site).await;
    for path in &everything {
        assert_eq!(site.ask(At::Slug, path, &[]).await.status(), StatusCode::OK, "{path}");
    }
    site.watched.server.running().app().store.clone().close().await.unwrap();
    site.watched.server.advance(Duration::from_mins(1));
    for path in &everything {
        let answer = site.ask(At::Slug, path, &[]).await;
        assert_eq!(answer.status(), StatusCode::OK, "{path}");
        let age = answer.headers().get("age").map(|age| age.to_str().unwrap().to_owned());
        let is_timeless = TIMELESS.contains(&path.as_str());
        assert_eq!(age.as_deref(), (!is_timeless).then_some("60"), "{path}");
    }
}

// issue 7: "kept as compressed bytes with ETag, stale-while-revalidate"
#[tokio::test]
async fn expired_page_is_served_while_renewed() {
    let target = well().await;
    let site = Site::open(&target).await;
    site.results(1).await;
    let answer = site.ask(At::Slug, "/status.json", &[]).await;
    let cache = answer.headers()["cache-control"].to_str().unwrap().to_owned();
    assert_eq!(cache, "public, max-age=0, stale-while-revalidate=30, stale-if-error=300");
    let long = Duration::from_secs(6);
    site.watched.server.advance(long);
    let first = body(site.ask(At::Slug, "/status.json", &[]).await).await;
    assert!(first.contains(&format!("\"at\":\"{START}\"")), "{first}");
    let later = (START + long).to_string();
    until(async || (snapshot_time(&site).await >= later).then_some(())).await;
}

// issue 7: "stale-while-revalidate"
#[tokio::test]
async fn unvisited_page_is_renewed_before_serving() {
    let target = well().await;
    let site = Site::open(&target).await;
    site.results(1).await;
    assert!(site.text("/status.json").await.contains(&START.to_string()));
    let long = Duration::from_secs(20);
    site.watched.server.advance(long);
    let snapshot = snapshot_time(&site).await;
    assert!(snapshot >= (START + long).to_string(), "{snapshot}");
}

// issue 7: "One gate before HTML, JSON, feeds, badges, images, SSE"; design: §6
#[tokio::test]
async fn revoked_visitor_is_rejected_while_database_is_down() {
    let secret = json!({ "accessType": "password", "password": "open sesame" });
    let moved = json!({ "slug": "elsewhere" });
    for change in ["password", "unpublish", "delete", "slug"] {
        let target = well().await;
        target.on("/", ScriptedResponse::status(503));
        let site = Site::open(&target).await;
        site.results(1).await;
        let everything = everything(&site).await;
        for path in &everything {
            assert_eq!(site.ask(At::Slug, path, &[]).await.status(), StatusCode::OK, "{path}");
        }
        match change {
            "password" => site.update(secret.clone()).await,
            "unpublish" => site.owns("UnpublishStatusPage").await,
            "delete" => site.owns("DeleteStatusPage").await,
            _ => site.update(moved.clone()).await,
        }
        site.watched.server.running().app().store.clone().close().await.unwrap();
        for path in &everything {
            let answer = site.ask(At::Slug, path, &[]).await;
            assert_eq!(answer.status(), StatusCode::SERVICE_UNAVAILABLE, "{change}: {path}");
            let text = body(answer).await;
            assert!(!text.contains("API") && !text.contains("Mail"), "{change}: {path}: {text}");
        }
    }
}

// issue 7: "when the database is away the last page is still served"
#[tokio::test]
async fn unrelated_change_keeps_the_last_page() {
    let target = well().await;
    let site = Site::open(&target).await;
    site.results(1).await;
    site.text("").await;
    site.update(json!({ "description": "What we ran" })).await;
    site.watched.server.running().app().store.clone().close().await.unwrap();
    assert!(site.text("").await.contains("Live data is unavailable"));
}
