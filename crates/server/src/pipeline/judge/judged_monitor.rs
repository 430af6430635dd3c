//! State of one running monitor: its policy and state, and the details of its regions for views
//! and messages.

use domain::check::{CheckResult, Outcome};
use domain::judge::{
    self, Effects, FailedHosts, HostMark, HostOutcome, JudgeState, Policy, ProbeIndex,
    ProbeSuspicions, StepContext, Transition, Vote, region_status,
};
use domain::notify::Cause;
use rules::monitor::Monitor;
use rules::{IncidentId, MonitorId, MonitorStatus, Region, Timestamp, WorkspaceId};
use store::{BootResult, FailedRegion};

use super::region_failures::RegionFailures;
use crate::pipeline::Probes;

/// Running monitor.
#[derive(Debug)]
pub(in crate::pipeline) struct JudgedMonitor {
    pub(in crate::pipeline) monitor: MonitorId,
    pub(super) workspace: WorkspaceId,
    /// Name, for the log.
    pub(super) name: Box<str>,
    pub(in crate::pipeline) policy: Policy,
    pub(in crate::pipeline) state: JudgeState,
    /// Time from which this revision runs in this process.
    pub(super) runs_since: Timestamp,
    /// Last judged time. It is behind the clock while results wait to be stored.
    judged_until: Timestamp,
    /// Host that is checked. `None` if no probe checks the monitor.
    host: Option<HostMark>,
    /// Time at which the verdict may change without a result.
    pub(super) wake_at: Option<Timestamp>,
    /// Time of its current entry in the judge's heap.
    pub(super) entry_in_wakes: Option<Timestamp>,
    latencies: Vec<(Region, u32)>,
    failures: RegionFailures,
}

/// Current state of one monitor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MonitorView {
    pub status: MonitorStatus,
    /// Start of the current status.
    pub since: Timestamp,
    /// Open incident.
    pub incident: Option<IncidentId>,
    /// Regions, in the order of the specification.
    pub regions: Vec<RegionView>,
}

/// Current state of a monitor in one region.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RegionView {
    pub region: Region,
    /// Status of the region alone.
    pub status: MonitorStatus,
    /// End of the latest check.
    pub checked_at: Option<Timestamp>,
    /// Total latency of the latest check since the process started, in microseconds.
    pub latency_us: Option<u32>,
    /// Name of the probe that serves the region.
    pub served_by: String,
}

impl JudgedMonitor {
    pub(in crate::pipeline) fn new(
        monitor: &Monitor,
        policy: Policy,
        state: JudgeState,
        host: Option<HostMark>,
        runs_since: Timestamp,
    ) -> Self {
        Self {
            monitor: monitor.id,
            workspace: monitor.workspace,
            name: monitor.settings.name.as_str().into(),
            policy,
            state,
            runs_since,
            judged_until: runs_since,
            host,
            wake_at: None,
            entry_in_wakes: None,
            latencies: Vec::new(),
            failures: RegionFailures::new(),
        }
    }

    /// Returns whether a probe checks the monitor.
    pub(super) const fn is_probed(&self) -> bool {
        self.host.is_some()
    }

    /// Returns the probe that checks the monitor in `region`, if there is one.
    pub(super) fn probe_of(&self, region: Region) -> Option<ProbeIndex> {
        self.policy.probe_of(region).filter(|_| self.is_probed())
    }

    /// Takes over the state of the previous revision.
    pub(super) fn take_over(&mut self, before: Self) {
        self.state = before.state;
        self.entry_in_wakes = before.entry_in_wakes;
        self.latencies = before.latencies;
        self.failures = before.failures;
        self.failures.retain(|region| self.policy.probe_of(region).is_some());
    }

    /// Returns the time at which to judge a result that ended at `finished_at`, as if it had not
    /// waited for a commit. It is never before the last judged time, and never after `now`.
    pub(super) fn instant(&self, finished_at: Timestamp, now: Timestamp) -> Timestamp {
        finished_at.max(self.judged_until).min(now)
    }

    /// Returns the time of a tick that was due before `until`, if there is one.
    pub(super) fn overdue(&self, until: Timestamp) -> Option<Timestamp> {
        self.wake_at.filter(|due| *due < until)
    }

    /// Records a result. `context` must be at its [`Self::instant`].
    pub(super) fn record(&mut self, result: &CheckResult, context: StepContext<'_>) -> Effects {
        self.judged_until = context.now;
        if result.attempts > 0 {
            let region = result.identity.region;
            match self.latencies.iter_mut().find(|(known, _)| *known == region) {
                Some((_, latency)) => *latency = result.latency_us,
                None => self.latencies.push((region, result.latency_us)),
            }
        }
        let effects = judge::receive(&self.policy, &mut self.state, result, context);
        if self.is_latest(result) {
            self.failures.record(result);
        }
        effects
    }

    /// Returns the timeline entry for an incident in which the region began to fail with this
    /// result.
    pub(super) fn failed_region(&self, incident: IncidentId, result: &CheckResult) -> FailedRegion {
        let (workspace, monitor) = (self.workspace, self.monitor);
        let (region, at) = (result.identity.region, result.finished_at);
        FailedRegion { workspace, monitor, incident, region, at }
    }

    /// Returns the cause of a transition, for messages.
    pub(super) fn cause(
        &self,
        transition: &Transition,
        suspicions: &ProbeSuspicions,
        at: Timestamp,
    ) -> Cause {
        let seen = self.state.regions.iter().map(|state| {
            let status = region_status(&self.policy, &self.state, state.region, suspicions, at);
            (state.region, status, self.latency(state.region))
        });
        let mut cause = self.failures.cause(transition.why, seen);
        if !self.is_probed() {
            // Nothing was checked from a place.
            cause.regions.clear();
        }
        cause
    }

    /// Returns the first of its probes that is suspect, with the evidence.
    pub(super) fn suspicion(
        &self,
        suspicions: &ProbeSuspicions,
    ) -> Option<(ProbeIndex, FailedHosts)> {
        let mut probes = self.policy.regions.iter().map(|serving| serving.probe);
        probes.find_map(|probe| Some((probe, suspicions.suspicion(probe)?)))
    }

    /// Returns the evidence of a result about the checked host. Returns `None` if it has none.
    pub(super) fn host_outcome(&self, result: &CheckResult) -> Option<HostOutcome> {
        let of_region = (result.identity.region, result.identity.revision);
        self.outcome_in(of_region, failed(result.outcome)?, result.finished_at)
    }

    /// Returns the evidence of the last results of all regions, and of `results`, about the host.
    pub(super) fn recalled_outcomes(
        &self,
        results: &[BootResult],
    ) -> impl Iterator<Item = HostOutcome> {
        let states = self.state.regions.iter();
        let last = states.flat_map(|state| {
            let both = [state.before, state.latest].into_iter().flatten();
            both.map(|last| (state.region, last))
        });
        let last = last.filter_map(|(region, last)| {
            let failed = last.vote == Vote::Failing;
            self.outcome_in((region, last.revision), failed, last.finished_at)
        });
        let recent = results.iter().filter(|result| result.votes).filter_map(|result| {
            let of_region = (result.identity.region, result.identity.revision);
            self.outcome_in(of_region, failed(result.outcome)?, result.finished_at)
        });
        last.chain(recent)
    }

    fn outcome_in(
        &self,
        (region, revision): (Region, u32),
        failed: bool,
        finished_at: Timestamp,
    ) -> Option<HostOutcome> {
        let probe = self.probe_of(region)?;
        // A probe of a workspace is never suspect: nobody knows a host that it must reach.
        let counts = revision == self.policy.revision && !region.is_private();
        counts.then_some(HostOutcome {
            probe,
            workspace: self.workspace,
            host: self.host?,
            failed,
            finished_at,
        })
    }

    /// Caps all remembered times at `now`, because the clock was set back.
    pub(super) fn set_back(&mut self, now: Timestamp) {
        self.judged_until = self.judged_until.min(now);
        self.state.set_back(now);
    }

    /// Judges again after time has passed.
    pub(super) fn tick(&mut self, context: StepContext<'_>) -> Effects {
        self.judged_until = context.now;
        judge::tick(&self.policy, &mut self.state, context)
    }

    /// Returns whether `probe` checks the monitor in one of its regions.
    pub(super) fn is_checked_by(&self, probe: ProbeIndex) -> bool {
        self.policy.regions.iter().any(|serving| serving.probe == probe)
    }

    /// Returns the end of its last check in any region.
    pub(super) fn checked_at(&self) -> Option<Timestamp> {
        let latest = self.state.regions.iter().filter_map(|state| state.latest);
        latest.map(|latest_result| latest_result.finished_at).max()
    }

    pub(super) fn view(
        &self,
        probes: &Probes,
        suspicions: &ProbeSuspicions,
        now: Timestamp,
    ) -> MonitorView {
        let regions = self.state.regions.iter().map(|state| RegionView {
            region: state.region,
            status: region_status(&self.policy, &self.state, state.region, suspicions, now),
            checked_at: state.latest.map(|latest_result| latest_result.finished_at),
            latency_us: self.latency(state.region),
            served_by: probes.of(self.workspace).name_of(state.region).0.to_string(),
        });
        MonitorView {
            status: self.state.status,
            since: self.state.since,
            incident: self.state.incident,
            regions: regions.collect(),
        }
    }

    /// Returns whether this result is the last of its region.
    fn is_latest(&self, result: &CheckResult) -> bool {
        let identity = &result.identity;
        let latest = self.state.region(identity.region).and_then(|state| state.latest);
        latest.is_some_and(|latest| {
            (latest.revision, latest.slot, latest.trigger)
                == (identity.revision, identity.slot, identity.trigger)
        })
    }

    /// Returns the total latency of the region's latest check since the process started, in
    /// microseconds.
    fn latency(&self, region: Region) -> Option<u32> {
        self.latencies.iter().find(|(known, _)| *known == region).map(|(_, latency)| *latency)
    }
}

/// Returns whether a check failed. `None` if it did not run.
const fn failed(outcome: Outcome) -> Option<bool> {
    match outcome {
        Outcome::Success | Outcome::Degraded => Some(false),
        Outcome::Failure => Some(true),
        Outcome::Skipped => None,
    }
}
