//! The judge's state of one monitor. The store persists it as JSON. The state of a region is a
//! function of the set of received results, so order and repetition do not matter.

use rules::{IncidentId, MonitorStatus, Region, Timestamp};
use serde::{Deserialize, Serialize};

use super::Policy;
use crate::check::{Outcome, ResultKey, Trigger};

/// The judge's state of one monitor. Created by [`JudgeState::new`], changed by [`super::receive`],
/// [`super::tick`], [`super::revise`], [`super::resolve`] and [`super::delete`], and by
/// [`Self::recall`] and [`Self::set_back`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct JudgeState {
    /// The current verdict.
    pub status: MonitorStatus,
    /// Start of the current verdict.
    pub since: Timestamp,
    /// The revision whose results count.
    pub revision: u32,
    /// The open incident. It stays open while the status is `unknown`, to continue with the next
    /// `error`.
    pub incident: Option<IncidentId>,
    /// While present, the status does not change.
    #[serde(rename = "hold")]
    pub grace_period: Option<GracePeriod>,
    /// Start of a tie (half of the votes fail) that began in `error`.
    pub tie_since: Option<Timestamp>,
    /// Whether more than half of the votes are degraded; entering and leaving take two results
    /// each.
    pub slow: bool,
    /// Time of the last request for confirmation checks.
    pub asked_at: Option<Timestamp>,
    /// The regions of the policy, in its order.
    pub regions: Box<[RegionState]>,
}

/// A grace period after a start, a resume or an edit, in which the status does not change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GracePeriod {
    /// Start; a region has reported if a result ended at or after it.
    pub since: Timestamp,
    /// End, unless all regions report before.
    pub until: Timestamp,
}

/// State of one region: its last two results, not counting skipped slots.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RegionState {
    pub region: Region,
    pub latest: Option<RegionResult>,
    /// The result before `latest`.
    pub before: Option<RegionResult>,
}

/// The parts of a result that the judge uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RegionResult {
    pub slot: Timestamp,
    /// End of the check.
    pub finished_at: Timestamp,
    pub revision: u32,
    /// Reason for the check. All triggers vote alike.
    pub trigger: Trigger,
    #[serde(rename = "ballot")]
    pub vote: Vote,
}

/// Vote of a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Vote {
    /// The check succeeded.
    Fine,
    /// The check was degraded.
    Slow,
    /// The check failed.
    Failing,
}

// 10,000 monitors × 28 regions must fit in memory.
const _: () = assert!(size_of::<RegionState>() <= 64 && size_of::<JudgeState>() <= 200);

impl JudgeState {
    /// Creates the state of a new monitor. Its status stays `unknown` until all regions have
    /// reported, or for at most half a minute.
    pub fn new(policy: &Policy, now: Timestamp) -> Self {
        let grace_period = GracePeriod { since: now, until: policy.grace_period_end(now) };
        Self {
            status: MonitorStatus::Unknown,
            since: now,
            revision: policy.revision,
            incident: None,
            grace_period: policy.active.then_some(grace_period),
            tie_since: None,
            slow: false,
            asked_at: None,
            regions: policy
                .regions
                .iter()
                .map(|serving| RegionState::new(serving.region))
                .collect(),
        }
    }

    /// Returns the state of `region`.
    pub fn region(&self, region: Region) -> Option<&RegionState> {
        let index = self.regions.binary_search_by_key(&region, |state| state.region).ok()?;
        self.regions.get(index)
    }

    /// Records a result of this revision again, without a verdict. The store persists a state only
    /// if [`super::Changed`] requires it, so its votes may be a minute old. A starting process
    /// recalls the results of the last minutes in any order, and then calls [`super::revise`].
    pub fn recall(&mut self, identity: &ResultKey, finished_at: Timestamp, outcome: Outcome) {
        let result = RegionResult::new(identity, finished_at, outcome);
        let result = result.filter(|result| result.revision == self.revision);
        let state = self.regions.iter_mut().find(|state| state.region == identity.region);
        if let (Some(result), Some(state)) = (result, state) {
            state.record(result);
        }
    }

    /// Moves later instants to `now` after the clock was set back. So votes stay, new results are
    /// newer than recorded ones, and grace periods and ties end in time. Has no effect if all
    /// instants are in the past.
    pub fn set_back(&mut self, now: Timestamp) {
        self.since = self.since.min(now);
        self.tie_since = self.tie_since.map(|since| since.min(now));
        self.asked_at = self.asked_at.map(|at| at.min(now));
        if let Some(hold) = self.grace_period.as_mut().filter(|hold| hold.since > now) {
            *hold = GracePeriod { since: now, until: now + hold.until.since(hold.since) };
        }
        for state in &mut self.regions {
            for result in [&mut state.latest, &mut state.before].into_iter().flatten() {
                result.slot = result.slot.min(now);
                result.finished_at = result.finished_at.min(now);
            }
        }
    }

    /// Returns whether a result of this revision was recorded.
    pub fn is_renewed(&self) -> bool {
        self.regions
            .iter()
            .any(|state| state.latest.is_some_and(|result| result.revision == self.revision))
    }

    /// Removes regions that left the policy, and adds its new ones.
    pub(super) fn align(&mut self, policy: &Policy) {
        let same = self.regions.len() == policy.regions.len()
            && self
                .regions
                .iter()
                .zip(&policy.regions)
                .all(|(ours, its)| ours.region == its.region);
        if same {
            return;
        }
        self.regions = policy
            .regions
            .iter()
            .map(|its| self.region(its.region).copied().unwrap_or(RegionState::new(its.region)))
            .collect();
    }

    /// Returns whether every live region has reported since `hold` began; false if no region is
    /// live.
    pub(super) fn all_reported(&self, hold: GracePeriod, is_live: impl Fn(Region) -> bool) -> bool {
        let mut live = self.regions.iter().filter(|state| is_live(state.region)).peekable();
        live.peek().is_some()
            && live.all(|state| {
                state.latest.is_some_and(|result| {
                    result.revision == self.revision && result.finished_at >= hold.since
                })
            })
    }
}

impl RegionState {
    /// Creates the state of a region without results.
    pub(super) const fn new(region: Region) -> Self {
        Self { region, latest: None, before: None }
    }

    /// Records a result if it is one of the last two and new; returns whether it was recorded.
    pub(super) fn record(&mut self, result: RegionResult) -> bool {
        let order = result.order();
        if self.latest.is_none_or(|latest| latest.order() < order) {
            self.before = self.latest.replace(result);
            return true;
        }
        let known = self.latest.is_some_and(|latest| latest.order() == order);
        if !known && self.before.is_none_or(|before| before.order() < order) {
            self.before = Some(result);
            return true;
        }
        false
    }

    /// Returns the votes of its last two results, the last one first.
    pub(super) fn votes(&self) -> (Option<Vote>, Option<Vote>) {
        (self.latest.map(|result| result.vote), self.before.map(|result| result.vote))
    }
}

impl RegionResult {
    /// Extracts what the judge uses of a result; `None` for a skipped slot.
    pub(super) fn new(
        identity: &ResultKey,
        finished_at: Timestamp,
        outcome: Outcome,
    ) -> Option<Self> {
        let vote = match outcome {
            Outcome::Success => Vote::Fine,
            Outcome::Degraded => Vote::Slow,
            Outcome::Failure => Vote::Failing,
            Outcome::Skipped => return None,
        };
        let &ResultKey { revision, slot, trigger, .. } = identity;
        Some(Self { slot, finished_at, revision, trigger, vote })
    }

    /// Returns the order of a result: by slot; within a slot any total order will do. Results with equal
    /// keys have the same identity.
    fn order(&self) -> (u32, Timestamp, Trigger) {
        (self.revision, self.slot, self.trigger)
    }
}
