//! Where the regions of the specification (§8.3) lie. The first two groups are named after airports
//! and cities, the third after parts of countries, of which a provider publishes no city.

use crate::Region;

/// A place on earth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The city, or the part of the country where no city is published.
    pub city: &'static str,
    /// The country, as two letters of ISO 3166-1.
    pub country: &'static str,
}

impl Region {
    /// Where the region lies.
    pub const fn place(self) -> Place {
        let (city, country) = match self {
            Self::FlyAms => ("Amsterdam", "NL"),
            Self::FlyArn => ("Stockholm", "SE"),
            Self::FlyBom => ("Mumbai", "IN"),
            Self::FlyCdg | Self::KoyebPar => ("Paris", "FR"),
            Self::FlyDfw => ("Dallas", "US"),
            Self::FlyEwr => ("Secaucus", "US"),
            Self::FlyFra | Self::KoyebFra => ("Frankfurt", "DE"),
            Self::FlyGru => ("São Paulo", "BR"),
            Self::FlyIad => ("Ashburn", "US"),
            Self::FlyJnb => ("Johannesburg", "ZA"),
            Self::FlyLax => ("Los Angeles", "US"),
            Self::FlyLhr => ("London", "GB"),
            Self::FlyNrt | Self::KoyebTyo => ("Tokyo", "JP"),
            Self::FlyOrd => ("Chicago", "US"),
            Self::FlySjc => ("San Jose", "US"),
            Self::FlySin | Self::KoyebSin => ("Singapore", "SG"),
            Self::FlySyd => ("Sydney", "AU"),
            Self::FlyYyz => ("Toronto", "CA"),
            Self::KoyebSfo => ("San Francisco", "US"),
            Self::KoyebWas => ("Washington", "US"),
            Self::RailwayUsWest2 => ("US West", "US"),
            Self::RailwayUsEast4 => ("US East", "US"),
            Self::RailwayEuropeWest4 => ("Europe West", "NL"),
            Self::RailwayAsiaSoutheast1 => ("Southeast Asia", "SG"),
        };
        Place { city, country }
    }
}
