//! Regions: where checks come from, by probe, with the health of each.

use askama::Template;
use axum::Extension;
use axum::extract::State;
use axum::response::Response;
use axum::routing::get;
use contract::monitor::decode_instant;
use contract::region::wire::{ListRegionsRequest, Region};
use http::HeaderMap;
use rules::Timestamp;

use crate::error::ScreenError;
use crate::html::{self, Frame, Section};
use crate::region_groups;
use crate::route::{Route, VIEWER};
use crate::session::Member;
use crate::state::Dashboard;

pub(crate) const ROUTES: &[Route] = &[Route::get("/w/{workspace}/regions", VIEWER, || get(show))];

#[derive(Template)]
#[template(path = "regions.html")]
struct RegionsPage {
    frame: Frame,
    figures: RegionFigures,
    probes: Vec<ProbeView>,
    /// Whether the person manages probes.
    manages_probes: bool,
}

/// Number of regions by health.
#[derive(Default)]
struct RegionFigures {
    all: usize,
    healthy: usize,
    /// Regions whose votes do not count, or whose checks do not end.
    troubled: usize,
    unserved: usize,
}

/// A probe with its regions.
struct ProbeView {
    /// Name of the probe. Empty for regions without one.
    name: String,
    is_fallback: bool,
    /// Whether it belongs to the workspace.
    is_private: bool,
    regions: Vec<RegionView>,
    addresses: Vec<String>,
}

/// A region, ready to be shown.
struct RegionView {
    id: String,
    place: String,
    is_default: bool,
    /// Class and symbol of its health.
    mark: &'static str,
    health: &'static str,
    /// Meaning of a health that needs attention.
    why: &'static str,
    last_check_at: Option<Timestamp>,
}

/// Shows all regions.
async fn show(
    State(state): State<Dashboard>,
    Extension(member): Extension<Member>,
    request: HeaderMap,
) -> Result<Response, ScreenError> {
    let found = state.send(member.caller(), ListRegionsRequest {}).await?.regions;
    let page = RegionsPage {
        frame: Frame::of_member(&member, Section::Regions, "Regions", &request),
        figures: RegionFigures::of(&found),
        probes: probes(&found),
        manages_probes: crate::probes::manages(&member),
    };
    Ok(html::page(&page, &request))
}

impl RegionFigures {
    fn of(regions: &[Region]) -> Self {
        let mut figures = Self { all: regions.len(), ..Self::default() };
        for region in regions {
            match region.health.as_str() {
                "healthy" => figures.healthy += 1,
                "unserved" => figures.unserved += 1,
                _ => figures.troubled += 1,
            }
        }
        figures
    }
}

/// Groups regions by their probe, in the order of the regions; those without a probe come last.
fn probes(regions: &[Region]) -> Vec<ProbeView> {
    let mut probes: Vec<ProbeView> = Vec::new();
    for region in regions {
        let is_private = region_groups::is_private(region);
        let is_same =
            |probe: &ProbeView| probe.name == region.served_by && probe.is_private == is_private;
        let known = probes.iter().position(is_same);
        let index = known.unwrap_or_else(|| {
            probes.push(ProbeView {
                name: region.served_by.clone(),
                is_fallback: region.is_fallback,
                is_private,
                regions: Vec::new(),
                addresses: region.egress_addresses.clone(),
            });
            probes.len() - 1
        });
        probes[index].regions.push(RegionView::new(region));
    }
    probes.sort_by_key(|probe| (probe.name.is_empty(), probe.is_fallback));
    probes
}

impl RegionView {
    fn new(region: &Region) -> Self {
        let (mark, health, why) = match region.health.as_str() {
            "healthy" => ("up", "Healthy", ""),
            "suspect" => (
                "degraded",
                "Suspect",
                "Most of its hosts fail at once, so its results do not count.",
            ),
            "stalled" => ("down", "Stalled", "Checks are due here, but none ends."),
            "disconnected" => {
                ("down", "Disconnected", "Its probe is not connected, so nothing is checked here.")
            }
            "unserved" => {
                ("unknown", "Unserved", "No probe serves it, so nothing is checked here.")
            }
            _ => ("unknown", "Unknown", ""),
        };
        Self {
            id: region.id.clone(),
            place: region_groups::place(&region.city, &region.country),
            is_default: region.default,
            mark,
            health,
            why,
            last_check_at: region.last_seen_at.as_option().and_then(decode_instant),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn region(id: &str, probe: &str, health: &str) -> Region {
        Region {
            id: id.to_owned(),
            served_by: probe.to_owned(),
            is_fallback: probe == "this server",
            health: health.to_owned(),
            ..Region::default()
        }
    }

    #[test]
    fn regions_are_grouped_by_their_probe() {
        let regions = [
            region("fly-ams", "this server", "healthy"),
            region("fly-arn", "", "unserved"),
            region("fly-iad", "us-east", "suspect"),
            region("fly-fra", "this server", "healthy"),
        ];
        let shown: Vec<(String, usize)> =
            probes(&regions).into_iter().map(|it| (it.name, it.regions.len())).collect();
        let expected = [("us-east", 1), ("this server", 2), ("", 1)];
        assert_eq!(shown, expected.map(|(name, count)| (name.to_owned(), count)));
        let figures = RegionFigures::of(&regions);
        assert_eq!((figures.healthy, figures.troubled, figures.unserved), (2, 1, 1));
    }
}
