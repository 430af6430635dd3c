//! Connectivity check at work: while a probe is suspect, it repeatedly connects to a few reliable
//! hosts through the same egress as its checks. `domain::judge` decides what the results mean.

use std::collections::HashMap;
use std::sync::Arc;

use domain::check::{Job, Plan, Trigger};
use domain::judge::{self, ProbeIndex};
use futures_util::future::join_all;
use rules::monitor::{Check, Monitor, MonitorSettings, TcpCheck};
use rules::{MonitorId, Periodicity, Region, WorkspaceId, limits};
use tokio::sync::mpsc;
use tokio_util::task::AbortOnDropHandle;

use crate::context::Context;
use crate::lane::Report;
use crate::pipeline::{PipelineError, Probes};

/// Runs the connectivity check of suspect probes.
pub(in crate::pipeline) struct Canaries {
    ctx: Context,
    pub(super) probes: Probes,
    plans: Arc<[Arc<Plan>]>,
    /// Weak, because the judge ends when all other senders are dropped.
    reports: mpsc::WeakSender<Report>,
    asking: HashMap<u16, AbortOnDropHandle<()>>,
}

impl Canaries {
    /// Creates an idle connectivity check.
    pub(in crate::pipeline) fn new(
        ctx: Context,
        probes: Probes,
        canaries: &[TcpCheck],
        reports: mpsc::WeakSender<Report>,
    ) -> Result<Self, PipelineError> {
        let plan = |canary: &TcpCheck| Plan::of(&as_monitor(canary)).map(Arc::new);
        let plans = canaries.iter().map(plan).collect::<Result<_, _>>()?;
        Ok(Self { ctx, probes, plans, reports, asking: HashMap::new() })
    }

    /// Returns whether no hosts are configured.
    pub(super) fn are_none(&self) -> bool {
        self.plans.is_empty()
    }

    /// Starts checking now and at regular intervals.
    pub(super) fn begin(&mut self, probe: ProbeIndex) {
        if self.are_none() {
            return;
        }
        let (ctx, probes) = (self.ctx.clone(), self.probes.clone());
        let asking = ask(ctx, probes, probe, self.plans.clone(), self.reports.clone());
        self.asking.insert(probe.0, AbortOnDropHandle::new(tokio::spawn(asking)));
    }

    /// Stops checking, because the suspicion ended.
    pub(super) fn end(&mut self, probe: ProbeIndex) {
        self.asking.remove(&probe.0);
    }
}

async fn ask(
    ctx: Context,
    probes: Probes,
    slot: ProbeIndex,
    plans: Arc<[Arc<Plan>]>,
    reports: mpsc::WeakSender<Report>,
) {
    let (_, probe) = probes.known(slot);
    loop {
        // Counted from the start of the round, because connecting may take long.
        let next = ctx.now() + limits::CANARIES_ASKED_EVERY;
        let answers = join_all(plans.iter().map(|plan| answers(&ctx, probe, plan))).await;
        let answered = answers.into_iter().filter(|answered| *answered).count() as u32;
        let canaries = judge::ConnectivityCheck { asked: plans.len() as u32, answered };
        let Some(reports) = reports.upgrade() else { return };
        if reports.send(Report::Canaries(slot, canaries)).await.is_err() {
            return;
        }
        drop(reports);
        ctx.sleep_until(next).await;
    }
}

/// Returns whether a host accepts a connection.
async fn answers(ctx: &Context, probe: &probe::Probe, plan: &Arc<Plan>) -> bool {
    let now = ctx.now();
    let job = Job {
        plan: plan.clone(),
        region: Region::ALL[0],
        slot: now,
        trigger: Trigger::Manual,
        next_slot: now + limits::CANARIES_ASKED_EVERY,
        keep_evidence: false,
    };
    let attempts = probe.run(&job, || ctx.now()).await;
    attempts.last().is_some_and(|(attempt, _)| attempt.failure.is_none())
}

/// Wraps a host as a monitor, the form that a probe can check. It belongs to no workspace and is
/// attempted once.
fn as_monitor(canary: &TcpCheck) -> Monitor {
    let settings = MonitorSettings {
        name: canary.uri.clone(),
        periodicity: Periodicity::ThirtySeconds,
        timeout_ms: limits::CANARY_TIMEOUT.as_millis() as u32,
        degraded_at_ms: None,
        retry: 0,
        active: true,
        public: false,
        description: None,
        regions: Vec::new(),
        check: Check::Tcp(canary.clone()),
    };
    let (id, workspace) = (MonitorId::from_bits(0), WorkspaceId::from_bits(0));
    let created_at = rules::Timestamp::default();
    Monitor { id, workspace, revision: 0, settings, created_at, updated_at: created_at }
}
