//! What the judge remembers of one monitor. The store keeps it whole, as JSON; a region's state is
//! a function of the set of results received, so that order and repetition change nothing.

use rules::{IncidentId, MonitorStatus, Region, Timestamp};
use serde::{Deserialize, Serialize};

use super::Policy;
use crate::check::{Identity, Outcome, Trigger};

/// What the judge remembers of one monitor. [`History::new`] makes it, and [`super::receive`],
/// [`super::tick`], [`super::revise`] and [`super::delete`] change it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct History {
    /// The verdict that stands.
    pub status: MonitorStatus,
    /// Since when it stands.
    pub since: Timestamp,
    /// The revision whose results are judged.
    pub revision: u32,
    /// The incident that is open. It stays so through `unknown`, to go on with the next `error`.
    pub incident: Option<IncidentId>,
    /// While it is there, the status holds.
    pub hold: Option<Hold>,
    /// Since when half of the votes fail, where that began in `error`.
    pub tie_since: Option<Timestamp>,
    /// Whether more than half of the votes are slow; entering and leaving take two results each.
    pub slow: bool,
    /// When other probes were last asked for their opinion.
    pub asked_at: Option<Timestamp>,
    /// The regions of the policy, in its order.
    pub regions: Box<[RegionState]>,
}

/// The status holds after a start, a resume or an edit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hold {
    /// When it began; a region has reported once a result ended since.
    pub since: Timestamp,
    /// When it ends, unless all regions report before.
    pub until: Timestamp,
}

/// What is remembered of one region: its last two results, skipped slots left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RegionState {
    /// Which region.
    pub region: Region,
    /// The result of its last slot.
    pub latest: Option<Heard>,
    /// The result of the slot before.
    pub before: Option<Heard>,
}

/// One result, as far as the judge remembers it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Heard {
    /// Its slot.
    pub slot: Timestamp,
    /// When it ended.
    pub finished_at: Timestamp,
    /// The revision it ran for.
    pub revision: u32,
    /// Why it ran. Opinions and manual checks vote like scheduled ones.
    pub trigger: Trigger,
    /// What it came to.
    pub ballot: Ballot,
}

/// How a result votes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Ballot {
    /// It succeeded.
    Fine,
    /// It succeeded and took too long.
    Slow,
    /// It failed.
    Failing,
}

// 10,000 monitors × 28 regions live in memory.
const _: () = assert!(size_of::<RegionState>() <= 64 && size_of::<History>() <= 200);

impl History {
    /// The history of a monitor that was just created: nothing is known yet, and that holds until
    /// all regions have reported once, or half a minute at most.
    pub fn new(policy: &Policy, now: Timestamp) -> Self {
        let hold = Hold { since: now, until: policy.hold_end(now) };
        Self {
            status: MonitorStatus::Unknown,
            since: now,
            revision: policy.revision,
            incident: None,
            hold: policy.active.then_some(hold),
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

    /// What is remembered of `region`.
    pub fn region(&self, region: Region) -> Option<&RegionState> {
        let place = self.regions.binary_search_by_key(&region, |state| state.region).ok()?;
        self.regions.get(place)
    }

    /// Hears a result of this revision again, judging nothing. The store writes a history only when
    /// [`super::Changed`] says so, so that the instants in it may be old, and its votes a minute old: a
    /// process that starts recalls the results of the last minutes, in any order, and then revises.
    pub fn recall(&mut self, identity: &Identity, finished_at: Timestamp, outcome: Outcome) {
        let heard = Heard::of(identity, finished_at, outcome);
        let heard = heard.filter(|heard| heard.revision == self.revision);
        let state = self.regions.iter_mut().find(|state| state.region == identity.region);
        if let (Some(heard), Some(state)) = (heard, state) {
            state.hear(heard);
        }
    }

    /// The clock was set back to `now`: what is remembered of later instants counts as of now. So
    /// all votes stay, results to come are later than these, and holds and ties end in time.
    /// Changes nothing where all is of the past.
    pub fn set_back(&mut self, now: Timestamp) {
        self.since = self.since.min(now);
        self.tie_since = self.tie_since.map(|since| since.min(now));
        self.asked_at = self.asked_at.map(|at| at.min(now));
        if let Some(hold) = self.hold.as_mut().filter(|hold| hold.since > now) {
            *hold = Hold { since: now, until: now + hold.until.since(hold.since) };
        }
        for state in &mut self.regions {
            for heard in [&mut state.latest, &mut state.before].into_iter().flatten() {
                heard.slot = heard.slot.min(now);
                heard.finished_at = heard.finished_at.min(now);
            }
        }
    }

    /// Whether a result of this revision was ever heard.
    pub fn is_renewed(&self) -> bool {
        self.regions
            .iter()
            .any(|state| state.latest.is_some_and(|heard| heard.revision == self.revision))
    }

    /// Takes regions away that the policy no longer has, and adds its new ones.
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

    /// Whether every live region has reported since `hold` began; not while none is live.
    pub(super) fn all_reported(&self, hold: Hold, is_live: impl Fn(Region) -> bool) -> bool {
        let mut live = self.regions.iter().filter(|state| is_live(state.region)).peekable();
        live.peek().is_some()
            && live.all(|state| {
                state.latest.is_some_and(|heard| {
                    heard.revision == self.revision && heard.finished_at >= hold.since
                })
            })
    }
}

impl RegionState {
    /// A region nothing was heard of.
    pub(super) const fn new(region: Region) -> Self {
        Self { region, latest: None, before: None }
    }

    /// Remembers a result where it is one of the last two and was not heard before; says whether.
    pub(super) fn hear(&mut self, heard: Heard) -> bool {
        let order = heard.order();
        if self.latest.is_none_or(|latest| latest.order() < order) {
            self.before = self.latest.replace(heard);
            return true;
        }
        let known = self.latest.is_some_and(|latest| latest.order() == order);
        if !known && self.before.is_none_or(|before| before.order() < order) {
            self.before = Some(heard);
            return true;
        }
        false
    }

    /// How its last two results vote, the last one first.
    pub(super) fn ballots(&self) -> (Option<Ballot>, Option<Ballot>) {
        (self.latest.map(|heard| heard.ballot), self.before.map(|heard| heard.ballot))
    }
}

impl Heard {
    /// What the judge remembers of a result; nothing of a skipped slot.
    pub(super) fn of(
        identity: &Identity,
        finished_at: Timestamp,
        outcome: Outcome,
    ) -> Option<Self> {
        let ballot = match outcome {
            Outcome::Success => Ballot::Fine,
            Outcome::Degraded => Ballot::Slow,
            Outcome::Failure => Ballot::Failing,
            Outcome::Skipped => return None,
        };
        let &Identity { revision, slot, trigger, .. } = identity;
        Some(Self { slot, finished_at, revision, trigger, ballot })
    }

    /// Later results have a later slot; of one slot, an order is all that is needed. Results of
    /// the same order are of the same identity.
    fn order(&self) -> (u32, Timestamp, Trigger) {
        (self.revision, self.slot, self.trigger)
    }
}
