//! Checks the invariants of design §5 after every step by independent counting: the witness records
//! all received results and does not use the judge's state.

mod count;
mod probes;
mod slots;
mod verdicts;

use std::collections::{BTreeMap, BTreeSet};

use aloft_domain::check::{CheckResult, Outcome, Trigger};
use aloft_domain::judge::Policy;
use rules::{IncidentId, MonitorStatus, Region, Timestamp};

/// Outcome of a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SlotOutcome {
    Run,
    Skipped,
    Missed,
}

/// A slot of a revision in a region.
pub(crate) type Place = (u32, Region, Timestamp);

/// Order of the results of a region: revision, slot and trigger.
pub(crate) type Key = (u32, Timestamp, Trigger);
/// End and outcome of a result.
pub(crate) type Recorded = (Timestamp, Outcome);

#[derive(Debug, Default)]
pub(crate) struct Witness {
    /// The first violated invariant.
    pub(crate) broken: Option<String>,
    monitors: Vec<MonitorRecord>,
    /// The clock was set back: slots and votes repeat and are no longer counted.
    looks_away: bool,
    /// Confirmation checks of this process.
    confirmations: Vec<Timestamp>,
    /// The suspect probes, and the time by which each suspicion must have ended.
    suspects_until: BTreeMap<u16, Timestamp>,
}

/// Recorded facts about a monitor.
#[derive(Debug, Default)]
pub(crate) struct MonitorRecord {
    recorded: BTreeMap<Region, BTreeMap<Key, Recorded>>,
    slot_outcomes: BTreeMap<Place, SlotOutcome>,
    expected: BTreeSet<Place>,
    open: Option<IncidentId>,
    /// A user resolved the last incident, and the status has not left `error` since.
    resolved: bool,
    status: Option<MonitorStatus>,
    pub(crate) asked_at: Option<Timestamp>,
    tied_since: Option<Timestamp>,
    pub(crate) opened: u32,
    pub(crate) closed: u32,
}

impl Witness {
    pub(crate) fn seen(&self, place: usize) -> &MonitorRecord {
        &self.monitors[place]
    }

    pub(crate) fn fail(&mut self, invariant: &str, what: impl std::fmt::Display) {
        self.broken.get_or_insert_with(|| format!("invariant “{invariant}” is violated: {what}"));
    }

    fn check(&mut self, invariant: &str, holds: bool, what: impl FnOnce() -> String) {
        if !holds {
            self.fail(invariant, what());
        }
    }

    /// Counts only incidents from now on.
    pub(crate) fn pause(&mut self) {
        self.looks_away = true;
    }

    pub(crate) fn add(&mut self) {
        self.monitors.push(MonitorRecord::default());
    }

    pub(crate) fn new_process(&mut self) {
        self.confirmations.clear();
    }

    /// Removes the results of removed regions, or all results on a pause.
    pub(crate) fn align(&mut self, place: usize, policy: &Policy) {
        let has = |region: &Region| policy.regions.iter().any(|serving| serving.region == *region);
        self.monitors[place].recorded.retain(|region, _| policy.active && has(region));
    }

    pub(crate) fn remove(&mut self, place: usize) {
        self.monitors[place].recorded.clear();
    }

    /// Records a result of the current revision; a second one with the same identity has no effect.
    pub(crate) fn record(&mut self, place: usize, result: &CheckResult) {
        let identity = &result.identity;
        let key = (identity.revision, identity.slot, identity.trigger);
        let results = self.monitors[place].recorded.entry(identity.region).or_default();
        results.entry(key).or_insert((result.finished_at, result.outcome));
    }

    /// Returns the results of a region's current revision: slot, trigger, end and outcome.
    pub(crate) fn recorded(&self, place: usize, region: Region) -> Vec<(Key, Recorded)> {
        let results = self.monitors[place].recorded.get(&region).into_iter().flatten();
        results.map(|(key, result)| (*key, *result)).collect()
    }
}
