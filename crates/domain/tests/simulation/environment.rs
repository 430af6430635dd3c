//! The simulated world of a seed: its clock, monitors with targets, and probes. `pipeline` is a
//! small pipeline around the pure decisions, `life` the life cycle of monitors. `invariants` checks
//! them, and `scenarios` drives them.

mod life;
mod pipeline;

use std::collections::{BTreeMap, BTreeSet};

use aloft_domain::cadence::{Budget, Handle, Regions, Schedule};
use aloft_domain::check::{CheckResult, Outcome, ResultKey};
use aloft_domain::judge::{
    DeferredWrites, JudgeState, Policy, ProbeIndex, ProbeSuspicions, StoredSuspicion,
};
use rules::{MonitorId, Region, Timestamp};

use crate::chance::Chance;
use crate::invariants::Witness;

/// Start of all worlds.
const START: Timestamp = Timestamp::from_millis(1_800_000_000_000);
/// Rate and burst of confirmation checks: low, so that the budget matters.
pub(crate) const CONFIRMATIONS: (u32, u32) = (1, 5);

/// Behaviour of a probe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    Honest,
    /// Reports a failure for every check.
    Lies,
    /// Takes jobs and never responds.
    Stalls,
    /// Takes no jobs.
    Gone,
}

/// State of a target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Target {
    Up,
    Slow,
    Down,
    /// Down as seen from one region.
    DownIn(Region),
}

#[derive(Clone, Debug)]
pub(crate) enum Event {
    Deliver { place: usize, result: CheckResult },
    Ended { process: u32, handle: Handle, place: usize, region: Region },
    ConnectivityChecked { process: u32, probe: ProbeIndex },
    Disturb,
}

/// A monitor.
#[derive(Debug)]
pub(crate) struct Watched {
    pub(crate) id: MonitorId,
    pub(crate) policy: Policy,
    pub(crate) judge_state: JudgeState,
    /// The stored data: the last stored state, and all results.
    stored: JudgeState,
    results: BTreeMap<ResultKey, (Timestamp, Outcome)>,
    wake_at: Option<Timestamp>,
    pub(crate) target: Target,
    pub(crate) deleted: bool,
    /// Time of the current revision.
    updated_at: Timestamp,
    in_flight: BTreeSet<Region>,
}

pub(crate) struct World {
    pub(crate) chance: Chance,
    pub(crate) now: Timestamp,
    pub(crate) monitors: Vec<Watched>,
    pub(crate) probes: Vec<Mode>,
    pub(crate) suspicions: ProbeSuspicions,
    /// The stored suspicions, by probe.
    stored_suspicions: BTreeMap<u16, StoredSuspicion>,
    pub(crate) witness: Witness,
    /// Whether results may be late, duplicated or lost, and random events occur.
    pub(crate) disturbed: bool,
    pub(crate) trace: Vec<String>,
    traced: bool,
    pub(crate) has_connectivity_check: bool,
    schedule: Schedule,
    budget: Budget,
    events: BTreeMap<(Timestamp, u64), Event>,
    sequence: u64,
    process: u32,
    worked_until: Timestamp,
    deferred: DeferredWrites,
}

impl World {
    pub(crate) fn new(seed: u64, traced: bool) -> Self {
        let mut chance = Chance(seed);
        let modes = 1 + chance.place(5);
        let has_connectivity_check = chance.percent(50);
        let mut world = Self {
            now: START,
            monitors: Vec::new(),
            probes: vec![Mode::Honest; modes],
            suspicions: ProbeSuspicions::new(has_connectivity_check),
            stored_suspicions: BTreeMap::new(),
            witness: Witness::default(),
            disturbed: true,
            trace: Vec::new(),
            traced,
            has_connectivity_check,
            schedule: Schedule::default(),
            budget: Budget::new(CONFIRMATIONS.0, CONFIRMATIONS.1, START),
            events: BTreeMap::new(),
            sequence: 0,
            process: 0,
            worked_until: START,
            deferred: DeferredWrites::default(),
            chance,
        };
        for _ in 0..=world.chance.place(7) {
            world.create();
        }
        world.at(START, Event::Disturb);
        world
    }

    /// Runs the world until `end`, or until an invariant is violated.
    pub(crate) fn run_until(&mut self, end: Timestamp) {
        while self.witness.broken.is_none() {
            let first = self.events.keys().next().map(|(at, _)| *at);
            let wakes = self.monitors.iter().filter_map(|watched| watched.wake_at);
            let times = wakes.chain(first).chain(self.suspicions.wake_at());
            let Some(next) = times.chain(self.schedule.next_due()).min() else { break };
            if next > end {
                break;
            }
            self.now = self.now.max(next);
            self.witness.watch_suspicions(self.now);
            self.run_due();
            self.tick();
            while let Some(entry) = self.events.first_entry() {
                if entry.key().0 > self.now {
                    break;
                }
                let event = entry.remove();
                self.happen(event);
            }
        }
        self.now = self.now.max(end);
    }

    pub(crate) fn at(&mut self, when: Timestamp, event: Event) {
        self.sequence += 1;
        self.events.insert((when, self.sequence), event);
    }

    pub(crate) fn trace(&mut self, event: impl FnOnce() -> String) {
        if self.traced {
            self.trace.push(format!("{} {}", self.now, event()));
        }
    }
}

fn regions(policy: &Policy) -> Regions {
    policy.regions.iter().map(|serving| serving.region).collect()
}
