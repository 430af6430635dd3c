//! A small pipeline around the pure decisions: handles due slots, runs checks, delivers results to
//! the judge and applies the effects.

use std::time::Duration;

use aloft_domain::cadence::{ConfirmationCheck, DueSlot, Handle, Missed, SlotAction};
use aloft_domain::check::{CheckResult, Outcome, Phases, ProbeName, ResultKey, Trigger};
use aloft_domain::judge::{
    self, ConnectivityCheck, Effects, HostMark, HostOutcome, ProbeIndex, StepContext,
    SuspicionChange,
};
use rules::{Region, Timestamp, limits};

use super::{Event, Mode, Target, World, regions};
use crate::invariants::SlotOutcome;

impl World {
    pub(super) fn run_due(&mut self) {
        while let Some(due) = self.schedule.pop_due(self.now) {
            self.call(due);
        }
    }

    fn call(&mut self, due: DueSlot) {
        let place = self
            .monitors
            .iter()
            .position(|watched| watched.id == due.monitor)
            .expect("the world contains its monitors");
        if let Some(missed) = due.missed {
            self.miss(place, missed);
        }
        let watched = &self.monitors[place];
        let revision = watched.policy.revision;
        let slot_outcome = match due.action {
            SlotAction::Run => SlotOutcome::Run,
            SlotAction::Skip => SlotOutcome::Skipped,
        };
        self.witness.decide(place, (revision, due.region, due.slot), slot_outcome);
        match due.action {
            SlotAction::Run => {
                self.run(place, due.handle, (due.region, due.slot), Trigger::Scheduled);
            }
            SlotAction::Skip => {
                let result =
                    self.result(place, (due.region, due.slot), Trigger::Scheduled, self.now);
                self.record(place, &CheckResult { outcome: Outcome::Skipped, ..result });
            }
        }
    }

    pub(super) fn miss(&mut self, place: usize, missed: Missed) {
        self.write_due();
        self.deferred.record_slot(missed.last_slot);
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
            self.witness.fail("no check starts while one is in flight", what);
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
            0..5 => self.trace(|| format!("a result of monitor {place} is lost")),
            5..15 => self.at(late, Event::Deliver { place, result }),
            15..22 => {
                self.at(late, Event::Deliver { place, result: result.clone() });
                self.at(prompt, Event::Deliver { place, result });
            }
            _ => self.at(prompt, Event::Deliver { place, result }),
        }
    }

    /// Returns the result of a check of monitor `place`.
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
            identity: ResultKey { monitor, revision, region, slot, trigger },
            finished_at,
            outcome,
            latency_us: 1_000,
            phases: Phases::default(),
            status: None,
            attempts: 1,
            probe: ProbeName("probe".into()),
            evidence: None,
        }
    }

    fn probe_of(&self, place: usize, region: Region) -> ProbeIndex {
        let serving = self.monitors[place].policy.regions.iter();
        serving
            .clone()
            .find(|serving| serving.region == region)
            .expect("the world contains its monitors")
            .probe
    }

    pub(super) fn happen(&mut self, event: Event) {
        match event {
            Event::Deliver { place, result } => self.record(place, &result),
            Event::Ended { process, handle, place, region } => {
                if process == self.process
                    && self.schedule.handle(self.monitors[place].id) == Some(handle)
                {
                    self.monitors[place].in_flight.remove(&region);
                    self.schedule.finish(handle, region);
                }
            }
            Event::ConnectivityChecked { process, probe } => {
                if process == self.process && self.suspicions.suspects().any(|it| it == probe) {
                    let honest = self.probes[usize::from(probe.0)] == Mode::Honest;
                    let connectivity_check =
                        ConnectivityCheck { asked: 3, responded: if honest { 3 } else { 0 } };
                    let change = self.suspicions.record_connectivity_check(
                        probe,
                        connectivity_check,
                        self.now,
                    );
                    self.apply_suspicion(change);
                    self.at(
                        self.now + limits::CONNECTIVITY_CHECK_INTERVAL,
                        Event::ConnectivityChecked { process, probe },
                    );
                }
            }
            Event::Disturb if self.disturbed => {
                crate::scenarios::disturb(self);
                let next = self.now + self.chance.millis(40_000);
                self.at(next, Event::Disturb);
            }
            Event::Disturb => {}
        }
    }

    /// Stores states that have waited long enough, as with each commit.
    fn write_due(&mut self) {
        while let Some(id) = self.deferred.pop_due(self.now) {
            let due = self.monitors.iter_mut().find(|watched| watched.id == id);
            let watched = due.expect("the world contains its monitors");
            watched.stored = watched.judge_state.clone();
        }
    }

    /// Handles a result like the server's pipeline.
    fn record(&mut self, place: usize, result: &CheckResult) {
        self.write_due();
        self.deferred.record_slot(result.identity.slot);
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
        self.trace(|| {
            format!(
                "monitor {place} r{} `{}` slot {} is {:?}",
                identity.revision, identity.region, identity.slot, result.outcome
            )
        });
        if let Some(report) =
            self.host_outcome(place, &identity, result.finished_at, result.outcome)
        {
            let change = self.suspicions.record(report, self.now);
            self.apply_suspicion(change);
            self.witness.record(place, result);
        }
        let watched = &mut self.monitors[place];
        watched.judge_state.set_back(self.now);
        let context =
            StepContext { now: self.now, random: self.sequence, suspicions: &self.suspicions };
        let effects = judge::receive(&watched.policy, &mut watched.judge_state, result, context);
        self.follow(place, &effects, "received");
    }

    /// Returns the evidence of a result about the checked host.
    pub(super) fn host_outcome(
        &self,
        place: usize,
        identity: &ResultKey,
        finished_at: Timestamp,
        outcome: Outcome,
    ) -> Option<HostOutcome> {
        let policy = &self.monitors[place].policy;
        let is_current = identity.revision == policy.revision && outcome != Outcome::Skipped;
        let probe = policy.probe_of(identity.region).filter(|_| is_current)?;
        Some(HostOutcome {
            probe,
            workspace: rules::WorkspaceId::from_bits(place as u64 % 3),
            host: HostMark::new(&place.to_string()),
            failed: outcome == Outcome::Failure,
            finished_at,
        })
    }

    pub(super) fn tick(&mut self) {
        let change = self.suspicions.tick(self.now);
        self.apply_suspicion(change);
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
        watched.judge_state.set_back(self.now);
        let context =
            StepContext { now: self.now, random: self.sequence, suspicions: &self.suspicions };
        let effects = judge::tick(&watched.policy, &mut watched.judge_state, context);
        self.follow(place, &effects, "ticked");
    }

    pub(super) fn check_connectivity_soon(&mut self, probe: ProbeIndex) {
        if self.has_connectivity_check {
            let (process, soon) = (self.process, self.now + Duration::from_secs(1));
            self.at(soon, Event::ConnectivityChecked { process, probe });
        }
    }

    fn apply_suspicion(&mut self, change: Option<SuspicionChange>) {
        let Some(change) = change else { return };
        self.trace(|| format!("{change:?}"));
        self.witness.record_suspicion(change, self.has_connectivity_check);
        let (SuspicionChange::Suspected { probe, .. } | SuspicionChange::Recovered { probe, .. }) =
            change;
        self.stored_suspicions.insert(probe.0, self.suspicions.stored(probe));
        if matches!(change, SuspicionChange::Suspected { .. }) {
            self.check_connectivity_soon(probe);
        }
        for place in 0..self.monitors.len() {
            if self.monitors[place].policy.active {
                self.judge_again(place);
            }
        }
    }

    pub(super) fn follow(&mut self, place: usize, effects: &Effects, what: &'static str) {
        self.sequence += 1;
        let watched = &mut self.monitors[place];
        watched.wake_at = effects.wake_at;
        if self.deferred.record_change(watched.id, effects.changed, self.now) {
            watched.stored = watched.judge_state.clone();
        }
        let watched = &self.monitors[place];
        self.witness.watch(place, watched, effects, &self.suspicions, self.now);
        if let Some(transition) = effects.transition {
            self.trace(|| {
                format!(
                    "monitor {place} {what}: {} → {}, {:?}: {}",
                    transition.from, transition.to, transition.incident, transition.why
                )
            });
        } else if what != "received" && what != "ticked" {
            self.trace(|| format!("monitor {place} {what}"));
        }
        if effects.confirmations.is_empty() {
            return;
        }
        let id = self.monitors[place].id;
        let asked = self.schedule.confirm(id, &effects.confirmations, &mut self.budget, self.now);
        self.trace(|| {
            format!("monitor {place} asks {:?}, {} are asked", effects.confirmations, asked.len())
        });
        for ConfirmationCheck { handle, region, .. } in asked {
            self.witness.record_confirmation(self.now);
            self.run(place, handle, (region, self.now), Trigger::Confirmation);
        }
    }
}
