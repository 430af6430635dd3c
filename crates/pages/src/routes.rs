//! Routes of a page. They are built from lists, which tests and the reference walk, too.

use axum::body::Bytes;
use axum::extract::{DefaultBodyLimit, RawPathParams, RawQuery, State};
use axum::response::Response;
use axum::routing::{MethodRouter, any, get, post};
use axum::{Extension, Router};
use http::{HeaderMap, StatusCode};
use tokio_util::sync::CancellationToken;

use crate::Pages;
use crate::address::{self, PATH_PREFIX, PageAddress, SLUG, TokenSegment};
use crate::badge::BadgeMetric;
use crate::cache_rule::CacheRule;
use crate::details::{self, DetailRoute};
use crate::representation::Representation;
use crate::token::Purpose;
use crate::{handlers, html, live, login, responses, subscribe};

/// Maximum size of a form in bytes. A form holds an email address and a choice of components.
const FORM_BYTES_MAX: usize = 64 * 1024;

/// All representations of a page, each with its path below that of the page. The routes are built
/// from this list, and the test of the access check iterates over it.
pub(crate) const REPRESENTATIONS: &[(&str, Representation)] = &[
    ("", Representation::Home),
    ("/status.json", Representation::Json),
    ("/api/v2/summary.json", Representation::V2Summary),
    ("/api/v2/status.json", Representation::V2Status),
    ("/api/v2/components.json", Representation::V2Components),
    ("/api/v2/incidents.json", Representation::V2Incidents),
    ("/api/v2/incidents/unresolved.json", Representation::V2Unresolved),
    ("/api/v2/scheduled-maintenances.json", Representation::V2Maintenances),
    ("/api/v2/scheduled-maintenances/active.json", Representation::V2MaintenancesActive),
    ("/api/v2/scheduled-maintenances/upcoming.json", Representation::V2MaintenancesUpcoming),
    ("/feed.atom", Representation::Atom),
    ("/feed.rss", Representation::Rss),
    ("/feed.json", Representation::JsonFeed),
    ("/status.md", Representation::Markdown),
    ("/maintenance.ics", Representation::Calendar),
    ("/og.png", Representation::OgImage),
    ("/widget", Representation::Widget),
    ("/widget.js", Representation::WidgetScript),
    ("/robots.txt", Representation::Robots),
];

/// All other paths that a page answers to GET. The routes are built from this list, too.
pub(crate) const RESOURCES: &[(&str, PageResource)] = &[
    ("/badge.svg", PageResource::Badge(BadgeMetric::State)),
    ("/badge/uptime.svg", PageResource::Badge(BadgeMetric::Uptime)),
    ("/badge/latency.svg", PageResource::Badge(BadgeMetric::Latency)),
    ("/component/{id}", PageResource::Details(DetailRoute::Component)),
    ("/component/{id}/{range}", PageResource::Details(DetailRoute::Component)),
    ("/incident/{id}", PageResource::Details(DetailRoute::Incident)),
    ("/history", PageResource::Details(DetailRoute::History)),
    ("/history/{month}", PageResource::Details(DetailRoute::Month)),
    ("/icon", PageResource::Icon),
    ("/day/{date}", PageResource::Details(DetailRoute::Day)),
    ("/report/{id}", PageResource::Details(DetailRoute::Report)),
    ("/enter/{token}", PageResource::Enter),
    ("/subscribe", PageResource::Subscribe),
    ("/confirm/{token}", PageResource::TokenPage(Purpose::Confirm)),
    ("/manage/{token}", PageResource::TokenPage(Purpose::Manage)),
    ("/unsubscribe/{token}", PageResource::TokenPage(Purpose::Unsubscribe)),
    ("/events", PageResource::LiveUpdates),
    ("/live.js", PageResource::LiveScript),
];

/// All paths that accept forms from visitors.
const ACTIONS: &[(&str, VisitorAction)] = &[
    ("/unlock", VisitorAction::Unlock),
    ("/enter", VisitorAction::RequestLink),
    ("/enter/{token}", VisitorAction::Enter),
    ("/subscribe", VisitorAction::Subscribe),
    ("/confirm/{token}", VisitorAction::TokenAction(Purpose::Confirm)),
    ("/manage/{token}", VisitorAction::TokenAction(Purpose::Manage)),
    ("/unsubscribe/{token}", VisitorAction::TokenAction(Purpose::Unsubscribe)),
];

/// All other paths, for requests that find no page. Unlike a fallback, they leave the paths of
/// other routers alone.
const UNKNOWN: &[&str] = &["/status", "/status/", "/status/{slug}/", "/status/{slug}/{*rest}"];

/// Response to GET that is not a representation of the page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PageResource {
    /// A badge, configured by query parameters.
    Badge(BadgeMetric),
    /// A detail page, read on demand.
    Details(DetailRoute),
    Icon,
    /// The page with the button that a login link leads to.
    Enter,
    /// The subscription form.
    Subscribe,
    /// The page that a subscriber's token leads to.
    TokenPage(Purpose),
    /// The stream of live updates.
    LiveUpdates,
    /// The script, shared by all pages.
    LiveScript,
}

/// Action of a visitor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum VisitorAction {
    /// Submits the password.
    Unlock,
    /// Requests a login link.
    RequestLink,
    /// Uses a login link.
    Enter,
    /// Requests a subscription.
    Subscribe,
    /// Submits the form of a subscriber's token.
    TokenAction(Purpose),
}

/// Returns the paths that a page answers to GET, relative to the page, with `{…}` for parameters.
pub fn page_paths() -> impl Iterator<Item = &'static str> {
    REPRESENTATIONS.iter().map(|it| it.0).chain(RESOURCES.iter().map(|it| it.0))
}

/// Returns all paths of pages addressed by slug, with `{…}` for parameters.
pub fn paths() -> impl Iterator<Item = String> {
    let all = page_paths().chain(ACTIONS.iter().map(|it| it.0));
    all.map(|rest| format!("{PATH_PREFIX}{{{SLUG}}}{rest}"))
}

/// Returns the routes of pages addressed by slug. They answer all paths below the prefix of pages.
pub fn routes(pages: &Pages, stop: CancellationToken) -> Router {
    let router = build(pages, stop, &format!("{PATH_PREFIX}{{{SLUG}}}"));
    UNKNOWN.iter().fold(router, |router, path| router.route(path, any(not_found)))
}

/// Returns the routes of pages at the root of their own host, for requests with a [`PageDomain`].
pub fn domain_routes(pages: &Pages, stop: CancellationToken) -> Router {
    build(pages, stop, "").fallback(not_found)
}

async fn not_found(headers: HeaderMap) -> Response {
    responses::not_found(responses::language(&headers), &headers)
}

fn build(pages: &Pages, stop: CancellationToken, base: &str) -> Router {
    let representations =
        REPRESENTATIONS.iter().map(|(rest, it)| (rest, representation_route(*it)));
    let resources = RESOURCES.iter().map(|(rest, it)| (rest, it.route()));
    let actions = ACTIONS.iter().map(|(rest, it)| (rest, it.route()));
    let all = representations.chain(resources).chain(actions);
    let router = all.fold(Router::new(), |router, (rest, route)| {
        router.route(address::home(&format!("{base}{rest}")), route)
    });
    router
        .layer(DefaultBodyLimit::max(FORM_BYTES_MAX))
        .layer(Extension(live::Stop(stop)))
        .with_state(pages.clone())
}

fn representation_route(representation: Representation) -> MethodRouter<Pages> {
    get(move |State(pages): State<Pages>, address: PageAddress, headers: HeaderMap| {
        handlers::serve_representation(pages, address, representation, headers)
    })
}

impl PageResource {
    fn route(self) -> MethodRouter<Pages> {
        match self {
            Self::Badge(metric) => badge_route(metric),
            Self::Details(route) => detail_route(route),
            Self::Icon => get(show_icon),
            Self::Enter => get(login::email_form::link_page),
            Self::Subscribe => get(subscribe::show),
            Self::TokenPage(purpose) => token_page_route(purpose),
            Self::LiveUpdates => get(live::events),
            Self::LiveScript => get(script),
        }
    }
}

impl VisitorAction {
    fn route(self) -> MethodRouter<Pages> {
        match self {
            Self::Unlock => post(login::unlock),
            Self::RequestLink => post(login::email_form::request_link),
            Self::Enter => post(login::email_form::enter),
            Self::Subscribe => post(subscribe::request),
            Self::TokenAction(purpose) => token_action_route(purpose),
        }
    }
}

/// Returns the route of a badge, configured by the query.
fn badge_route(metric: BadgeMetric) -> MethodRouter<Pages> {
    get(
        move |State(pages): State<Pages>,
              address: PageAddress,
              query: RawQuery,
              headers: HeaderMap| {
            handlers::serve_badge(pages, address, (metric, query.0), headers)
        },
    )
}

/// Returns the route of a detail page.
fn detail_route(route: DetailRoute) -> MethodRouter<Pages> {
    get(
        move |State(pages): State<Pages>,
              address: PageAddress,
              named: RawPathParams,
              headers: HeaderMap| {
            details::page(pages, address, (route, named), headers)
        },
    )
}

async fn show_icon(
    State(pages): State<Pages>,
    address: PageAddress,
    headers: HeaderMap,
) -> Response {
    handlers::serve_icon(pages, address, headers).await
}

fn token_page_route(purpose: Purpose) -> MethodRouter<Pages> {
    get(
        move |State(pages): State<Pages>,
              address: PageAddress,
              token: TokenSegment,
              headers: HeaderMap| {
            subscribe::manage::show_form(pages, address, (purpose, token), headers)
        },
    )
}

fn token_action_route(purpose: Purpose) -> MethodRouter<Pages> {
    post(
        move |State(pages): State<Pages>,
              address: PageAddress,
              token: TokenSegment,
              headers: HeaderMap,
              body: Bytes| {
            subscribe::manage::submit_form(pages, address, (purpose, token), headers, body)
        },
    )
}

/// Returns the script, which is the same for all pages and reveals nothing about any.
async fn script(headers: HeaderMap) -> Response {
    responses::build_response(&html::SCRIPT_BODY, StatusCode::OK, CacheRule::Public, &headers)
}
