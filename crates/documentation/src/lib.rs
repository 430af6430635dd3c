//! The documentation: the embedded Markdown of `docs/` as pages at `/docs`, with a search of its own.
//! The content belongs to `docs/`.
//!
//! In reading order:
//! - Content: `catalog` lists all documents, `document` is one of them, `markdown` parses it, and
//!   `openapi` is the description of the API.
//! - Pages: `html` renders a document with its `blocks`, `links` and code (`fence`, `highlight`), and
//!   `escape` protects text. `layout` and `assets` surround it, and `pages` fills the templates.
//! - `search` finds sections.
//! - Requests: this file lists all paths, `cache` keeps what they return, and `handlers` builds
//!   responses.

mod assets;
mod blocks;
mod cache;
mod catalog;
mod document;
mod escape;
mod fence;
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
use web::http_body::{EncodedBody, Encoding};

use self::cache::{Docs, EncodedResource, HTML, Overloaded, StaticResource};
use self::document::Document;
use self::handlers::{build_response, overloaded, prefers, redirect};

/// Path of the documentation.
const BASE: &str = "/docs";
/// Name of the product.
const NAME: &str = "Aloft";
/// One-sentence description of the product.
const SENTENCE: &str =
    "Uptime monitoring from many regions, with alerts that arrive and status pages that stay up.";
/// Content types that programs prefer: of documents, and of search results.
const MARKDOWN_TYPE: &str = "text/markdown";
const JSON_TYPE: &str = "application/json";

type SharedDocs = Arc<Docs>;

/// All paths of the documentation. The routes are built from this list.
const ROUTES: &[(&str, DocsRoute)] = &[
    (BASE, DocsRoute::Home),
    ("/docs/", DocsRoute::Moved),
    ("/docs/search", DocsRoute::Search),
    ("/docs/llms.txt", DocsRoute::Static(StaticResource::List)),
    ("/docs/docs.js", DocsRoute::Static(StaticResource::Script)),
    ("/docs/icon.svg", DocsRoute::Static(StaticResource::Icon)),
    ("/docs/reference/openapi.json", DocsRoute::Static(StaticResource::OpenApi)),
    // The usual address of the OpenAPI description.
    ("/openapi.json", DocsRoute::Static(StaticResource::OpenApi)),
    ("/v1/openapi.json", DocsRoute::Static(StaticResource::OpenApi)),
    ("/docs/{*path}", DocsRoute::Page),
];

/// Response of a path.
#[derive(Clone, Copy, Debug)]
enum DocsRoute {
    Home,
    /// A redirect to the home page.
    Moved,
    Search,
    Static(StaticResource),
    Page,
}

/// Returns the routes of the documentation. `origin` is the public URL of the
/// server without a slash at the end, if known.
pub fn routes(origin: Option<&str>) -> Router {
    let all = ROUTES.iter().map(|(path, route)| (path, route.handler()));
    all.fold(Router::new(), |router, (path, route)| router.route(path, route))
        .with_state(Arc::new(Docs::new(origin.map(str::to_owned))))
}

/// Returns all paths, with `{…}` for parameters.
pub fn paths() -> impl Iterator<Item = &'static str> {
    ROUTES.iter().map(|route| route.0)
}

impl DocsRoute {
    fn handler(self) -> MethodRouter<SharedDocs> {
        match self {
            Self::Home => get(home),
            Self::Moved => get(async || redirect(BASE)),
            Self::Search => get(search),
            Self::Static(resource) => serve_static(resource),
            Self::Page => get(page),
        }
    }
}

fn serve_static(static_resource: StaticResource) -> MethodRouter<SharedDocs> {
    get(move |State(docs): State<SharedDocs>, headers: HeaderMap| async move {
        serve(&docs, static_resource, &headers).await
    })
}

async fn serve(docs: &Docs, static_resource: StaticResource, headers: &HeaderMap) -> Response {
    let cached = docs.get(static_resource, Encoding::negotiate(headers)).await;
    respond(cached, StatusCode::OK, headers)
}

/// Returns the resource, or 503 if the queue is full.
fn respond(
    cached: Result<EncodedResource, Overloaded>,
    status: StatusCode,
    headers: &HeaderMap,
) -> Response {
    cached.map_or_else(|Overloaded| overloaded(), |cached| build_response(cached, status, headers))
}

async fn home(State(docs): State<SharedDocs>, headers: HeaderMap) -> Response {
    let static_resource =
        if prefers(&headers, MARKDOWN_TYPE) { StaticResource::List } else { StaticResource::Home };
    serve(&docs, static_resource, &headers).await
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
        let static_resource = match prefers(&headers, MARKDOWN_TYPE) {
            _ if bare != address => return redirect(bare),
            true => StaticResource::Markdown(document.path),
            false => StaticResource::Document(document.path),
        };
        return serve(&docs, static_resource, &headers).await;
    }
    if let Some(document) = catalog::documents().find(|it| it.path == path) {
        return serve(&docs, StaticResource::Markdown(document.path), &headers).await;
    }
    if let Some(file) = catalog::FILES.iter().find(|it| it.path == path) {
        return serve(&docs, StaticResource::File(file.path), &headers).await;
    }
    if let Some(place) = canonical_address(&address) {
        return redirect(&place);
    }
    let encoding = Encoding::negotiate(&headers);
    let missing =
        move || EncodedResource::new(&EncodedBody::new(HTML, pages::not_found(&path)), encoding);
    respond(docs.run_limited(missing).await, StatusCode::NOT_FOUND, &headers)
}

/// Returns the address of a page that was requested by its file name without extension. If it was
/// requested by its folder with `.md`, returns that of its Markdown.
fn canonical_address(address: &str) -> Option<String> {
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
    let (encoding, is_json) = (Encoding::negotiate(&headers), prefers(&headers, JSON_TYPE));
    let results = docs.with_index(move |index| {
        let found = index.search(&written);
        let body = if is_json {
            EncodedBody::new(JSON_TYPE, found.json().to_string())
        } else {
            EncodedBody::new(HTML, pages::results(&found))
        };
        EncodedResource::new(&body, encoding)
    });
    respond(results.await, StatusCode::OK, &headers)
}
