//! What happened and somebody may want to hear of: the facts, without any vendor's form.

use std::time::Duration;

use rules::monitor::Check;
use rules::{IncidentId, MonitorId, MonitorKind, Region, Timestamp};
use serde::{Deserialize, Serialize};

use super::message::without_credentials;
use crate::judge::ClosedAs;

/// What people are told of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EventKind {
    /// A monitor is down: its incident opened.
    Error,
    /// A monitor is slow or partly failing, and has been for two periods.
    Degraded,
    /// A monitor that was down is no longer down, and has been degraded for two periods. Follows
    /// [`EventKind::Error`] of the same incident; one `recovered` ends both.
    StillDegraded,
    /// What was told before is over.
    Recovered,
    /// Somebody tries whether a channel works.
    Test,
}

/// Something that happened to one monitor. Its JSON is what the outbox keeps, sealed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Event {
    /// What happened.
    pub kind: EventKind,
    /// When the status changed (of a reminder: when it is due).
    pub at: Timestamp,
    /// Name of the workspace, as people know it.
    pub workspace: String,
    /// What it happened to.
    pub monitor: Subject,
    /// The incident it belongs to; `None` for `degraded` outside an incident and for tests.
    pub incident: Option<IncidentId>,
    /// Start. The time until `at` is the total duration, with a degradation after the incident.
    pub began_at: Timestamp,
    /// What ended the incident; only with [`EventKind::Recovered`].
    pub closed: Option<Ended>,
    /// Why, with what each region saw.
    pub grounds: Grounds,
    /// 0 when it is told the first time, then the number of the reminder.
    pub reminder: u32,
}

/// The monitor that an event happened to, as it was then: it may be edited or deleted since.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Subject {
    /// Its identifier.
    pub id: MonitorId,
    /// Its name.
    pub name: String,
    /// What kind of check.
    pub kind: MonitorKind,
    /// Its URL, `host:port` or domain, without credentials.
    pub target: String,
    /// Method of the request; only HTTP.
    pub method: Option<String>,
}

/// Why the status changed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Grounds {
    /// One sentence that says the most: of the first region that failed.
    pub why: String,
    /// What each region saw last, failing ones first.
    pub regions: Vec<RegionSeen>,
}

/// What one region saw last.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RegionSeen {
    /// The region.
    pub region: Region,
    /// Public name of the probe, if it is the server's own or serves several regions: regions of one
    /// probe are one place.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<String>,
    /// Whether its check failed.
    pub failing: bool,
    /// Why it was no success.
    pub reason: Option<String>,
    /// Status of the answer; only HTTP.
    pub status: Option<u16>,
    /// Whole exchange, in milliseconds.
    pub latency_ms: Option<u32>,
}

/// The words of [`ClosedAs`] in an event that is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ended {
    /// The monitor is `active` again.
    Recovered,
    /// The monitor is `degraded`: no longer down, not yet fine.
    Degraded,
    /// The monitor was paused.
    Paused,
    /// The monitor was deleted.
    Deleted,
    /// Somebody resolved the incident by hand.
    Resolved,
}

/// What one message tells: one event, or those of a storm together.
#[derive(Clone, Copy, Debug)]
pub enum Notice<'e> {
    /// One event.
    One(&'e Event),
    /// Several of one minute on one channel, oldest first; never empty.
    Storm(&'e [Event]),
}

impl EventKind {
    /// All of them.
    pub const ALL: &[Self] =
        &[Self::Error, Self::Degraded, Self::StillDegraded, Self::Recovered, Self::Test];

    /// The kind of this word.
    pub fn parse(word: &str) -> Result<Self, String> {
        let known = Self::ALL.iter().find(|kind| kind.as_str() == word);
        known.copied().ok_or_else(|| format!("unknown event `{word}`"))
    }

    /// The word that is stored, sent and shown.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Degraded => "degraded",
            Self::StillDegraded => "still_degraded",
            Self::Recovered => "recovered",
            Self::Test => "test",
        }
    }
}

impl Grounds {
    /// Returns the last observation of each place, failing ones first. A probe with several regions has one:
    /// the worst.
    pub fn places(&self) -> impl Iterator<Item = &RegionSeen> {
        self.regions.iter().enumerate().filter_map(|(at, seen)| {
            let before = &self.regions[..at];
            let is_told = seen.place.is_some() && before.iter().any(|it| it.place == seen.place);
            (!is_told).then_some(seen)
        })
    }
}

impl Subject {
    /// The monitor of this name that checks so.
    pub fn of(id: MonitorId, name: String, check: &Check) -> Self {
        let (target, method) = match check {
            Check::Http(http) => {
                (without_credentials(&http.url).0, Some(http.method.as_str().to_owned()))
            }
            Check::Tcp(tcp) => (tcp.uri.clone(), None),
            Check::Dns(dns) => (dns.uri.clone(), None),
        };
        Self { id, name, kind: check.kind(), target, method }
    }
}

impl Event {
    /// How long it lasted, of a recovery; how long it lasts, of a reminder.
    pub fn lasted(&self) -> Duration {
        let millis = self.at.as_millis().saturating_sub(self.began_at.as_millis());
        Duration::from_millis(u64::try_from(millis).unwrap_or(0))
    }
}

impl From<ClosedAs> for Ended {
    fn from(how: ClosedAs) -> Self {
        match how {
            ClosedAs::Recovered => Self::Recovered,
            ClosedAs::Degraded => Self::Degraded,
            ClosedAs::Paused => Self::Paused,
            ClosedAs::Deleted => Self::Deleted,
            ClosedAs::Resolved => Self::Resolved,
        }
    }
}
