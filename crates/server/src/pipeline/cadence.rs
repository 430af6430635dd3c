//! cadence at work: waits for the next due slot of the timetable and sends its job.
//! `domain::cadence` decides what is due when.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use domain::cadence::{
    Budget, ConfirmationCheck, DetailBudget, DueSlot, FirstRun, Missed, MissedReason, Regions,
    Schedule, SlotAction,
};
use domain::check::{CheckPlan, CheckResult, Job, Outcome, Phases, ProbeName, Trigger};
use rules::{ById, MonitorId, Region, Timestamp, WorkspaceId};
use tokio::sync::{mpsc, oneshot};
use tracing::warn;
use web::context::Context;

use super::calls::{self, ReceivedCalls};
use super::concurrency::CheckPermits;
use crate::lane::{Finished, InFlight, Jobs, JudgeInput, QueuedJob, RevisionFlag};
use crate::observe::metrics::Metrics;

/// Interval between detailed successes, if more checks run than have details
/// (`limits::DETAILED_CHECKS_PER_SECOND`). The first check in each interval has them
/// (docs/decisions/0054-latest-success.md). Intervals of each monitor start at its own offset,
/// which spreads the details evenly.
const EVIDENCE_EVERY_MS: i64 = 600_000;

/// Slots that are sent between two readings of the clock.
const DISPATCHED_AT_A_TIME: usize = 256;

/// Time for which a slot counts as due now after the clock was set back. The slot for which cadence woke
/// up was due a moment before.
const JUST_DUE: Duration = Duration::from_secs(1);

/// Command to cadence.
#[derive(Debug)]
pub(super) enum ScheduleCommand {
    /// Runs a monitor, in place of an older revision of it.
    Put { entry: TimetableEntry, first: FirstRun, done: oneshot::Sender<()> },
    /// Stops running a monitor.
    Remove { monitor: MonitorId, done: oneshot::Sender<()> },
    /// Runs confirmation checks in regions of other probes, after a region began to fail.
    Confirm { monitor: MonitorId, revision: u32, regions: Vec<Region> },
    /// Looks for manual checks whose wait for a permit expired.
    Poll,
}

/// Timetable entry of a monitor.
#[derive(Debug)]
pub(super) struct TimetableEntry {
    pub(super) plan: Arc<CheckPlan>,
    pub(super) period: Duration,
    pub(super) regions: Regions,
}

/// Stage with the timetable in memory.
#[derive(Debug)]
pub(super) struct Cadence {
    ctx: Context,
    metrics: Metrics,
    schedule: Schedule,
    confirmations: Budget,
    /// Budget of successful checks that keep their details.
    details: DetailBudget,
    plans: ById<MonitorId, (Arc<CheckPlan>, RevisionFlag)>,
    /// Number of scheduled monitors by workspace. These workspaces share the permits.
    workspaces: HashMap<WorkspaceId, usize>,
    permits: Arc<CheckPermits>,
    jobs: Jobs,
    in_flight: Arc<InFlight>,
    inputs: mpsc::Sender<JudgeInput>,
    /// Calls of heartbeat monitors, which cadence evaluates itself.
    calls: ReceivedCalls,
    finished: Arc<Finished>,
    ended: Vec<(domain::cadence::Handle, rules::Region)>,
    no_probe: ProbeName,
    /// Time of the last look for due slots.
    last_poll: Timestamp,
}

impl Cadence {
    pub(super) fn new(
        ctx: Context,
        metrics: Metrics,
        (jobs, permits, in_flight): (Jobs, Arc<CheckPermits>, Arc<InFlight>),
        (inputs, calls): (mpsc::Sender<JudgeInput>, ReceivedCalls),
        finished: Arc<Finished>,
    ) -> Self {
        let confirmations = Budget::for_confirmations(ctx.now());
        let details = DetailBudget::new(ctx.now());
        Self {
            ctx,
            metrics,
            schedule: Schedule::default(),
            confirmations,
            details,
            plans: ById::default(),
            workspaces: HashMap::new(),
            permits,
            jobs,
            in_flight,
            inputs,
            calls,
            finished,
            ended: Vec::new(),
            no_probe: ProbeName(Arc::from("")),
            last_poll: Timestamp::default(),
        }
    }

    /// Adds a monitor to the timetable at `now`. Returns the waiting jobs that may run now, because
    /// the first monitor of a workspace changes the shares of all.
    pub(super) fn put(
        &mut self,
        entry: TimetableEntry,
        first: FirstRun,
        now: Timestamp,
    ) -> Vec<QueuedJob> {
        let (monitor, workspace) = (entry.plan.monitor, entry.plan.workspace);
        self.schedule.insert(monitor, entry.period, entry.regions, now, first);
        let before = self.plans.insert(monitor, (entry.plan, RevisionFlag::default()));
        if let Some((_, revision_flag)) = before {
            revision_flag.mark_outdated();
            return Vec::new();
        }
        let monitors = self.workspaces.entry(workspace).or_default();
        *monitors += 1;
        if *monitors == 1 { self.permits.join(workspace, now) } else { Vec::new() }
    }

    /// Removes a monitor from the timetable. The last one of a workspace releases its share, which
    /// may let waiting jobs of other workspaces run.
    async fn remove(&mut self, monitor: MonitorId) {
        self.schedule.remove(monitor);
        let Some((plan, revision_flag)) = self.plans.remove(&monitor) else { return };
        revision_flag.mark_outdated();
        let Some(monitors) = self.workspaces.get_mut(&plan.workspace) else { return };
        *monitors -= 1;
        if *monitors == 0 {
            self.workspaces.remove(&plan.workspace);
            for job in self.permits.remove_workspace(plan.workspace, self.last_poll) {
                self.send(job).await;
            }
        }
    }

    /// Runs until all senders of commands are dropped.
    pub(super) async fn run(mut self, mut schedule_commands: mpsc::Receiver<ScheduleCommand>) {
        loop {
            let next = self.schedule.next_due();
            tokio::select! {
                command = schedule_commands.recv() => match command {
                    Some(command) => {
                        // The slots that are due now belong to the old revisions. Send those for
                        // which the lanes have room; the command does not wait for the rest.
                        self.dispatch_while_room().await;
                        self.handle(command).await;
                    }
                    None => return,
                },
                () = due(&self.ctx, next) => self.dispatch_due(&mut schedule_commands).await,
            }
        }
    }

    /// Handles a command. The timetable stays at the last reading of the clock: slots due since
    /// then belong to the new revision. Slots due before and not sent are missed.
    async fn handle(&mut self, command: ScheduleCommand) {
        match command {
            ScheduleCommand::Put { entry, first, done } => {
                self.send_overdue(entry.plan.monitor).await;
                for job in self.put(entry, first, self.last_poll) {
                    self.send(job).await;
                }
                // The caller may be gone; the command applies all the same.
                let _ = done.send(());
            }
            ScheduleCommand::Remove { monitor, done } => {
                self.send_overdue(monitor).await;
                self.remove(monitor).await;
                let _ = done.send(());
            }
            ScheduleCommand::Confirm { monitor, revision, regions } => {
                self.confirm(monitor, revision, &regions).await;
            }
            ScheduleCommand::Poll => self.poll().await,
        }
    }

    /// Sends all due slots. Handles incoming commands in between, because under overload the due
    /// slots never end.
    async fn dispatch_due(&mut self, schedule_commands: &mut mpsc::Receiver<ScheduleCommand>) {
        loop {
            self.poll().await;
            for _ in 0..DISPATCHED_AT_A_TIME {
                while let Some(command) = self.command_before_room(schedule_commands).await {
                    self.handle(command).await;
                }
                let Some(due) = self.schedule.pop_due(self.last_poll) else { return };
                self.dispatch(due).await;
            }
        }
    }

    /// Sends due slots while the lanes have room.
    async fn dispatch_while_room(&mut self) {
        self.poll().await;
        while self.jobs.has_room()
            && let Some(due) = self.schedule.pop_due(self.last_poll)
        {
            self.dispatch(due).await;
        }
    }

    /// Waits for a command or for room in a lane. Returns the command if it comes first.
    async fn command_before_room(
        &self,
        schedule_commands: &mut mpsc::Receiver<ScheduleCommand>,
    ) -> Option<ScheduleCommand> {
        tokio::select! {
            biased;
            Some(command) = schedule_commands.recv() => Some(command),
            () = self.jobs.wait_for_room() => None,
        }
    }

    /// Reads the clock, and handles ended checks and expired waits.
    async fn poll(&mut self) {
        self.ended = self.finished.take(std::mem::take(&mut self.ended));
        for (handle, region) in self.ended.drain(..) {
            self.schedule.finish(handle, region);
        }
        let now = self.ctx.now();
        if now < self.last_poll {
            warn!("the clock was set back to {now}; slots are counted from there");
            self.schedule.set_back(now - JUST_DUE);
        }
        self.last_poll = now;
        for QueuedJob { job, handle, .. } in self.permits.expired(now) {
            if let Some(handle) = handle {
                self.schedule.finish(handle, job.region);
            }
            if job.trigger == Trigger::Scheduled {
                self.metrics.expired_slots.inc();
                let reason = MissedReason::Overloaded;
                let missed = Missed::slot(job.plan.monitor, job.region, job.slot, reason);
                self.send_missed(missed).await;
            }
        }
    }

    /// Reports the due slots of a monitor that were not sent as missed.
    async fn send_overdue(&mut self, monitor: MonitorId) {
        for missed in self.schedule.overdue(monitor, self.last_poll) {
            self.send_missed(missed).await;
        }
    }

    async fn dispatch(&mut self, due: DueSlot) {
        if let Some(missed) = due.missed {
            self.send_missed(missed).await;
        }
        let Some((plan, revision_flag)) = self.plans.get(&due.monitor) else { return };
        // Only a check that runs and would not keep its details otherwise uses the budget.
        let is_probed = calls::heartbeat(plan).is_none();
        let keep_evidence = is_probed
            && due.action == SlotAction::Run
            && (is_detailed_slot(due.monitor, due.slot, due.next_slot)
                || self.details.take(plan.workspace, self.last_poll));
        let job = Job {
            plan: plan.clone(),
            region: due.region,
            slot: due.slot,
            trigger: Trigger::Scheduled,
            next_slot: due.next_slot,
            keep_evidence,
        };
        match due.action {
            SlotAction::Run if !is_probed => {
                self.schedule.finish(due.handle, due.region);
                if let Some(result) = self.calls.evaluate(&job, self.last_poll) {
                    self.send_input(JudgeInput::Result(result, None)).await;
                }
            }
            SlotAction::Run => {
                let (revision_flag, in_flight_guard) =
                    (revision_flag.clone(), self.in_flight.begin());
                self.send(QueuedJob::scheduled(job, due.handle, revision_flag, in_flight_guard))
                    .await;
            }
            SlotAction::Skip => {
                self.metrics.skipped_slots.inc();
                let skipped = skipped(&job, self.last_poll, self.no_probe.clone());
                self.send_input(JudgeInput::Result(skipped, None)).await;
            }
        }
    }

    /// Sends confirmation checks. A monitor that was edited since is skipped, because the edit
    /// already checks all regions.
    async fn confirm(&mut self, monitor: MonitorId, revision: u32, regions: &[Region]) {
        let now = self.ctx.now();
        let known = self.plans.get(&monitor).filter(|(plan, _)| plan.revision == revision);
        let Some((plan, revision_flag)) = known.cloned() else { return };
        let confirmation_checks =
            self.schedule.confirm(monitor, regions, &mut self.confirmations, now);
        self.metrics.confirmations_requested.inc_by(confirmation_checks.len() as u64);
        for ConfirmationCheck { handle, region, next_slot } in confirmation_checks {
            let job = Job {
                plan: plan.clone(),
                region,
                slot: now,
                trigger: Trigger::Confirmation,
                next_slot,
                keep_evidence: self.details.take(plan.workspace, self.last_poll),
            };
            let (revision_flag, in_flight_guard) = (revision_flag.clone(), self.in_flight.begin());
            self.send(QueuedJob::scheduled(job, handle, revision_flag, in_flight_guard)).await;
        }
    }

    async fn send(&self, job: QueuedJob) {
        // The checkers end after cadence; see `RunningPipeline::stop`.
        let _ = self.jobs.send(job).await;
    }

    async fn send_missed(&self, missed: Missed) {
        self.metrics.missed_slots.inc_by(u64::from(missed.count));
        self.send_input(JudgeInput::Missed(missed)).await;
    }

    async fn send_input(&self, input: JudgeInput) {
        // The judge ends after cadence; see `RunningPipeline::stop`.
        let _ = self.inputs.send(input).await;
    }
}

async fn due(ctx: &Context, next: Option<Timestamp>) {
    match next {
        Some(next) => ctx.sleep_until(next).await,
        None => std::future::pending().await,
    }
}

/// Returns whether an interval of the monitor starts between the previous slot and this one.
fn is_detailed_slot(monitor: MonitorId, slot: Timestamp, next_slot: Timestamp) -> bool {
    // Fibonacci hashing: the high bits of the product are spread evenly.
    let begin = (monitor.bits().wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32) as i64;
    let period = next_slot.as_millis() - slot.as_millis();
    (slot.as_millis() - begin).rem_euclid(EVIDENCE_EVERY_MS) < period
}

fn skipped(job: &Job, now: Timestamp, probe: ProbeName) -> CheckResult {
    CheckResult {
        identity: job.identity(),
        finished_at: now,
        outcome: Outcome::Skipped,
        latency_us: 0,
        phases: Phases::default(),
        status: None,
        attempts: 0,
        probe,
        evidence: None,
    }
}

#[cfg(test)]
mod tests;
