//! Serves the documentation: the embedded Markdown of `docs/` as pages at `/docs`, with a search of its
//! own.
//!
//! The content belongs to `docs/`. The domain of a status page serves only that page.

mod assets;
mod blocks;
mod cache;
mod catalog;
mod document;
mod handlers;
mod highlight;
mod html;
mod layout;
mod links;
mod markdown;
mod openapi;
mod pages;
mod search;

use std::sync::Arc;

use axum::Router;
use axum::extract::rejection::PathRejection;
use axum::extract::{Path, RawQuery, State};
use axum::response::Response;
use axum::routing::{MethodRouter, get};
use http::{HeaderMap, StatusCode};

use self::cache::{CachedDocument, Docs, HTML, Overloaded, StaticResource};
use self::document::Document;
use self::handlers::{answer, busy, is_browser, moved, prefers};
use crate::http_body::{EncodedBody, Encoding};

/// Path of the documentation.
const BASE: &str = "/docs";
/// Name of the product.
const NAME: &str = "Aloft";
/// One-sentence description of the product.
const SENTENCE: &str =
    "Uptime monitoring from many regions, with alerts that arrive and status pages that stay up.";
/// Content types of Markdown and of the script.
const MARKDOWN: &str = "text/markdown";
const JSON: &str = "application/json";

type SharedDocs = Arc<Docs>;

/// Returns the routes of the documentation and of the server's root, which links to it. `origin` is the
/// public URL of the server without a slash at the end, if known.
pub(crate) fn routes(origin: Option<&str>) -> Router {
    Router::new()
        .route("/", get(front))
        .route(BASE, get(home))
        .route("/docs/", get(async || moved(BASE)))
        .route("/docs/search", get(search))
        .route("/docs/llms.txt", thing(StaticResource::List))
        .route("/docs/docs.js", thing(StaticResource::Script))
        .route("/docs/icon.svg", thing(StaticResource::Icon))
        .route("/docs/reference/openapi.json", thing(StaticResource::OpenApi))
        // The usual address of the OpenAPI description.
        .route("/openapi.json", thing(StaticResource::OpenApi))
        .route("/v1/openapi.json", thing(StaticResource::OpenApi))
        .route("/docs/{*path}", get(page))
        .with_state(Arc::new(Docs::new(origin.map(str::to_owned))))
}

fn thing(thing: StaticResource) -> MethodRouter<SharedDocs> {
    get(move |State(docs): State<SharedDocs>, headers: HeaderMap| async move {
        show(&docs, thing, &headers).await
    })
}

async fn show(docs: &Docs, thing: StaticResource, headers: &HeaderMap) -> Response {
    let leaf = docs.leaf(thing, Encoding::wanted(headers)).await;
    respond(leaf, StatusCode::OK, headers)
}

/// Returns the resource, or 503 if the queue is full.
fn respond(
    leaf: Result<CachedDocument, Overloaded>,
    status: StatusCode,
    headers: &HeaderMap,
) -> Response {
    leaf.map_or_else(|Overloaded| busy(), |leaf| answer(leaf, status, headers))
}

/// Serves the root of the server.
async fn front(State(docs): State<SharedDocs>, headers: HeaderMap) -> Response {
    let thing =
        if is_browser(&headers) { StaticResource::Front } else { StaticResource::FrontText };
    show(&docs, thing, &headers).await
}

async fn home(State(docs): State<SharedDocs>, headers: HeaderMap) -> Response {
    let thing =
        if prefers(&headers, MARKDOWN) { StaticResource::List } else { StaticResource::Home };
    show(&docs, thing, &headers).await
}

/// Serves a document as a page or as Markdown, or another file.
async fn page(
    State(docs): State<SharedDocs>,
    path: Result<Path<String>, PathRejection>,
    headers: HeaderMap,
) -> Response {
    // A path that is not UTF-8 matches no document.
    let path = path.map_or_else(|_| String::new(), |Path(path)| path);
    let address = format!("{BASE}/{path}");
    let bare = address.trim_end_matches('/');
    let read_at = |document: &&Document| document.address() == bare;
    if let Some(document) = catalog::documents().find(read_at) {
        let thing = match prefers(&headers, MARKDOWN) {
            _ if bare != address => return moved(bare),
            true => StaticResource::Markdown(document.path),
            false => StaticResource::Document(document.path),
        };
        return show(&docs, thing, &headers).await;
    }
    if let Some(document) = catalog::documents().find(|it| it.path == path) {
        return show(&docs, StaticResource::Markdown(document.path), &headers).await;
    }
    if let Some(file) = catalog::FILES.iter().find(|it| it.path == path) {
        return show(&docs, StaticResource::File(file.path), &headers).await;
    }
    if let Some(place) = near(&address) {
        return moved(&place);
    }
    let encoding = Encoding::wanted(&headers);
    let missing =
        move || CachedDocument::of(&EncodedBody::of(HTML, pages::missing(&path)), encoding);
    respond(docs.make(missing).await, StatusCode::NOT_FOUND, &headers)
}

/// Returns the address of a page that was requested by its file name without extension, or by its
/// folder with a slash.
fn near(address: &str) -> Option<String> {
    let document =
        catalog::documents().find(|it| format!("{BASE}/{}", it.path) == format!("{address}.md"));
    let folder = address.strip_suffix(".md");
    let index = catalog::documents().find(|it| Some(it.address().as_str()) == folder);
    document.map(Document::address).or_else(|| index.map(Document::markdown_address))
}

/// Serves the search results as a page, or as JSON for the script.
async fn search(State(docs): State<SharedDocs>, query: RawQuery, headers: HeaderMap) -> Response {
    let query = query.0.unwrap_or_default();
    let mut pairs = url::form_urlencoded::parse(query.as_bytes());
    let written = pairs.find(|(name, _)| name == "q").map_or_else(String::new, |(_, it)| it.into());
    let (encoding, is_json) = (Encoding::wanted(&headers), prefers(&headers, JSON));
    let results = docs.look_up(move |index| {
        let found = index.search(&written);
        let said = if is_json {
            EncodedBody::of(JSON, found.json().to_string())
        } else {
            EncodedBody::of(HTML, pages::results(&found))
        };
        CachedDocument::of(&said, encoding)
    });
    respond(results.await, StatusCode::OK, &headers)
}
