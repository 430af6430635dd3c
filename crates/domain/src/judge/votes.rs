//! Counting (design §5 "Votes"): what each region's last results say, and what the probes that
//! serve them say together.

use std::time::Duration;

use rules::{MonitorStatus, Region, Timestamp};

use super::{Ballot, Doubts, Heard, History, Policy, ProbeSlot, RegionState, Share, Standing};

/// The votes of a monitor at one instant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Tally {
    /// Regions of the monitor.
    pub(super) regions: u8,
    /// Regions with a vote.
    pub(super) voting: u8,
    /// Votes: one per probe that serves a region with a vote.
    pub(super) votes: u8,
    /// Votes that fail, and the regions that do.
    failing: (u8, u8),
    /// Votes that are slow, and the regions that are.
    slow: (u8, u8),
    /// The first region with a vote that failed two slots in a row.
    pub(super) failed_twice: Option<Region>,
    /// When the first of the votes will be too old.
    pub(super) next_expiry: Option<Timestamp>,
}

/// The regions of one probe.
#[derive(Clone, Copy)]
struct Voter {
    probe: ProbeSlot,
    voting: u8,
    failing: u8,
    slow: u8,
}

impl Tally {
    /// Counts the votes at `now`; those of probes that doubt themselves are void.
    pub(super) fn of(policy: &Policy, history: &History, doubts: &Doubts, now: Timestamp) -> Self {
        let window = policy.window();
        let mut tally = Self { regions: policy.regions.len() as u8, ..Self::default() };
        let nobody = Voter { probe: ProbeSlot(0), voting: 0, failing: 0, slow: 0 };
        // On the stack: this runs for every result.
        let mut voters = [nobody; Region::ALL.len()];
        let mut known = 0;
        for (serving, state) in policy.regions.iter().zip(&history.regions) {
            // The usual case copies nothing: this runs for every result.
            let part;
            let credible = match doubts.standing(serving.probe) {
                Standing::Sound => state,
                standing @ (Standing::SoundSince(_) | Standing::Void) => {
                    part = state.credible(standing);
                    &part
                }
            };
            let Some(ballot) = vote(credible, window, history.slow, now) else {
                continue;
            };
            let place = voters[..known].iter().position(|voter| voter.probe == serving.probe);
            let place = place.unwrap_or(known);
            known = known.max(place + 1);
            voters[place].probe = serving.probe;
            voters[place].count(ballot);
            tally.hear(credible, window);
        }
        for voter in &voters[..known] {
            tally.votes += 1;
            tally.failing.0 += u8::from(2 * voter.failing > voter.voting);
            tally.failing.1 += voter.failing;
            tally.slow.0 += u8::from(2 * voter.slow > voter.voting);
            tally.slow.1 += voter.slow;
        }
        tally
    }

    /// Whether half of the monitor's regions or more are without a vote.
    pub(super) const fn is_thin(&self) -> bool {
        2 * (self.regions - self.voting) >= self.regions
    }

    /// Whether more than half of the votes are slow.
    pub(super) const fn is_slow(&self) -> bool {
        2 * self.slow.0 > self.votes
    }

    /// Whether exactly half of the votes fail.
    pub(super) const fn is_tied(&self) -> bool {
        self.votes > 0 && 2 * self.failing.0 == self.votes
    }

    /// How many fail.
    pub(super) const fn failing(&self) -> Share {
        self.share(self.failing)
    }

    /// How many are slow.
    pub(super) const fn slow(&self) -> Share {
        self.share(self.slow)
    }

    const fn share(&self, (votes, regions): (u8, u8)) -> Share {
        Share { votes, of_votes: self.votes, regions, of_regions: self.voting }
    }

    /// Counts a region that has a vote.
    fn hear(&mut self, state: &RegionState, window: Duration) {
        self.voting += 1;
        if self.failed_twice.is_none() && state.failed_twice(window) {
            self.failed_twice = Some(state.region);
        }
        // "Within" includes the last millisecond of the window.
        let expiry = state.latest.map(|last| last.finished_at + window + Duration::from_millis(1));
        self.next_expiry = match (self.next_expiry, expiry) {
            (Some(one), Some(other)) => Some(one.min(other)),
            (one, other) => one.or(other),
        };
    }
}

impl Voter {
    fn count(&mut self, ballot: Ballot) {
        self.voting += 1;
        self.failing += u8::from(ballot == Ballot::Failing);
        self.slow += u8::from(ballot == Ballot::Slow);
    }
}

impl RegionState {
    /// What of it counts, by the standing of the probe that serves the region.
    fn credible(&self, standing: Standing) -> Self {
        let counts = |heard: &Heard| standing.counts(heard);
        Self { latest: self.latest.filter(counts), before: self.before.filter(counts), ..*self }
    }

    /// Whether its last two results are of slots in a row and both vote `ballot`. Slots further
    /// apart than a vote lives (the process was down between them), and results of two revisions,
    /// are not in a row; a skipped slot between them changes nothing.
    fn twice(&self, ballot: Ballot, window: Duration) -> bool {
        let (Some(latest), Some(before)) = (self.latest, self.before) else {
            return false;
        };
        latest.ballot == ballot
            && before.ballot == ballot
            && latest.revision == before.revision
            && latest.slot.since(before.slot) <= window
    }

    /// Whether it failed two slots in a row.
    pub(super) fn failed_twice(&self, window: Duration) -> bool {
        self.twice(Ballot::Failing, window)
    }
}

/// The status of one region alone, as `GetMonitorStatus` answers it: its last result as long as
/// that has a vote. `error` is a failing one, whatever the other regions say.
pub fn region_status(
    policy: &Policy,
    history: &History,
    region: Region,
    doubts: &Doubts,
    now: Timestamp,
) -> MonitorStatus {
    let standing = policy.probe_of(region).map_or(Standing::Void, |probe| doubts.standing(probe));
    let latest = history.region(region).and_then(|state| state.credible(standing).latest);
    let voting = latest.filter(|last| now.since(last.finished_at) <= policy.window());
    match voting.filter(|_| policy.active).map(|last| last.ballot) {
        None => MonitorStatus::Unknown,
        Some(Ballot::Fine) => MonitorStatus::Active,
        Some(Ballot::Slow) => MonitorStatus::Degraded,
        Some(Ballot::Failing) => MonitorStatus::Error,
    }
}

/// How a region votes at `now`; `None` where its last result is too old. Slow takes two slow
/// results in a row to enter and two others to leave; each region counts its own.
fn vote(state: &RegionState, window: Duration, was_slow: bool, now: Timestamp) -> Option<Ballot> {
    let latest = state.latest?;
    if now.since(latest.finished_at) > window {
        return None;
    }
    let slow_before = state.before.is_some_and(|before| before.ballot == Ballot::Slow);
    Some(match (latest.ballot, was_slow) {
        (Ballot::Failing, _) => Ballot::Failing,
        (Ballot::Slow, true) => Ballot::Slow,
        (Ballot::Fine, true) if slow_before => Ballot::Slow,
        (Ballot::Slow, false) if state.twice(Ballot::Slow, window) => Ballot::Slow,
        (Ballot::Slow | Ballot::Fine, _) => Ballot::Fine,
    })
}
