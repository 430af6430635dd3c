//! Home: what is not well and why, with its incident, maintenance, and the fleet with its filters.

use askama::Template;
use axum::Extension;
use axum::extract::State;
use axum::response::Response;
use axum::routing::get;
use http::HeaderMap;
use rules::{Region, Timestamp};
use store::FleetCause;

use crate::durations;
use crate::error::ScreenError;
use crate::extract::Asked;
use crate::fleet::snapshot::Health;
use crate::fleet_screen::{FleetScreen, FleetView};
use crate::html::{self, Frame, Section};
use crate::overview::{Overview, TroubledMonitor};
use crate::region_names;
use crate::route::{Route, VIEWER};
use crate::session::Member;
use crate::state::Dashboard;

pub(crate) const ROUTES: &[Route] = &[Route::get("/w/{workspace}", VIEWER, || get(show))];

#[derive(Template)]
#[template(path = "home.html")]
struct HomePage<'o> {
    frame: Frame,
    overview: &'o Overview,
    fleet: FleetView<'o>,
    troubles: Vec<Trouble<'o>>,
    now: Timestamp,
}

/// A monitor that is not well, with the places of the trouble.
struct Trouble<'o> {
    monitor: &'o TroubledMonitor,
    places: TroubledPlaces,
}

/// Names of places. Regions that one probe serves are one place.
struct TroubledPlaces {
    troubled: Vec<String>,
    /// Number of places with a result.
    of: usize,
}

/// Shows the workspace's state.
pub(crate) async fn show(
    State(state): State<Dashboard>,
    Extension(member): Extension<Member>,
    Asked(asked): Asked<Vec<(String, String)>>,
    request: HeaderMap,
) -> Result<Response, ScreenError> {
    let (workspace, now) = (member.workspace(), state.ctx.now());
    // Taken before the fleet is read, so that an overview with an older fleet is not cached as current.
    let generation = state.store.generation(workspace);
    let snapshot = state.fleet.get(&state.store, workspace, now).await?;
    let read = (&*snapshot, generation);
    let overview = state.overviews.get(&state.store, workspace, read, now).await?;
    let fleet = FleetView::new(&state, &member, (&snapshot, FleetScreen::Home), &asked).await?;
    let url = fleet.pushed_url(&request);
    let frame = Frame::of_member(&member, Section::Home, "Home", &request);
    let place = |region: &Region| {
        let shared = state.backend.location_of(workspace, *region);
        shared.unwrap_or_else(|| region_names::city(region.as_str()))
    };
    let trouble = |monitor| Trouble { monitor, places: TroubledPlaces::new(monitor, place) };
    let troubles = overview.troubled.iter().map(trouble).collect();
    let page = HomePage { frame, overview: &overview, fleet, troubles, now };
    let mut response = html::page(&page, &request);
    response.headers_mut().extend(url);
    Ok(response)
}

impl HomePage<'_> {
    /// Returns the worst health, for the headline's icon.
    fn worst(&self) -> Health {
        let worst = Health::ALL.into_iter().find(|health| self.fleet.counts.of(*health) > 0);
        worst.unwrap_or(Health::Up)
    }

    fn headline(&self) -> String {
        let counts = &self.fleet.counts;
        let of = |count: usize, one: &str, many: &str| match count {
            1 => format!("1 monitor {one}"),
            count => format!("{count} monitors {many}"),
        };
        match (counts.down, counts.degraded, counts.unknown) {
            (0, 0, 0) if counts.up > 0 => "Everything is up".to_owned(),
            (0, 0, 0) => "All monitors are paused".to_owned(),
            (0, 0, unknown) => of(unknown, "has no results", "have no results"),
            (0, degraded, _) => of(degraded, "is degraded", "are degraded"),
            (down, _, _) => of(down, "is down", "are down"),
        }
    }

    /// Returns the number of monitors that are not well and not shown.
    fn untold(&self) -> usize {
        let troubled =
            self.fleet.counts.down + self.fleet.counts.degraded + self.fleet.counts.unknown;
        troubled.saturating_sub(self.overview.troubled.len())
    }

    fn lasting(&self, monitor: &TroubledMonitor) -> String {
        durations::text(self.now.since(monitor.since))
    }
}

impl TroubledPlaces {
    fn new(monitor: &TroubledMonitor, place: impl Fn(&Region) -> String) -> Self {
        let distinct = |regions: &[Region]| {
            let mut places: Vec<String> = Vec::new();
            for name in regions.iter().map(&place) {
                if !places.contains(&name) {
                    places.push(name);
                }
            }
            places
        };
        let FleetCause { regions, of_regions, .. } = &monitor.cause;
        Self { troubled: distinct(regions), of: distinct(of_regions).len() }
    }

    /// Returns the places in short, such as `Amsterdam, Ashburn, … (3 of 4)`.
    fn summary(&self) -> Option<String> {
        const NAMED: usize = 2;
        let failing = self.troubled.len();
        let named = self.troubled.get(..failing.min(NAMED))?.join(", ");
        let more = if failing > NAMED { ", …" } else { "" };
        (failing > 0).then(|| format!("{named}{more} ({failing} of {})", self.of))
    }

    /// Returns the names of all places.
    fn all(&self) -> Option<String> {
        (!self.troubled.is_empty()).then(|| self.troubled.join(", "))
    }
}

impl TroubledMonitor {
    fn why(&self) -> &str {
        let known = self.cause.why.as_deref();
        known.unwrap_or(match self.health {
            Health::Unknown if !self.kind.is_probed() => "The URL has not been called yet.",
            Health::Unknown => "No region has reported a result yet.",
            Health::Down | Health::Degraded | Health::Up | Health::Paused => {
                "The details of the latest check are not available."
            }
        })
    }
}
