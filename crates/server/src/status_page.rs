//! Status pages as visitors see them: HTML in their language, JSON, feeds and badges, all through one
//! gate and from one shelf. What is shown is decided by `domain::page`; this reads, says it in words,
//! and keeps what was said for the next visitor.

mod badge;
mod bars;
mod door;
mod feed;
mod gate;
mod html;
mod json;
mod news;
mod respond;
mod shelf;
mod statuspage_v2;
mod words;

use axum::extract::{Path, State};
use axum::response::Response;
use axum::routing::{get, post};
use axum::{Extension, Router};
use http::{HeaderMap, StatusCode};
use rules::AccessType;
use tokio_util::sync::CancellationToken;

pub(crate) use self::gate::Gate as VisitorGate;
use self::shelf::Form;
pub(crate) use self::shelf::Shelf as PageShelf;
use crate::app::App;

/// Where pages are: below this, by their slug.
pub(crate) const BELOW: &str = "/status/";

/// All representations of a page, for the routes and for the test that walks them: each with its
/// form, and the rest of its address below that of the page.
pub(crate) const FORMS: &[(&str, Form)] = &[
    ("", Form::Home),
    ("/status.json", Form::Json),
    ("/api/v2/summary.json", Form::V2Summary),
    ("/api/v2/status.json", Form::V2Status),
    ("/api/v2/components.json", Form::V2Components),
    ("/api/v2/incidents.json", Form::V2Incidents),
    ("/api/v2/scheduled-maintenances.json", Form::V2Maintenances),
    ("/feed.atom", Form::Atom),
    ("/feed.rss", Form::Rss),
    ("/badge.svg", Form::Badge),
];

/// The routes of the pages.
pub(crate) fn routes(app: &App, stop: CancellationToken) -> Router {
    let forms = FORMS.iter().fold(Router::new(), |router, (rest, form)| {
        let form = *form;
        let show = move |State(app): State<App>, Path(slug): Path<String>, headers: HeaderMap| {
            respond::form(app, slug, form, headers)
        };
        router.route(&format!("{BELOW}{{slug}}{rest}"), get(show))
    });
    forms
        .route("/status/{slug}/component/{id}", get(component))
        .route("/status/{slug}/day/{date}", get(day))
        .route("/status/{slug}/events", get(news::events))
        .route("/status/{slug}/live.js", get(script))
        .route("/status/{slug}/unlock", post(door::unlock))
        .layer(Extension(news::Stop(stop)))
        .with_state(app.clone())
}

/// The script is the same for all pages, and tells nothing of any.
async fn script(headers: HeaderMap) -> Response {
    let said = shelf::Said::of("text/javascript; charset=utf-8", html::SCRIPT.to_owned());
    respond::answer(&said, StatusCode::OK, AccessType::Public, &headers)
}

async fn component(
    State(app): State<App>,
    Path((slug, id)): Path<(String, String)>,
    headers: HeaderMap,
) -> Response {
    respond::part(app, slug, html::Wanted::Component(id), headers).await
}

async fn day(
    State(app): State<App>,
    Path((slug, date)): Path<(String, String)>,
    headers: HeaderMap,
) -> Response {
    respond::part(app, slug, html::Wanted::Day(date), headers).await
}
