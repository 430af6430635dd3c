//! Suspicion of a probe (design §5 "Votes"): if most of its hosts, healthy before, fail within a
//! minute, the probe itself may be cut off. Each workspace has the same weight, however many hosts
//! it has. Pure state: the pipeline runs connectivity checks, notifies the owners and recomputes
//! verdicts.
//!
//! Without connectivity checks, a suspicion mutes nothing and only adds a line to alerts. With
//! them, the votes of the probe are void until the hosts of the check respond or stay silent. If
//! neither is known in time, the votes count.
//!
//! A suspicion ends when most connectivity checks or half of the hosts respond, or after a time
//! limit. If the first connectivity check succeeds, the probe was never cut off, and its recorded
//! votes count again. After a failed connectivity check, and if hosts recover, failures of earlier
//! slots never count: they would cause alerts for checks that ran while the probe was cut off.

mod probe;

use std::fmt;
use std::time::Duration;

use rules::{Timestamp, WorkspaceId};
use serde::{Deserialize, Serialize};

use self::probe::Probe;
use super::{ProbeIndex, RegionResult, Vote};

/// Hosts without a report for this long (twice the longest period) are removed.
const HOST_EXPIRY: Duration = Duration::from_hours(2);
/// Interval of removing such hosts.
const SWEEP_INTERVAL: Duration = Duration::from_mins(10);

/// Suspicions of all probes, derived from the results of their hosts. Initially no probe is
/// suspect.
#[derive(Clone, Debug, Default)]
pub struct ProbeSuspicions {
    /// Whether connectivity checks are configured; without them a suspicion mutes nothing.
    has_connectivity_check: bool,
    /// Indexed by the number of the [`ProbeIndex`].
    probes: Vec<Probe>,
    /// Time of the last event; an earlier one means that the clock was set back.
    now: Timestamp,
}

/// A hash that identifies a host by its name, ignoring case.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct HostMark(u64);

/// Outcome of one check for its host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HostOutcome {
    pub probe: ProbeIndex,
    pub workspace: WorkspaceId,
    pub host: HostMark,
    pub failed: bool,
    /// End of the check; a report older than the host's last one changes nothing.
    pub finished_at: Timestamp,
}

/// Result of one connectivity check of a probe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConnectivityCheck {
    /// Number of hosts tried; zero means no information.
    pub asked: u32,
    /// Number of hosts that responded.
    pub responded: u32,
}

/// Suspicion of one probe as the store keeps it. With the outcomes of the last checks it restores the
/// state in a new process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredSuspicion {
    /// Start and evidence, while the probe is suspect.
    pub suspicion: Option<(Timestamp, FailedHosts)>,
    pub trust: ProbeTrust,
    /// Time at which a suspicion began or ended last. Earlier failures begin no other one.
    pub changed_at: Timestamp,
}

/// Whether the reports of a probe count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum ProbeTrust {
    /// All of them.
    #[default]
    Trusted,
    /// All but failures of slots before this instant: the probe was cut off until then.
    TrustedSince(Timestamp),
    /// None: the probe is suspect.
    Suspect,
}

/// Start or end of a suspicion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SuspicionChange {
    /// The owners are notified. Its votes are void from now on if there are connectivity checks.
    Suspected { probe: ProbeIndex, since: Timestamp, failed_hosts: FailedHosts },
    /// Its votes count again.
    Recovered {
        probe: ProbeIndex,
        /// Start of the suspicion.
        since: Timestamp,
        cleared_by: ClearedBy,
    },
}

/// Evidence for a suspicion, from its start.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FailedHosts {
    /// Number of hosts that failed within the minute.
    pub failing: u32,
    /// Number of all hosts.
    pub of_hosts: u32,
}

/// Reason for the end of a suspicion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClearedBy {
    /// Most hosts of the connectivity check responded.
    ConnectivityCheck,
    /// At least half of the hosts responded.
    Hosts,
    /// The time limit was reached.
    Time,
}

impl HostMark {
    /// Creates the mark of a host name or address.
    pub fn new(name: &str) -> Self {
        // FNV-1a: the hash lives as long as the process, and no attacker gains from a collision.
        let fold = |hash: u64, byte: u8| {
            (hash ^ u64::from(byte.to_ascii_lowercase())).wrapping_mul(0x0100_0000_01b3)
        };
        Self(name.bytes().fold(0xcbf2_9ce4_8422_2325, fold))
    }
}

impl ProbeTrust {
    /// Returns whether a result of the probe has a vote, as far as the probe is concerned.
    pub(super) fn counts(self, result: &RegionResult) -> bool {
        match self {
            Self::Trusted => true,
            Self::TrustedSince(since) => result.vote != Vote::Failing || result.slot >= since,
            Self::Suspect => false,
        }
    }
}

impl ProbeSuspicions {
    /// Creates the state without any suspicion. Without connectivity checks, a suspicion mutes
    /// nothing.
    pub fn new(has_connectivity_check: bool) -> Self {
        Self { has_connectivity_check, ..Self::default() }
    }

    /// Returns the evidence for the probe's suspicion, or `None` if the probe is not suspect.
    pub fn suspicion(&self, probe: ProbeIndex) -> Option<FailedHosts> {
        let suspicion = self.probes.get(usize::from(probe.0))?.suspicion?;
        Some(suspicion.failed_hosts)
    }

    /// Restores the state in a new process at `now`, from the outcomes of the last checks in any order
    /// and the stored suspicions. Begins and ends no suspicion. The next connectivity check of
    /// a suspect probe decides; the pipeline starts it.
    pub fn restore(
        &mut self,
        mut outcomes: Vec<HostOutcome>,
        stored: impl IntoIterator<Item = (ProbeIndex, StoredSuspicion)>,
        now: Timestamp,
    ) {
        outcomes.sort_by_key(|outcome| outcome.finished_at);
        for outcome in &outcomes {
            let at = outcome.finished_at.min(now);
            self.probe(outcome.probe).record(outcome, at);
        }
        let has_connectivity_check = self.has_connectivity_check;
        for (probe, stored) in stored {
            self.probe(probe).restore(stored, has_connectivity_check, now);
        }
        self.advance_to(now);
        self.probes.iter_mut().for_each(|probe| probe.set_back(now));
    }

    /// Returns what the store keeps of the suspicion of a probe.
    pub fn stored(&self, probe: ProbeIndex) -> StoredSuspicion {
        let known = self.probes.get(usize::from(probe.0));
        known.map_or_else(|| Probe::default().stored(), Probe::stored)
    }

    /// Records the outcome of one check.
    pub fn record(&mut self, report: HostOutcome, now: Timestamp) -> Option<SuspicionChange> {
        self.advance_to(now);
        let has_connectivity_check = self.has_connectivity_check;
        let probe = self.probe(report.probe);
        probe.sweep(now);
        probe.record(&report, now);
        match probe.suspicion {
            Some(_) => probe.try_end_by_hosts(report.probe, now),
            None => probe.try_begin(report.probe, has_connectivity_check, now),
        }
    }

    /// Records the result of a connectivity check.
    pub fn record_connectivity_check(
        &mut self,
        slot: ProbeIndex,
        check: ConnectivityCheck,
        now: Timestamp,
    ) -> Option<SuspicionChange> {
        self.advance_to(now);
        let probe = self.probes.get_mut(usize::from(slot.0))?;
        let suspicion = probe.suspicion.as_mut().filter(|_| check.asked > 0)?;
        if 2 * check.responded <= check.asked {
            suspicion.silent_at = Some(now);
            return None;
        }
        let trust = match suspicion.silent_at {
            Some(_) => ProbeTrust::TrustedSince(now),
            None => ProbeTrust::Trusted,
        };
        probe.end(slot, ClearedBy::ConnectivityCheck, trust, now)
    }

    /// Ends the first suspicion whose time limit is reached at `now`.
    pub fn tick(&mut self, now: Timestamp) -> Option<SuspicionChange> {
        self.advance_to(now);
        let number = self.probes.iter().position(|probe| {
            probe.suspicion.is_some_and(|suspicion| suspicion.deadline() <= now)
        })?;
        let (index, trust) = (probe_index(number), ProbeTrust::Trusted);
        self.probes[number].end(index, ClearedBy::Time, trust, now)
    }

    fn probe(&mut self, probe: ProbeIndex) -> &mut Probe {
        let number = usize::from(probe.0);
        if self.probes.len() <= number {
            self.probes.resize_with(number + 1, Probe::default);
        }
        &mut self.probes[number]
    }

    /// Advances the time. If the clock was set back, moves later instants to `now`. So new reports
    /// are newer than recorded ones, and suspicions end in time.
    fn advance_to(&mut self, now: Timestamp) {
        if now < self.now {
            self.probes.iter_mut().for_each(|probe| probe.set_back(now));
        }
        self.now = now;
    }

    /// Returns the next time at which [`Self::tick`] has an effect.
    pub fn wake_at(&self) -> Option<Timestamp> {
        self.probes.iter().filter_map(|probe| probe.suspicion).map(probe::Suspicion::deadline).min()
    }

    /// Returns the suspect probes.
    pub fn suspects(&self) -> impl Iterator<Item = ProbeIndex> {
        let suspect = self.probes.iter().enumerate().filter(|(_, probe)| probe.suspicion.is_some());
        suspect.map(|(number, _)| probe_index(number))
    }

    /// Returns whether the reports of `probe` count.
    pub fn trust(&self, probe: ProbeIndex) -> ProbeTrust {
        self.probes.get(usize::from(probe.0)).map_or(ProbeTrust::Trusted, |probe| probe.trust)
    }
}

impl fmt::Display for FailedHosts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { failing, of_hosts } = self;
        write!(f, "{failing} of {of_hosts} hosts failed within a minute")
    }
}

impl fmt::Display for ClearedBy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::ConnectivityCheck => "its connectivity checks succeed",
            Self::Hosts => "half of its hosts or more answer",
            Self::Time => "nothing confirmed it in time",
        })
    }
}

fn probe_index(number: usize) -> ProbeIndex {
    ProbeIndex(u16::try_from(number).expect("the index of a probe is the number of its slot"))
}

#[cfg(test)]
mod tests;
