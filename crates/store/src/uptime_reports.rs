//! Figures of uptime reports for all monitors, tags and status pages of a workspace: `gather` computes
//! those of any time range, `by_tag` sums them up, and `frozen` stores those of past months, which never
//! change. `domain::history` defines uptime and latencies; the dashboard compares them with a target.

mod by_tag;
mod frozen;
mod gather;

use std::fmt;

use domain::history::{Sketch, Uptime};
use rules::{MonitorId, PageId, Tag};

use crate::Store;

pub use by_tag::sums_by_tag;
pub use frozen::FreezableMonth;
pub(crate) use frozen::parse_month;

/// Subject of a row of a report.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum UptimeSubject {
    Monitor(MonitorId),
    /// All monitors of a page.
    Page(PageId),
    /// All monitors with a tag, by its key.
    Tag(String),
    /// All monitors without tags.
    Untagged,
}

/// Figures of a subject in a time range.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UptimeFigures {
    pub subject: UptimeSubject,
    /// Name of the monitor, title of the page, or the tag.
    pub name: String,
    /// Tags of the monitor. Other subjects have none.
    pub tags: Vec<Tag>,
    /// Uptime outside of maintenance. `None` if nothing is known.
    pub uptime: Option<Uptime>,
    /// Number of incidents that opened.
    pub incidents: u32,
    /// Latencies of successful scheduled checks.
    pub latency: Sketch,
}

/// Handle of the uptime reports.
#[derive(Clone, Copy, Debug)]
pub struct UptimeReports<'s> {
    pub(crate) store: &'s Store,
}

impl Store {
    /// Returns the handle of the uptime reports.
    pub const fn uptime_reports(&self) -> UptimeReports<'_> {
        UptimeReports { store: self }
    }
}

impl UptimeSubject {
    /// Parses the ID of a monitor or a page.
    pub fn parse(text: &str) -> Result<Self, rules::InvalidId> {
        match PageId::parse(text) {
            Ok(page) => Ok(Self::Page(page)),
            Err(_) => MonitorId::parse(text).map(Self::Monitor),
        }
    }
}

impl fmt::Display for UptimeSubject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Monitor(id) => id.fmt(f),
            Self::Page(id) => id.fmt(f),
            Self::Tag(key) => f.write_str(key),
            Self::Untagged => f.write_str(""),
        }
    }
}

impl UptimeFigures {
    /// Returns figures of which nothing is known.
    pub const fn unknown(subject: UptimeSubject, name: String) -> Self {
        let latency = Sketch::EMPTY;
        Self { subject, name, tags: Vec::new(), uptime: None, incidents: 0, latency }
    }

    /// Adds the figures of a part: a monitor of these, or another time range.
    pub fn merge(&mut self, part: &Self) {
        self.uptime = match (self.uptime, part.uptime) {
            (Some(all), Some(part)) => Some(Uptime {
                known_ms: all.known_ms + part.known_ms,
                error_ms: all.error_ms + part.error_ms,
            }),
            (all, part) => all.or(part),
        };
        self.incidents = self.incidents.saturating_add(part.incidents);
        self.latency.merge(&part.latency);
    }

    /// Returns whether the monitor has the tag with this key.
    pub fn has_tag(&self, key: &str) -> bool {
        self.tags.iter().any(|tag| tag.key() == key)
    }
}
