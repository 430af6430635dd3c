//! Status pages as visitors see them: HTML in their language, JSON, feeds and badges, all through one
//! gate and from one shelf. What is shown is decided by `domain::page`; this reads, says it in words,
//! and keeps what was said for the next visitor.

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

/// Longest form that is read, in bytes: an address, and the components that one may name.
const FORM_BYTES_MAX: usize = 64 * 1024;

/// All representations of a page: each with the rest of its path below that of the page, and its
/// form. Routes are made of this list, and the test of the gate walks it.
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

/// Everything else that a page answers to GET; routes are made of this list, too.
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

/// What visitors send.
const ACTS: &[(&str, Act)] = &[
    ("/unlock", Act::Unlock),
    ("/enter", Act::Ask),
    ("/enter/{token}", Act::Enter),
    ("/subscribe", Act::Subscribe),
    ("/confirm/{ticket}", Act::Ticket(Purpose::Confirm)),
    ("/manage/{ticket}", Act::Ticket(Purpose::Manage)),
    ("/unsubscribe/{ticket}", Act::Ticket(Purpose::Unsubscribe)),
];

/// What a page answers to GET beside its forms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// A badge, with parameters.
    Badge(Subject),
    /// What is read when somebody asks for it.
    Behind(Place),
    /// Its icon.
    Icon,
    /// The button behind a link that lets a member in.
    Enter,
    /// Where emails are asked for.
    Subscribe,
    /// What a subscriber is asked who comes back with a ticket.
    Question(Purpose),
    /// News for open browsers.
    Events,
    /// The script, which is the same for all pages.
    Script,
}

/// What a visitor does at a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Act {
    /// Says the password.
    Unlock,
    /// Asks for a link.
    Ask,
    /// Comes in by one.
    Enter,
    /// Asks for emails.
    Subscribe,
    /// Comes back with a ticket.
    Ticket(Purpose),
}

/// The rests of the paths that a page answers to GET, with `{…}` where they name something.
pub fn page_paths() -> impl Iterator<Item = &'static str> {
    FORMS.iter().map(|form| form.0).chain(PARTS.iter().map(|part| part.0))
}

/// The routes of the pages by their slugs.
pub(crate) fn routes(app: &App, stop: CancellationToken) -> Router {
    built(app, stop, &format!("{BELOW}{{{SLUG}}}"))
}

/// The same at the root of a host, for requests with a [`PageDomain`].
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

/// A badge as the rest of its address asks for it.
fn badge(subject: Subject) -> MethodRouter<App> {
    get(move |State(app): State<App>, address: PageAddress, query: RawQuery, headers: HeaderMap| {
        respond::wished(app, address, (subject, query.0), headers)
    })
}

/// What lies behind the home page and is read when somebody asks for it.
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

/// The script is the same for all pages, and tells nothing of any.
async fn script(headers: HeaderMap) -> Response {
    respond::answer(&html::SCRIPT_SAID, StatusCode::OK, AccessType::Public, &headers)
}
