//! The peers, and what their importers return.

use crate::assembly::Assembly;
use crate::history::History;

/// Looks up an environment variable. Gatus reads some values from there.
pub type Environment<'a> = &'a dyn Fn(&str) -> Option<String>;

/// A program or service to import from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Peer {
    /// Uptime Kuma 1.23 and 2.
    UptimeKuma,
    /// Gatus 5.
    Gatus,
    /// OpenStatus.
    OpenStatus,
    /// Better Stack Uptime.
    BetterStack,
    /// UptimeRobot, through version 2 of its interface.
    UptimeRobot,
    /// Atlassian Statuspage.
    Statuspage,
}

/// The result of an importer, before references are resolved.
pub(crate) struct Reading {
    pub(crate) assembly: Assembly,
    pub(crate) history: History,
}

impl Peer {
    /// All peers.
    pub const ALL: &'static [Self] = &[
        Self::UptimeKuma,
        Self::Gatus,
        Self::OpenStatus,
        Self::BetterStack,
        Self::UptimeRobot,
        Self::Statuspage,
    ];

    /// Returns the name on the command line, which is also the name of the configuration.
    pub const fn word(self) -> &'static str {
        match self {
            Self::UptimeKuma => "uptime-kuma",
            Self::Gatus => "gatus",
            Self::OpenStatus => "openstatus",
            Self::BetterStack => "better-stack",
            Self::UptimeRobot => "uptimerobot",
            Self::Statuspage => "statuspage",
        }
    }

    /// Returns the name in texts.
    pub const fn title(self) -> &'static str {
        match self {
            Self::UptimeKuma => "Uptime Kuma",
            Self::Gatus => "Gatus",
            Self::OpenStatus => "OpenStatus",
            Self::BetterStack => "Better Stack",
            Self::UptimeRobot => "UptimeRobot",
            Self::Statuspage => "Statuspage",
        }
    }
}
