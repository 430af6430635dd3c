//! Connectivity check at work: while a probe is suspect, it repeatedly connects to a few reliable
//! hosts through the same egress as its checks. `domain::judge` decides what the results mean.

use std::collections::HashMap;
use std::sync::Arc;

use domain::check::{CheckPlan, Job, Outcome, Trigger};
use domain::judge::{self, ProbeIndex};
use futures_util::future::join_all;
use rules::monitor::{Check, Monitor, MonitorSettings, TcpCheck};
use rules::{MonitorId, Periodicity, Region, WorkspaceId, limits};
use tokio::sync::{mpsc, oneshot};
use tokio_util::task::AbortOnDropHandle;
use web::context::Context;

use crate::lane::remote::RemoteLane;
use crate::lane::{InFlight, JudgeInput, QueuedJob};
use crate::pipeline::{PipelineError, ProbePlace, Probes};

/// Runs the connectivity check of suspect probes.
pub(in crate::pipeline) struct ConnectivityChecks {
    ctx: Context,
    pub(super) probes: Probes,
    pub(super) remote: RemoteLane,
    plans: Arc<[Arc<CheckPlan>]>,
    /// Weak, because the judge ends when all other senders are dropped.
    inputs: mpsc::WeakSender<JudgeInput>,
    tasks: HashMap<u16, AbortOnDropHandle<()>>,
}

impl ConnectivityChecks {
    /// Creates an idle connectivity check.
    pub(in crate::pipeline) fn new(
        ctx: Context,
        probes: Probes,
        remote: RemoteLane,
        hosts: &[TcpCheck],
        inputs: mpsc::WeakSender<JudgeInput>,
    ) -> Result<Self, PipelineError> {
        let plan = |check: &TcpCheck| {
            let monitor = as_monitor(check);
            let message = remote::encode_monitor(&monitor);
            CheckPlan::new(&monitor).map(|plan| Arc::new(plan.with_message(message)))
        };
        let plans = hosts.iter().map(plan).collect::<Result<_, _>>()?;
        Ok(Self { ctx, probes, remote, plans, inputs, tasks: HashMap::new() })
    }

    /// Returns whether no hosts are configured.
    pub(super) fn is_disabled(&self) -> bool {
        self.plans.is_empty()
    }

    /// Starts checking now and at regular intervals.
    pub(super) fn start(&mut self, probe: ProbeIndex) {
        if self.is_disabled() {
            return;
        }
        let suspect = SuspectProbe {
            ctx: self.ctx.clone(),
            probe,
            probes: self.probes.clone(),
            remote: self.remote.clone(),
        };
        let asking = run_checks(suspect, self.plans.clone(), self.inputs.clone());
        self.tasks.insert(probe.0, AbortOnDropHandle::new(tokio::spawn(asking)));
    }

    /// Stops checking, because the suspicion ended.
    pub(super) fn stop(&mut self, probe: ProbeIndex) {
        self.tasks.remove(&probe.0);
    }
}

/// The probe that checks its connectivity.
struct SuspectProbe {
    ctx: Context,
    probe: ProbeIndex,
    probes: Probes,
    remote: RemoteLane,
}

async fn run_checks(
    suspect: SuspectProbe,
    plans: Arc<[Arc<CheckPlan>]>,
    inputs: mpsc::WeakSender<JudgeInput>,
) {
    let (ctx, index) = (&suspect.ctx, suspect.probe);
    loop {
        // Counted from the start of the round, because connecting may take long.
        let next = ctx.now() + limits::CONNECTIVITY_CHECK_INTERVAL;
        let answers = join_all(plans.iter().map(|plan| suspect.is_reachable(plan))).await;
        let answered = answers.into_iter().filter(|answered| *answered).count() as u32;
        let connectivity_checks =
            judge::ConnectivityCheck { asked: plans.len() as u32, responded: answered };
        let Some(inputs) = inputs.upgrade() else { return };
        if inputs.send(JudgeInput::ConnectivityCheck(index, connectivity_checks)).await.is_err() {
            return;
        }
        drop(inputs);
        ctx.sleep_until(next).await;
    }
}

impl SuspectProbe {
    /// Returns a region that the probe serves, because its jobs may travel in the queues of its regions.
    fn region(&self) -> Region {
        self.probes.public_regions(self.probe).first().copied().unwrap_or(Region::FlyAms)
    }

    /// Returns whether a host accepts a connection.
    async fn is_reachable(&self, plan: &Arc<CheckPlan>) -> bool {
        let now = self.ctx.now();
        let job = Job {
            plan: plan.clone(),
            region: self.region(),
            slot: now,
            trigger: Trigger::Manual,
            next_slot: now + limits::CONNECTIVITY_CHECK_INTERVAL,
            keep_evidence: false,
        };
        match self.probes.place(self.probe) {
            ProbePlace::Here(probe) => {
                let attempts = probe.run(&job, || self.ctx.now()).await;
                attempts.last().is_some_and(|(attempt, _)| attempt.failure.is_none())
            }
            ProbePlace::Elsewhere(_) => {
                let (reply, answer) = oneshot::channel();
                let in_flight = Arc::<InFlight>::default().begin();
                let queued = QueuedJob::beside(job, reply, true, in_flight);
                self.remote.assign(self.probe, queued).await;
                answer.await.is_ok_and(|result| result.outcome == Outcome::Success)
            }
        }
    }
}

/// Wraps a host as a monitor, the form that a probe can check. It belongs to no workspace and is
/// attempted once.
fn as_monitor(host: &TcpCheck) -> Monitor {
    let settings = MonitorSettings {
        timeout_ms: limits::CONNECTIVITY_CHECK_TIMEOUT.as_millis() as u32,
        retry: 0,
        active: true,
        ..MonitorSettings::new(
            host.uri.clone(),
            Periodicity::ThirtySeconds,
            Check::Tcp(host.clone()),
        )
    };
    let (id, workspace) = (MonitorId::from_bits(0), WorkspaceId::from_bits(0));
    let created_at = rules::Timestamp::default();
    Monitor { id, workspace, revision: 0, settings, created_at, updated_at: created_at }
}
