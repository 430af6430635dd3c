//! Access to pages: one gate protects every path with content of a page, at each of its addresses.

use std::time::Duration;

use axum::response::Response;
use http::{Method, StatusCode};
use serde_json::{Value, json};
use testkit::target::ScriptedResponse;

use super::{At, Site, body, report, well};

/// Paths without content of any page: the script is the same for all, and a log-in link shows a
/// button.
const OPEN: [&str; 2] = ["/live.js", "/enter/{token}"];

/// Paths with a token of a subscriber. Module `subscribe` covers them.
const TOKEN_PATHS: [&str; 3] = ["/confirm/{token}", "/manage/{token}", "/unsubscribe/{token}"];

/// Returns the subpaths that a page serves on GET, with these IDs in place of parameters.
fn paths(component: &str, report: &str, incident: &str) -> Vec<String> {
    let is_walked = |path: &&str| !OPEN.contains(path) && !TOKEN_PATHS.contains(path);
    let paths = pages::page_paths().filter(is_walked);
    paths
        .map(|path| {
            let path = match path {
                "/component/{id}" => path.replace("{id}", component),
                "/component/{id}/{range}" => format!("/component/{component}/30d"),
                "/incident/{id}" => path.replace("{id}", incident),
                "/history/{month}" => path.replace("{month}", "2026-11"),
                "/report/{id}" => path.replace("{id}", report),
                "/day/{date}" => path.replace("{date}", "2026-11-21"),
                path => path.to_owned(),
            };
            assert!(!path.contains('{'), "say above what `{path}` names");
            path
        })
        .collect()
}

/// Returns all subpaths with content of the page. One of them shows an open incident.
pub(super) async fn everything(site: &Site) -> Vec<String> {
    let report = report::opened(site).await;
    let json: Value = serde_json::from_str(&site.text("/status.json").await).unwrap();
    let id = |what: &Value| what["id"].as_str().unwrap().to_owned();
    let component = id(&json["sections"][0]["component"]);
    paths(&component, &id(&report), &id(&json["openIncidents"][0]))
}

/// Returns the status of a rejected request, after checking that the rest reveals nothing.
async fn shut(answer: Response, path: &str, at: At) -> StatusCode {
    let (status, cache) = (answer.status(), answer.headers().get("cache-control").cloned());
    let text = body(answer).await;
    for paths in ["API", "Mail", "What we run"] {
        assert!(!text.contains(paths), "{path} {at:?} tells {text}");
    }
    assert_eq!(cache.unwrap(), "private, no-store", "{path} {at:?}");
    status
}

// issue 7: "One gate before HTML, JSON, feeds, badges, images, SSE, and the custom domain alike: a test
// walks all routes × access types"
#[tokio::test]
async fn all_page_routes_enforce_the_access_check() {
    let target = well().await;
    target.on("/", ScriptedResponse::status(503));
    let site = Site::open(&target).await;
    site.results(1).await;
    site.has_a_domain().await;
    let everything = everything(&site).await.into_iter();
    let all: Vec<(String, At)> =
        everything.flat_map(|path| At::BOTH.map(|at| (path.clone(), at))).collect();
    for (path, at) in &all {
        let open = site.ask(*at, path, &[]).await;
        assert_eq!(open.status(), StatusCode::OK, "{path} {at:?}");
    }
    site.update(json!({ "accessType": "password", "password": "open sesame" })).await;
    let (status, cookie) = site.unlock("open+sesame").await;
    let cookie = cookie.unwrap();
    assert_eq!(status, StatusCode::SEE_OTHER);
    for (path, at) in &all {
        let answer = site.ask(*at, path, &[]).await;
        assert_eq!(shut(answer, path, *at).await, StatusCode::UNAUTHORIZED, "{path} {at:?}");
        let forged = site.ask(*at, path, &[("cookie", &cookie.replace('.', ".A"))]).await;
        assert_eq!(shut(forged, path, *at).await, StatusCode::UNAUTHORIZED, "{path} {at:?}");
        let open = site.ask(*at, path, &[("cookie", &cookie)]).await;
        assert_eq!(open.status(), StatusCode::OK, "{path} {at:?}");
        assert!(!is_public(&open), "{path} {at:?}");
    }
    site.update(json!({ "accessType": "email-domain", "authEmailDomains": ["acme.com"] })).await;
    for (path, at) in &all {
        let answer = site.ask(*at, path, &[("cookie", &cookie)]).await;
        assert_eq!(shut(answer, path, *at).await, StatusCode::FORBIDDEN, "{path} {at:?}");
    }
    site.owns("UnpublishStatusPage").await;
    for (path, at) in &all {
        let answer = site.ask(*at, path, &[("cookie", &cookie)]).await;
        assert_eq!(shut(answer, path, *at).await, StatusCode::NOT_FOUND, "{path} {at:?}");
    }
}

#[tokio::test]
async fn password_form_asks_for_no_key() {
    let target = well().await;
    let site = Site::open(&target).await;
    site.update(json!({ "accessType": "password", "password": "open sesame" })).await;
    let form = "application/x-www-form-urlencoded";
    let wrong = site.anybody().send(Method::POST, "/status/acme/unlock", form, "password=x").await;
    for reply in [site.visit("", &[]).await, wrong] {
        assert_eq!(reply.status, StatusCode::UNAUTHORIZED);
        assert!(!reply.headers.contains_key("www-authenticate"), "{reply}");
    }
}

#[tokio::test]
async fn only_password_pages_have_an_unlock_form() {
    let target = well().await;
    let site = Site::open(&target).await;
    assert_eq!(site.unlock("x").await, (StatusCode::NOT_FOUND, None));
    site.update(json!({ "accessType": "email-domain", "authEmailDomains": ["acme.com"] })).await;
    assert_eq!(site.unlock("x").await, (StatusCode::NOT_FOUND, None));
    site.update(json!({ "accessType": "password", "password": "open sesame" })).await;
    assert_eq!(site.unlock("open+sesame").await.0, StatusCode::SEE_OTHER);
}

#[tokio::test]
async fn unknown_path_on_domain_gets_not_found_page() {
    let target = well().await;
    let site = Site::open(&target).await;
    site.has_a_domain().await;
    let answer = site.ask(At::Domain, "/nonsense", &[("accept-language", "de")]).await;
    assert_eq!(answer.status(), StatusCode::NOT_FOUND);
    let text = body(answer).await;
    assert!(text.contains("<html lang=\"de\"") && text.contains("Seite nicht gefunden"), "{text}");
}

fn is_public(answer: &Response) -> bool {
    answer.headers()["cache-control"].to_str().unwrap().contains("public")
}

// issue 7: "under `/status/{slug}` (a custom domain's root)"
#[tokio::test]
async fn custom_domain_serves_the_page_with_own_links() {
    let target = well().await;
    let site = Site::open(&target).await;
    site.has_a_domain().await;
    let slug = body(site.ask(At::Slug, "", &[]).await).await;
    let domain = body(site.ask(At::Domain, "", &[]).await).await;
    assert!(slug.contains("href=\"/status/acme/day/2026-11-21\""), "{slug}");
    assert!(domain.contains("href=\"/day/2026-11-21\""), "{domain}");
    assert!(domain.contains("<a href=\"/\">Acme"), "{domain}");
    assert!(!domain.contains("/status/acme"), "{domain}");
    let feed = body(site.ask(At::Domain, "/feed.atom", &[]).await).await;
    assert!(feed.contains("href=\"https://status.acme.example/feed.atom\""), "{feed}");
    let made = site.metric("aloft_page_build_seconds_count").await;
    assert_eq!(made, 1, "it is made once for both addresses");
    site.update(json!({ "slug": "other" })).await;
    assert_eq!(site.ask(At::Slug, "", &[]).await.status(), StatusCode::NOT_FOUND);
    assert_eq!(site.ask(At::Domain, "", &[]).await.status(), StatusCode::OK);
}

// design: §6 "Log-ins, page passwords and keys are rate-limited"
#[tokio::test]
async fn password_attempts_are_limited_and_change_ends_sessions() {
    let target = well().await;
    let site = Site::open(&target).await;
    site.update(json!({ "accessType": "password", "password": "first" })).await;
    let cookie = site.unlock("first").await.1.unwrap();
    for _ in 0..4 {
        assert_eq!(site.unlock("wrong").await, (StatusCode::UNAUTHORIZED, None));
    }
    assert_eq!(site.unlock("first").await, (StatusCode::TOO_MANY_REQUESTS, None));
    let form = "application/x-www-form-urlencoded";
    let refused =
        site.anybody().send(Method::POST, "/status/acme/unlock", form, "password=x").await;
    assert_eq!(refused.headers["retry-after"], "12");
    site.watched.server.advance(Duration::from_mins(1));
    assert_eq!(site.unlock("first").await.0, StatusCode::SEE_OTHER);
    assert_eq!(site.visit("", &[("cookie", &cookie)]).await.status, StatusCode::OK);
    site.update(json!({ "password": "second" })).await;
    assert_eq!(site.visit("", &[("cookie", &cookie)]).await.status, StatusCode::UNAUTHORIZED);
    let cookie = site.unlock("second").await.1.unwrap();
    site.watched.server.advance(Duration::from_hours(12));
    assert_eq!(site.visit("", &[("cookie", &cookie)]).await.status, StatusCode::UNAUTHORIZED);
}
