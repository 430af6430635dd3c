//! Runs checks: takes jobs from a lane and runs them with the probe of the region, within the limit
//! of concurrent checks (see `concurrency`). `domain::check` decides what a job means.

use std::panic::AssertUnwindSafe;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use domain::cadence::{Missed, MissedReason};
use domain::check::{Job, Trigger, Undecided, conclude};
use futures_util::future::BoxFuture;
use futures_util::{FutureExt as _, TryFutureExt as _};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tracing::error;
use web::context::Context;

use super::Probes;
use super::concurrency::CheckPermits;
use super::threads::Alive;
use crate::lane::{Finished, JudgeInput, QueuedJob};
use crate::observe::metrics::Metrics;

/// Jobs that start before running ones get a turn. Under overload, checks then wait to start
/// instead of all running late.
const STARTED_AT_A_TIME: u32 = 16;

/// State that all running checks share.
pub(super) struct Checkers {
    pub(super) ctx: Context,
    pub(super) metrics: Metrics,
    pub(super) probes: Probes,
    pub(super) inputs: mpsc::Sender<JudgeInput>,
    pub(super) finished: Arc<Finished>,
    pub(super) permits: Arc<CheckPermits>,
    pub(super) tasks: TaskTracker,
    /// Starts no more checks once cancelled.
    pub(super) stop: CancellationToken,
    /// Cancels running checks.
    pub(super) give_up: CancellationToken,
}

impl Checkers {
    /// Runs the jobs of one lane until the stop, then sends the remaining ones to the judge as missed. The
    /// lane's thread lives until its last check has ended.
    pub(super) async fn run(self: Arc<Self>, mut jobs: mpsc::Receiver<QueuedJob>, alive: Alive) {
        let mut started = 0_u32;
        while let Some(Some(queued)) = self.stop.run_until_cancelled(jobs.recv()).await {
            let Some(queued) = self.permits.admit(queued) else { continue };
            self.start(queued, &alive);
            started = started.wrapping_add(1);
            if started.is_multiple_of(STARTED_AT_A_TIME) {
                tokio::task::yield_now().await;
            }
        }
        jobs.close();
        while let Some(queued) = jobs.recv().await {
            self.send_missed(&queued.job, MissedReason::Down).await;
        }
        for queued in self.permits.drain() {
            self.send_missed(&queued.job, MissedReason::Down).await;
        }
    }

    /// Starts a check that has a permit. After its result is sent, the permit passes to the next check in
    /// turn.
    fn start(self: &Arc<Self>, queued: QueuedJob, alive: &Alive) {
        let (this, alive) = (self.clone(), alive.clone());
        let workspace = queued.job.plan.workspace;
        // Boxed because the task is several kilobytes and is moved before it runs. Type-erased
        // because it starts further tasks of its own type.
        let check: BoxFuture<'static, ()> = Box::pin(async move {
            let ran = if this.stop.is_cancelled() {
                this.send_missed(&queued.job, MissedReason::Down).await;
                Duration::ZERO
            } else {
                this.check(queued).await
            };
            for next in this.permits.ended(workspace, ran, this.ctx.now()) {
                this.start(next, &alive);
            }
        });
        self.tasks.spawn(check);
    }

    /// Tells the judge of a missed slot. Checks beside the slots have none.
    async fn send_missed(&self, job: &Job, reason: MissedReason) {
        if job.trigger != Trigger::Scheduled {
            return;
        }
        self.metrics.missed_slots.inc();
        let missed = Missed::slot(job.plan.monitor, job.region, job.slot, reason);
        // The judge ends last; see `RunningPipeline::stop`.
        let _ = self.inputs.send(JudgeInput::Missed(missed)).await;
    }

    /// Runs one check. It keeps its permit until the judge has its result. While the judge cannot store, this
    /// bounds the number of checks that wait with a result. Returns how long the check ran, without
    /// that wait.
    async fn check(&self, queued: QueuedJob) -> Duration {
        let QueuedJob {
            job, handle, reply, is_draft, revision_flag, in_flight: _in_flight, ..
        } = queued;
        // The monitor changed while the check waited.
        if !revision_flag.is_current() {
            self.send_missed(&job, MissedReason::Changed).await;
            return Duration::ZERO;
        }
        let begun = self.ctx.now();
        // No check starts once its next slot is due. Permits know no time, so this is the last moment to
        // notice.
        if begun >= job.next_slot {
            if let Some(handle) = handle {
                self.finished.record(handle, job.region);
            }
            if job.trigger == Trigger::Scheduled {
                self.metrics.expired_slots.inc();
            }
            self.send_missed(&job, MissedReason::Overloaded).await;
            return Duration::ZERO;
        }
        self.metrics.check_start_delay_seconds.observe(begun.since(job.slot).as_secs_f64());
        self.metrics.in_flight.inc();
        let ended = {
            // Pinned in place: passed as an argument, the future would use its memory twice.
            let run = pin!(async {
                let (now, is_wanted) = (|| self.ctx.now(), || revision_flag.is_current());
                let local = self.probes.local(job.region);
                let (name, probe) = local.expect("jobs of private regions go to their probes");
                let attempts = probe.run_while(&job, now, is_wanted).await;
                let cut =
                    attempts.iter().filter(|(attempt, _)| attempt.observation.is_cut()).count();
                self.metrics.bodies_cut.inc_by(cut as u64);
                match Undecided::of(&attempts) {
                    None => Ok(conclude(&job, attempts, self.ctx.now(), name)),
                    Some(undecided) => Err(undecided),
                }
            });
            self.give_up.run_until_cancelled(catch_panic(run)).await
        };
        let ran = self.ctx.now().since(begun);
        self.metrics.in_flight.dec();
        if let Some(handle) = handle {
            self.finished.record(handle, job.region);
        }
        let result = match ended {
            Some(Ok(Ok(result))) => result,
            Some(Ok(Err(undecided))) => {
                self.send_missed(&job, undecided.into()).await;
                return ran;
            }
            Some(Err(Panicked)) => {
                let monitor = job.plan.monitor;
                error!(monitor.id = %monitor, "a check of monitor `{monitor}` panicked, which is a fault of this program; its slot counts as missed");
                self.send_missed(&job, MissedReason::Fault).await;
                return ran;
            }
            None => {
                self.send_missed(&job, MissedReason::Down).await;
                return ran;
            }
        };
        self.metrics.checks(job.plan.check.kind(), result.outcome).inc();
        self.metrics.check_seconds.observe(result.finished_at.since(begun).as_secs_f64());
        if is_draft {
            // The caller may no longer wait.
            let _ = reply.map(|reply| reply.send(result));
            return ran;
        }
        // The judge ends last; see `RunningPipeline::stop`.
        let _ = self.inputs.send(JudgeInput::Result(result, reply)).await;
        ran
    }
}

/// Panic of a future; its message is already logged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Panicked;

/// Catches a panic of `future`, so that a bug triggered by a target's bytes ends only that check.
/// Without this its region would count as running forever, and every later slot would be skipped.
fn catch_panic<T>(future: impl Future<Output = T>) -> impl Future<Output = Result<T, Panicked>> {
    AssertUnwindSafe(future).catch_unwind().map_err(|_| Panicked)
}

#[cfg(test)]
pub(super) mod tests {
    use domain::check::{CheckPlan, Outcome};
    use rules::monitor::{Check, Monitor, MonitorSettings, TcpCheck};
    use rules::{MonitorId, MonitorKind, Periodicity, Region, Timestamp, WorkspaceId};

    use super::*;
    use crate::lane::{InFlight, RevisionFlag};
    use crate::pipeline::threads;

    /// Creates a plan whose check fails immediately: no probe may connect to this address.
    pub(in crate::pipeline) fn a_plan(monitor: u64) -> Arc<CheckPlan> {
        Arc::new(CheckPlan::new(&a_monitor(monitor)).unwrap())
    }

    pub(in crate::pipeline) fn a_monitor(monitor: u64) -> Monitor {
        let settings = MonitorSettings {
            timeout_ms: 1_000,
            retry: 0,
            active: true,
            ..MonitorSettings::new(
                "database",
                Periodicity::ThirtySeconds,
                Check::Tcp(TcpCheck::new("127.0.0.1:1")),
            )
        };
        let (id, workspace) = (MonitorId::from_bits(monitor), WorkspaceId::from_bits(1));
        let created_at = Timestamp::from_millis(0);
        Monitor { id, workspace, revision: 1, settings, created_at, updated_at: created_at }
    }

    fn queued_job(plan: &Arc<CheckPlan>, slot: i64) -> QueuedJob {
        let job = Job {
            plan: plan.clone(),
            region: Region::FlyAms,
            slot: Timestamp::from_millis(slot),
            trigger: Trigger::Scheduled,
            next_slot: Timestamp::from_millis(30_000),
            keep_evidence: false,
        };
        let in_flight = Arc::<InFlight>::default().begin();
        QueuedJob {
            job,
            handle: None,
            reply: None,
            is_draft: false,
            revision_flag: RevisionFlag::default(),
            has_permit: false,
            in_flight,
        }
    }

    /// Creates checkers with two permits, whose clock shows `now`, and the receiver of their results.
    fn checkers(now: i64) -> (Arc<Checkers>, mpsc::Receiver<JudgeInput>) {
        let probe = probe::Probe::new(probe::Settings::default());
        let (inputs, input_receiver) = mpsc::channel(1);
        let metrics = Metrics::new();
        let checkers = Checkers {
            ctx: Context::manual(Timestamp::from_millis(now)).0,
            metrics: metrics.clone(),
            probes: Probes::embedded(probe, Vec::new()),
            inputs,
            finished: Arc::default(),
            permits: Arc::new(CheckPermits::new(2, metrics)),
            tasks: TaskTracker::new(),
            stop: CancellationToken::new(),
            give_up: CancellationToken::new(),
        };
        (Arc::new(checkers), input_receiver)
    }

    // design: §5 "No attempt starts after the next slot is due."
    #[tokio::test]
    async fn check_at_its_next_slot_is_missed() {
        let (checkers, mut inputs) = checkers(30_000);
        assert_eq!(checkers.check(queued_job(&a_plan(1), 0)).await, Duration::ZERO);
        let input = inputs.try_recv().unwrap();
        let JudgeInput::Missed(missed) = input else { panic!("{input:?}") };
        assert_eq!(missed.reason, MissedReason::Overloaded);
        assert_eq!(missed.first_slot, Timestamp::from_millis(0));
    }

    #[tokio::test]
    async fn check_keeps_its_permit_until_reported() {
        let (checkers, mut input_receiver) = checkers(0);
        let Checkers { metrics, permits, stop, .. } = &*checkers;
        let (metrics, permits, stop) = (metrics.clone(), permits.clone(), stop.clone());
        let (jobs, waiting) = mpsc::channel(3);
        let alive = threads::start().unwrap()[0].alive.clone();
        let running = tokio::spawn(checkers.clone().run(waiting, alive));
        let plan = a_plan(1);
        for slot in 0..3 {
            jobs.send(queued_job(&plan, slot)).await.unwrap();
        }
        // One result fits in the channel; the two others wait, so no further check may start.
        let failed = metrics.checks(MonitorKind::Tcp, Outcome::Failure);
        while failed.get() < 3 {
            tokio::task::yield_now().await;
        }
        assert!(permits.admit(queued_job(&plan, 3)).is_none(), "no result was received");
        for _ in 0..4 {
            input_receiver.recv().await.unwrap();
        }
        while permits.waiting() > 0 {
            tokio::task::yield_now().await;
        }
        checkers.tasks.close();
        checkers.tasks.wait().await;
        assert!(permits.admit(queued_job(&plan, 4)).is_some(), "all places are free again");
        stop.cancel();
        running.await.unwrap();
    }

    #[tokio::test]
    async fn panicking_check_ends_alone() {
        let faulty = catch_panic(async {
            tokio::task::yield_now().await;
            assert!(std::hint::black_box(false), "found by hostile bytes");
        });
        assert_eq!(faulty.await, Err(Panicked));
        assert_eq!(catch_panic(async { 7 }).await, Ok(7));
    }
}
