//! Names of regions for people. Two regions may be in one city, so that a single one has its ID, too.

use rules::Region;

/// Returns the city of a region, such as `Amsterdam`. Unknown names stay.
pub(crate) fn city(region: &str) -> String {
    Region::parse(region).map_or_else(|_| region.to_owned(), |it| it.location().city.to_owned())
}

/// Returns the city of a region with its ID, such as `Amsterdam (fly-ams)`. Unknown names stay.
pub(crate) fn with_id(region: &str) -> String {
    match Region::parse(region) {
        Ok(known) => format!("{} ({region})", known.location().city),
        Err(_) => region.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_region_has_a_city() {
        assert_eq!([city("fly-ams"), with_id("fly-ams")], ["Amsterdam", "Amsterdam (fly-ams)"]);
        assert_eq!([city("moon-1"), with_id("moon-1")], ["moon-1", "moon-1"]);
    }
}
