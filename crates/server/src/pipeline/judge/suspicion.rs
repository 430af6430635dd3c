//! Suspicions of probes at work. When a suspicion begins or ends, the log, the metrics and the
//! audit logs of affected workspaces record it. All monitors are judged again. `domain::judge`
//! decides when that happens.

use std::collections::BTreeSet;
use std::time::Duration;

use domain::check::CheckResult;
use domain::judge::{FailedHosts, ProbeIndex, ProbeSuspicions, StepContext, SuspicionChange};
use rules::{MonitorId, Timestamp, WorkspaceId};
use store::{ProbeEvent, ProbeTransition};
use tracing::{error, warn};
use web::context::Context;

use super::Judge;

/// Notice that a probe became suspect or recovered, for the operator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OperatorNotice {
    /// Time of the change.
    pub at: Timestamp,
    pub probe: String,
    /// Whether the probe became suspect. False if it recovered.
    pub is_suspect: bool,
    /// Reason, as a sentence.
    pub detail: String,
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
        let name = self.connectivity.probes.name(probe).to_owned();
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
        self.record_in_audit_logs(probe, ProbeTransition::Suspected, &detail);
        self.notify_operator(name, true, detail);
    }

    fn end_suspicion(&mut self, probe: ProbeIndex, how: &str) {
        let name = self.connectivity.probes.name(probe).to_owned();
        warn!(probe.name = name, "probe `{name}` is no longer suspect, {how}");
        self.metrics.probes_suspect.dec();
        self.connectivity.stop(probe);
        self.record_in_audit_logs(probe, ProbeTransition::Recovered, how);
        let detail = format!("it is no longer suspect, {how}");
        self.notify_operator(name, false, detail);
    }

    /// Records the change in the audit log of every workspace whose monitors the probe checks.
    fn record_in_audit_logs(&mut self, probe: ProbeIndex, turn: ProbeTransition, detail: &str) {
        let concerned = self.judged.values().filter(|judged| judged.is_checked_by(probe));
        let workspaces: BTreeSet<WorkspaceId> = concerned.map(|it| it.workspace).collect();
        let (id, at) = (self.connectivity.probes.known(probe).0.clone(), self.ctx.now());
        let notice = |workspace| ProbeEvent {
            workspace,
            probe: id.clone(),
            turn,
            at,
            detail: detail.to_owned(),
        };
        self.pending.add_probe_events(workspaces.into_iter().map(notice));
    }

    /// Queues a message to the operator. The judge never waits for it.
    fn notify_operator(&self, probe: String, is_suspect: bool, detail: String) {
        let Some(operator) = &self.operator else { return };
        let notice = OperatorNotice { at: self.ctx.now(), probe, is_suspect, detail };
        if operator.try_send(notice).is_err() {
            warn!("the operator is not notified: too many messages are waiting");
        }
    }

    fn elapsed(&self, since: rules::Timestamp) -> String {
        let passed: Duration = self.ctx.now().since(since);
        format!("{} s", passed.as_secs())
    }
}
