//! The judge as stories: a monitor, what its regions report, and what is said of it. The stories
//! tick exactly when [`Effects::wake_at`] asks for it, as the pipeline does.

mod memory;
mod properties;
mod table;
mod transitions;

use std::time::Duration;

use rules::{IncidentId, MonitorId, MonitorStatus, Region, Timestamp};

use super::*;
use crate::check::{CheckResult, Identity, Outcome, Phases, ProbeId, Trigger};

/// When stories begin.
const START: Timestamp = Timestamp::from_millis(1_800_000_000_000);
/// The period of the monitors in stories.
const PERIOD: Duration = Duration::from_mins(1);

/// A monitor and what has happened to it.
#[derive(Clone, Debug)]
struct Story {
    policy: Policy,
    history: History,
    doubts: Doubts,
    now: Timestamp,
    /// What followed from the last step.
    effects: Effects,
    /// Every transition so far.
    transitions: Vec<Transition>,
}

/// An active monitor that was just created: `fly-ams`, served by a probe of its own.
fn a_monitor() -> Story {
    Story::of(policy_of(&[0]))
}

/// A monitor in so many regions, each served by a probe of its own, that has succeeded in all.
fn a_settled_monitor_in(regions: u16) -> Story {
    a_monitor().in_regions(regions).settled()
}

/// A policy for the first regions there are, each served by the probe of this number.
fn policy_of(probes: &[u16]) -> Policy {
    let serving =
        |(region, probe): (&Region, &u16)| Serving { region: *region, probe: ProbeSlot(*probe) };
    Policy {
        revision: 1,
        active: true,
        period: PERIOD,
        longest: Duration::from_secs(10),
        regions: Region::ALL.iter().zip(probes).map(serving).collect(),
    }
}

/// What a check of `region` came to.
fn result_of(revision: u32, region: Region, slot: Timestamp, outcome: Outcome) -> CheckResult {
    let monitor = MonitorId::from_bits(1);
    CheckResult {
        identity: Identity { monitor, revision, region, slot, trigger: Trigger::Scheduled },
        finished_at: slot,
        outcome,
        latency_us: 1_000,
        phases: Phases::default(),
        status: None,
        attempts: 1,
        probe: ProbeId("embedded".into()),
        evidence: None,
    }
}

impl Story {
    fn of(policy: Policy) -> Self {
        let mut history = History::new(&policy, START);
        let doubts = Doubts::default();
        let moment = Moment { now: START, chance: 0, doubts: &doubts };
        let effects = tick(&policy, &mut history, moment);
        Self { policy, history, doubts, now: START, effects, transitions: Vec::new() }
    }

    /// In so many regions, each served by a probe of its own.
    fn in_regions(self, count: u16) -> Self {
        self.served_by(&(0..count).collect::<Vec<_>>())
    }

    /// In so many regions, all served by the server's own probe.
    fn in_regions_of_one_probe(self, count: usize) -> Self {
        self.served_by(&vec![0; count])
    }

    /// In as many regions as there are numbers, served by the probes of these numbers.
    fn served_by(self, probes: &[u16]) -> Self {
        Self::of(Policy { regions: policy_of(probes).regions, ..self.policy })
    }

    /// All regions have succeeded, and the new monitor's hold is over.
    fn settled(self) -> Self {
        self.all(Outcome::Success)
    }

    fn all(mut self, outcome: Outcome) -> Self {
        for serving in self.policy.regions.clone() {
            self = self.reports(serving.region, outcome);
        }
        self
    }

    fn succeeds(self, region: &str) -> Self {
        self.reports(Region::parse(region).unwrap(), Outcome::Success)
    }

    fn dawdles(self, region: &str) -> Self {
        self.reports(Region::parse(region).unwrap(), Outcome::Degraded)
    }

    fn fails(self, region: &str) -> Self {
        self.reports(Region::parse(region).unwrap(), Outcome::Failure)
    }

    fn skips(self, region: &str) -> Self {
        self.reports(Region::parse(region).unwrap(), Outcome::Skipped)
    }

    /// One millisecond later the region reports, of a slot of its own.
    fn reports(mut self, region: Region, outcome: Outcome) -> Self {
        self = self.after(Duration::from_millis(1));
        let result = result_of(self.policy.revision, region, self.now, outcome);
        self.receive(&result);
        self
    }

    fn receive(&mut self, result: &CheckResult) {
        let moment = moment(&self.doubts, self.now, &self.transitions);
        self.effects = receive(&self.policy, &mut self.history, result, moment);
        self.note();
    }

    /// Time passes, with a tick whenever one was asked for.
    fn after(mut self, time: Duration) -> Self {
        let end = self.now + time;
        while let Some(wake) = self.effects.wake_at.filter(|wake| *wake <= end) {
            assert!(wake > self.now, "a wake-up in the past would never end");
            self.now = wake;
            self.tick();
        }
        self.now = end;
        self
    }

    fn tick(&mut self) {
        let moment = moment(&self.doubts, self.now, &self.transitions);
        self.effects = tick(&self.policy, &mut self.history, moment);
        self.note();
    }

    /// The monitor is edited: `change` is what the edit does.
    fn edited(mut self, change: impl FnOnce(&mut Policy)) -> Self {
        self.policy.revision += 1;
        change(&mut self.policy);
        self.revised()
    }

    fn paused(self) -> Self {
        self.edited(|policy| policy.active = false)
    }

    fn resumed(self) -> Self {
        self.edited(|policy| policy.active = true)
    }

    /// The process starts anew, with the history that the store kept.
    fn restarted(mut self) -> Self {
        let kept = serde_json::to_string(&self.history).unwrap();
        self.history = serde_json::from_str(&kept).unwrap();
        self.revised()
    }

    fn revised(mut self) -> Self {
        let moment = moment(&self.doubts, self.now, &self.transitions);
        self.effects = revise(&self.policy, &mut self.history, moment);
        self.note();
        self
    }

    fn deleted(mut self) -> Self {
        self.effects = delete(&mut self.history, self.now);
        self.note();
        self
    }

    /// A person resolves the incident that is open, or one that is not there.
    fn resolved(mut self) -> Self {
        let moment = moment(&self.doubts, self.now, &self.transitions);
        let incident = self.history.incident.unwrap_or(IncidentId::from_bits(0));
        self.effects = resolve(&self.policy, &mut self.history, incident, moment);
        self.note();
        self
    }

    fn note(&mut self) {
        let changed = self.effects.changed == Changed::Status;
        assert_eq!(self.effects.transition.is_some(), changed);
        self.transitions.extend(self.effects.transition);
    }

    fn status(&self) -> MonitorStatus {
        self.history.status
    }

    /// The transitions in words: `unknown → active, silently: no vote fails`.
    fn told(&self) -> Vec<String> {
        self.transitions.iter().map(told).collect()
    }
}

fn moment<'d>(doubts: &'d Doubts, now: Timestamp, transitions: &[Transition]) -> Moment<'d> {
    Moment { now, chance: transitions.len() as u64, doubts }
}

fn told(transition: &Transition) -> String {
    let incident = match transition.incident {
        IncidentChange::None => "silently".to_owned(),
        IncidentChange::Opened(_) => "opened".to_owned(),
        IncidentChange::Suspended(_) => "silently suspended".to_owned(),
        IncidentChange::Resumed(_) => "silently resumed".to_owned(),
        IncidentChange::Closed { id: _, how } => format!("closed as {}", how.as_str()),
    };
    format!("{} → {}, {incident}: {}", transition.from, transition.to, transition.why)
}
