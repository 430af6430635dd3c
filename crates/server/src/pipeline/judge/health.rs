//! Health of the probes that serve the regions: their last results, suspicions, and missing
//! results.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use domain::judge::{ProbeIndex, ProbeTrust};
use rules::{Region, Timestamp, WorkspaceId};

use super::{Judge, JudgedMonitor};

/// Time that a list of silent regions is reused, because computing it visits every monitor.
const SILENCE_LOOKED_FOR_EVERY: Duration = Duration::from_secs(1);

/// Health of a region.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RegionHealth {
    pub region: Region,
    /// Health of the probe that serves it.
    pub health: Health,
    /// End of the latest check of that probe.
    pub last_check_at: Option<Timestamp>,
}

/// Health of a probe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Health {
    /// No problem is known.
    Healthy,
    /// Most of its hosts failed at once, and its votes do not count until a connectivity check succeeds.
    /// Without connectivity-check hosts its votes count, and it is not in this state.
    Suspect,
    /// No due check in the region ended in time.
    Stalled,
    /// It runs in another place and is not connected.
    Disconnected,
}

/// Last result of each probe, and the silent regions.
#[derive(Debug, Default)]
pub(super) struct LastChecks {
    /// Times by probe index.
    last_check_at: Vec<Option<Timestamp>>,
    silent: Option<(Timestamp, HashSet<RegionKey>)>,
}

/// A region with its workspace, which is `None` unless the region is private.
type RegionKey = (Option<WorkspaceId>, Region);

impl Health {
    /// Returns the name in responses.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Healthy => "healthy",
            Self::Suspect => "suspect",
            Self::Stalled => "stalled",
            Self::Disconnected => "disconnected",
        }
    }
}

impl LastChecks {
    /// Records the end of a check of this probe.
    pub(super) fn record(&mut self, probe: ProbeIndex, at: Timestamp) {
        let number = usize::from(probe.0);
        if self.last_check_at.len() <= number {
            self.last_check_at.resize(number + 1, None);
        }
        self.last_check_at[number] = self.last_check_at[number].max(Some(at));
    }

    fn last_check(&self, probe: ProbeIndex) -> Option<Timestamp> {
        self.last_check_at.get(usize::from(probe.0)).copied().flatten()
    }
}

impl Judge {
    /// Returns the health of each region of a workspace: of all that workspaces share, and of its private
    /// ones with a probe.
    pub(super) fn regions(&mut self, workspace: WorkspaceId) -> Vec<RegionHealth> {
        self.find_silent();
        let all = self.connectivity.probes.clone();
        let probes = all.of(workspace);
        let known = Region::ALL.iter().copied().filter(|region| probes.has_probe(*region));
        let health = |region: Region| {
            let probe = probes.serving(region).probe;
            let is_elsewhere = probes.elsewhere(region).is_some();
            let is_away = is_elsewhere && !self.connectivity.remote.is_connected(probe);
            let silent = self.last_checks.silent.as_ref();
            let is_silent = silent.is_some_and(|(_, it)| it.contains(&key(workspace, region)));
            let health = match (self.suspicions.trust(probe), is_silent) {
                _ if is_away => Health::Disconnected,
                (ProbeTrust::Suspect, _) => Health::Suspect,
                (ProbeTrust::Trusted | ProbeTrust::TrustedSince(_), true) => Health::Stalled,
                (ProbeTrust::Trusted | ProbeTrust::TrustedSince(_), false) => Health::Healthy,
            };
            RegionHealth { region, health, last_check_at: self.last_checks.last_check(probe) }
        };
        known.map(health).collect()
    }

    /// Looks for regions with due checks of which none ended for as long as a vote lives.
    fn find_silent(&mut self) {
        let now = self.ctx.now();
        if let Some((at, _)) = self.last_checks.silent
            && at <= now
            && now.since(at) < SILENCE_LOOKED_FOR_EVERY
        {
            return;
        }
        // An array, because this visits every monitor.
        let mut public = [None; Region::PUBLIC.len()];
        let mut private = HashMap::new();
        for judged in self.judged.values() {
            for (region, reported) in judged.due_regions(now) {
                let known = match public.get_mut(region as usize) {
                    Some(known) => known.get_or_insert(false),
                    None => private.entry(key(judged.workspace, region)).or_insert(false),
                };
                *known |= reported;
            }
        }
        let public = Region::PUBLIC.iter().zip(public);
        let public = public.filter_map(|(region, it)| Some(((None, *region), it?)));
        let silent = public.chain(private).filter(|(_, has_reported)| !has_reported);
        self.last_checks.silent = Some((now, silent.map(|(key, _)| key).collect()));
    }
}

fn key(workspace: WorkspaceId, region: Region) -> RegionKey {
    (region.is_private().then_some(workspace), region)
}

impl JudgedMonitor {
    /// Returns the regions in which a check should have ended by now, and whether one has. A
    /// monitor that has run for a shorter time has no due check, and one without a probe has none at all.
    fn due_regions(&self, now: Timestamp) -> impl Iterator<Item = (Region, bool)> {
        let window = self.policy.vote_validity();
        let is_due = self.is_probed() && now.since(self.runs_since) > window;
        self.state.regions.iter().filter(move |_| is_due).map(move |state| {
            let reported = state.latest.is_some_and(|last| now.since(last.finished_at) <= window);
            (state.region, reported)
        })
    }
}
