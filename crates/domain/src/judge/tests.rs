//! The judge as stories: a monitor, the results of its regions, and the resulting transitions. Like
//! the pipeline, stories tick exactly when [`Effects::wake_at`] is reached.

mod memory;
mod properties;
mod table;
mod transitions;

use std::time::Duration;

use rules::{IncidentId, MonitorId, MonitorStatus, Region, Timestamp};

use super::*;
use crate::check::{CheckResult, Outcome, Phases, ProbeName, ResultKey, Trigger};

/// Start of all stories.
const START: Timestamp = Timestamp::from_millis(1_800_000_000_000);
/// Period of the monitors in stories.
const PERIOD: Duration = Duration::from_mins(1);

/// A monitor and its events.
#[derive(Clone, Debug)]
struct MonitorScenario {
    policy: Policy,
    judge_state: JudgeState,
    suspicions: ProbeSuspicions,
    now: Timestamp,
    /// Effects of the last step.
    effects: Effects,
    /// All transitions so far.
    transitions: Vec<Transition>,
}

/// Returns a new active monitor in `fly-ams`, served by its own probe.
fn a_monitor() -> MonitorScenario {
    MonitorScenario::new(policy_of(&[0]))
}

/// Returns a monitor in this many regions, each with its own probe, after a success in each.
fn a_settled_monitor_in(regions: u16) -> MonitorScenario {
    a_monitor().in_regions(regions).settled()
}

/// Returns a policy for the first regions, each served by the probe of this number.
fn policy_of(probes: &[u16]) -> Policy {
    let serving = |(region, probe): (&Region, &u16)| ServedRegion {
        region: *region,
        probe: ProbeIndex(*probe),
    };
    Policy {
        revision: 1,
        active: true,
        period: PERIOD,
        longest: Duration::from_secs(10),
        regions: Region::ALL.iter().zip(probes).map(serving).collect(),
    }
}

/// Returns the result of a check of `region`.
fn result_of(revision: u32, region: Region, slot: Timestamp, outcome: Outcome) -> CheckResult {
    let monitor = MonitorId::from_bits(1);
    CheckResult {
        identity: ResultKey { monitor, revision, region, slot, trigger: Trigger::Scheduled },
        finished_at: slot,
        outcome,
        latency_us: 1_000,
        phases: Phases::default(),
        status: None,
        attempts: 1,
        probe: ProbeName("embedded".into()),
        evidence: None,
    }
}

impl MonitorScenario {
    fn new(policy: Policy) -> Self {
        let mut judge_state = JudgeState::new(&policy, START);
        let suspicions = ProbeSuspicions::default();
        let context = StepContext { now: START, random: 0, suspicions: &suspicions };
        let effects = tick(&policy, &mut judge_state, context);
        Self { policy, judge_state, suspicions, now: START, effects, transitions: Vec::new() }
    }

    /// Runs in this many regions, each with its own probe.
    fn in_regions(self, count: u16) -> Self {
        self.served_by(&(0..count).collect::<Vec<_>>())
    }

    /// Runs in this many regions, all served by the embedded probe.
    fn in_regions_of_one_probe(self, count: usize) -> Self {
        self.served_by(&vec![0; count])
    }

    /// Runs in one region per number, served by the probes of these numbers.
    fn served_by(self, probes: &[u16]) -> Self {
        Self::new(Policy { regions: policy_of(probes).regions, ..self.policy })
    }

    /// Succeeds in all regions, which ends the grace period of the new monitor.
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

    /// Advances by a millisecond and receives a result of the region in a new slot.
    fn reports(mut self, region: Region, outcome: Outcome) -> Self {
        self = self.after(Duration::from_millis(1));
        let result = result_of(self.policy.revision, region, self.now, outcome);
        self.receive(&result);
        self
    }

    fn receive(&mut self, result: &CheckResult) {
        let context = context(&self.suspicions, self.now, &self.transitions);
        self.effects = receive(&self.policy, &mut self.judge_state, result, context);
        self.record();
    }

    /// Advances the time, with a tick whenever requested.
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
        let context = context(&self.suspicions, self.now, &self.transitions);
        self.effects = tick(&self.policy, &mut self.judge_state, context);
        self.record();
    }

    /// Edits the monitor by `change`.
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

    /// Restarts the process with the stored state.
    fn restarted(mut self) -> Self {
        let kept = serde_json::to_string(&self.judge_state).unwrap();
        self.judge_state = serde_json::from_str(&kept).unwrap();
        self.revised()
    }

    fn revised(mut self) -> Self {
        let context = context(&self.suspicions, self.now, &self.transitions);
        self.effects = revise(&self.policy, &mut self.judge_state, context);
        self.record();
        self
    }

    fn deleted(mut self) -> Self {
        self.effects = delete(&mut self.judge_state, self.now);
        self.record();
        self
    }

    /// Resolves the open incident, or an unknown one.
    fn resolved(mut self) -> Self {
        let context = context(&self.suspicions, self.now, &self.transitions);
        let incident = self.judge_state.incident.unwrap_or(IncidentId::from_bits(0));
        self.effects = resolve(&self.policy, &mut self.judge_state, incident, context);
        self.record();
        self
    }

    fn record(&mut self) {
        let changed = self.effects.changed == Changed::Status;
        assert_eq!(self.effects.transition.is_some(), changed);
        self.transitions.extend(self.effects.transition);
    }

    fn status(&self) -> MonitorStatus {
        self.judge_state.status
    }

    /// Formats the transitions as text: `unknown → active, silently: no vote fails`.
    fn formatted_transitions(&self) -> Vec<String> {
        self.transitions.iter().map(format_transition).collect()
    }
}

fn context<'d>(
    suspicions: &'d ProbeSuspicions,
    now: Timestamp,
    transitions: &[Transition],
) -> StepContext<'d> {
    StepContext { now, random: transitions.len() as u64, suspicions }
}

fn format_transition(transition: &Transition) -> String {
    let incident = match transition.incident {
        IncidentChange::None => "silently".to_owned(),
        IncidentChange::Opened(_) => "opened".to_owned(),
        IncidentChange::Suspended(_) => "silently suspended".to_owned(),
        IncidentChange::Resumed(_) => "silently resumed".to_owned(),
        IncidentChange::Closed { id: _, reason: how } => format!("closed as {}", how.as_str()),
    };
    format!("{} → {}, {incident}: {}", transition.from, transition.to, transition.why)
}
