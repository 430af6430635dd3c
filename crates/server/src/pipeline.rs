//! pipeline: runs the stages `cadence → check → judge → notify` as tasks that fetch, call the pure
//! decisions of `domain`, and save. This file has the handle for the rest of the server, and starts
//! and stops the stages.

mod cadence;
mod calls;
mod check;
mod concurrency;
mod judge;
mod manual_checks;
mod notify;
mod queries;
mod remote_probes;
mod startup;
mod stopping;
mod threads;
mod weights;

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use domain::cadence::{FirstRun, Regions};
use domain::check::CheckPlan;
use domain::judge::{HostMark, JudgeState, Policy, ProbeIndex, ServedRegion};
use remote::TicketKey;
use rules::monitor::{Monitor, MonitorSettings, TcpCheck};
use rules::{IncidentId, MonitorId, Region, limits};
use store::{Store, StoreError};
use tokio::sync::{Mutex, Semaphore, mpsc, oneshot};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use web::context::Context;

use self::cadence::{Cadence, ScheduleCommand, TimetableEntry};
pub(crate) use self::calls::ReceivedCall;
use self::calls::ReceivedCalls;
use self::check::Checkers;
use self::concurrency::CheckPermits;
use self::judge::{Command, ConnectivityChecks, Judge, JudgedMonitor};
pub use self::judge::{Health, MonitorView, RegionHealth, RegionView, SuspicionNotice};
pub use self::notify::{Notifier, NotifierParts, RunningNotifier, Tested};
use self::threads::Thread;
pub use crate::lane::probes::{ProbePlace, Probes, THIS_SERVER, WorkspaceProbes};
use crate::lane::remote::RemoteLane;
use crate::lane::{self, BatchedReceiver, Finished, InFlight, Jobs, JudgeInput, QueuedJob};
use crate::observe::metrics::Metrics;

/// Capacity of the queues of commands, to cadence and to the judge.
const COMMANDS_WAITING: usize = 256;
/// Maximum number of concurrent changes of monitors. Changes of the same monitor are serialized.
const CHANGED_AT_A_TIME: usize = 64;
/// Manual checks may use one in this many of the concurrent checks, so that they do not delay
/// scheduled ones.
const MANUAL_CHECKS_SHARE: usize = 4;
/// Time that a stop waits for running checks. Their slots are recorded as missed after that.
const CHECKS_STOP_WITHIN: Duration = Duration::from_secs(10);
/// Maximum duration of a stop, even if the store accepts no commits: longer than for the checks.
pub(crate) const STOP_WITHIN: Duration = Duration::from_secs(12);

/// Dependencies of the pipeline.
#[derive(Clone)]
pub struct PipelineParts {
    pub ctx: Context,
    pub store: Store,
    pub probes: Probes,
    /// Hosts of the connectivity check, for probes under suspicion.
    pub connectivity_check_hosts: Vec<TcpCheck>,
    pub metrics: Metrics,
    /// Regions of a monitor that names none.
    pub default_regions: Arc<[Region]>,
    /// Maximum number of concurrent checks.
    pub in_flight_max: usize,
    /// Channels of those who are notified about suspect probes.
    pub notices: Vec<mpsc::Sender<SuspicionNotice>>,
}

/// Handle of the running pipeline, to change monitors and query their state. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Pipeline {
    ctx: Context,
    store: Store,
    probes: Probes,
    remote: RemoteLane,
    default_regions: Arc<[Region]>,
    schedule_commands: mpsc::Sender<ScheduleCommand>,
    commands: mpsc::Sender<Command>,
    jobs: Jobs,
    /// Lane of results. Weak, because the judge runs until all other senders are dropped.
    inputs: mpsc::WeakSender<JudgeInput>,
    calls: ReceivedCalls,
    permits: Arc<CheckPermits>,
    in_flight: Arc<InFlight>,
    /// Whether the judge's last commit failed.
    is_stuck: Arc<AtomicBool>,
    changing: Arc<[Mutex<()>; CHANGED_AT_A_TIME]>,
    /// Permits of manual checks.
    manual_checks: Arc<Semaphore>,
    manual_checks_max: u32,
}

/// Handle of the pipeline's tasks, which stops them.
#[derive(Debug)]
pub struct RunningPipeline {
    cadence: JoinHandle<()>,
    checkers: Vec<JoinHandle<()>>,
    judge: JoinHandle<()>,
    checks: TaskTracker,
    stop: CancellationToken,
    give_up: CancellationToken,
    /// Abandons what cannot be committed.
    abandon: CancellationToken,
    /// The lane to probes in other places, and its upkeep.
    remote: [JoinHandle<()>; 2],
}

/// Error of a pipeline operation.
#[derive(Debug, thiserror::Error)]
pub enum PipelineError {
    /// The monitor does not run.
    #[error("monitor `{0}` does not run")]
    NotFound(MonitorId),
    /// The stored settings of the monitor cannot be run.
    #[error(transparent)]
    Unplannable(#[from] domain::check::InvalidPlan),
    /// Reading the store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// Starting a thread for the stages failed.
    #[error("the system gives no thread for checks: {0}")]
    Threads(std::io::Error),
    /// The judge cannot store results at the moment.
    #[error("results cannot be stored at the moment; retry later")]
    Busy,
    /// The probe of a region is in another place and not connected.
    #[error("the probe of `{0}` is not connected")]
    Disconnected(Region),
    /// Too many manual checks are in progress.
    #[error("too many manual checks; retry later")]
    TooManyChecks,
    /// The probe of a region did not run a check, or lost it.
    #[error(
        "the check at `{0}` did not run, because its probe had no capacity or lost it; retry later"
    )]
    NotRun(Region),
    /// The deadline passed first, because the judge cannot store results. The work may still end.
    #[error("not finished in time, because results cannot be stored; it may finish later")]
    Unfinished,
    #[error("the server is stopping; retry when it is back")]
    Stopping,
}

impl Pipeline {
    /// Loads every active monitor from the store and starts the stages.
    #[expect(clippy::too_many_lines, reason = "starts each stage once, in order")]
    pub async fn start(parts: PipelineParts) -> Result<(Self, RunningPipeline), PipelineError> {
        let threads = threads::start().map_err(PipelineError::Threads)?;
        let (jobs, jobs_ends) = lane::jobs(threads.len());
        let (inputs, inputs_end) = lane::inputs();
        let (schedule_commands, schedule_commands_end) = mpsc::channel(COMMANDS_WAITING);
        let (commands, commands_end) = mpsc::channel(COMMANDS_WAITING);
        let (finished, in_flight) = (Arc::<Finished>::default(), Arc::<InFlight>::default());
        let PipelineParts { ctx, store, probes, metrics, in_flight_max, .. } = parts.clone();
        let (stop, give_up) = (CancellationToken::new(), CancellationToken::new());
        let (abandon, is_stuck) = (CancellationToken::new(), Arc::<AtomicBool>::default());

        let key = TicketKey::derive(store.session_key().expose());
        let around = (ctx.clone(), metrics.clone());
        let remote = RemoteLane::new(around, key, probes.clone(), finished.clone(), inputs.clone());
        let jobs = jobs.with_remote(remote.clone());
        let connectivity_checks = ConnectivityChecks::new(
            ctx.clone(),
            probes.clone(),
            remote.clone(),
            &parts.connectivity_check_hosts,
            inputs.downgrade(),
        )?;
        let mut judge = Judge::new(
            ctx.clone(),
            metrics.clone(),
            store.clone(),
            schedule_commands.downgrade(),
            connectivity_checks,
            abandon.clone(),
            is_stuck.clone(),
        );
        judge.set_notices(parts.notices);
        let calls = ReceivedCalls::default();
        let check_permits = Arc::new(CheckPermits::new(in_flight_max, metrics.clone()));
        let mut cadence = Cadence::new(
            ctx.clone(),
            metrics.clone(),
            (jobs.clone(), check_permits.clone(), in_flight.clone()),
            (inputs.clone(), calls.clone()),
            finished.clone(),
        );
        let weak_inputs = inputs.downgrade();
        let checkers = Arc::new(Checkers {
            ctx: ctx.clone(),
            metrics,
            probes: probes.clone(),
            inputs,
            finished,
            permits: check_permits.clone(),
            tasks: TaskTracker::new(),
            stop: stop.clone(),
            give_up: give_up.clone(),
        });
        let manual_checks_max =
            u32::try_from(in_flight_max / MANUAL_CHECKS_SHARE).unwrap_or(u32::MAX).max(1);
        let this = Self {
            ctx,
            store,
            probes,
            remote: remote.clone(),
            default_regions: parts.default_regions,
            schedule_commands,
            commands,
            jobs,
            inputs: weak_inputs,
            calls,
            permits: check_permits,
            in_flight: in_flight.clone(),
            is_stuck,
            changing: Arc::new(std::array::from_fn(|_| Mutex::new(()))),
            manual_checks: Arc::new(Semaphore::new(manual_checks_max as usize)),
            manual_checks_max,
        };
        this.map_regions().await?;
        startup::load_monitors(&this, &mut judge, &mut cadence).await?;
        let remote = [
            tokio::spawn(remote.run(stop.clone())),
            tokio::spawn(this.clone().follow_probes(stop.clone())),
        ];
        let running = RunningPipeline {
            cadence: threads[0].spawn(cadence.run(schedule_commands_end)),
            judge: threads[0]
                .spawn(judge.run(BatchedReceiver::new(inputs_end, in_flight), commands_end)),
            checkers: spawn_checkers(&checkers, &threads, jobs_ends),
            checks: checkers.tasks.clone(),
            stop,
            give_up,
            abandon,
            remote,
        };
        Ok((this, running))
    }

    /// Runs a change of a monitor to its end, even if the caller is dropped. The change includes
    /// its commit and [`Self::apply_change`] or [`Self::apply_removal`].
    ///
    /// Changes of one monitor are serialized, so that the stored revision is the one that runs.
    /// The caller waits for a limited time, because the judge answers nothing while it cannot store.
    pub async fn change<T: Send + 'static>(
        &self,
        monitor: MonitorId,
        work: impl Future<Output = T> + Send + 'static,
    ) -> Result<T, PipelineError> {
        let changing = self.changing.clone();
        let whole = async move {
            let _alone = changing[monitor.bits() as usize % CHANGED_AT_A_TIME].lock().await;
            work.await
        };
        tokio::select! {
            biased;
            done = tokio::spawn(whole) => done.map_err(|_| PipelineError::Stopping),
            () = self.ctx.sleep_until(self.ctx.now() + limits::CHANGE_ANSWERED_WITHIN) => {
                Err(PipelineError::Unfinished)
            }
        }
    }

    /// Loads a monitor that was created or edited and is committed. Returns when cadence and judge
    /// have the new revision: no check of the old one starts after that.
    pub async fn apply_change(&self, monitor: &Monitor) -> Result<(), PipelineError> {
        if !monitor.settings.active {
            return self.apply_pause(monitor).await;
        }
        let (judged, entry) = self.prepare(monitor, self.stored_state(monitor.id).await?)?;
        self.watch_calls(&entry.plan).await?;
        self.command(|done| Command::Watch { judged: Box::new(judged), done }).await?;
        self.schedule_command(|done| ScheduleCommand::Put { entry, first: FirstRun::AtOnce, done })
            .await
    }

    /// Removes a monitor whose deletion is committed. Closes its incident.
    pub async fn apply_removal(&self, monitor: MonitorId) -> Result<(), PipelineError> {
        self.calls.remove(monitor);
        self.schedule_command(|done| ScheduleCommand::Remove { monitor, done }).await?;
        self.command(|done| Command::Remove { monitor, done }).await
    }

    /// Closes an incident at a person's request, and returns when that is committed. Closing a
    /// closed incident has no effect.
    ///
    /// Must be called within [`Self::change`].
    pub async fn resolve_incident(
        &self,
        monitor: MonitorId,
        incident: IncidentId,
    ) -> Result<(), PipelineError> {
        self.command(|done| Command::Resolve { monitor, incident, done }).await
    }

    /// Returns the probes that run the checks.
    pub const fn probes(&self) -> &Probes {
        &self.probes
    }

    /// Stops the checks of a monitor and closes its incident.
    pub async fn apply_pause(&self, monitor: &Monitor) -> Result<(), PipelineError> {
        let (id, revision) = (monitor.id, monitor.revision);
        self.calls.remove(id);
        self.schedule_command(|done| ScheduleCommand::Remove { monitor: id, done }).await?;
        self.command(|done| Command::Pause { monitor: id, revision, done }).await
    }

    async fn schedule_command(
        &self,
        command: impl FnOnce(oneshot::Sender<()>) -> ScheduleCommand,
    ) -> Result<(), PipelineError> {
        let (done, handled) = oneshot::channel();
        self.schedule_commands.send(command(done)).await.map_err(|_| PipelineError::Stopping)?;
        handled.await.map_err(|_| PipelineError::Stopping)
    }

    async fn command(
        &self,
        command: impl FnOnce(oneshot::Sender<()>) -> Command,
    ) -> Result<(), PipelineError> {
        let (done, handled) = oneshot::channel();
        self.commands.send(command(done)).await.map_err(|_| PipelineError::Stopping)?;
        handled.await.map_err(|_| PipelineError::Stopping)
    }

    async fn stored_state(&self, monitor: MonitorId) -> Result<Option<JudgeState>, PipelineError> {
        Ok(self.store.judge_states().get(monitor).await?)
    }

    fn prepare(
        &self,
        monitor: &Monitor,
        judge_state: Option<JudgeState>,
    ) -> Result<(JudgedMonitor, TimetableEntry), PipelineError> {
        let settings = &monitor.settings;
        let regions = self.regions(settings);
        let plan = Arc::new(self.plan(monitor, regions.iter())?);
        let probes = self.probes.of(monitor.workspace);
        let is_probed = settings.check.is_probed();
        let unserved = |region| ServedRegion { region, probe: ProbeIndex::NONE };
        let serving = |region| if is_probed { probes.serving(region) } else { unserved(region) };
        let serving = regions.iter().map(serving).collect();
        let policy = Policy::new(settings, monitor.revision, serving);
        let judge_state = judge_state.unwrap_or_else(|| JudgeState::new(&policy, self.ctx.now()));
        let period = settings.periodicity.period();
        let host = plan.check.host().map(HostMark::new);
        let judged = JudgedMonitor::new(monitor, policy, judge_state, host, self.ctx.now());
        Ok((judged, TimetableEntry { plan, period, regions }))
    }

    /// Returns the plan of a monitor, with its message if a probe in another place serves one of these
    /// regions.
    fn plan(
        &self,
        monitor: &Monitor,
        mut regions: impl Iterator<Item = Region>,
    ) -> Result<CheckPlan, PipelineError> {
        let plan = CheckPlan::new(monitor)?;
        let probes = self.probes.of(monitor.workspace);
        let is_sent = monitor.settings.check.is_probed()
            && regions.any(|region| probes.elsewhere(region).is_some());
        Ok(if is_sent { plan.with_message(remote::encode_monitor(monitor)) } else { plan })
    }

    /// Returns the lane to probes in other places.
    pub(crate) const fn remote(&self) -> &RemoteLane {
        &self.remote
    }

    fn regions(&self, settings: &MonitorSettings) -> Regions {
        settings.resolved_regions(&self.default_regions).iter().copied().collect()
    }
}

/// Spawns a checker for each lane, on the thread of that lane.
fn spawn_checkers(
    checkers: &Arc<Checkers>,
    threads: &[Thread],
    lanes: Vec<mpsc::Receiver<QueuedJob>>,
) -> Vec<JoinHandle<()>> {
    let check = |(thread, jobs): (&Thread, _)| {
        thread.spawn(checkers.clone().run(jobs, thread.alive.clone()))
    };
    threads.iter().zip(lanes).map(check).collect()
}
