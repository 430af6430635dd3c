//! The choice of regions in forms of monitors: the default set, all, or some, grouped by continent.
//! Regions that one probe serves are one place.

use contract::region::wire::{ListRegionsRequest, Region as WireRegion};
use rules::Region;

use crate::error::ScreenError;
use crate::form::Values;
use crate::region_groups::{self, RegionGroup};
use crate::session::Member;
use crate::state::Dashboard;

/// Name of the field that says which regions are meant.
const CHOICE: &str = "region_choice";

/// Regions of a form.
#[derive(Clone, Debug)]
pub(crate) struct RegionChoice {
    /// `default`, `all` or `chosen`.
    pub(crate) mode: &'static str,
    /// Cities of the default set.
    pub(crate) defaults: String,
    pub(crate) groups: Vec<RegionGroup>,
    pub(crate) error: Option<String>,
    /// Places to test from.
    pub(crate) places: Vec<TestPlace>,
    /// Name of the probe that serves all regions, if it is one.
    pub(crate) only_probe: Option<String>,
}

/// A place to test from: a region with its own probe, or all regions of one probe.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TestPlace {
    /// A region that is checked from there.
    pub(crate) region: String,
    pub(crate) label: String,
    pub(crate) is_chosen: bool,
}

/// Returns all regions, in the order of the specification.
pub(super) async fn list(
    state: &Dashboard,
    member: &Member,
) -> Result<Vec<WireRegion>, ScreenError> {
    Ok(state.send(member.caller(), ListRegionsRequest::default()).await?.regions)
}

/// Replaces the choice that a browser posted by the regions that it means.
pub(super) fn apply(mut fields: Vec<(String, String)>) -> Vec<(String, String)> {
    let choice = fields.iter().find(|(name, _)| name == CHOICE).map(|(_, value)| value.clone());
    if matches!(choice.as_deref(), Some("default" | "all")) {
        fields.retain(|(name, _)| name != "regions");
    }
    if choice.as_deref() == Some("all") {
        let all = Region::PUBLIC_WORDS.iter().map(|it| ("regions".to_owned(), (*it).to_owned()));
        fields.extend(all);
    }
    fields
}

/// Returns the regions to test from: those that the person chose, or the first place of the monitor.
pub(super) fn test_regions(values: &Values, known: &[WireRegion]) -> Vec<Region> {
    let chosen = values.all("test_from").iter().filter_map(|it| Region::parse(it).ok());
    let mut chosen: Vec<Region> = chosen.collect();
    chosen.sort_unstable();
    chosen.dedup();
    if !chosen.is_empty() {
        return chosen;
    }
    let wanted = values.all("regions");
    if wanted.is_empty() {
        let first = known.iter().find(|it| it.default).or(known.first());
        return first.and_then(|it| Region::parse(&it.id).ok()).into_iter().collect();
    }
    // A private region without a probe must not lead to another one: its target may be a secret.
    let first = known.iter().find(|it| wanted.contains(&it.id)).map(|it| &it.id);
    first.or(wanted.first()).and_then(|it| Region::parse(it).ok()).into_iter().collect()
}

impl RegionChoice {
    /// Returns the choice with these values.
    pub(super) fn new(known: &[WireRegion], values: &Values, error: Option<String>) -> Self {
        let chosen = values.all("regions");
        let is_chosen = |word: &&&str| chosen.iter().any(|it| it == *word);
        let mode = match Region::PUBLIC_WORDS.iter().filter(is_chosen).count() {
            _ if chosen.is_empty() => "default",
            count if count == Region::PUBLIC.len() && count == chosen.len() => "all",
            _ => "chosen",
        };
        let defaults: Vec<&str> =
            known.iter().filter(|it| it.default).map(|it| it.city.as_str()).collect();
        let mut public = known.iter().filter(|it| !region_groups::is_private(it));
        let first = public.clone().next().map(|it| it.served_by.clone()).unwrap_or_default();
        let is_one = !first.is_empty() && public.all(|it| it.served_by == first);
        Self {
            mode,
            defaults: defaults.join(", "),
            groups: region_groups::by_continent(&with_unserved(known, chosen), chosen),
            error,
            places: places(known, values),
            only_probe: is_one.then_some(first),
        }
    }
}

/// Returns the regions, with the chosen ones that have lost their probe. Otherwise the form would drop
/// them, and a monitor without regions runs in the default ones.
fn with_unserved(known: &[WireRegion], chosen: &[String]) -> Vec<WireRegion> {
    let lost = chosen.iter().filter(|id| known.iter().all(|it| it.id != **id));
    let lost = lost.filter_map(|id| Region::parse(id).ok()).map(region_groups::private);
    known.iter().cloned().chain(lost).collect()
}

fn places(known: &[WireRegion], values: &Values) -> Vec<TestPlace> {
    let mut places: Vec<TestPlace> = Vec::new();
    let served = known.iter().filter(|it| !it.served_by.is_empty());
    for (index, region) in served.clone().enumerate() {
        let same = |it: &&WireRegion| {
            let is_private = region_groups::is_private(it);
            it.served_by == region.served_by && is_private == region_groups::is_private(region)
        };
        if served.clone().take(index).any(|it| same(&it)) {
            continue;
        }
        let is_shared = served.clone().filter(same).count() > 1;
        let label = if is_shared { region.served_by.clone() } else { region.city.clone() };
        let is_chosen = values.all("test_from").contains(&region.id);
        places.push(TestPlace { region: region.id.clone(), label, is_chosen });
    }
    if let Some(first) = places.first_mut().filter(|_| values.all("test_from").is_empty()) {
        first.is_chosen = true;
    }
    places
}

#[cfg(test)]
mod tests {
    use super::*;

    fn region(id: &str, served_by: &str) -> WireRegion {
        let location = Region::parse(id).unwrap().location();
        WireRegion {
            id: id.to_owned(),
            city: location.city.to_owned(),
            country: location.country.to_owned(),
            default: id == "fly-ams",
            served_by: served_by.to_owned(),
            ..WireRegion::default()
        }
    }

    #[test]
    fn choice_of_all_or_default_wins() {
        let field = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let posted = |choice| apply(vec![field(CHOICE, choice), field("regions", "fly-ams")]);
        let count = |fields: Vec<(String, String)>| {
            fields.iter().filter(|(name, _)| name == "regions").count()
        };
        assert_eq!(["default", "chosen", "all"].map(|it| count(posted(it))), [0, 1, 28]);
    }

    #[test]
    fn region_without_probe_stays_chosen() {
        let known = [region("fly-ams", "this server")];
        let values = Values::posted(
            vec![("regions".to_owned(), "private-2".to_owned())],
            &rules::tables::HTTP_MONITOR,
        );
        let choice = RegionChoice::new(&known, &values, None);
        let options = choice.groups.iter().flat_map(|group| &group.regions);
        let chosen: Vec<&str> = options.filter(|it| it.is_chosen).map(|it| &*it.id).collect();
        assert_eq!((choice.mode, chosen), ("chosen", vec!["private-2"]));
        assert_eq!(test_regions(&values, &known), [Region::Private2], "and nowhere else");
    }

    #[test]
    fn regions_of_one_probe_are_one_place() {
        let known = [
            region("fly-ams", "this server"),
            region("fly-iad", "us-1"),
            region("fly-fra", "this server"),
        ];
        let choice = RegionChoice::new(&known, &Values::default(), None);
        let labels: Vec<&str> = choice.places.iter().map(|it| it.label.as_str()).collect();
        assert_eq!((labels, choice.only_probe), (vec!["this server", "Ashburn"], None));
        assert_eq!(test_regions(&Values::default(), &known), [Region::FlyAms]);
    }
}
