//! Serves the documentation: the embedded Markdown of `docs/` as pages at `/docs`, with a search of its
//! own.
//!
//! The content belongs to `docs/`. The domain of a status page serves only that page.

mod blocks;
mod colour;
mod document;
mod frame;
mod html;
mod links;
mod list;
mod openapi;
mod pages;
mod reading;
mod respond;
mod search;
mod shelf;
mod style;

use std::sync::Arc;

use axum::Router;
use axum::extract::rejection::PathRejection;
use axum::extract::{Path, RawQuery, State};
use axum::response::Response;
use axum::routing::{MethodRouter, get};
use http::{HeaderMap, StatusCode};

use self::document::Document;
use self::respond::{answer, busy, is_browser, moved, prefers};
use self::shelf::{Busy, Docs, HTML, Leaf, Thing};
use crate::said::{Encoding, Said};

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

type Shared = Arc<Docs>;

/// Returns the routes of the documentation and of the server's root, which links to it. `origin` is the
/// public URL of the server without a slash at the end, if known.
pub(crate) fn routes(origin: Option<&str>) -> Router {
    Router::new()
        .route("/", get(front))
        .route(BASE, get(home))
        .route("/docs/", get(async || moved(BASE)))
        .route("/docs/search", get(search))
        .route("/docs/llms.txt", thing(Thing::List))
        .route("/docs/docs.js", thing(Thing::Script))
        .route("/docs/icon.svg", thing(Thing::Icon))
        .route("/docs/reference/openapi.json", thing(Thing::OpenApi))
        // The usual address of the OpenAPI description.
        .route("/openapi.json", thing(Thing::OpenApi))
        .route("/v1/openapi.json", thing(Thing::OpenApi))
        .route("/docs/{*path}", get(page))
        .with_state(Arc::new(Docs::new(origin.map(str::to_owned))))
}

fn thing(thing: Thing) -> MethodRouter<Shared> {
    get(move |State(docs): State<Shared>, headers: HeaderMap| async move {
        show(&docs, thing, &headers).await
    })
}

async fn show(docs: &Docs, thing: Thing, headers: &HeaderMap) -> Response {
    let leaf = docs.leaf(thing, Encoding::wanted(headers)).await;
    respond(leaf, StatusCode::OK, headers)
}

/// Returns the resource, or 503 if the queue is full.
fn respond(leaf: Result<Leaf, Busy>, status: StatusCode, headers: &HeaderMap) -> Response {
    leaf.map_or_else(|Busy| busy(), |leaf| answer(leaf, status, headers))
}

/// Serves the root of the server.
async fn front(State(docs): State<Shared>, headers: HeaderMap) -> Response {
    let thing = if is_browser(&headers) { Thing::Front } else { Thing::FrontText };
    show(&docs, thing, &headers).await
}

async fn home(State(docs): State<Shared>, headers: HeaderMap) -> Response {
    let thing = if prefers(&headers, MARKDOWN) { Thing::List } else { Thing::Home };
    show(&docs, thing, &headers).await
}

/// Serves a document as a page or as Markdown, or another file.
async fn page(
    State(docs): State<Shared>,
    path: Result<Path<String>, PathRejection>,
    headers: HeaderMap,
) -> Response {
    // A path that is not UTF-8 matches no document.
    let path = path.map_or_else(|_| String::new(), |Path(path)| path);
    let address = format!("{BASE}/{path}");
    let bare = address.trim_end_matches('/');
    let read_at = |document: &&Document| document.address() == bare;
    if let Some(document) = list::documents().find(read_at) {
        let thing = match prefers(&headers, MARKDOWN) {
            _ if bare != address => return moved(bare),
            true => Thing::Markdown(document.path),
            false => Thing::Document(document.path),
        };
        return show(&docs, thing, &headers).await;
    }
    if let Some(document) = list::documents().find(|it| it.path == path) {
        return show(&docs, Thing::Markdown(document.path), &headers).await;
    }
    if let Some(file) = list::FILES.iter().find(|it| it.path == path) {
        return show(&docs, Thing::File(file.path), &headers).await;
    }
    if let Some(place) = near(&address) {
        return moved(&place);
    }
    let encoding = Encoding::wanted(&headers);
    let missing = move || Leaf::of(&Said::of(HTML, pages::missing(&path)), encoding);
    respond(docs.make(missing).await, StatusCode::NOT_FOUND, &headers)
}

/// Returns the address of a page that was requested by its file name without extension, or by its
/// folder with a slash.
fn near(address: &str) -> Option<String> {
    let document =
        list::documents().find(|it| format!("{BASE}/{}", it.path) == format!("{address}.md"));
    let folder = address.strip_suffix(".md");
    let index = list::documents().find(|it| Some(it.address().as_str()) == folder);
    document.map(Document::address).or_else(|| index.map(Document::markdown_address))
}

/// Serves the search results as a page, or as JSON for the script.
async fn search(State(docs): State<Shared>, query: RawQuery, headers: HeaderMap) -> Response {
    let query = query.0.unwrap_or_default();
    let mut pairs = url::form_urlencoded::parse(query.as_bytes());
    let written = pairs.find(|(name, _)| name == "q").map_or_else(String::new, |(_, it)| it.into());
    let (encoding, is_json) = (Encoding::wanted(&headers), prefers(&headers, JSON));
    let results = docs.look_up(move |index| {
        let found = index.search(&written);
        let said = if is_json {
            Said::of(JSON, found.json().to_string())
        } else {
            Said::of(HTML, pages::results(&found))
        };
        Leaf::of(&said, encoding)
    });
    respond(results.await, StatusCode::OK, &headers)
}
