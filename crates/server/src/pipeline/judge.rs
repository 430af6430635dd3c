//! Runs the judge: records its inputs, has `domain::judge` decide, and commits the effects. An
//! input that changes a verdict is committed immediately, others together within 100 ms. `commit`
//! does the commits. Memory is at most one batch ahead of the database: during a commit, no further
//! input is recorded and no query is answered. So nobody reads a verdict that is not stored.

mod announce;
mod batch;
mod command;
mod commit;
mod connectivity;
mod health;
mod judged_monitor;
mod region_failures;
mod suspicion;

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use domain::cadence::{self, Missed};
use domain::check::CheckResult;
use domain::judge::{self, DeferredWrites, Effects, HostOutcome, ProbeIndex, ProbeSuspicions};
use domain::notify::AlertChange;
use rules::{ById, MonitorId, Region, Timestamp, counted, limits};
use store::{BootResult, Store};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;
use tracing::error;
use web::context::Context;

use self::announce::{log, set_locations};
use self::batch::PendingCommit;
pub(super) use self::command::Command;
use self::commit::StoreEnded;
pub(super) use self::connectivity::ConnectivityChecks;
use self::health::LastChecks;
pub use self::health::{Health, RegionHealth};
pub(super) use self::judged_monitor::JudgedMonitor;
pub use self::judged_monitor::{MonitorView, RegionView};
pub use self::suspicion::SuspicionNotice;
use self::suspicion::step_context;
use super::cadence::ScheduleCommand;
use crate::lane::{BatchedReceiver, JudgeInput, RecvOutcome};
use crate::observe::metrics::Metrics;

/// Time that results wait for others to share a commit.
const COMMIT_DELAY: Duration = Duration::from_millis(80);
const _: () = assert!(COMMIT_DELAY.as_millis() < limits::COMMIT_WITHIN.as_millis());
/// Age of the last recorded result from which the judge is behind, if inputs wait. It then lets no
/// vote expire, because a waiting result may renew it.
const BEHIND: Duration = Duration::from_secs(1);
/// Maximum number of inputs that are taken at once, and number of pending results from which the judge
/// commits.
const INPUTS_AT_ONCE: usize = 2_048;

/// Stage with the state of all running monitors in memory.
pub(super) struct Judge {
    ctx: Context,
    metrics: Metrics,
    store: Store,
    judged: ById<MonitorId, JudgedMonitor>,
    /// Times at which a verdict may change without a result, at least one per monitor.
    wakes: BinaryHeap<Reverse<(Timestamp, MonitorId)>>,
    /// Last reading of the clock.
    now: Timestamp,
    /// End of the check whose result was recorded last.
    recorded_until: Timestamp,
    /// Suspicions of all probes.
    suspicions: ProbeSuspicions,
    /// Outcomes of the previous process, until [`Self::restore_suspicions`].
    recalled: Vec<HostOutcome>,
    last_checks: LastChecks,
    connectivity: ConnectivityChecks,
    /// Abandons what cannot be stored.
    abandon: CancellationToken,
    /// Whether the last commit failed.
    is_stuck: Arc<AtomicBool>,
    /// Queue for confirmation checks. Weak, because cadence runs until all other senders are
    /// dropped.
    schedule_commands: mpsc::WeakSender<ScheduleCommand>,
    /// Monitors whose votes are stored later.
    deferred: DeferredWrites,
    pending: PendingCommit,
    /// Channels of those who are notified about suspect probes.
    notices: Vec<mpsc::Sender<SuspicionNotice>>,
}

impl Judge {
    pub(super) fn new(
        ctx: Context,
        metrics: Metrics,
        store: Store,
        schedule_commands: mpsc::WeakSender<ScheduleCommand>,
        connectivity: ConnectivityChecks,
        abandon: CancellationToken,
        is_stuck: Arc<AtomicBool>,
    ) -> Self {
        let now = ctx.now();
        Self {
            ctx,
            metrics,
            store,
            now,
            recorded_until: now,
            judged: ById::default(),
            wakes: BinaryHeap::new(),
            suspicions: ProbeSuspicions::new(!connectivity.is_disabled()),
            recalled: Vec::new(),
            last_checks: LastChecks::default(),
            connectivity,
            abandon,
            is_stuck,
            schedule_commands,
            deferred: DeferredWrites::default(),
            pending: PendingCommit::default(),
            notices: Vec::new(),
        }
    }

    /// Sets the channels of those who are notified about suspect probes.
    pub(super) fn set_notices(&mut self, notices: Vec<mpsc::Sender<SuspicionNotice>>) {
        self.notices = notices;
    }

    /// Sets the last slot that was stored before the process started.
    pub(super) fn set_last_slot(&mut self, last_slot: Timestamp) {
        self.deferred.record_slot(last_slot);
    }

    /// Adds a monitor that was loaded at startup, with its results of the last minutes.
    pub(super) fn load(&mut self, judged: JudgedMonitor, results: &[BootResult]) {
        self.recalled.extend(judged.recalled_outcomes(results));
        for state in &judged.state.regions {
            let Some(probe) = judged.probe_of(state.region) else { continue };
            state.latest.iter().for_each(|last| self.last_checks.record(probe, last.finished_at));
        }
        self.watch(judged);
    }

    /// Records slots that were missed while no process ran.
    pub(super) fn record_missed(&mut self, missed: Vec<Missed>) {
        for missed in missed {
            self.metrics.missed_slots.inc_by(u64::from(missed.count));
            self.pending.add_missed(missed);
        }
    }

    /// Runs until no more inputs can come, and commits all of them.
    ///
    /// If the store ends earlier, so does the judge. Later callers then get an error instead of
    /// waiting forever.
    pub(super) async fn run(
        mut self,
        mut inputs: BatchedReceiver,
        commands: mpsc::Receiver<Command>,
    ) {
        if let Err(mut lost) = self.listen(&mut inputs, commands).await {
            inputs.close().iter().for_each(|input| lost.add(input));
            let StoreEnded { results, missed, transitions } = lost;
            error!(
                results,
                missed,
                transitions,
                "ended without storing {}, {} and {}, which are lost; nothing is judged any more",
                counted(results, "result"),
                counted(missed, "missed slot"),
                counted(transitions, "status change")
            );
        }
    }

    async fn listen(
        &mut self,
        inputs: &mut BatchedReceiver,
        mut commands: mpsc::Receiver<Command>,
    ) -> Result<(), StoreEnded> {
        let mut received = Vec::with_capacity(INPUTS_AT_ONCE);
        loop {
            let wake = self.wakes.peek().map(|Reverse((at, _))| *at);
            let wake =
                wake.into_iter().chain(self.suspicions.wake_at()).min().map(cadence::on_grid);
            tokio::select! {
                taken = inputs.recv_batch(&mut received, INPUTS_AT_ONCE) => {
                    if taken == RecvOutcome::Closed {
                        break;
                    }
                    self.read_clock();
                    for input in received.drain(..) {
                        self.record(input);
                    }
                    // If no check is in progress, no other result can share this commit.
                    if inputs.is_idle() {
                        self.commit_idle().await?;
                    } else if self.pending.len() >= INPUTS_AT_ONCE {
                        self.commit().await?;
                    }
                }
                Some(command) = commands.recv() => {
                    self.handle(command).await?;
                    // Handle all waiting commands between two commits, because their callers wait.
                    while let Ok(command) = commands.try_recv() {
                        self.handle(command).await?;
                    }
                }
                () = sleep_until_wake(&self.ctx, wake), if !self.is_behind(inputs) => self.tick(),
                () = self.pending.due() => self.commit().await?,
            }
            if self.pending.is_urgent() {
                self.commit().await?;
            }
        }
        self.commit().await
    }

    fn record(&mut self, input: JudgeInput) {
        match input {
            JudgeInput::Missed(missed) => self.pending.add_missed(missed),
            JudgeInput::ConnectivityCheck(probe, connectivity_checks) => {
                let change = self.suspicions.record_connectivity_check(
                    probe,
                    connectivity_checks,
                    self.ctx.now(),
                );
                if let Some(change) = change {
                    self.apply_suspicion_change(change);
                }
            }
            JudgeInput::Result(result, reply) => {
                self.record_result(&result);
                self.pending.add_result(result, reply);
            }
            JudgeInput::Reported { result, is_late, is_judged, stored } => {
                if is_judged {
                    self.record_result(&result);
                } else {
                    self.pending.add_without_vote(result.identity);
                }
                self.pending.add_reported(result, is_late, stored);
            }
        }
    }

    fn record_result(&mut self, result: &CheckResult) {
        // Record the probe before the monitor, so that a failure that makes the probe suspect already
        // does not count.
        self.record_probe_evidence(result);
        let judged = self.judged.get(&result.identity.monitor);
        let probe = judged.and_then(|it| it.probe_of(result.identity.region));
        if let Some(probe) = probe.filter(|_| result.attempts > 0) {
            self.last_checks.record(probe, result.finished_at);
        }
        self.deferred.record_slot(result.identity.slot);
        self.recorded_until = self.recorded_until.max(result.finished_at);
        self.judge_result(result);
    }

    /// Judges a result, after the ticks that were due before its check ended.
    fn judge_result(&mut self, result: &CheckResult) {
        let monitor = result.identity.monitor;
        let Some(judged) = self.judged.get(&monitor) else { return };
        let at = judged.instant(result.finished_at, self.now);
        while let Some(due) = self.judged.get(&monitor).and_then(|it| it.overdue(at)) {
            self.judge_at(monitor, due);
        }
        let context = step_context(&self.ctx, &self.suspicions, at);
        let Some(judged) = self.judged.get_mut(&monitor) else { return };
        let effects = judged.record(result, context);
        if result.finished_at > self.now {
            judged.set_back(self.now);
        }
        let failed_region =
            effects.region_failed_in.map(|incident| judged.failed_region(incident, result));
        self.apply_effects(monitor, &effects);
        self.pending.add_failed_region(failed_region);
    }

    /// Reads the clock. If it was set back, caps all remembered times at it.
    fn read_clock(&mut self) {
        let now = self.ctx.now();
        if now < self.now {
            self.judged.values_mut().for_each(|judged| judged.set_back(now));
            self.recorded_until = self.recorded_until.min(now);
        }
        self.now = now;
    }

    /// Returns whether old results wait. Votes do not expire until these are recorded.
    fn is_behind(&self, inputs: &BatchedReceiver) -> bool {
        !inputs.is_empty() && self.ctx.now().since(self.recorded_until) > BEHIND
    }

    fn tick(&mut self) {
        self.read_clock();
        let now = self.now;
        while let Some(change) = self.suspicions.tick(now) {
            self.apply_suspicion_change(change);
        }
        while let Some(Reverse((at, monitor))) = self.wakes.peek().copied() {
            if at > now {
                return;
            }
            self.wakes.pop();
            let Some(judged) = self.judged.get_mut(&monitor) else { continue };
            // A monitor has an entry for each of its former wake times; only one is current.
            if judged.entry_in_wakes != Some(at) {
                continue;
            }
            judged.entry_in_wakes = None;
            match judged.wake_at {
                // Judge as of the due time, however late it is.
                Some(wake_at) if wake_at <= now => self.judge_at(monitor, wake_at),
                wake_at => self.schedule_wake(monitor, wake_at),
            }
        }
    }

    /// Judges a monitor again as of this time, from the recorded results.
    fn judge_at(&mut self, monitor: MonitorId, at: Timestamp) {
        let Some(judged) = self.judged.get_mut(&monitor) else { return };
        let context = step_context(&self.ctx, &self.suspicions, judged.instant(at, self.now));
        let effects = judged.tick(context);
        self.apply_effects(monitor, &effects);
    }

    /// Requests confirmation checks. If cadence's queue is full, they are dropped: the regular
    /// slots come soon enough.
    fn request_confirmations(&self, monitor: MonitorId, revision: u32, regions: Vec<Region>) {
        let command = ScheduleCommand::Confirm { monitor, revision, regions };
        let sent = self.schedule_commands.upgrade().map(|cadence| cadence.try_send(command));
        if !matches!(sent, Some(Ok(()))) {
            self.metrics.confirmations_dropped.inc();
        }
    }

    /// Applies the effects of a step of a monitor.
    fn apply_effects(&mut self, monitor: MonitorId, effects: &Effects) {
        self.schedule_wake(monitor, effects.wake_at);
        let Some(judged) = self.judged.get(&monitor) else { return };
        if self.deferred.record_change(monitor, effects.changed, self.ctx.now()) {
            self.pending.add_state(monitor, &judged.state);
        }
        if !effects.confirmations.is_empty() {
            let regions = effects.confirmations.clone();
            self.request_confirmations(monitor, judged.policy.revision, regions);
        }
        if let Some(transition) = effects.transition {
            let mut cause = judged.cause(&transition, &self.suspicions, transition.at);
            set_locations(&mut cause, judged, &self.connectivity.probes);
            let is_opening =
                AlertChange::from_transition(&transition).is_some_and(AlertChange::is_opening);
            let suspicion = judged.suspicion(&self.suspicions).filter(|_| is_opening);
            if let Some((probe, failed_hosts)) = suspicion {
                let is_own = probe == ProbeIndex::EMBEDDED;
                let name = self.connectivity.probes.name(probe);
                cause.add_suspicion(failed_hosts, (!is_own).then_some(&*name.0));
            }
            log(judged, &transition, &cause);
            self.pending.add_transition(monitor, transition, cause);
        }
    }

    fn schedule_wake(&mut self, monitor: MonitorId, at: Option<Timestamp>) {
        let Some(judged) = self.judged.get_mut(&monitor) else { return };
        judged.wake_at = at;
        let Some(at) = at else { return };
        // A later time is looked up when the existing entry is due.
        if judged.entry_in_wakes.is_none_or(|entry| at < entry) {
            judged.entry_in_wakes = Some(at);
            self.wakes.push(Reverse((at, monitor)));
        }
    }

    fn watch(&mut self, mut judged: JudgedMonitor) {
        let monitor = judged.monitor;
        self.read_clock();
        let context = step_context(&self.ctx, &self.suspicions, self.now);
        let effects = judge::revise(&judged.policy, &mut judged.state, context);
        self.judged.insert(monitor, judged);
        self.apply_effects(monitor, &effects);
    }
}

async fn sleep_until_wake(ctx: &Context, wake: Option<Timestamp>) {
    match wake {
        Some(wake) => ctx.sleep_until(wake).await,
        None => std::future::pending().await,
    }
}

#[cfg(test)]
mod tests;
