//! Counts votes (design §5 "Votes"): combines the last results of the regions of each probe.

use std::fmt;
use std::time::Duration;

use rules::{MonitorStatus, Region, Timestamp};
use serde::{Deserialize, Serialize};

use super::{
    JudgeState, Policy, ProbeIndex, ProbeSuspicions, ProbeTrust, RegionResult, RegionState, Vote,
};

/// Number of votes, and of the regions behind them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Share {
    /// Matching votes.
    pub votes: u8,
    /// All votes.
    pub of_votes: u8,
    /// Matching regions.
    pub regions: u8,
    /// All regions with a vote.
    pub of_regions: u8,
}

/// The votes of a monitor at one instant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Tally {
    pub(super) regions: u8,
    /// Regions with a vote.
    pub(super) voting: u8,
    /// Votes: one per probe that serves a region with a vote.
    pub(super) votes: u8,
    failing: VoteCount,
    /// Degraded votes and regions.
    slow: VoteCount,
    /// The first region with a vote that failed in two consecutive slots.
    pub(super) failed_twice: Option<Region>,
    /// Time at which the first vote expires.
    pub(super) next_expiry: Option<Timestamp>,
}

/// Number of votes, and of the regions behind them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct VoteCount {
    votes: u8,
    regions: u8,
}

/// The regions of one probe.
#[derive(Clone, Copy)]
struct Voter {
    probe: ProbeIndex,
    voting: u8,
    failing: u8,
    slow: u8,
}

impl Share {
    /// Returns whether one probe observed all regions. Naming several regions would then be
    /// misleading.
    pub(super) const fn is_of_one_probe(self) -> bool {
        self.of_votes == 1
    }
}

impl fmt::Display for Share {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of {} regions", self.regions, self.of_regions)?;
        // If one probe serves all regions, or each region has its own, the votes add no
        // information.
        if self.of_votes == 1 || self.of_votes == self.of_regions {
            return Ok(());
        }
        write!(f, " ({} of {} probes)", self.votes, self.of_votes)
    }
}

impl Tally {
    /// Counts the votes at `now`; those of suspect probes are void.
    pub(super) fn count(
        policy: &Policy,
        judge_state: &JudgeState,
        suspicions: &ProbeSuspicions,
        now: Timestamp,
    ) -> Self {
        let window = policy.vote_validity();
        let mut tally = Self { regions: policy.regions.len() as u8, ..Self::default() };
        let nobody = Voter { probe: ProbeIndex(0), voting: 0, failing: 0, slow: 0 };
        // On the stack, because this runs for every result.
        let mut voters = [nobody; Region::ALL.len()];
        let mut known = 0;
        for (serving, state) in policy.regions.iter().zip(&judge_state.regions) {
            // The common case copies nothing, because this runs for every result.
            let part;
            let credible = match suspicions.trust(serving.probe) {
                ProbeTrust::Trusted => state,
                trust @ (ProbeTrust::TrustedSince(_) | ProbeTrust::Suspect) => {
                    part = state.credible(trust);
                    &part
                }
            };
            let Some(vote) = vote(credible, window, judge_state.slow, now) else {
                continue;
            };
            let index = voters[..known].iter().position(|voter| voter.probe == serving.probe);
            let index = index.unwrap_or(known);
            known = known.max(index + 1);
            voters[index].probe = serving.probe;
            voters[index].count(vote);
            tally.add_region(credible, window);
        }
        for voter in &voters[..known] {
            tally.votes += 1;
            tally.failing.votes += u8::from(2 * voter.failing > voter.voting);
            tally.failing.regions += voter.failing;
            tally.slow.votes += u8::from(2 * voter.slow > voter.voting);
            tally.slow.regions += voter.slow;
        }
        tally
    }

    /// Returns whether at least half of the monitor's regions have no vote.
    pub(super) const fn is_thin(&self) -> bool {
        2 * (self.regions - self.voting) >= self.regions
    }

    /// Returns whether more than half of the votes are degraded.
    pub(super) const fn is_slow(&self) -> bool {
        2 * self.slow.votes > self.votes
    }

    /// Returns whether exactly half of the votes fail.
    pub(super) const fn is_tied(&self) -> bool {
        self.votes > 0 && 2 * self.failing.votes == self.votes
    }

    /// Returns the share of failing votes.
    pub(super) const fn failing(&self) -> Share {
        self.share(self.failing)
    }

    /// Returns the share of degraded votes.
    pub(super) const fn slow(&self) -> Share {
        self.share(self.slow)
    }

    const fn share(&self, VoteCount { votes, regions }: VoteCount) -> Share {
        Share { votes, of_votes: self.votes, regions, of_regions: self.voting }
    }

    /// Counts a region with a vote.
    fn add_region(&mut self, state: &RegionState, window: Duration) {
        self.voting += 1;
        if self.failed_twice.is_none() && state.failed_twice(window) {
            self.failed_twice = Some(state.region);
        }
        // The window includes its last millisecond.
        let expiry = state.latest.map(|last| last.finished_at + window + Duration::from_millis(1));
        self.next_expiry = match (self.next_expiry, expiry) {
            (Some(one), Some(other)) => Some(one.min(other)),
            (one, other) => one.or(other),
        };
    }
}

/// Forgets the results that do not count, in regions that `after` gives to another probe. A result does
/// not name its probe, so it would count by the trust in the new one.
pub fn forget_void_results(
    judge_state: &mut JudgeState,
    [before, after]: [&Policy; 2],
    suspicions: &ProbeSuspicions,
) {
    for (serving, state) in before.regions.iter().zip(&mut judge_state.regions) {
        if after.probe_of(serving.region) != Some(serving.probe) {
            *state = state.credible(suspicions.trust(serving.probe));
        }
    }
}

impl Voter {
    fn count(&mut self, vote: Vote) {
        self.voting += 1;
        self.failing += u8::from(vote == Vote::Failing);
        self.slow += u8::from(vote == Vote::Slow);
    }
}

impl RegionState {
    /// Returns the results that count, given the trust in the region's probe.
    fn credible(&self, trust: ProbeTrust) -> Self {
        let counts = |result: &RegionResult| trust.counts(result);
        Self { latest: self.latest.filter(counts), before: self.before.filter(counts), ..*self }
    }

    /// Returns whether its last two results are of consecutive slots and both vote `vote`. Slots
    /// further apart than the window (the process was down between them) and results of two
    /// revisions are not consecutive. A skipped slot in between does not matter.
    fn has_voted_twice(&self, vote: Vote, window: Duration) -> bool {
        let (Some(latest), Some(before)) = (self.latest, self.before) else {
            return false;
        };
        latest.vote == vote
            && before.vote == vote
            && latest.revision == before.revision
            && latest.slot.since(before.slot) <= window
    }

    /// Returns whether its last result is no failure, but the one before is.
    fn is_recovering(&self) -> bool {
        let (latest, before) = self.votes();
        before == Some(Vote::Failing) && latest.is_some_and(|vote| vote != Vote::Failing)
    }

    /// Returns whether it failed in two consecutive slots.
    pub(super) fn failed_twice(&self, window: Duration) -> bool {
        self.has_voted_twice(Vote::Failing, window)
    }
}

/// Returns the status of one region, as in `GetMonitorStatus`: that of its last result while it has
/// a vote. `error` means a failure here, whatever the other regions report.
pub fn region_status(
    policy: &Policy,
    judge_state: &JudgeState,
    region: Region,
    suspicions: &ProbeSuspicions,
    now: Timestamp,
) -> MonitorStatus {
    let trust =
        policy.probe_of(region).map_or(ProbeTrust::Suspect, |probe| suspicions.trust(probe));
    let latest = judge_state.region(region).and_then(|state| state.credible(trust).latest);
    let voting = latest.filter(|last| now.since(last.finished_at) <= policy.vote_validity());
    match voting.filter(|_| policy.active).map(|last| last.vote) {
        None => MonitorStatus::Unknown,
        Some(Vote::Fine) => MonitorStatus::Active,
        Some(Vote::Slow) => MonitorStatus::Degraded,
        Some(Vote::Failing) => MonitorStatus::Error,
    }
}

/// Returns whether some regions recovered with their last result, and every region that failed twice
/// was last checked before all of these.
pub(super) fn is_recovery_unconfirmed(
    policy: &Policy,
    judge_state: &JudgeState,
    suspicions: &ProbeSuspicions,
    now: Timestamp,
) -> bool {
    let window = policy.vote_validity();
    let voting = || {
        let regions = policy.regions.iter().zip(&judge_state.regions);
        regions.filter_map(|(serving, state)| {
            let credible = state.credible(suspicions.trust(serving.probe));
            let latest = credible.latest.filter(|last| now.since(last.finished_at) <= window)?;
            Some((credible, latest.slot))
        })
    };
    let recovering = voting().filter(|(state, _)| state.is_recovering());
    recovering.map(|(_, slot)| slot).min().is_some_and(|recovery| {
        !voting().any(|(state, slot)| slot >= recovery && state.failed_twice(window))
    })
}

/// Returns the vote of a region at `now`, or `None` if its last result expired. Entering and
/// leaving `degraded` takes two results in a row, counted per region.
fn vote(state: &RegionState, window: Duration, was_slow: bool, now: Timestamp) -> Option<Vote> {
    let latest = state.latest?;
    if now.since(latest.finished_at) > window {
        return None;
    }
    let slow_before = state.before.is_some_and(|before| before.vote == Vote::Slow);
    Some(match (latest.vote, was_slow) {
        (Vote::Failing, _) => Vote::Failing,
        (Vote::Slow, true) => Vote::Slow,
        (Vote::Fine, true) if slow_before => Vote::Slow,
        (Vote::Slow, false) if state.has_voted_twice(Vote::Slow, window) => Vote::Slow,
        (Vote::Slow | Vote::Fine, _) => Vote::Fine,
    })
}
