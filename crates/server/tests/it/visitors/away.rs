//! What visitors see when it cannot be as it is: while the database is away, and while a page is made
//! anew.

use std::time::Duration;

use http::StatusCode;
use serde_json::{Value, json};
use testkit::server::START;
use testkit::target::Answer;

use super::gate::everything;
use super::{At, Site, body, well};
use crate::pipeline::until;

/// What says nothing of how things are.
const TIMELESS: [&str; 3] = ["/events", "/icon", "/subscribe"];

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

// issue 7: "when the database is away the last page is still served and says how old it is"
#[tokio::test]
async fn while_the_database_is_away_every_form_is_said_with_its_age() {
    let target = well().await;
    target.on("/", Answer::status(503));
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
async fn where_only_time_has_passed_a_page_is_shown_while_it_is_made_anew() {
    let target = well().await;
    let site = Site::open(&target).await;
    site.results(1).await;
    let answer = site.ask(At::Slug, "/status.json", &[]).await;
    let cache = answer.headers()["cache-control"].to_str().unwrap().to_owned();
    assert_eq!(cache, "public, max-age=0, stale-while-revalidate=30, stale-if-error=86400");
    let at = async || {
        let json = body(site.ask(At::Slug, "/status.json", &[]).await).await;
        let json: Value = serde_json::from_str(&json).unwrap();
        json["at"].as_str().unwrap().to_owned()
    };
    let long = Duration::from_secs(6);
    site.watched.server.advance(long);
    assert_eq!(at().await, START.to_string());
    let later = (START + long).to_string();
    until(async || (at().await == later).then_some(())).await;
}

// issue 7: "stale-while-revalidate"
#[tokio::test]
async fn a_page_that_nobody_looked_at_for_long_is_made_anew_first() {
    let target = well().await;
    let site = Site::open(&target).await;
    site.results(1).await;
    assert!(site.text("/status.json").await.contains(&START.to_string()));
    let long = Duration::from_secs(20);
    site.watched.server.advance(long);
    let json: Value = serde_json::from_str(&site.text("/status.json").await).unwrap();
    assert_eq!(json["at"], json!((START + long).to_string()));
}
