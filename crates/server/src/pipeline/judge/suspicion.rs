//! Suspicions of probes at work. When a suspicion begins or ends, the log, the metrics and the
//! audit logs of affected workspaces record it. All monitors are judged again. `domain::judge`
//! decides when that happens.

use std::collections::BTreeSet;
use std::time::Duration;

use domain::check::{CheckResult, ProbeName};
use domain::judge::{
    FailedHosts, ProbeIndex, ProbeSuspicions, StepContext, StoredSuspicion, SuspicionChange,
};
use rules::{MonitorId, Timestamp, WorkspaceId};
use store::{ProbeEvent, ProbeTransition};
use tracing::{error, warn};
use web::context::Context;

use super::Judge;

/// Notice that a probe became suspect or recovered, for the operator and the owners of workspaces.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SuspicionNotice {
    /// Time of the change.
    pub at: Timestamp,
    pub probe: String,
    /// Whether the probe became suspect. False if it recovered.
    pub is_suspect: bool,
    /// Reason, as a sentence.
    pub detail: String,
    /// Workspaces whose monitors the probe checks.
    pub workspaces: Vec<WorkspaceId>,
}

/// Returns the inputs of a step that do not depend on the monitor.
pub(super) fn step_context<'d>(
    ctx: &Context,
    suspicions: &'d ProbeSuspicions,
    now: Timestamp,
) -> StepContext<'d> {
    StepContext { now, random: ctx.random(), suspicions }
}

impl Judge {
    /// Restores the suspicions of the previous process, after all monitors were loaded. Connectivity
    /// checks of suspect probes start again.
    pub(in crate::pipeline) fn restore_suspicions(
        &mut self,
        stored: Vec<(ProbeName, StoredSuspicion)>,
    ) {
        let known = stored.into_iter().filter_map(|(name, stored)| {
            Some((self.connectivity.probes.index_by_name(&name)?, stored))
        });
        let outcomes = std::mem::take(&mut self.recalled);
        self.suspicions.restore(outcomes, known, self.ctx.now());
        let suspects: Vec<ProbeIndex> = self.suspicions.suspects().collect();
        for probe in suspects {
            let name = self.connectivity.probes.name(probe).0;
            warn!(probe.name = %name, "probe `{name}` was suspect when the last process ended");
            self.metrics.probes_suspect.inc();
            self.connectivity.start(probe);
        }
    }

    /// Records a result as evidence about the probe that ran it.
    pub(super) fn record_probe_evidence(&mut self, result: &CheckResult) {
        let judged = self.judged.get(&result.identity.monitor);
        let Some(outcome) = judged.and_then(|judged| judged.host_outcome(result)) else { return };
        if let Some(change) = self.suspicions.record(outcome, self.ctx.now()) {
            self.apply_suspicion_change(change);
        }
    }

    /// Records that a suspicion began or ended. Starts or stops the connectivity check, and judges
    /// every monitor again.
    pub(super) fn apply_suspicion_change(&mut self, change: SuspicionChange) {
        let (SuspicionChange::Suspected { probe, .. } | SuspicionChange::Recovered { probe, .. }) =
            change;
        // Another probe may have the name of a deleted one.
        if self.connectivity.probes.is_serving(probe) {
            let name = self.connectivity.probes.name(probe);
            self.pending.add_suspicion(name, self.suspicions.stored(probe));
        }
        match change {
            SuspicionChange::Suspected { probe, failed_hosts, .. } => {
                self.begin_suspicion(probe, failed_hosts);
            }
            SuspicionChange::Recovered { probe, since, cleared_by: relief } => {
                self.end_suspicion(probe, &format!("after {}: {relief}", self.elapsed(since)));
            }
        }
        let monitors: Vec<MonitorId> = self.judged.keys().copied().collect();
        for monitor in monitors {
            self.judge_at(monitor, self.now);
        }
    }

    fn begin_suspicion(&mut self, probe: ProbeIndex, failed_hosts: FailedHosts) {
        let name = self.connectivity.probes.name(probe).0.to_string();
        let effect = if self.connectivity.is_disabled() {
            "its votes count, because no hosts for connectivity checks are set"
        } else {
            "its votes are void until its connectivity checks succeed"
        };
        error!(
            probe.name = name,
            "probe `{name}` may be at fault: {failed_hosts}; {effect}; check its network"
        );
        self.metrics.probe_suspicions.inc();
        self.metrics.probes_suspect.inc();
        self.connectivity.start(probe);
        let detail = format!("{failed_hosts}; {effect}");
        let workspaces = self.record_in_audit_logs(probe, ProbeTransition::Suspected, &detail);
        self.notify(&SuspicionNotice {
            at: self.ctx.now(),
            probe: name,
            is_suspect: true,
            detail,
            workspaces,
        });
    }

    fn end_suspicion(&mut self, probe: ProbeIndex, how: &str) {
        let name = self.connectivity.probes.name(probe).0.to_string();
        warn!(probe.name = name, "probe `{name}` is no longer suspect, {how}");
        self.metrics.probes_suspect.dec();
        self.connectivity.stop(probe);
        let workspaces = self.record_in_audit_logs(probe, ProbeTransition::Recovered, how);
        self.notify(&SuspicionNotice {
            at: self.ctx.now(),
            probe: name,
            is_suspect: false,
            detail: format!("it is no longer suspect, {how}"),
            workspaces,
        });
    }

    /// Records the change in the audit log of every workspace whose monitors the probe checks, and
    /// returns these.
    fn record_in_audit_logs(
        &mut self,
        probe: ProbeIndex,
        turn: ProbeTransition,
        detail: &str,
    ) -> Vec<WorkspaceId> {
        let concerned = self.judged.values().filter(|judged| judged.is_checked_by(probe));
        let workspaces: BTreeSet<WorkspaceId> = concerned.map(|it| it.workspace).collect();
        let (id, at) = (self.connectivity.probes.name(probe), self.ctx.now());
        let notice = |workspace| ProbeEvent {
            workspace,
            probe: id.clone(),
            turn,
            at,
            detail: detail.to_owned(),
        };
        self.pending.add_probe_events(workspaces.iter().copied().map(notice));
        workspaces.into_iter().collect()
    }

    /// Queues messages to the operator and to owners. The judge never waits for them.
    fn notify(&self, notice: &SuspicionNotice) {
        for recipients in &self.notices {
            if recipients.try_send(notice.clone()).is_err() {
                warn!("nobody is notified about a probe: too many messages are waiting");
            }
        }
    }

    fn elapsed(&self, since: rules::Timestamp) -> String {
        let passed: Duration = self.ctx.now().since(since);
        format!("{} s", passed.as_secs())
    }
}
