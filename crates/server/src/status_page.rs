//! Public status pages: HTML in the visitor's language, JSON, feeds and badges. Every
//! representation passes the same access check and comes from the same cache. `domain::page`
//! decides what a page shows. This module reads it, renders it and caches the result.

mod address;
mod badge;
mod bars;
mod behind;
mod chart;
mod door;
mod feed;
mod gate;
mod html;
mod ical;
mod icon;
mod json;
mod markdown;
mod news;
mod picture;
mod report;
mod respond;
mod robots;
mod shelf;
mod signer;
mod statuspage_v2;
mod subscribe;
mod ticket;
mod widget;
mod words;

use axum::body::Bytes;
use axum::extract::{DefaultBodyLimit, RawPathParams, RawQuery, State};
use axum::response::Response;
use axum::routing::{MethodRouter, get, post};
use axum::{Extension, Router};
use http::{HeaderMap, StatusCode};
use rules::AccessType;
use tokio_util::sync::CancellationToken;

use self::address::{BELOW, Named, SLUG};
pub(crate) use self::address::{PageAddress, PageDomain};
pub(crate) use self::badge::Subject;
pub(crate) use self::behind::{Behind as PagesBehind, Place};
pub(crate) use self::gate::Gate as VisitorGate;
pub(crate) use self::icon::Icons;
use self::shelf::Form;
pub(crate) use self::shelf::Shelf as PageShelf;
pub(crate) use self::subscribe::Desk as SubscribeDesk;
pub(crate) use self::ticket::{Purpose, Tickets};
use crate::app::App;

/// Maximum size of a form in bytes. A form holds an email address and a choice of components.
const FORM_BYTES_MAX: usize = 64 * 1024;

/// All representations of a page, each with its path below that of the page. The routes are built
/// from this list, and the test of the access check iterates over it.
pub(crate) const FORMS: &[(&str, Form)] = &[
    ("", Form::Home),
    ("/status.json", Form::Json),
    ("/api/v2/summary.json", Form::V2Summary),
    ("/api/v2/status.json", Form::V2Status),
    ("/api/v2/components.json", Form::V2Components),
    ("/api/v2/incidents.json", Form::V2Incidents),
    ("/api/v2/incidents/unresolved.json", Form::V2Unresolved),
    ("/api/v2/scheduled-maintenances.json", Form::V2Maintenances),
    ("/api/v2/scheduled-maintenances/active.json", Form::V2MaintenancesActive),
    ("/api/v2/scheduled-maintenances/upcoming.json", Form::V2MaintenancesUpcoming),
    ("/feed.atom", Form::Atom),
    ("/feed.rss", Form::Rss),
    ("/feed.json", Form::JsonFeed),
    ("/status.md", Form::Markdown),
    ("/maintenance.ics", Form::Calendar),
    ("/og.png", Form::Picture),
    ("/widget", Form::Widget),
    ("/widget.js", Form::WidgetScript),
    ("/robots.txt", Form::Robots),
];

/// All other paths that a page answers to GET. The routes are built from this list, too.
pub(crate) const PARTS: &[(&str, Part)] = &[
    ("/badge.svg", Part::Badge(Subject::State)),
    ("/badge/uptime.svg", Part::Badge(Subject::Uptime)),
    ("/badge/latency.svg", Part::Badge(Subject::Latency)),
    ("/component/{id}", Part::Behind(Place::Component)),
    ("/component/{id}/{range}", Part::Behind(Place::Component)),
    ("/incident/{id}", Part::Behind(Place::Incident)),
    ("/history", Part::Behind(Place::History)),
    ("/history/{month}", Part::Behind(Place::Month)),
    ("/icon", Part::Icon),
    ("/day/{date}", Part::Behind(Place::Day)),
    ("/report/{id}", Part::Behind(Place::Report)),
    ("/enter/{token}", Part::Enter),
    ("/subscribe", Part::Subscribe),
    ("/confirm/{ticket}", Part::Question(Purpose::Confirm)),
    ("/manage/{ticket}", Part::Question(Purpose::Manage)),
    ("/unsubscribe/{ticket}", Part::Question(Purpose::Unsubscribe)),
    ("/events", Part::Events),
    ("/live.js", Part::Script),
];

/// All paths that accept forms from visitors.
const ACTS: &[(&str, Act)] = &[
    ("/unlock", Act::Unlock),
    ("/enter", Act::Ask),
    ("/enter/{token}", Act::Enter),
    ("/subscribe", Act::Subscribe),
    ("/confirm/{ticket}", Act::Ticket(Purpose::Confirm)),
    ("/manage/{ticket}", Act::Ticket(Purpose::Manage)),
    ("/unsubscribe/{ticket}", Act::Ticket(Purpose::Unsubscribe)),
];

/// Response to GET that is not a representation of the page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// A badge, configured by query parameters.
    Badge(Subject),
    /// A detail page, read on demand.
    Behind(Place),
    Icon,
    /// The page with the button that a login link leads to.
    Enter,
    /// The subscription form.
    Subscribe,
    /// The page that a subscriber's token leads to.
    Question(Purpose),
    /// The stream of live updates.
    Events,
    /// The script, shared by all pages.
    Script,
}

/// Action of a visitor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Act {
    /// Submits the password.
    Unlock,
    /// Requests a login link.
    Ask,
    /// Uses a login link.
    Enter,
    /// Requests a subscription.
    Subscribe,
    /// Submits the form of a subscriber's token.
    Ticket(Purpose),
}

/// Returns the paths that a page answers to GET, relative to the page, with `{…}` for parameters.
pub fn page_paths() -> impl Iterator<Item = &'static str> {
    FORMS.iter().map(|form| form.0).chain(PARTS.iter().map(|part| part.0))
}

/// Returns the routes of pages addressed by slug.
pub(crate) fn routes(app: &App, stop: CancellationToken) -> Router {
    built(app, stop, &format!("{BELOW}{{{SLUG}}}"))
}

/// Returns the routes of pages at the root of their own host, for requests with a [`PageDomain`].
pub(crate) fn domain_routes(app: &App, stop: CancellationToken) -> Router {
    built(app, stop, "")
}

fn built(app: &App, stop: CancellationToken, base: &str) -> Router {
    let forms = FORMS.iter().map(|(rest, form)| (rest, shows(*form)));
    let parts = PARTS.iter().map(|(rest, part)| (rest, part.route()));
    let acts = ACTS.iter().map(|(rest, act)| (rest, act.route()));
    let all = forms.chain(parts).chain(acts);
    let router = all.fold(Router::new(), |router, (rest, route)| {
        router.route(address::home(&format!("{base}{rest}")), route)
    });
    router
        .layer(DefaultBodyLimit::max(FORM_BYTES_MAX))
        .layer(Extension(news::Stop(stop)))
        .with_state(app.clone())
}

fn shows(form: Form) -> MethodRouter<App> {
    get(move |State(app): State<App>, address: PageAddress, headers: HeaderMap| {
        respond::form(app, address, form, headers)
    })
}

impl Part {
    fn route(self) -> MethodRouter<App> {
        match self {
            Self::Badge(subject) => badge(subject),
            Self::Behind(place) => behind(place),
            Self::Icon => get(show_icon),
            Self::Enter => get(door::members::offer),
            Self::Subscribe => get(subscribe::show),
            Self::Question(purpose) => question(purpose),
            Self::Events => get(news::events),
            Self::Script => get(script),
        }
    }
}

impl Act {
    fn route(self) -> MethodRouter<App> {
        match self {
            Self::Unlock => post(door::unlock),
            Self::Ask => post(door::members::ask),
            Self::Enter => post(door::members::enter),
            Self::Subscribe => post(subscribe::ask),
            Self::Ticket(purpose) => ticket(purpose),
        }
    }
}

/// Returns the route of a badge, configured by the query.
fn badge(subject: Subject) -> MethodRouter<App> {
    get(move |State(app): State<App>, address: PageAddress, query: RawQuery, headers: HeaderMap| {
        respond::wished(app, address, (subject, query.0), headers)
    })
}

/// Returns the route of a detail page.
fn behind(place: Place) -> MethodRouter<App> {
    get(
        move |State(app): State<App>,
              address: PageAddress,
              named: RawPathParams,
              headers: HeaderMap| {
            self::behind::page(app, address, (place, named), headers)
        },
    )
}

async fn show_icon(State(app): State<App>, address: PageAddress, headers: HeaderMap) -> Response {
    icon::icon(app, address, headers).await
}

fn question(purpose: Purpose) -> MethodRouter<App> {
    get(move |State(app): State<App>, address: PageAddress, ticket: Named, headers: HeaderMap| {
        subscribe::holder::question(app, address, (purpose, ticket), headers)
    })
}

fn ticket(purpose: Purpose) -> MethodRouter<App> {
    post(
        move |State(app): State<App>,
              address: PageAddress,
              ticket: Named,
              headers: HeaderMap,
              body: Bytes| {
            subscribe::holder::act(app, address, (purpose, ticket), headers, body)
        },
    )
}

/// Returns the script, which is the same for all pages and reveals nothing about any.
async fn script(headers: HeaderMap) -> Response {
    respond::answer(&html::SCRIPT_SAID, StatusCode::OK, AccessType::Public, &headers)
}
