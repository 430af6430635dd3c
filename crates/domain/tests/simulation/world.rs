//! The world of a seed: its clock, its monitors with their targets, its probes, and a small pipeline
//! around the pure decisions. What must hold of it is in `promises`, what happens to it in `acts`.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use aloft_domain::cadence::{
    Asked, Budget, Call, Downtime, Due, First, Handle, Missed, Regions, Schedule, missed_while_down,
};
use aloft_domain::check::{CheckResult, Identity, Outcome, Phases, ProbeId, Trigger};
use aloft_domain::judge::{
    self, Canaries, Changed, DoubtChange, Doubts, Effects, History, HostMark, HostReport, Moment,
    Policy, ProbeSlot, Serving,
};
use rules::{MonitorId, Region, Timestamp};

use crate::chance::Chance;
use crate::promises::{Fate, Witness};

/// When worlds begin.
const START: Timestamp = Timestamp::from_millis(1_800_000_000_000);
/// What a process that starts looks back over, as the pipeline does.
const UNDER_WAY: Duration = Duration::from_secs(150);
/// How often the canaries of a probe in doubt are asked.
const CANARIES_EVERY: Duration = Duration::from_secs(10);
/// Second opinions a second and at once: few, so that the budget is felt.
pub(crate) const OPINIONS: (u32, u32) = (1, 5);

/// How a probe behaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    Honest,
    /// Whatever it checks fails.
    Lies,
    /// It takes jobs and never answers.
    Stalls,
    /// It takes no jobs.
    Gone,
}

/// What a target is.
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
    Canaries { process: u32, probe: ProbeSlot },
    Disturb,
}

/// A monitor.
#[derive(Debug)]
pub(crate) struct Watched {
    pub(crate) id: MonitorId,
    pub(crate) policy: Policy,
    pub(crate) history: History,
    /// What the store keeps: the history as of the last change worth writing, and all results.
    kept: String,
    results: BTreeMap<Identity, (Timestamp, Outcome)>,
    wake_at: Option<Timestamp>,
    pub(crate) target: Target,
    pub(crate) deleted: bool,
    /// When this revision came.
    updated_at: Timestamp,
    in_flight: BTreeSet<Region>,
}

pub(crate) struct World {
    pub(crate) chance: Chance,
    pub(crate) now: Timestamp,
    pub(crate) monitors: Vec<Watched>,
    pub(crate) probes: Vec<Mode>,
    pub(crate) doubts: Doubts,
    pub(crate) witness: Witness,
    /// Results come late, doubled, or not at all, and other things happen.
    pub(crate) disturbed: bool,
    pub(crate) trace: Vec<String>,
    traced: bool,
    has_canaries: bool,
    schedule: Schedule,
    budget: Budget,
    events: BTreeMap<(Timestamp, u64), Event>,
    sequence: u64,
    process: u32,
    worked_until: Timestamp,
}

impl World {
    pub(crate) fn of(seed: u64, traced: bool) -> Self {
        let mut chance = Chance(seed);
        let modes = 1 + chance.place(5);
        let mut world = Self {
            now: START,
            monitors: Vec::new(),
            probes: vec![Mode::Honest; modes],
            doubts: Doubts::default(),
            witness: Witness::default(),
            disturbed: true,
            trace: Vec::new(),
            traced,
            has_canaries: chance.percent(50),
            schedule: Schedule::default(),
            budget: Budget::new(OPINIONS.0, OPINIONS.1, START),
            events: BTreeMap::new(),
            sequence: 0,
            process: 0,
            worked_until: START,
            chance,
        };
        for _ in 0..=world.chance.place(7) {
            world.create();
        }
        world.at(START, Event::Disturb);
        world
    }

    /// Lets the world run until `end`, or until a promise is broken.
    pub(crate) fn run_until(&mut self, end: Timestamp) {
        while self.witness.broken.is_none() {
            let first = self.events.keys().next().map(|(at, _)| *at);
            let wakes = self.monitors.iter().filter_map(|watched| watched.wake_at);
            let times = wakes.chain(first).chain(self.doubts.wake_at());
            let Some(next) = times.chain(self.schedule.next_due()).min() else { break };
            if next > end {
                break;
            }
            self.now = self.now.max(next);
            self.call_due();
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

    pub(crate) fn note(&mut self, event: impl FnOnce() -> String) {
        if self.traced {
            self.trace.push(format!("{} {}", self.now, event()));
        }
    }

    pub(crate) fn create(&mut self) {
        let place = self.monitors.len();
        let id = MonitorId::at(self.now, self.chance.bits());
        let policy = self.policy(1);
        let history = History::new(&policy, self.now);
        let kept = serde_json::to_string(&history).expect("the world knows its own");
        self.monitors.push(Watched {
            id,
            policy,
            history,
            kept,
            results: BTreeMap::new(),
            wake_at: None,
            target: Target::Up,
            deleted: false,
            updated_at: self.now,
            in_flight: BTreeSet::new(),
        });
        self.witness.add(self.now);
        self.revised(place, "created");
    }

    /// A policy of chance: one to five regions, each served by one of the probes.
    fn policy(&mut self, revision: u32) -> Policy {
        let chance = &mut self.chance;
        let period = Duration::from_secs([30, 60][chance.place(2)]);
        let longest = Duration::from_secs([5, 45][chance.place(2)]);
        let count = 1 + chance.place(5);
        let mut regions = Regions::default();
        while (regions.len() as usize) < count {
            regions.insert(Region::ALL[chance.place(7)]);
        }
        // A region is served by the same probe for all monitors, as in life.
        let probes = self.probes.len();
        let serving = |region: Region| Serving {
            region,
            probe: ProbeSlot((region as usize % probes) as u16),
        };
        let regions = regions.iter().map(serving).collect();
        Policy { revision, active: true, period, longest, regions }
    }

    pub(crate) fn edit(&mut self, place: usize) {
        let policy = self.policy(self.monitors[place].policy.revision + 1);
        self.call_due();
        self.end_regime(place);
        self.monitors[place].policy = policy;
        self.revised(place, "edited");
    }

    pub(crate) fn pause(&mut self, place: usize) {
        self.call_due();
        self.end_regime(place);
        let watched = &mut self.monitors[place];
        watched.policy.active = false;
        watched.policy.revision += 1;
        self.schedule.remove(watched.id);
        self.revised(place, "paused");
    }

    pub(crate) fn resume(&mut self, place: usize) {
        let watched = &mut self.monitors[place];
        watched.policy.active = true;
        watched.policy.revision += 1;
        self.revised(place, "resumed");
    }

    pub(crate) fn delete(&mut self, place: usize) {
        self.call_due();
        self.end_regime(place);
        let watched = &mut self.monitors[place];
        watched.deleted = true;
        watched.policy.active = false;
        self.schedule.remove(watched.id);
        let effects = judge::delete(&mut watched.history, self.now);
        self.witness.forget(place);
        self.follow(place, &effects, "deleted");
    }

    /// The process ends in the middle of everything, and another one takes up what is stored.
    pub(crate) fn restart(&mut self) {
        let longest_ms = if self.chance.percent(80) { 5_000 } else { 400_000 };
        let down = self.chance.millis(longest_ms);
        self.call_due();
        self.note(|| format!("the process ends, and starts after {down:?}"));
        self.now = self.now + down;
        self.process += 1;
        self.schedule = Schedule::default();
        self.budget = Budget::new(OPINIONS.0, OPINIONS.1, self.now);
        self.witness.new_process(self.now);
        self.doubts = Doubts::default();
        let late = self.chance.percent(50);
        // Read once, before what is missed is written.
        let worked_until = self.worked_until;
        self.events.retain(|_, event| match event {
            Event::Deliver { .. } => late,
            Event::Ended { .. } | Event::Canaries { .. } => false,
            Event::Disturb => true,
        });
        for place in 0..self.monitors.len() {
            if self.monitors[place].policy.active {
                self.take_up(place, worked_until);
            }
        }
    }

    fn take_up(&mut self, place: usize, worked_until: Timestamp) {
        let since = worked_until - UNDER_WAY;
        let watched = &mut self.monitors[place];
        watched.in_flight.clear();
        watched.history = serde_json::from_str(&watched.kept).expect("the world knows its own");
        for (identity, (finished_at, outcome)) in &watched.results {
            if identity.slot >= since {
                watched.history.recall(identity, *finished_at, *outcome);
            }
        }
        let (id, period, regions) = (watched.id, watched.policy.period, regions(&watched.policy));
        let looked_at_since = since.max(watched.updated_at);
        let revision = watched.policy.revision;
        self.witness.undecide(place, revision, looked_at_since, |region, slot| {
            let trigger = Trigger::Scheduled;
            watched.results.contains_key(&Identity { monitor: id, revision, region, slot, trigger })
        });
        let time = Downtime { looked_at_since, worked_until, now: self.now };
        let known = |region, slot| self.witness.is_decided(place, revision, region, slot);
        for missed in missed_while_down(id, period, regions, time, known) {
            self.miss(place, missed);
        }
        self.schedule.put(id, period, regions, self.now, First::Regular);
        let watched = &mut self.monitors[place];
        let moment = Moment { now: self.now, chance: self.sequence, doubts: &self.doubts };
        let effects = judge::revise(&watched.policy, &mut watched.history, moment);
        self.follow(place, &effects, "started");
    }

    fn end_regime(&mut self, place: usize) {
        let watched = &self.monitors[place];
        if watched.policy.active {
            let regions = regions(&watched.policy);
            let (policy, since) = (&watched.policy, watched.updated_at);
            self.witness.expect(place, watched.id, policy, regions, since, self.now);
        }
    }

    /// Every monitor's expected slots up to now.
    pub(crate) fn end(&mut self) {
        self.call_due();
        for place in 0..self.monitors.len() {
            self.end_regime(place);
        }
    }

    fn revised(&mut self, place: usize, what: &'static str) {
        let watched = &mut self.monitors[place];
        watched.updated_at = self.now;
        watched.in_flight.clear();
        self.witness.align(place, &watched.policy);
        let moment = Moment { now: self.now, chance: self.sequence, doubts: &self.doubts };
        let effects = judge::revise(&watched.policy, &mut watched.history, moment);
        if watched.policy.active {
            let regions = regions(&watched.policy);
            self.schedule.put(watched.id, watched.policy.period, regions, self.now, First::AtOnce);
        }
        self.follow(place, &effects, what);
    }

    fn call_due(&mut self) {
        while let Some(due) = self.schedule.pop_due(self.now) {
            self.call(due);
        }
    }

    fn call(&mut self, due: Due) {
        let place = self
            .monitors
            .iter()
            .position(|watched| watched.id == due.monitor)
            .expect("the world knows its own");
        if let Some(missed) = due.missed {
            self.miss(place, missed);
        }
        let watched = &self.monitors[place];
        let revision = watched.policy.revision;
        let fate = match due.call {
            Call::Run => Fate::Run,
            Call::Skip => Fate::Skipped,
        };
        self.witness.decide(place, (revision, due.region, due.slot), fate);
        match due.call {
            Call::Run => {
                self.run(place, due.handle, (due.region, due.slot), Trigger::Scheduled);
            }
            Call::Skip => {
                let result =
                    self.result(place, (due.region, due.slot), Trigger::Scheduled, self.now);
                self.hear(place, &CheckResult { outcome: Outcome::Skipped, ..result });
            }
        }
    }

    fn miss(&mut self, place: usize, missed: Missed) {
        let watched = &self.monitors[place];
        let (policy, id) = (&watched.policy, watched.id);
        self.worked_until = self.worked_until.max(missed.last_slot);
        self.witness.miss(place, id, policy, regions(policy), missed);
    }

    fn run(&mut self, place: usize, handle: Handle, at: (Region, Timestamp), trigger: Trigger) {
        let region = at.0;
        let busy = !self.monitors[place].in_flight.insert(region);
        if busy {
            let what = format!("monitor {place} is checked twice at a time in `{region}`");
            self.witness.fail("none where a check is in flight", what);
        }
        let probe = self.probe_of(place, region);
        let mode = self.probes[usize::from(probe.0)];
        let longest = self.monitors[place].policy.longest;
        let took = match (mode, self.disturbed && self.chance.percent(5)) {
            (Mode::Gone, _) => Duration::ZERO,
            (Mode::Stalls, _) | (_, true) => longest,
            (_, false) => self.chance.millis(1_500),
        };
        let finished_at = self.now + took;
        let process = self.process;
        self.at(finished_at, Event::Ended { process, handle, place, region });
        if matches!(mode, Mode::Honest | Mode::Lies) {
            let result = self.result(place, at, trigger, finished_at);
            self.deliver(place, result);
        }
    }

    fn deliver(&mut self, place: usize, result: CheckResult) {
        let prompt = result.finished_at + self.chance.millis(300);
        let chance = if self.disturbed { self.chance.below(100) } else { 99 };
        let late = prompt + self.chance.millis(180_000);
        match chance {
            0..5 => self.note(|| format!("a result of monitor {place} is lost")),
            5..15 => self.at(late, Event::Deliver { place, result }),
            15..22 => {
                self.at(late, Event::Deliver { place, result: result.clone() });
                self.at(prompt, Event::Deliver { place, result });
            }
            _ => self.at(prompt, Event::Deliver { place, result }),
        }
    }

    /// What a check of monitor `place` would come to.
    pub(crate) fn result(
        &self,
        place: usize,
        (region, slot): (Region, Timestamp),
        trigger: Trigger,
        finished_at: Timestamp,
    ) -> CheckResult {
        let watched = &self.monitors[place];
        let lies = self.probes[usize::from(self.probe_of(place, region).0)] == Mode::Lies;
        let outcome = match watched.target {
            _ if lies => Outcome::Failure,
            Target::Down => Outcome::Failure,
            Target::DownIn(there) if there == region => Outcome::Failure,
            Target::Slow => Outcome::Degraded,
            Target::Up | Target::DownIn(_) => Outcome::Success,
        };
        let (monitor, revision) = (watched.id, watched.policy.revision);
        CheckResult {
            identity: Identity { monitor, revision, region, slot, trigger },
            finished_at,
            outcome,
            latency_us: 1_000,
            phases: Phases::default(),
            status: None,
            attempts: 1,
            probe: ProbeId("probe".into()),
            evidence: None,
        }
    }

    fn probe_of(&self, place: usize, region: Region) -> ProbeSlot {
        let serving = self.monitors[place].policy.regions.iter();
        serving
            .clone()
            .find(|serving| serving.region == region)
            .expect("the world knows its own")
            .probe
    }

    fn happen(&mut self, event: Event) {
        match event {
            Event::Deliver { place, result } => self.hear(place, &result),
            Event::Ended { process, handle, place, region } => {
                if process == self.process
                    && self.schedule.handle(self.monitors[place].id) == Some(handle)
                {
                    self.monitors[place].in_flight.remove(&region);
                    self.schedule.finished(handle, region);
                }
            }
            Event::Canaries { process, probe } => {
                if process == self.process && self.doubts.doubting().any(|it| it == probe) {
                    let honest = self.probes[usize::from(probe.0)] == Mode::Honest;
                    let canaries = Canaries { asked: 3, answered: if honest { 3 } else { 0 } };
                    let change = self.doubts.hear_canaries(probe, canaries, self.now);
                    self.follow_doubt(change);
                    self.at(self.now + CANARIES_EVERY, Event::Canaries { process, probe });
                }
            }
            Event::Disturb if self.disturbed => {
                crate::acts::disturb(self);
                let next = self.now + self.chance.millis(40_000);
                self.at(next, Event::Disturb);
            }
            Event::Disturb => {}
        }
    }

    /// What the pipeline does with a report.
    fn hear(&mut self, place: usize, result: &CheckResult) {
        let identity = result.identity;
        let watched = &mut self.monitors[place];
        let stored =
            watched.results.entry(identity).or_insert((result.finished_at, result.outcome));
        if *stored == (result.finished_at, result.outcome) {
            self.worked_until = self.worked_until.max(identity.slot);
        }
        if !watched.policy.active {
            return;
        }
        let is_current = identity.revision == watched.policy.revision;
        self.note(|| {
            format!(
                "monitor {place} r{} `{}` slot {} is {:?}",
                identity.revision, identity.region, identity.slot, result.outcome
            )
        });
        if is_current && result.outcome != Outcome::Skipped {
            let report = HostReport {
                probe: self.probe_of(place, identity.region),
                host: HostMark::of(&place.to_string()),
                failed: result.outcome == Outcome::Failure,
                finished_at: result.finished_at,
            };
            let change = self.doubts.hear(report, self.now);
            self.follow_doubt(change);
            self.witness.hear(place, result);
        }
        let watched = &mut self.monitors[place];
        let moment = Moment { now: self.now, chance: self.sequence, doubts: &self.doubts };
        let effects = judge::receive(&watched.policy, &mut watched.history, result, moment);
        self.follow(place, &effects, "heard");
    }

    fn tick(&mut self) {
        let change = self.doubts.tick(self.now);
        self.follow_doubt(change);
        for place in 0..self.monitors.len() {
            if self.monitors[place].wake_at.is_some_and(|wake| wake <= self.now) {
                self.judge_again(place);
                if self.monitors[place].wake_at.is_some_and(|wake| wake <= self.now) {
                    let what = format!("monitor {place} wants to be woken in the past");
                    self.witness.fail("a tick decides", what);
                }
            }
        }
    }

    fn judge_again(&mut self, place: usize) {
        let watched = &mut self.monitors[place];
        let moment = Moment { now: self.now, chance: self.sequence, doubts: &self.doubts };
        let effects = judge::tick(&watched.policy, &mut watched.history, moment);
        self.follow(place, &effects, "ticked");
    }

    fn follow_doubt(&mut self, change: Option<DoubtChange>) {
        let Some(change) = change else { return };
        self.note(|| format!("{change:?}"));
        if let (DoubtChange::Doubts { probe, .. }, true) = (change, self.has_canaries) {
            let (process, soon) = (self.process, self.now + Duration::from_secs(1));
            self.at(soon, Event::Canaries { process, probe });
        }
        for place in 0..self.monitors.len() {
            if self.monitors[place].policy.active {
                self.judge_again(place);
            }
        }
    }

    fn follow(&mut self, place: usize, effects: &Effects, what: &'static str) {
        self.sequence += 1;
        let watched = &mut self.monitors[place];
        watched.wake_at = effects.wake_at;
        if effects.changed > Changed::Nothing {
            watched.kept =
                serde_json::to_string(&watched.history).expect("the world knows its own");
        }
        let watched = &self.monitors[place];
        self.witness.watch(place, watched, effects, &self.doubts, self.now);
        if let Some(transition) = effects.transition {
            self.note(|| {
                format!(
                    "monitor {place} {what}: {} → {}, {:?}: {}",
                    transition.from, transition.to, transition.incident, transition.why
                )
            });
        } else if what != "heard" && what != "ticked" {
            self.note(|| format!("monitor {place} {what}"));
        }
        if effects.ask.is_empty() {
            return;
        }
        let id = self.monitors[place].id;
        let asked = self.schedule.ask(id, &effects.ask, &mut self.budget, self.now);
        self.note(|| format!("monitor {place} asks {:?}, {} are asked", effects.ask, asked.len()));
        for Asked { handle, region, .. } in asked {
            self.witness.opinion(self.now);
            self.run(place, handle, (region, self.now), Trigger::Opinion);
        }
    }
}

fn regions(policy: &Policy) -> Regions {
    policy.regions.iter().map(|serving| serving.region).collect()
}
