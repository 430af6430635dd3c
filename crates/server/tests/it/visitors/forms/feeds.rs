//! Feeds, as other programs read them.
//!
//! Third-party libraries parse them, and one of them validates. The tests also check rules that no
//! library covers: those of RFC 4287, RSS 2.0 and the W3C Feed Validator
//! (<https://validator.w3.org/feed/docs/>).

use std::time::Duration;

use atom_syndication::Feed;
use http::StatusCode;
use rss::Channel;
use rss::validation::Validate as _;
use serde_json::json;

use super::super::{Site, report, well};
use super::{header, published, text};

/// Opens a page with two entries: a resolved incident and planned maintenance.
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

// RFC 4287 §4.1.1 and §4.1.2: required elements of a feed and its entries
#[tokio::test]
async fn atom_feed_has_elements_required_by_rfc_4287() {
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
    // The library reads a missing element as empty, so count the elements in the text.
    for element in ["<id>", "<title>", "<updated>"] {
        assert_eq!(text.matches(element).count(), 3, "{element}");
    }
}

#[tokio::test]
async fn feed_rs_parses_both_feeds() {
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
    assert_eq!(forms().await, before, "checks that change nothing are no update");
}

/// Returns whether the link is an absolute HTTP URL.
fn is_whole(link: &str) -> bool {
    url::Url::parse(link).is_ok_and(|url| url.has_host() && url.scheme().starts_with("http"))
}

/// Returns the content of each element with this name and without attributes.
fn each<'a>(xml: &'a str, name: &str) -> Vec<&'a str> {
    let (open, close) = (format!("<{name}>"), format!("</{name}>"));
    xml.split(&open).skip(1).map(|rest| rest.split_once(&close).unwrap().0).collect()
}

/// Returns the values of this attribute in all elements.
fn attributes<'a>(xml: &'a str, name: &str) -> Vec<&'a str> {
    let open = format!(" {name}=\"");
    xml.split(&open).skip(1).map(|rest| rest.split_once('"').unwrap().0).collect()
}

// Rules of the W3C Feed Validator, by its names for them.
#[tokio::test]
async fn rss_feed_passes_w3c_validator_rules() {
    let (_target, site) = with_two_entries().await;
    report::opened(&site).await;
    let reply = site.visit("/feed.rss", &[]).await;
    // UnexpectedContentType, EncodingMismatch: the header matches the document.
    assert_eq!(header(&reply, "content-type"), "application/rss+xml; charset=utf-8");
    let xml = text(&reply);
    assert!(xml.starts_with("<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<rss version=\"2.0\""));
    let (channel, items) = xml.split_once("<item>").unwrap();
    // MissingElement: a channel has each element once, and each item has a title or a description.
    for name in ["title", "link", "description", "language", "lastBuildDate"] {
        assert_eq!(each(channel, name).len(), 1, "{name}: {channel}");
    }
    let count = items.split("<item>").count();
    assert_eq!(count, 3);
    for name in ["guid isPermaLink=\"false\"", "title", "link", "pubDate", "description"] {
        assert_eq!(items.matches(&format!("<{name}>")).count(), count, "{name}: {items}");
    }
    // MissingAtomSelfLink, SelfDoesntMatchLocation
    let own = "<atom:link rel=\"self\" type=\"application/rss+xml\" \
               href=\"https://up.example/status/acme/feed.rss\"/>";
    assert_eq!(xml.matches(own).count(), 1);
    // InvalidFullLink, ContainsRelRef
    let links = [each(&xml, "link"), attributes(&xml, "href")].concat();
    assert!(links.iter().all(|link| is_whole(link)), "{links:?}");
    // InvalidRFC2822Date, IncorrectDOW: with the day of the week, a year of four digits and a zone.
    for date in [each(&xml, "pubDate"), each(&xml, "lastBuildDate")].concat() {
        let read = jiff::fmt::rfc2822::parse(date).unwrap();
        assert_eq!(read.strftime("%a, %d %b %Y %H:%M:%S %z").to_string(), date);
    }
    // DuplicateItem
    let guids = xml.split("<guid isPermaLink=\"false\">").skip(1);
    let mut guids: Vec<_> = guids.map(|rest| rest.split_once('<').unwrap().0).collect();
    guids.sort_unstable();
    guids.dedup();
    assert_eq!(guids.len(), count);
    assert!(guids.iter().all(|guid| guid.starts_with("urn:aloft:")), "{guids:?}");
    // SecurityRisk, ContainsUndefinedEntity: a description is HTML with the user's text escaped.
    let descriptions: Vec<_> = Channel::read_from(xml.as_bytes())
        .unwrap()
        .items
        .into_iter()
        .filter_map(|it| it.description)
        .collect();
    let description =
        descriptions.iter().find(|description| description.contains("We look")).unwrap();
    assert!(description.contains("&lt;script&gt;alert(1)&lt;/script&gt;"), "{description}");
    for description in &descriptions {
        let bare = description.replace("<br>", "");
        assert!(!bare.contains(['<', '>', '\n']), "{description}");
    }
}

#[tokio::test]
async fn atom_feed_passes_w3c_validator_rules() {
    let (_target, site) = with_two_entries().await;
    report::opened(&site).await;
    let reply = site.visit("/feed.atom", &[("accept-language", "pt")]).await;
    assert_eq!(header(&reply, "content-type"), "application/atom+xml; charset=utf-8");
    let xml = text(&reply);
    let head = "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n\
                <feed xmlns=\"http://www.w3.org/2005/Atom\" xml:lang=\"pt\">";
    assert!(xml.starts_with(head), "{xml}");
    let (feed, entries) = xml.split_once("<entry>").unwrap();
    let count = entries.split("<entry>").count();
    assert_eq!(count, 3);
    // MissingElement, DuplicateElement: the author of the feed applies to its entries.
    for name in ["id", "title", "updated", "name"] {
        assert_eq!(each(feed, name).len(), 1, "{name}: {feed}");
    }
    for name in ["id", "title", "updated", "published"] {
        assert_eq!(each(entries, name).len(), count, "{name}: {entries}");
    }
    // MissingSelf, SelfDoesntMatchLocation, DuplicateAtomLink
    let own = "<link rel=\"self\" type=\"application/atom+xml\" \
               href=\"https://up.example/status/acme/feed.atom\"/>";
    assert_eq!(xml.matches(own).count(), 1);
    assert_eq!(xml.matches("rel=\"self\"").count(), 1);
    assert_eq!(xml.matches("rel=\"alternate\" type=\"text/html\"").count(), 1 + count);
    // InvalidFullLink, ContainsRelRef
    let links = attributes(&xml, "href");
    assert!(links.iter().all(|link| is_whole(link)), "{links:?}");
    // InvalidFullLink of ids, DuplicateEntries
    let mut ids = each(&xml, "id");
    assert!(ids.iter().all(|id| url::Url::parse(id).is_ok()), "{ids:?}");
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), 1 + count);
    // InvalidRFC3339Date
    for date in [each(&xml, "updated"), each(&xml, "published")].concat() {
        assert!(date.parse::<jiff::Timestamp>().is_ok() && date.ends_with('Z'), "{date}");
    }
    assert!(xml.contains("<content type=\"text\">") && !xml.contains("<script>"), "{xml}");
}

// InvalidFullLink: links are absolute even without a configured public URL.
#[tokio::test]
async fn feed_links_are_absolute_without_public_url() {
    let target = well().await;
    let site = Site::open(&target).await;
    site.results(1).await;
    site.turns(&target, false, 2).await;
    for form in ["/feed.rss", "/feed.atom"] {
        let xml = site.text(form).await;
        let links = [each(&xml, "link"), attributes(&xml, "href")].concat();
        assert!(links.len() > 2 && links.iter().all(|link| is_whole(link)), "{form}: {links:?}");
        assert!(links.iter().all(|link| link.starts_with("http://127.0.0.1:")), "{links:?}");
    }
    let v2 = site.read("/api/v2/summary.json").await;
    assert!(is_whole(v2["page"]["url"].as_str().unwrap()), "{v2}");
}

// issue 16 point 28: "add a JSON feed"
#[tokio::test]
async fn json_feed_has_the_entries_of_the_others() {
    let (_target, site) = with_two_entries().await;
    let feed: serde_json::Value = serde_json::from_str(&site.text("/feed.json").await).unwrap();
    assert_eq!(feed["version"], "https://jsonfeed.org/version/1.1");
    assert_eq!(feed["feed_url"], "https://up.example/status/acme/feed.json");
    let items = feed["items"].as_array().unwrap();
    let titles: Vec<_> = items.iter().map(|item| item["title"].as_str().unwrap()).collect();
    assert_eq!(titles, ["Maintenance: Moving & <more>", "API & more was down"]);
    for item in items {
        assert!(item["id"].as_str().unwrap().starts_with("urn:aloft:"), "{item}");
        assert!(item["url"].as_str().unwrap().starts_with("https://up.example/"), "{item}");
        let published = item["date_published"].as_str().unwrap();
        assert!(published.parse::<jiff::Timestamp>().is_ok(), "{item}");
        assert!(!item["content_text"].as_str().unwrap().is_empty(), "{item}");
    }
}
