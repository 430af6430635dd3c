//! The enumerations of the specification and ours. RPC, database, Terraform, command line and pages
//! use the same names.

use std::time::Duration;

// Before the others, which use its macro.
#[macro_use]
mod words;
mod access;
mod notification;
mod report;
mod subscriber;

pub use access::{Role, Scope};
pub use notification::{AlertEvent, QuietHoursScope};
pub use report::{Impact, ReportState, ReportStatus};
pub use subscriber::{Language, SubscriberKind, SubscriberState, SuppressionReason, Topic};
pub use words::UnknownVariant;

/// Declares the enumeration of the channel kinds.
macro_rules! provider_type {
    ($($(#[doc = $meaning:literal])+ $variant:ident $block:ident $name:literal:
        $settings:ident { $($field:ident),+ } = $description:literal;)+) => {
        words! {
            /// Kind of a notification channel (§2.4).
            ProviderType ("provider_type") { $($(#[doc = $meaning])+ $variant = $name,)+ }
        }
    };
}

crate::channel_kinds!(provider_type);

/// Declares the enumeration of the monitor kinds.
macro_rules! monitor_kind {
    ($($(#[doc = $meaning:literal])+ $variant:ident $name:literal $table:ident $arguments:ident
        $(#[$doc:meta])+ $settings:ident $draft:ident $message:ident { $($fields:tt)* })+) => {
        words! {
            /// Kind of a monitor (§2.1–2.3, §2.8).
            MonitorKind ("monitor type") { $($(#[doc = $meaning])+ $variant = $name,)+ }
        }
    };
}

crate::check_kinds!(monitor_kind);

impl MonitorKind {
    /// Returns whether probes run the checks of monitors of this kind. If not, the server waits for calls.
    pub const fn is_probed(self) -> bool {
        match self {
            Self::Http | Self::Tcp | Self::Dns => true,
            Self::Heartbeat => false,
        }
    }
}

words! {
    /// Interval between two checks of a monitor in a region (§8.2).
    Periodicity ("periodicity") {
        /// Every 30 seconds.
        ThirtySeconds = "30s",
        /// Every minute.
        OneMinute = "1m",
        /// Every 5 minutes.
        FiveMinutes = "5m",
        /// Every 10 minutes.
        TenMinutes = "10m",
        /// Every 30 minutes.
        ThirtyMinutes = "30m",
        /// Every hour.
        OneHour = "1h",
    }

    /// Method of an HTTP check (§2.1).
    Method ("method") {
        /// `GET`, the default.
        Get = "GET",
        /// `POST`, with the body.
        Post = "POST",
        /// `HEAD`, which has a response without body.
        Head = "HEAD",
        /// `PUT`, with the body.
        Put = "PUT",
        /// `PATCH`, with the body.
        Patch = "PATCH",
        /// `DELETE`.
        Delete = "DELETE",
        /// `OPTIONS`.
        Options = "OPTIONS",
    }

    /// Version of the Internet protocol that a check uses. Ours.
    IpVersion ("ip_version") {
        /// IPv6 and IPv4: the first address that accepts, beginning with IPv6.
        Any = "any",
        /// IPv4 only.
        V4 = "ipv4",
        /// IPv6 only.
        V6 = "ipv6",
    }

    /// Comparison of a number with an assertion's target (§2.1).
    NumberComparator ("comparator") {
        /// Equal.
        Eq = "eq",
        /// Not equal.
        Neq = "neq",
        /// Greater than.
        Gt = "gt",
        /// Greater than or equal.
        Gte = "gte",
        /// Less than.
        Lt = "lt",
        /// Less than or equal.
        Lte = "lte",
    }

    /// Comparison of a text with an assertion's target (§2.1).
    TextComparator ("comparator") {
        /// The text contains the target.
        Contains = "contains",
        /// The text does not contain the target.
        NotContains = "not_contains",
        /// Equal.
        Eq = "eq",
        /// Not equal.
        Neq = "neq",
        /// The text is empty.
        Empty = "empty",
        /// The text is not empty.
        NotEmpty = "not_empty",
        /// Greater than.
        Gt = "gt",
        /// Greater than or equal.
        Gte = "gte",
        /// Less than.
        Lt = "lt",
        /// Less than or equal.
        Lte = "lte",
        /// The target is a regular expression that matches somewhere in the text (ours).
        Matches = "matches",
        /// The target is a regular expression that matches nowhere in the text (ours).
        NotMatches = "not_matches",
    }

    /// Comparison of a DNS record with an assertion's target (§2.3).
    RecordComparator ("comparator") {
        /// Equal.
        Eq = "eq",
        /// Not equal.
        Neq = "neq",
        /// The record contains the target.
        Contains = "contains",
        /// The record does not contain the target.
        NotContains = "not_contains",
    }

    /// Type of a DNS record that can be asserted (§2.3).
    RecordKind ("record") {
        /// An IPv4 address.
        A = "A",
        /// An IPv6 address.
        Aaaa = "AAAA",
        /// An alias.
        Cname = "CNAME",
        /// A mail exchanger.
        Mx = "MX",
        /// Text.
        Txt = "TXT",
    }

    /// Status of a monitor (§3).
    MonitorStatus ("status") {
        /// Up.
        Active = "active",
        /// Up, but slow, failing in part, or with a certificate that expires soon.
        Degraded = "degraded",
        /// Down.
        Error = "error",
        /// Not known: inactive, or no region has a vote.
        Unknown = "unknown",
    }

    /// Region of an Opsgenie account (§2.4).
    OpsgenieRegion ("region") {
        /// The United States.
        Us = "us",
        /// The European Union.
        Eu = "eu",
    }

    /// Access to a status page (§2.5, §3).
    AccessType ("access_type") {
        /// Anyone.
        Public = "public",
        /// Anyone with the password.
        Password = "password",
        /// Anyone with an address at one of the domains.
        EmailDomain = "email-domain",
    }

    /// Colours of a status page (§2.5, §3).
    Theme ("theme") {
        /// Follows the visitor's system.
        System = "system",
        /// Light.
        Light = "light",
        /// Dark.
        Dark = "dark",
    }

    /// Content of a component of a status page (§2.6).
    ComponentType ("type") {
        /// The status of a monitor.
        Monitor = "monitor",
        /// Only status reports.
        Static = "static",
    }

    /// Region that a check runs from (§8.3). The region `private-1` of one workspace has nothing to do
    /// with that of another (docs/decisions/0069-private-regions.md).
    Region ("region") {
        /// Amsterdam.
        FlyAms = "fly-ams",
        /// Stockholm.
        FlyArn = "fly-arn",
        /// Mumbai.
        FlyBom = "fly-bom",
        /// Paris.
        FlyCdg = "fly-cdg",
        /// Dallas.
        FlyDfw = "fly-dfw",
        /// Secaucus.
        FlyEwr = "fly-ewr",
        /// Frankfurt.
        FlyFra = "fly-fra",
        /// São Paulo.
        FlyGru = "fly-gru",
        /// Ashburn.
        FlyIad = "fly-iad",
        /// Johannesburg.
        FlyJnb = "fly-jnb",
        /// Los Angeles.
        FlyLax = "fly-lax",
        /// London.
        FlyLhr = "fly-lhr",
        /// Tokyo.
        FlyNrt = "fly-nrt",
        /// Chicago.
        FlyOrd = "fly-ord",
        /// San Jose.
        FlySjc = "fly-sjc",
        /// Singapore.
        FlySin = "fly-sin",
        /// Sydney.
        FlySyd = "fly-syd",
        /// Toronto.
        FlyYyz = "fly-yyz",
        /// Frankfurt.
        KoyebFra = "koyeb-fra",
        /// Paris.
        KoyebPar = "koyeb-par",
        /// San Francisco.
        KoyebSfo = "koyeb-sfo",
        /// Singapore.
        KoyebSin = "koyeb-sin",
        /// Tokyo.
        KoyebTyo = "koyeb-tyo",
        /// Washington.
        KoyebWas = "koyeb-was",
        /// US West.
        RailwayUsWest2 = "railway-us-west2",
        /// US East.
        RailwayUsEast4 = "railway-us-east4",
        /// Europe West.
        RailwayEuropeWest4 = "railway-europe-west4",
        /// Asia Southeast.
        RailwayAsiaSoutheast1 = "railway-asia-southeast1",
        /// The workspace's private region 1.
        Private1 = "private-1",
        /// The workspace's private region 2.
        Private2 = "private-2",
        /// The workspace's private region 3.
        Private3 = "private-3",
        /// The workspace's private region 4.
        Private4 = "private-4",
        /// The workspace's private region 5.
        Private5 = "private-5",
        /// The workspace's private region 6.
        Private6 = "private-6",
        /// The workspace's private region 7.
        Private7 = "private-7",
        /// The workspace's private region 8.
        Private8 = "private-8",
        /// The workspace's private region 9.
        Private9 = "private-9",
        /// The workspace's private region 10.
        Private10 = "private-10",
        /// The workspace's private region 11.
        Private11 = "private-11",
        /// The workspace's private region 12.
        Private12 = "private-12",
        /// The workspace's private region 13.
        Private13 = "private-13",
        /// The workspace's private region 14.
        Private14 = "private-14",
        /// The workspace's private region 15.
        Private15 = "private-15",
        /// The workspace's private region 16.
        Private16 = "private-16",
    }

    /// The three groups of regions (§8.3), and ours: the private regions of each workspace.
    RegionGroup ("region group") {
        /// Group one.
        Fly = "fly",
        /// Group two.
        Koyeb = "koyeb",
        /// Group three.
        Railway = "railway",
        /// Private regions of a workspace.
        Private = "private",
    }
}

impl TextComparator {
    /// Returns whether the target is a regular expression.
    pub const fn takes_expression(self) -> bool {
        match self {
            Self::Matches | Self::NotMatches => true,
            Self::Contains
            | Self::NotContains
            | Self::Eq
            | Self::Neq
            | Self::Empty
            | Self::NotEmpty
            | Self::Gt
            | Self::Gte
            | Self::Lt
            | Self::Lte => false,
        }
    }
}

impl Periodicity {
    /// Returns the time from one slot to the next.
    pub const fn period(self) -> Duration {
        Duration::from_secs(match self {
            Self::ThirtySeconds => 30,
            Self::OneMinute => 60,
            Self::FiveMinutes => 300,
            Self::TenMinutes => 600,
            Self::ThirtyMinutes => 1_800,
            Self::OneHour => 3_600,
        })
    }
}

#[cfg(test)]
mod tests;
