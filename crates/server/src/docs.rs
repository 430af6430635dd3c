//! The documentation as people read it: the Markdown below `docs/`, which lies in the program, as pages at
//! `/docs`, with a search that needs nobody else. What is written there is not decided here; nor does it
//! say anything at the domain of a status page, where everything is that page's.

mod blocks;
mod colour;
mod document;
mod frame;
mod html;
mod links;
mod list;
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
use axum::response::{IntoResponse as _, Response};
use axum::routing::{MethodRouter, get};
use http::header::CONTENT_TYPE;
use http::{HeaderMap, StatusCode};

use self::document::Document;
use self::respond::{answer, is_browser, moved, prefers};
use self::shelf::{Docs, HTML, Leaf, Thing};
use crate::said::{Encoding, Said};

/// Where all of it is.
const BASE: &str = "/docs";
/// The product as people call it.
const NAME: &str = "Aloft";
/// What it is.
const SENTENCE: &str =
    "Uptime monitoring from many regions, with alerts that arrive and status pages that stay up.";
/// How programs are answered that want Markdown, and the script.
const MARKDOWN: &str = "text/markdown";
const JSON: &str = "application/json";

type Shared = Arc<Docs>;

/// The routes of the documentation, and of the server's root, which leads to it. `origin` is where the
/// server is reached from outside, without a slash at the end, where that is known.
pub(crate) fn routes(origin: Option<&str>) -> Router {
    Router::new()
        .route("/", get(front))
        .route(BASE, get(home))
        .route("/docs/", get(async || moved(BASE)))
        .route("/docs/search", get(search))
        .route("/docs/llms.txt", thing(Thing::List))
        .route("/docs/docs.js", thing(Thing::Script))
        .route("/docs/icon.svg", thing(Thing::Icon))
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
    answer(leaf, StatusCode::OK, headers)
}

/// What this server is, to whom came without a path.
async fn front(State(docs): State<Shared>, headers: HeaderMap) -> Response {
    if is_browser(&headers) {
        return show(&docs, Thing::Front, &headers).await;
    }
    let text = pages::front_text(docs.origin());
    ([(CONTENT_TYPE, "text/plain; charset=utf-8")], text).into_response()
}

async fn home(State(docs): State<Shared>, headers: HeaderMap) -> Response {
    let thing = if prefers(&headers, MARKDOWN) { Thing::List } else { Thing::Home };
    show(&docs, thing, &headers).await
}

/// A document, as a page or as it was written, or a file beside it.
async fn page(
    State(docs): State<Shared>,
    path: Result<Path<String>, PathRejection>,
    headers: HeaderMap,
) -> Response {
    // What is no text is the name of nothing.
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
    said(&docs, StatusCode::NOT_FOUND, &headers, move || Said::of(HTML, pages::missing(&path)))
        .await
}

/// Where a page is that somebody asked for by another of its names: that of its file, without its ending, or
/// that of its folder, with one.
fn near(address: &str) -> Option<String> {
    let document =
        list::documents().find(|it| format!("{BASE}/{}", it.path) == format!("{address}.md"));
    let folder = address.strip_suffix(".md");
    let index = list::documents().find(|it| Some(it.address().as_str()) == folder);
    document.map(Document::address).or_else(|| index.map(Document::markdown_address))
}

/// What is found, as a page or for the script.
async fn search(State(docs): State<Shared>, query: RawQuery, headers: HeaderMap) -> Response {
    let query = query.0.unwrap_or_default();
    let mut pairs = url::form_urlencoded::parse(query.as_bytes());
    let written = pairs.find(|(name, _)| name == "q").map_or_else(String::new, |(_, it)| it.into());
    let index = docs.index().await;
    let is_json = prefers(&headers, JSON);
    said(&docs, StatusCode::OK, &headers, move || {
        let found = index.search(&written);
        if is_json {
            Said::of(JSON, found.json().to_string())
        } else {
            Said::of(HTML, pages::results(&found))
        }
    })
    .await
}

/// What is made for one request.
async fn said(
    docs: &Docs,
    status: StatusCode,
    headers: &HeaderMap,
    say: impl FnOnce() -> Said + Send + 'static,
) -> Response {
    let encoding = Encoding::wanted(headers);
    let leaf = docs.make(move || Leaf::of(&say(), encoding)).await;
    answer(leaf, status, headers)
}
