//! Groups and locations of regions (§8.3). Regions of the first two groups are named after
//! airports and cities. Those of the third are named after parts of countries, because their
//! provider publishes no city.

use crate::{Region, RegionGroup};

/// A location.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Location {
    /// The city, or the part of the country if no city is published.
    pub city: &'static str,
    /// Country code of ISO 3166-1 with two letters. Empty for a private region.
    pub country: &'static str,
}

impl Region {
    /// The regions of the specification (§8.3), which all workspaces share.
    pub const PUBLIC: &'static [Self] = Self::ALL.split_at(Self::Private1 as usize).0;
    /// The names of these regions, in the same order.
    pub const PUBLIC_WORDS: &'static [&'static str] =
        Self::WORDS.split_at(Self::Private1 as usize).0;

    /// Returns the group of the region.
    pub fn group(self) -> RegionGroup {
        if self <= Self::FlyYyz {
            RegionGroup::Fly
        } else if self <= Self::KoyebWas {
            RegionGroup::Koyeb
        } else if !self.is_private() {
            RegionGroup::Railway
        } else {
            RegionGroup::Private
        }
    }

    /// Returns whether the region belongs to a workspace.
    pub const fn is_private(self) -> bool {
        self as usize >= Self::Private1 as usize
    }

    /// Returns the location of the region.
    pub const fn location(self) -> Location {
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
            // People see the name of its probe instead.
            Self::Private1 => ("Private 1", ""),
            Self::Private2 => ("Private 2", ""),
            Self::Private3 => ("Private 3", ""),
            Self::Private4 => ("Private 4", ""),
            Self::Private5 => ("Private 5", ""),
            Self::Private6 => ("Private 6", ""),
            Self::Private7 => ("Private 7", ""),
            Self::Private8 => ("Private 8", ""),
            Self::Private9 => ("Private 9", ""),
            Self::Private10 => ("Private 10", ""),
            Self::Private11 => ("Private 11", ""),
            Self::Private12 => ("Private 12", ""),
            Self::Private13 => ("Private 13", ""),
            Self::Private14 => ("Private 14", ""),
            Self::Private15 => ("Private 15", ""),
            Self::Private16 => ("Private 16", ""),
        };
        Location { city, country }
    }
}
