//! The life cycle of monitors and process: create, edit, pause, resume, delete, and restart.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use aloft_domain::cadence::{Budget, Downtime, FirstRun, Regions, Schedule, missed_while_down};
use aloft_domain::check::{ResultKey, Trigger};
use aloft_domain::judge::{
    self, DeferredWrites, JudgeState, Policy, ProbeIndex, ProbeSuspicions, RECALL_PERIOD,
    ServedRegion, StepContext,
};
use rules::{MonitorId, Region, Timestamp};

use super::{CONFIRMATIONS, Event, Target, Watched, World, regions};

impl World {
    pub(crate) fn create(&mut self) -> usize {
        let policy = self.policy(1);
        self.create_as(policy)
    }

    /// Creates a monitor with this policy.
    pub(crate) fn create_as(&mut self, policy: Policy) -> usize {
        let place = self.monitors.len();
        let id = MonitorId::at(self.now, self.chance.bits());
        let judge_state = JudgeState::new(&policy, self.now);
        let kept = judge_state.clone();
        self.monitors.push(Watched {
            id,
            policy,
            judge_state,
            stored: kept,
            results: BTreeMap::new(),
            wake_at: None,
            target: Target::Up,
            deleted: false,
            updated_at: self.now,
            in_flight: BTreeSet::new(),
        });
        self.witness.add();
        self.revised(place, "created");
        place
    }

    /// Creates a random policy: one to five regions, each served by one of the probes. Long periods
    /// and durations are for disturbed times only, so that effects show within minutes afterwards.
    pub(super) fn policy(&mut self, revision: u32) -> Policy {
        let (chance, choices) = (&mut self.chance, if self.disturbed { 3 } else { 2 });
        let period = Duration::from_secs([30, 60, 300][chance.place(choices)]);
        let longest = Duration::from_secs([5, 45, 180][chance.place(choices)]);
        let count = 1 + chance.place(5);
        let mut regions = Regions::default();
        while (regions.len() as usize) < count {
            regions.insert(Region::ALL[chance.place(7)]);
        }
        let regions = regions.iter().map(|region| self.serving(region)).collect();
        Policy { revision, active: true, period, longest, regions }
    }

    /// Creates a policy with quick checks in this many regions, on different probes as far as
    /// possible.
    pub(crate) fn plain_policy(&self, period: Duration, count: usize) -> Policy {
        let regions = Region::ALL[..count].iter().map(|region| self.serving(*region)).collect();
        Policy { revision: 1, active: true, period, longest: Duration::from_secs(5), regions }
    }

    /// Returns the probe of a region, the same for all monitors as in production.
    fn serving(&self, region: Region) -> ServedRegion {
        ServedRegion { region, probe: ProbeIndex((region as usize % self.probes.len()) as u16) }
    }

    pub(crate) fn edit(&mut self, place: usize) {
        let policy = self.policy(1);
        self.edit_to(place, policy);
    }

    /// Edits a monitor to this policy, in the next revision.
    pub(crate) fn edit_to(&mut self, place: usize, mut policy: Policy) {
        policy.revision = self.monitors[place].policy.revision + 1;
        self.run_due();
        self.end_regime(place);
        self.monitors[place].policy = policy;
        self.revised(place, "edited");
    }

    pub(crate) fn pause(&mut self, place: usize) {
        self.run_due();
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

    /// Resolves the open incident as a user.
    pub(crate) fn resolve(&mut self, place: usize) {
        let watched = &mut self.monitors[place];
        let Some(incident) = watched.judge_state.incident else { return };
        let context =
            StepContext { now: self.now, random: self.sequence, suspicions: &self.suspicions };
        let effects = judge::resolve(&watched.policy, &mut watched.judge_state, incident, context);
        self.follow(place, &effects, "resolved");
    }

    pub(crate) fn delete(&mut self, place: usize) {
        self.run_due();
        self.end_regime(place);
        let watched = &mut self.monitors[place];
        watched.deleted = true;
        watched.policy.active = false;
        self.schedule.remove(watched.id);
        self.deferred.remove(watched.id);
        let effects = judge::delete(&mut watched.judge_state, self.now);
        self.witness.remove(place);
        self.follow(place, &effects, "deleted");
    }

    /// Ends the process at any point and starts another one from the stored data.
    pub(crate) fn restart(&mut self) {
        let longest_ms = if self.chance.percent(80) { 5_000 } else { 400_000 };
        let down = self.chance.millis(longest_ms);
        self.run_due();
        self.trace(|| format!("the process ends, and starts after {down:?}"));
        self.now = self.now + down;
        self.process += 1;
        self.schedule = Schedule::default();
        self.budget = Budget::new(CONFIRMATIONS.0, CONFIRMATIONS.1, self.now);
        self.witness.new_process();
        self.deferred = DeferredWrites::default();
        self.deferred.record_slot(self.worked_until);
        let late = self.chance.percent(50);
        // Read before missed slots are recorded.
        let worked_until = self.worked_until;
        self.events.retain(|_, event| match event {
            Event::Deliver { .. } => late,
            Event::Ended { .. } | Event::ConnectivityChecked { .. } => false,
            Event::Disturb => true,
        });
        self.restore_suspicions(worked_until);
        for place in 0..self.monitors.len() {
            if self.monitors[place].policy.active {
                self.load(place, worked_until);
            }
        }
    }

    /// Restores the suspicions from the stored ones and the last results.
    fn restore_suspicions(&mut self, worked_until: Timestamp) {
        let since = worked_until - RECALL_PERIOD;
        let mut outcomes = Vec::new();
        for (place, watched) in self.monitors.iter().enumerate() {
            if !watched.policy.active {
                continue;
            }
            let recalled = watched.results.iter().filter(|(identity, _)| identity.slot >= since);
            outcomes.extend(recalled.filter_map(|(identity, (finished_at, outcome))| {
                self.host_outcome(place, identity, *finished_at, *outcome)
            }));
        }
        let stored = self.stored_suspicions.iter();
        let stored = stored.map(|(probe, stored)| (ProbeIndex(*probe), *stored));
        let mut suspicions = ProbeSuspicions::new(self.has_connectivity_check);
        suspicions.restore(outcomes, stored, self.now);
        self.suspicions = suspicions;
        let suspects: Vec<ProbeIndex> = self.suspicions.suspects().collect();
        self.witness.restore_suspicions(&suspects, self.now);
        for probe in suspects {
            self.check_connectivity_soon(probe);
        }
    }

    fn load(&mut self, place: usize, worked_until: Timestamp) {
        let since = worked_until - RECALL_PERIOD;
        let watched = &mut self.monitors[place];
        watched.in_flight.clear();
        let stored =
            serde_json::to_string(&watched.stored).expect("the world contains its monitors");
        let recalled = serde_json::from_str(&stored).expect("the world contains its monitors");
        let known = std::mem::replace(&mut watched.judge_state, recalled);
        for (identity, (finished_at, outcome)) in &watched.results {
            if identity.slot >= since {
                watched.judge_state.recall(identity, *finished_at, *outcome);
            }
        }
        self.witness.recall(place, watched, &known, self.now);
        let (id, period, regions) = (watched.id, watched.policy.period, regions(&watched.policy));
        let looked_at_since = since.max(watched.updated_at);
        let revision = watched.policy.revision;
        self.witness.undecide(place, revision, looked_at_since, |region, slot| {
            let trigger = Trigger::Scheduled;
            watched.results.contains_key(&ResultKey {
                monitor: id,
                revision,
                region,
                slot,
                trigger,
            })
        });
        let time = Downtime { looked_at_since, worked_until, now: self.now };
        let known = |region, slot| self.witness.is_decided(place, revision, region, slot);
        for missed in missed_while_down(id, period, regions, time, known) {
            self.miss(place, missed);
        }
        self.schedule.insert(id, period, regions, self.now, FirstRun::Regular);
        let watched = &mut self.monitors[place];
        let context =
            StepContext { now: self.now, random: self.sequence, suspicions: &self.suspicions };
        let effects = judge::revise(&watched.policy, &mut watched.judge_state, context);
        self.follow(place, &effects, "started");
    }

    /// Sets the machine's clock back. Pending events are rescheduled from then on.
    pub(crate) fn set_back(&mut self, by: Duration) {
        self.run_due();
        self.now = self.now - by;
        self.trace(|| format!("the clock is set back by {by:?}"));
        self.schedule.set_back(self.now);
        let events = std::mem::take(&mut self.events);
        self.events = events.into_iter().map(|((_, of), event)| ((self.now, of), event)).collect();
        self.witness.pause();
    }

    fn end_regime(&mut self, place: usize) {
        let watched = &self.monitors[place];
        if watched.policy.active {
            let regions = regions(&watched.policy);
            let (policy, since) = (&watched.policy, watched.updated_at);
            self.witness.expect(place, watched.id, policy, regions, since, self.now);
        }
    }

    /// Records every monitor's expected slots up to now.
    pub(crate) fn end(&mut self) {
        self.run_due();
        for place in 0..self.monitors.len() {
            self.end_regime(place);
        }
    }

    fn revised(&mut self, place: usize, what: &'static str) {
        let watched = &mut self.monitors[place];
        watched.updated_at = self.now;
        watched.in_flight.clear();
        self.witness.align(place, &watched.policy);
        let context =
            StepContext { now: self.now, random: self.sequence, suspicions: &self.suspicions };
        let effects = judge::revise(&watched.policy, &mut watched.judge_state, context);
        if watched.policy.active {
            let regions = regions(&watched.policy);
            self.schedule.insert(
                watched.id,
                watched.policy.period,
                regions,
                self.now,
                FirstRun::AtOnce,
            );
        }
        self.follow(place, &effects, what);
    }
}
