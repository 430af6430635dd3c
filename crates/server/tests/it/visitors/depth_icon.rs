//! Icons of pages. The server fetches and serves them, limits their size and detects their type by
//! the first bytes.

use std::time::Duration;

use http::StatusCode;
use serde_json::json;
use testkit::server::{Reply, STATUS_PAGES, TestServer};
use testkit::target::{HttpTarget, ScriptedResponse};

use super::{Site, made, well};

const PNG: &[u8] = b"\x89PNG\r\n\x1a\nnot much of a picture";

async fn icon(site: &Site) -> Reply {
    let reply = site.visit("/icon", &[]).await;
    assert_eq!(reply.status, StatusCode::OK, "{reply}");
    reply
}

fn is_ours(reply: &Reply) -> bool {
    reply.headers["content-type"] == "image/svg+xml" && reply.body.starts_with(b"<svg ")
}

fn asked(target: &HttpTarget, path: &str) -> usize {
    target.received().iter().filter(|request| request.target == path).count()
}

// design: §6 "Every outgoing request of the product (checks, channels, icons) goes through one egress client"
#[tokio::test]
async fn icon_is_fetched_once_and_served_locally() {
    let target = well().await;
    target.on("/moved", ScriptedResponse::redirect(302, "/i.png"));
    target.on("/i.png", ScriptedResponse::ok(PNG).header("content-type", "text/html"));
    let site = Site::open(&target).await;
    let plain = icon(&site).await;
    assert!(is_ours(&plain), "a page without one has a small one of our own");
    assert!(!site.text("").await.contains("<img "), "which is not shown beside the title");
    site.update(json!({ "icon": target.url("/moved") })).await;
    let shown = icon(&site).await;
    assert_eq!(
        (&shown.body[..], &shown.headers["content-type"]),
        (PNG, &"image/png".parse().unwrap())
    );
    for (name, value) in [
        ("x-content-type-options", "nosniff"),
        ("content-security-policy", "default-src 'none'; style-src 'unsafe-inline'; sandbox"),
    ] {
        assert_eq!(shown.headers[name], value);
    }
    let etag = shown.headers["etag"].to_str().unwrap();
    let again = site.visit("/icon", &[("if-none-match", etag)]).await;
    assert_eq!((again.status, again.body.len()), (StatusCode::NOT_MODIFIED, 0));
    assert_eq!(asked(&target, "/i.png"), 1);
    let home = site.text("").await;
    assert!(home.contains("<link rel=\"icon\" href=\"/status/acme/icon\">"), "{home}");
    assert!(home.contains("<img src=\"/status/acme/icon\" alt=\"\""), "{home}");
    assert!(!home.contains(&target.url("/")), "visitors ask nobody else");
    target.on("/i.png", ScriptedResponse::status(500));
    site.watched.server.advance(Duration::from_hours(25));
    assert_eq!(&icon(&site).await.body[..], PNG, "the last one will do");
}

#[tokio::test]
async fn invalid_icon_is_replaced_and_retried_later() {
    let target = well().await;
    target.on(
        "/html",
        ScriptedResponse::ok("<!doctype html><svg></svg>").header("content-type", "image/png"),
    );
    let large = [PNG, &vec![0; 256 * 1024][..]].concat();
    target.on("/large", ScriptedResponse::ok(large));
    target.on("/gone", ScriptedResponse::status(404));
    target.on("/round", ScriptedResponse::redirect(302, "/round"));
    let site = Site::open(&target).await;
    for path in ["/html", "/large", "/gone", "/round"] {
        site.update(json!({ "icon": target.url(path) })).await;
        assert!(is_ours(&icon(&site).await), "{path}");
    }
    site.update(json!({ "icon": target.url("/gone") })).await;
    assert!(is_ours(&icon(&site).await));
    let before = asked(&target, "/gone");
    assert!(is_ours(&icon(&site).await));
    assert_eq!(asked(&target, "/gone"), before, "not at once");
    target.on("/gone", ScriptedResponse::ok(PNG));
    site.watched.server.advance(Duration::from_mins(11));
    assert_eq!(&icon(&site).await.body[..], PNG);
}

// design: §6 "Private and loopback networks are open to checks, channels and icons only with `--allow-private-networks`"
#[tokio::test]
async fn icon_on_private_network_is_not_fetched() {
    let target = HttpTarget::start().await;
    target.on("/i.png", ScriptedResponse::ok(PNG));
    let server = TestServer::start_with(|settings| settings.allow_private_networks = false).await;
    let owner = server.caller(rules::Scope::Write);
    let page = json!({ "title": "Acme", "slug": "acme", "icon": target.url("/i.png") });
    let page = made(&owner, "CreateStatusPage", "statusPage", page).await;
    let reply = server.with_key("nobody").get("/status/acme/icon").await;
    assert!(reply.status == 200 && is_ours(&reply), "{reply}");
    assert_eq!(target.received().len(), 0);
    let reply = owner.call(STATUS_PAGES, "DeleteStatusPage", json!({ "id": page["id"] })).await;
    assert_eq!(reply.status, 200, "{reply}");
    assert_eq!(server.with_key("nobody").get("/status/acme/icon").await.status, 404);
}
