//! Events of monitors that channels may be notified of, independent of vendors.

use std::time::Duration;

use rules::monitor::Check;
use rules::{IncidentId, MonitorId, MonitorKind, Region, Timestamp};
use serde::{Deserialize, Serialize};

use super::message::without_credentials;
use crate::check::expected_calls;
pub use crate::judge::CloseReason;
use crate::judge::FailedHosts;

/// Kind of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EventKind {
    /// The monitor is down: its incident opened.
    Error,
    /// The monitor has been degraded for two periods.
    Degraded,
    /// A monitor that was down is no longer down, and has been degraded for two periods. Follows
    /// [`EventKind::Error`] of the same incident; one `recovered` ends both.
    StillDegraded,
    /// The earlier event is over.
    Recovered,
    /// A user tests a channel.
    Test,
}

/// An event of one monitor. The outbox stores it as sealed JSON.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Event {
    pub kind: EventKind,
    /// Time of the change of status; for a reminder, the time at which it is due.
    pub at: Timestamp,
    /// Name of the workspace.
    pub workspace: String,
    pub monitor: MonitorSnapshot,
    /// The incident of the event; `None` for `degraded` outside an incident and for tests.
    pub incident: Option<IncidentId>,
    /// Start. The time until `at` is the total duration, with a degradation after the incident.
    pub began_at: Timestamp,
    /// Reason for the end of the incident; only with [`EventKind::Recovered`].
    pub closed: Option<CloseReason>,
    /// Cause, with the last result of each region.
    #[serde(rename = "grounds")]
    pub cause: Cause,
    /// 0 for the first message, then the number of the reminder.
    pub reminder: u32,
}

/// Snapshot of the monitor at the time of the event: it may have been edited or deleted since.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MonitorSnapshot {
    pub id: MonitorId,
    pub name: String,
    pub kind: MonitorKind,
    /// Its URL, `host:port` or domain, without credentials.
    pub target: String,
    /// Method of the request; only HTTP.
    pub method: Option<String>,
}

/// Cause of a change of status.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cause {
    /// The most informative sentence: that of the first failing region.
    pub why: String,
    /// Last result of each region, failing ones first.
    pub regions: Vec<RegionOutcome>,
}

/// Last result of one region.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RegionOutcome {
    pub region: Region,
    /// Public name of the probe, if it is the server's own or serves several regions: regions of
    /// one probe are one place.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<String>,
    /// Whether its check failed.
    pub failing: bool,
    /// Reason why the check is not a success.
    pub reason: Option<String>,
    /// Status of the response; only HTTP.
    pub status: Option<u16>,
    /// Duration of the whole exchange, in milliseconds.
    pub latency_ms: Option<u32>,
}

/// Content of one message: a single event, or a digest.
#[derive(Clone, Copy, Debug)]
pub enum EventBatch<'e> {
    One(&'e Event),
    /// Several events of a minute on one channel, oldest first; never empty.
    Digest(&'e [Event]),
}

impl EventKind {
    /// All variants.
    pub const ALL: &[Self] =
        &[Self::Error, Self::Degraded, Self::StillDegraded, Self::Recovered, Self::Test];

    /// Parses the name of a kind.
    pub fn parse(word: &str) -> Result<Self, String> {
        let known = Self::ALL.iter().find(|kind| kind.as_str() == word);
        known.copied().ok_or_else(|| format!("unknown event `{word}`"))
    }

    /// Returns the name used in storage and the API.
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

impl Cause {
    /// Adds that a suspect probe may be at fault. `probe` is its name, or `None` for the server's
    /// own probe.
    pub fn add_suspicion(&mut self, failed_hosts: FailedHosts, probe: Option<&str>) {
        let network = match probe {
            None => "this server's own network".to_owned(),
            Some(name) => format!("the network of probe `{name}`"),
        };
        self.why = format!("{}. {failed_hosts}; {network} may be at fault", self.why);
    }

    /// Returns the last result of each place, failing ones first. A probe with several regions has
    /// one: the worst.
    pub fn distinct_places(&self) -> impl Iterator<Item = &RegionOutcome> {
        self.regions.iter().enumerate().filter_map(|(at, seen)| {
            let before = &self.regions[..at];
            // A workspace's probe may have the name of another one.
            let is_same = |it: &RegionOutcome| {
                it.place == seen.place && it.region.is_private() == seen.region.is_private()
            };
            let is_repeated = seen.place.is_some() && before.iter().any(is_same);
            (!is_repeated).then_some(seen)
        })
    }
}

impl MonitorSnapshot {
    /// Creates the snapshot of the monitor with this name and check.
    pub fn new(id: MonitorId, name: String, check: &Check) -> Self {
        let (target, method) = match check {
            Check::Http(http) => {
                (without_credentials(&http.url).0, Some(http.method.as_str().to_owned()))
            }
            Check::Tcp(tcp) => (tcp.uri.clone(), None),
            Check::Dns(dns) => (dns.uri.clone(), None),
            Check::Heartbeat(heartbeat) => (expected_calls(heartbeat), None),
        };
        Self { id, name, kind: check.kind(), target, method }
    }
}

impl Event {
    /// Returns the total duration at the time of a recovery, or the duration so far at the time of
    /// a reminder.
    pub fn duration(&self) -> Duration {
        let millis = self.at.as_millis().saturating_sub(self.began_at.as_millis());
        Duration::from_millis(u64::try_from(millis).unwrap_or(0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // issue 16, point 5
    #[test]
    fn suspicion_names_the_probe_at_fault() {
        let failed_hosts = FailedHosts { failing: 12, of_hosts: 15 };
        for (probe, expected) in [
            (
                None,
                "12 of 15 hosts failed within a minute; this server's own network may be at fault",
            ),
            (
                Some("berlin"),
                "12 of 15 hosts failed within a minute; the network of probe `berlin` may be at fault",
            ),
        ] {
            let mut cause = Cause { why: "the status is 503".to_owned(), regions: Vec::new() };
            cause.add_suspicion(failed_hosts, probe);
            assert_eq!(cause.why, format!("the status is 503. {expected}"));
        }
    }
}
