//! What design §5 promises, held against the world after every step by counting anew: the witness
//! keeps all results that were heard, and knows nothing of what the judge remembers.

mod count;
mod probes;
mod slots;
mod verdicts;

use std::collections::{BTreeMap, BTreeSet};

use aloft_domain::check::{CheckResult, Outcome, Trigger};
use aloft_domain::judge::Policy;
use rules::{IncidentId, MonitorStatus, Region, Timestamp};

/// What became of a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    Run,
    Skipped,
    Missed,
}

/// A slot of a revision in a region.
pub(crate) type Place = (u32, Region, Timestamp);

/// What orders the results of a region: revision, slot and trigger.
pub(crate) type Key = (u32, Timestamp, Trigger);
/// When a result ended, and what it came to.
pub(crate) type Said = (Timestamp, Outcome);

#[derive(Debug, Default)]
pub(crate) struct Witness {
    /// The first promise that was broken.
    pub(crate) broken: Option<String>,
    monitors: Vec<Seen>,
    /// The clock was set back: slots and votes come again, and are not counted any more.
    looks_away: bool,
    /// Second opinions of this process.
    opinions: Vec<Timestamp>,
    /// The probes that doubt themselves, and when each doubt has to have ended.
    doubting: BTreeMap<u16, Timestamp>,
}

/// What was seen of a monitor.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    heard: BTreeMap<Region, BTreeMap<Key, Said>>,
    fates: BTreeMap<Place, Fate>,
    expected: BTreeSet<Place>,
    open: Option<IncidentId>,
    /// A person resolved the last incident, and the status has not left `error` since.
    resolved: bool,
    status: Option<MonitorStatus>,
    pub(crate) asked_at: Option<Timestamp>,
    tied_since: Option<Timestamp>,
    pub(crate) opened: u32,
    pub(crate) closed: u32,
}

impl Witness {
    pub(crate) fn seen(&self, place: usize) -> &Seen {
        &self.monitors[place]
    }

    pub(crate) fn fail(&mut self, promise: &str, what: impl std::fmt::Display) {
        self.broken.get_or_insert_with(|| format!("“{promise}” is broken: {what}"));
    }

    fn hold(&mut self, promise: &str, holds: bool, what: impl FnOnce() -> String) {
        if !holds {
            self.fail(promise, what());
        }
    }

    /// From now on only incidents are counted.
    pub(crate) fn look_away(&mut self) {
        self.looks_away = true;
    }

    pub(crate) fn add(&mut self) {
        self.monitors.push(Seen::default());
    }

    pub(crate) fn new_process(&mut self) {
        self.opinions.clear();
    }

    /// An edit takes regions away at once; a pause forgets all.
    pub(crate) fn align(&mut self, place: usize, policy: &Policy) {
        let has = |region: &Region| policy.regions.iter().any(|serving| serving.region == *region);
        self.monitors[place].heard.retain(|region, _| policy.active && has(region));
    }

    pub(crate) fn forget(&mut self, place: usize) {
        self.monitors[place].heard.clear();
    }

    /// A result of the present revision arrives; the second of an identity changes nothing.
    pub(crate) fn hear(&mut self, place: usize, result: &CheckResult) {
        let identity = &result.identity;
        let key = (identity.revision, identity.slot, identity.trigger);
        let heard = self.monitors[place].heard.entry(identity.region).or_default();
        heard.entry(key).or_insert((result.finished_at, result.outcome));
    }

    /// The results of a region's present revision: slot, trigger, end and outcome.
    pub(crate) fn heard(&self, place: usize, region: Region) -> Vec<(Key, Said)> {
        let heard = self.monitors[place].heard.get(&region).into_iter().flatten();
        heard.map(|(key, result)| (*key, *result)).collect()
    }
}
