//! Regions to choose, grouped by continent, for forms of monitors and probes.

use contract::region::wire::Region;

/// Regions of a continent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RegionGroup {
    pub(crate) continent: &'static str,
    pub(crate) regions: Vec<RegionOption>,
}

/// A region to choose.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RegionOption {
    pub(crate) id: String,
    pub(crate) city: String,
    pub(crate) country: String,
    pub(crate) is_chosen: bool,
}

impl RegionOption {
    /// Returns the place of the region: its city with its country. A private one has no country.
    pub(crate) fn place(&self) -> String {
        place(&self.city, &self.country)
    }
}

/// Returns whether a region belongs to the workspace.
pub(crate) fn is_private(region: &Region) -> bool {
    region.group == rules::RegionGroup::Private.as_str()
}

/// Returns a private region without a probe.
pub(crate) fn private(region: rules::Region) -> Region {
    let (place, group) = (region.location(), region.group());
    Region {
        id: region.to_string(),
        group: group.to_string(),
        city: place.city.to_owned(),
        country: place.country.to_owned(),
        ..Region::default()
    }
}

/// Returns a city with its country, or only the city.
pub(crate) fn place(city: &str, country: &str) -> String {
    if country.is_empty() { city.to_owned() } else { format!("{city}, {country}") }
}

/// Continents in the order of forms, with their countries. Private regions have none.
const CONTINENTS: [(&str, &[&str]); 7] = [
    ("Private", &[""]),
    ("Europe", &["DE", "FR", "GB", "NL", "SE"]),
    ("North America", &["CA", "US"]),
    ("South America", &["BR"]),
    ("Asia", &["IN", "JP", "SG"]),
    ("Oceania", &["AU"]),
    ("Africa", &["ZA"]),
];

/// Groups regions, and marks those that are chosen.
pub(crate) fn by_continent(known: &[Region], chosen: &[String]) -> Vec<RegionGroup> {
    let group = |(continent, countries): &(&'static str, &[&str])| {
        let within = known.iter().filter(|it| countries.contains(&it.country.as_str()));
        let option = |it: &Region| RegionOption {
            id: it.id.clone(),
            city: it.city.clone(),
            country: it.country.clone(),
            is_chosen: chosen.contains(&it.id),
        };
        RegionGroup { continent, regions: within.map(option).collect() }
    };
    let groups = CONTINENTS.iter().map(group);
    groups.filter(|group| !group.regions.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::CONTINENTS;

    #[test]
    fn every_region_is_on_a_continent() {
        for region in rules::Region::ALL {
            let country = region.location().country;
            let on = CONTINENTS.iter().filter(|(_, countries)| countries.contains(&country));
            assert_eq!(on.count(), 1, "{region}");
        }
    }
}
