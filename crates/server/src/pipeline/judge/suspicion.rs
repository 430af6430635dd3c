//! Suspicions of probes at work. When a suspicion begins or ends, the log, the metrics and the
//! audit logs of affected workspaces record it. All monitors are judged again. `domain::judge`
//! decides when that happens.

use std::collections::BTreeSet;
use std::time::Duration;

use domain::check::CheckResult;
use domain::judge::{DoubtChange, ProbeIndex};
use rules::{MonitorId, WorkspaceId};
use store::{ProbeEvent, ProbeTurn};
use tracing::{error, warn};

use super::Judge;
use crate::operator::Note;

impl Judge {
    /// Records a result as evidence about the probe that ran it.
    pub(super) fn doubt(&mut self, result: &CheckResult) {
        let watched = self.watched.get(&result.identity.monitor);
        let Some(report) = watched.and_then(|watched| watched.host_report(result)) else { return };
        if let Some(change) = self.doubts.hear(report, self.ctx.now()) {
            self.follow_doubt(change);
        }
    }

    /// Records that a suspicion began or ended. Starts or stops the connectivity check, and judges
    /// every monitor again.
    pub(super) fn follow_doubt(&mut self, change: DoubtChange) {
        match change {
            DoubtChange::Doubts { probe, failing, hosts, .. } => self.begin(probe, failing, hosts),
            DoubtChange::Recovered { probe, since, relief } => {
                self.end(probe, &format!("after {}: {relief}", self.passed(since)));
            }
        }
        let monitors: Vec<MonitorId> = self.watched.keys().copied().collect();
        for monitor in monitors {
            self.judge_at(monitor, self.now);
        }
    }

    fn begin(&mut self, probe: ProbeIndex, failing: u32, hosts: u32) {
        let name = self.canaries.probes.name(probe).to_owned();
        let effect = if self.canaries.are_none() {
            "its votes count, because no hosts for connectivity checks are set"
        } else {
            "its votes are void until connectivity checks answer"
        };
        error!(
            probe.name = name,
            "probe `{name}` may be at fault: {failing} of {hosts} hosts failed within a minute; \
             {effect}; check its network"
        );
        self.metrics.doubts.inc();
        self.metrics.probes_doubting.inc();
        self.canaries.begin(probe);
        let detail = format!("{failing} of {hosts} hosts failed within a minute; {effect}");
        self.tell_owners(probe, ProbeTurn::Doubts, &detail);
        self.tell_operator(name, true, detail);
    }

    fn end(&mut self, probe: ProbeIndex, how: &str) {
        let name = self.canaries.probes.name(probe).to_owned();
        warn!(probe.name = name, "probe `{name}` is no longer suspect, {how}");
        self.metrics.probes_doubting.dec();
        self.canaries.end(probe);
        self.tell_owners(probe, ProbeTurn::Recovered, how);
        let detail = format!("it is no longer suspect, {how}");
        self.tell_operator(name, false, detail);
    }

    /// Records the change in the audit log of every workspace whose monitors the probe checks.
    fn tell_owners(&mut self, probe: ProbeIndex, turn: ProbeTurn, detail: &str) {
        let concerned = self.watched.values().filter(|watched| watched.is_checked_by(probe));
        let workspaces: BTreeSet<WorkspaceId> = concerned.map(|it| it.workspace).collect();
        let (id, at) = (self.canaries.probes.known(probe).0.clone(), self.ctx.now());
        let note = |workspace| ProbeEvent {
            workspace,
            probe: id.clone(),
            turn,
            at,
            detail: detail.to_owned(),
        };
        self.pending.add_notes(workspaces.into_iter().map(note));
    }

    /// Queues a message to the operator. The judge never waits for it.
    fn tell_operator(&self, probe: String, is_suspect: bool, detail: String) {
        let Some(operator) = &self.operator else { return };
        let note = Note { at: self.ctx.now(), probe, is_suspect, detail };
        if operator.try_send(note).is_err() {
            warn!("the operator is not told: too many messages wait");
        }
    }

    fn passed(&self, since: rules::Timestamp) -> String {
        let passed: Duration = self.ctx.now().since(since);
        format!("{} s", passed.as_secs())
    }
}
