//! The host states of one probe: which hosts failed within a minute, and how a suspicion begins and
//! ends.

use std::collections::{HashMap, VecDeque};
use std::time::Duration;

use rules::{Timestamp, WorkspaceId, limits};

use super::{
    ClearedBy, FailedHosts, HOST_EXPIRY, HostMark, HostOutcome, ProbeIndex, ProbeTrust,
    SWEEP_INTERVAL, StoredSuspicion, SuspicionChange,
};

#[derive(Clone, Debug, Default)]
pub(super) struct Probe {
    hosts: HashMap<Host, HostState>,
    workspaces: HashMap<WorkspaceId, Count>,
    /// Hosts that turned from healthy to failing within the last minute, in order of time.
    turns: VecDeque<(Timestamp, Host)>,
    /// How many of these still fail.
    turned: u32,
    pub(super) suspicion: Option<Suspicion>,
    pub(super) trust: ProbeTrust,
    /// Time at which a suspicion began or ended last.
    changed_at: Timestamp,
    swept_at: Timestamp,
}

/// A host as checked by one workspace.
type Host = (WorkspaceId, HostMark);

/// Counts of one workspace's hosts.
#[derive(Clone, Copy, Debug, Default)]
struct Count {
    hosts: u32,
    /// Hosts whose last outcome is a failure.
    failing: u32,
    /// Hosts among [`Probe::turns`] that still fail.
    turned: u32,
}

#[derive(Clone, Copy, Debug)]
struct HostState {
    failing: bool,
    /// Time of turning to failing, if it is among [`Probe::turns`].
    turned_at: Option<Timestamp>,
    finished_at: Timestamp,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Suspicion {
    pub(super) since: Timestamp,
    /// Time of the last failed connectivity check.
    pub(super) silent_at: Option<Timestamp>,
    /// Time limit if no connectivity check has decided.
    undecided_for: Duration,
    pub(super) failed_hosts: FailedHosts,
}

impl Suspicion {
    pub(super) fn deadline(self) -> Timestamp {
        match self.silent_at {
            Some(silent_at) => (silent_at + limits::SUSPICION_UNCONFIRMED_MAX)
                .min(self.since + limits::SUSPICION_MAX),
            None => self.since + self.undecided_for,
        }
    }
}

impl Probe {
    pub(super) fn set_back(&mut self, now: Timestamp) {
        for host in self.hosts.values_mut() {
            host.finished_at = host.finished_at.min(now);
            host.turned_at = host.turned_at.map(|at| at.min(now));
        }
        self.turns.iter_mut().for_each(|(at, _)| *at = now.min(*at));
        self.swept_at = self.swept_at.min(now);
        self.changed_at = self.changed_at.min(now);
        if let Some(suspicion) = &mut self.suspicion {
            suspicion.since = suspicion.since.min(now);
            suspicion.silent_at = suspicion.silent_at.map(|at| at.min(now));
        }
        if let ProbeTrust::TrustedSince(since) = &mut self.trust {
            *since = now.min(*since);
        }
    }

    /// Records the outcome of a check.
    pub(super) fn record(&mut self, outcome: &HostOutcome, now: Timestamp) {
        self.expire_turns(now);
        let fresh = HostState { failing: false, turned_at: None, finished_at: outcome.finished_at };
        let mark = (outcome.workspace, outcome.host);
        let known = self.hosts.contains_key(&mark);
        if !known {
            self.workspaces.entry(outcome.workspace).or_default().hosts += 1;
        }
        let host = self.hosts.entry(mark).or_insert(fresh);
        if host.finished_at > outcome.finished_at {
            return;
        }
        host.finished_at = outcome.finished_at;
        if host.failing == outcome.failed {
            return;
        }
        let count = self.workspaces.entry(outcome.workspace).or_default();
        host.failing = outcome.failed;
        if outcome.failed {
            count.failing += 1;
            // A host that was never healthy says nothing about the probe.
            if known {
                host.turned_at = Some(now);
                count.turned += 1;
                self.turned += 1;
                self.turns.push_back((now, mark));
            }
        } else {
            count.failing -= 1;
            let is_turned = u32::from(host.turned_at.take().is_some());
            count.turned -= is_turned;
            self.turned -= is_turned;
        }
    }

    fn expire_turns(&mut self, now: Timestamp) {
        self.forget_turns(|at| at > now || now.since(at) > limits::SUSPICION_WINDOW);
    }

    /// Removes the oldest hosts that turned to failing at a time that `is_over`.
    fn forget_turns(&mut self, is_over: impl Fn(Timestamp) -> bool) {
        while let Some((at, mark)) = self.turns.front().copied() {
            if !is_over(at) {
                return;
            }
            self.turns.pop_front();
            if let Some(host) = self.hosts.get_mut(&mark).filter(|it| it.turned_at == Some(at)) {
                host.turned_at = None;
                self.turned -= 1;
                if let Some(count) = self.workspaces.get_mut(&mark.0) {
                    count.turned -= 1;
                }
            }
        }
    }

    pub(super) fn sweep(&mut self, now: Timestamp) {
        if now.since(self.swept_at) < SWEEP_INTERVAL {
            return;
        }
        self.swept_at = now;
        self.hosts.retain(|_, host| now.since(host.finished_at) <= HOST_EXPIRY);
        self.workspaces.clear();
        self.turned = 0;
        for ((workspace, _), host) in &self.hosts {
            let count = self.workspaces.entry(*workspace).or_default();
            let is_turned = u32::from(host.turned_at.is_some());
            count.hosts += 1;
            count.failing += u32::from(host.failing);
            count.turned += is_turned;
            self.turned += is_turned;
        }
    }

    /// Returns whether most hosts are of this kind, with the same weight for each workspace.
    fn is_most(&self, kind: impl Fn(&Count) -> u32) -> bool {
        let shares = self.workspaces.values().filter(|count| count.hosts > 0);
        let share: f64 = shares.map(|count| f64::from(kind(count)) / f64::from(count.hosts)).sum();
        2.0 * share > self.workspaces.len() as f64
    }

    pub(super) fn try_begin(
        &mut self,
        slot: ProbeIndex,
        has_connectivity_check: bool,
        now: Timestamp,
    ) -> Option<SuspicionChange> {
        let hosts = self.hosts.len();
        let may_begin = self.turned > 0 && hosts >= limits::SUSPICION_HOSTS_MIN;
        if !may_begin || !self.is_most(|count| count.turned) {
            return None;
        }
        let failed_hosts = FailedHosts { failing: self.turned, of_hosts: hosts as u32 };
        let undecided_for = if has_connectivity_check {
            limits::SUSPICION_DECIDED_WITHIN
        } else {
            limits::SUSPICION_UNCONFIRMED_MAX
        };
        self.suspicion =
            Some(Suspicion { since: now, silent_at: None, undecided_for, failed_hosts });
        if has_connectivity_check {
            self.trust = ProbeTrust::Suspect;
        }
        self.changed_at = now;
        Some(SuspicionChange::Suspected { probe: slot, since: now, failed_hosts })
    }

    pub(super) fn try_end_by_hosts(
        &mut self,
        slot: ProbeIndex,
        now: Timestamp,
    ) -> Option<SuspicionChange> {
        if self.is_most(|count| count.failing) {
            return None;
        }
        // Votes that were never void keep counting.
        let standing = match self.trust {
            ProbeTrust::Suspect => ProbeTrust::TrustedSince(now),
            ProbeTrust::Trusted | ProbeTrust::TrustedSince(_) => self.trust,
        };
        self.end(slot, ClearedBy::Hosts, standing, now)
    }

    pub(super) fn end(
        &mut self,
        slot: ProbeIndex,
        cleared_by: ClearedBy,
        trust: ProbeTrust,
        now: Timestamp,
    ) -> Option<SuspicionChange> {
        let since = self.suspicion.take()?.since;
        self.trust = trust;
        self.changed_at = now;
        // Earlier failures say nothing about later ones.
        self.turns.clear();
        self.turned = 0;
        self.hosts.values_mut().for_each(|host| host.turned_at = None);
        self.workspaces.values_mut().for_each(|count| count.turned = 0);
        Some(SuspicionChange::Recovered { probe: slot, since, cleared_by })
    }

    /// Returns the part of the state that outcomes of checks cannot restore.
    pub(super) fn stored(&self) -> StoredSuspicion {
        let suspicion = self.suspicion.map(|it| (it.since, it.failed_hosts));
        StoredSuspicion { suspicion, trust: self.trust, changed_at: self.changed_at }
    }

    /// Restores the stored part at `now`, after the outcomes of the previous process were recorded.
    pub(super) fn restore(
        &mut self,
        stored: StoredSuspicion,
        has_connectivity_check: bool,
        now: Timestamp,
    ) {
        self.changed_at = stored.changed_at;
        self.forget_turns(|at| at <= stored.changed_at);
        let is_suspect = stored.trust == ProbeTrust::Suspect;
        let mutes = is_suspect && has_connectivity_check;
        self.trust = if is_suspect && !mutes { ProbeTrust::Trusted } else { stored.trust };
        let earliest = now - limits::SUSPICION_MAX + limits::SUSPICION_DECIDED_WITHIN;
        self.suspicion = stored.suspicion.map(|(since, failed_hosts)| Suspicion {
            // A connectivity check can decide before the time limit.
            since: if mutes { since.max(earliest) } else { since },
            // The probe may have been cut off until now. So failures of earlier slots do not count,
            // even if the first connectivity check succeeds.
            silent_at: mutes.then_some(now),
            undecided_for: limits::SUSPICION_UNCONFIRMED_MAX,
            failed_hosts,
        });
    }
}
