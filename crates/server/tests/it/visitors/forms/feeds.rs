//! Feeds as others read them: by libraries of other people, one of which validates, and by the rules of RFC
//! 4287 and RSS 2.0 that no library holds.

use std::time::Duration;

use atom_syndication::Feed;
use http::StatusCode;
use rss::Channel;
use rss::validation::Validate as _;
use serde_json::json;

use super::super::well;
use super::{header, published, text};

/// Two entries: an incident that is over, and maintenance that is to come.
async fn with_two_entries() -> (testkit::target::HttpTarget, super::Site) {
    let target = well().await;
    let site = published(&target).await;
    site.results(1).await;
    site.turns(&target, false, 2).await;
    site.turns(&target, true, 3).await;
    let component = site.component().await;
    let planned = json!({
        "title": "Moving & <more>", "startsAt": "2026-11-23T06:00:00Z", "duration": "1h",
        "description": "To another\nhall", "componentIds": [component],
    });
    site.plan(planned).await;
    (target, site)
}

// issue 7: "feeds through a public validator library"
#[tokio::test]
async fn rss_is_valid() {
    let (_target, site) = with_two_entries().await;
    let feed = site.text("/feed.rss").await;
    let channel = Channel::read_from(feed.as_bytes()).unwrap();
    channel.validate().unwrap();
    assert_eq!(channel.link(), "https://up.example/status/acme");
    let own = channel.extensions()["atom"]["link"][0].attrs();
    assert_eq!((own["rel"].as_str(), own["type"].as_str()), ("self", "application/rss+xml"));
    assert_eq!(own["href"], "https://up.example/status/acme/feed.rss");
    assert_eq!(channel.language(), Some("en"));
    assert_eq!(channel.items().len(), 2);
    for item in channel.items() {
        assert!(item.title().is_some() && item.description().is_some());
        assert!(item.link().unwrap().starts_with("https://up.example/status/acme"));
        assert!(!item.guid().unwrap().is_permalink());
    }
    assert_eq!(channel.items()[0].title(), Some("Maintenance: Moving & <more>"));
    assert_eq!(channel.items()[1].title(), Some("API & more was down"));
}

// RFC 4287 §4.1.1 and §4.1.2: what a feed and its entries must have
#[tokio::test]
async fn atom_has_what_its_standard_asks_for() {
    let (_target, site) = with_two_entries().await;
    let text = site.text("/feed.atom").await;
    let feed = Feed::read_from(text.as_bytes()).unwrap();
    assert!(feed.id().starts_with("urn:aloft:page_"), "{}", feed.id());
    assert_eq!(feed.authors().len(), 1);
    let own: Vec<_> = feed.links().iter().filter(|link| link.rel() == "self").collect();
    assert_eq!(own.len(), 1);
    assert_eq!(own[0].href(), "https://up.example/status/acme/feed.atom");
    let mut ids: Vec<_> = feed.entries().iter().map(|entry| entry.id().to_owned()).collect();
    assert_eq!(ids.len(), 2);
    ids.dedup();
    assert_eq!(ids.len(), 2, "no two entries have one name");
    let newest = feed.entries().iter().map(|entry| *entry.updated()).max().unwrap();
    assert_eq!(*feed.updated(), newest);
    for entry in feed.entries() {
        assert!(entry.id().starts_with("urn:aloft:"), "{}", entry.id());
        assert!(entry.published().unwrap() <= entry.updated());
        assert!(!entry.title().as_str().is_empty());
        assert!(entry.content().unwrap().value().is_some());
        let links: Vec<_> = entry.links().iter().map(|link| (link.rel(), link.href())).collect();
        assert!(
            matches!(links[..], [("alternate", href)] if href.starts_with("https://up.example/"))
        );
    }
    // The library takes what is missing for empty; what it read is all there was.
    for element in ["<id>", "<title>", "<updated>"] {
        assert_eq!(text.matches(element).count(), 3, "{element}");
    }
}

#[tokio::test]
async fn both_feeds_are_read_by_a_reader_of_both() {
    let (_target, site) = with_two_entries().await;
    for form in ["/feed.atom", "/feed.rss"] {
        let feed = feed_rs::parser::parse(site.text(form).await.as_bytes()).unwrap();
        assert_eq!(feed.title.unwrap().content, "Acme <Ops>", "{form}");
        let titles: Vec<_> = feed
            .entries
            .iter()
            .map(|entry| entry.title.as_ref().unwrap().content.as_str())
            .collect();
        assert_eq!(titles, ["Maintenance: Moving & <more>", "API & more was down"], "{form}");
        assert!(feed.entries.iter().all(|entry| entry.published.is_some()), "{form}");
    }
}

#[tokio::test]
async fn a_feed_is_the_same_while_nothing_happens() {
    let (target, site) = with_two_entries().await;
    for form in ["/feed.atom", "/feed.rss", "/maintenance.ics"] {
        let first = site.visit(form, &[]).await;
        let (etag, modified) = (header(&first, "etag"), header(&first, "last-modified"));
        let since = site.visit(form, &[("if-modified-since", modified)]).await;
        assert_eq!(since.status, StatusCode::NOT_MODIFIED, "{form} of {modified}");
        let same = site.visit(form, &[("if-none-match", etag)]).await;
        assert_eq!((same.status, same.body.len()), (StatusCode::NOT_MODIFIED, 0), "{form}");
        let before = [("if-modified-since", "Fri, 20 Nov 2026 00:00:00 GMT")];
        assert_eq!(site.visit(form, &before).await.status, StatusCode::OK, "{form}");
    }
    let forms = async || {
        let (atom, rss) = (site.visit("/feed.atom", &[]).await, site.visit("/feed.rss", &[]).await);
        [text(&atom), text(&rss)]
    };
    let before = forms().await;
    for count in 4..7 {
        site.turns(&target, true, count).await;
    }
    site.watched.server.advance(Duration::from_secs(20));
    assert_eq!(forms().await, before, "checks that change nothing are no news");
}
