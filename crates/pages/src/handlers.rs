//! Serves the representations, badges and icon of a page from the caches.

use std::sync::Arc;

use axum::response::Response;
use http::header::CONTENT_SECURITY_POLICY;
use http::{HeaderMap, StatusCode};
use web::http_body::{EncodedBody, Encoding};

use super::address::PageAddress;
use super::badge::{BadgeMetric, BadgeQuery};
use super::cache::RenderJob;
use super::cache_rule::CacheRule;
use super::details::latencies;
use super::icon::Icon;
use super::representation::{DetailBodyKey, DetailContent, Representation};
use super::responses::{build_response, cache_rule, find, finish, language, unavailable, variant};
use super::{badge, widget};
use crate::Pages;

/// Responds with a representation of a page.
pub(super) async fn serve_representation(
    pages: Pages,
    address: PageAddress,
    representation: Representation,
    headers: HeaderMap,
) -> Response {
    let variant = variant(&address, &headers);
    let (cached, _) = match find(&pages, &address, variant.words, &headers).await {
        Ok(found) => found,
        Err(refusal) => return *refusal,
    };
    let encoding =
        if representation.is_image() { Encoding::Identity } else { Encoding::negotiate(&headers) };
    let Some(body) = cached.representation(representation, variant, encoding).await else {
        return unavailable(variant.words, &headers);
    };
    let rule = cache_rule(&cached.snapshot.page);
    let mut response =
        finish(&pages, &cached.snapshot, build_response(&body, StatusCode::OK, rule, &headers));
    if representation == Representation::Widget && rule == CacheRule::Public {
        response.headers_mut().insert(CONTENT_SECURITY_POLICY, widget::policy());
    }
    response
}

/// Responds with a badge. The query is validated only after the access check.
pub(super) async fn serve_badge(
    pages: Pages,
    address: PageAddress,
    (metric, query): (BadgeMetric, Option<String>),
    headers: HeaderMap,
) -> Response {
    let variant = variant(&address, &headers);
    let (cached, _) = match find(&pages, &address, variant.words, &headers).await {
        Ok(found) => found,
        Err(refusal) => return *refusal,
    };
    let snapshot = &cached.snapshot;
    let refused = |status, sentence: &str| {
        let body = EncodedBody::new("text/plain; charset=utf-8", format!("{sentence}\n"));
        finish(
            &pages,
            snapshot,
            build_response(&body, status, cache_rule(&snapshot.page), &headers),
        )
    };
    let badge_query = match BadgeQuery::parse(metric, query.as_deref()) {
        Err(wrong) => return refused(StatusCode::BAD_REQUEST, &wrong),
        Ok(badge_query) if !badge::has_component(snapshot, &badge_query) => {
            return refused(StatusCode::NOT_FOUND, &badge::unknown_component(&badge_query));
        }
        Ok(badge_query) => badge_query,
    };
    let key = DetailBodyKey { content: DetailContent::Badge(badge_query), variant };
    let encoding = Encoding::negotiate(&headers);
    let body = cached.detail_body(key, encoding, || async {
        let latency = match metric {
            BadgeMetric::State | BadgeMetric::Uptime => None,
            BadgeMetric::Latency => {
                Some(latencies::read(&pages, snapshot, badge_query.component).await)
            }
        };
        let snapshot = Arc::clone(snapshot);
        let work = move || {
            let svg = badge::badge(&snapshot, variant.words, &badge_query, latency.as_ref());
            EncodedBody::new("image/svg+xml", svg)
        };
        Ok(Some(Box::new(work) as RenderJob))
    });
    // A badge without latencies says so.
    match body.await.ok().flatten() {
        Some(body) => finish(
            &pages,
            snapshot,
            build_response(&body, StatusCode::OK, cache_rule(&snapshot.page), &headers),
        ),
        None => unavailable(variant.words, &headers),
    }
}

/// Responds with the icon of a page, subject to the page's access check.
pub(super) async fn serve_icon(pages: Pages, address: PageAddress, headers: HeaderMap) -> Response {
    let words = language(&headers);
    let cached = match find(&pages, &address, words, &headers).await {
        Ok((cached, _)) => cached,
        Err(refusal) => return *refusal,
    };
    let page = &cached.snapshot.page;
    let icon = match &page.settings.icon {
        Some(url) => pages.icons.get(page.id, url, pages.source.ctx.now()).await,
        None => None,
    };
    icon.unwrap_or_else(Icon::default_icon).response(cache_rule(page), &headers)
}
