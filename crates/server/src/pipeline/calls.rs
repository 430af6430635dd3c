//! Calls of heartbeat monitors in the pipeline: what is known of the calls of each running monitor.
//! Cadence evaluates it at the slots, and each call becomes a result at once. The store has the same, and
//! `domain::check` decides what it means.

use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use domain::check::{
    Availability, CheckPlan, CheckResult, HeartbeatCall, HeartbeatPlan, HeartbeatState, Job,
    PlannedCheck, ProbeName, ResultKey, Signal, Trigger, evaluate, received,
};
use rules::monitor::UNPROBED_REGION;
use rules::{ById, MonitorId, Timestamp};
use store::HeartbeatTarget;

use super::{Pipeline, PipelineError, THIS_SERVER};
use crate::lane::JudgeInput;

/// Pause between two evaluations from which the server may have missed calls: it was suspended, or its
/// clock was set forward. Running monitors are evaluated every 30 seconds.
const GAP: Duration = Duration::from_secs(90);
/// Time from one note of calls that the server could not store to the next.
const MISS_EVERY: Duration = Duration::from_secs(5);
/// Slots that are later than a call by no more are those of other calls at the same time. Later ones are
/// from before the clock was set back.
const RECENT: Duration = Duration::from_secs(1);
/// Outputs of failures that are kept at once, so that a leaked URL cannot fill the disk.
const OUTPUTS_AT_ONCE: u32 = 6;
/// Time after which one more is kept.
const OUTPUT_EVERY: Duration = Duration::from_mins(10);

/// Calls of the running heartbeat monitors. Clones share them.
#[derive(Clone, Debug, Default)]
pub(super) struct ReceivedCalls(Arc<Mutex<KnownHeartbeats>>);

#[derive(Debug, Default)]
struct KnownHeartbeats {
    monitors: ById<MonitorId, RunningHeartbeat>,
    /// Time from which the server has received calls without a pause.
    up_since: Timestamp,
    /// Time of the last evaluation.
    evaluated_at: Timestamp,
}

/// A heartbeat monitor that runs.
#[derive(Debug)]
struct RunningHeartbeat {
    plan: Arc<CheckPlan>,
    state: HeartbeatState,
    /// Whether a call was late before the last pause of the server.
    was_late: bool,
    /// Slot of its last result. Each result has one of its own, even at the same millisecond.
    last_slot: Timestamp,
    /// Time at which all [`OUTPUTS_AT_ONCE`] may be kept again.
    all_outputs_at: Timestamp,
}

/// A call as the endpoint received it.
#[derive(Clone, Debug)]
pub(crate) struct ReceivedCall {
    pub(crate) target: HeartbeatTarget,
    pub(crate) signal: Signal,
    /// Beginning of its body.
    pub(crate) body: Vec<u8>,
    /// Whether the body is longer.
    pub(crate) has_more: bool,
}

impl ReceivedCalls {
    /// Sets the time from which this server receives calls.
    pub(super) fn start(&self, up_since: Timestamp) {
        let mut known = self.lock();
        (known.up_since, known.evaluated_at) = (up_since, up_since);
    }

    /// Notes that the server could not store a call, of any monitor.
    fn miss(&self, now: Timestamp) {
        let mut known = self.lock();
        let is_noted = known.up_since <= now && now.since(known.up_since) < MISS_EVERY;
        if !is_noted {
            known.pause(now, now);
        }
    }

    /// Adds a monitor that ran before this server started. `was_late` says whether a call was late then.
    pub(super) fn load(&self, plan: Arc<CheckPlan>, state: HeartbeatState, was_late: bool) {
        let monitor = plan.monitor;
        let running = RunningHeartbeat { was_late, ..RunningHeartbeat::new(plan, state) };
        self.lock().monitors.insert(monitor, running);
    }

    /// Adds a monitor that runs from now on, or replaces its earlier revision.
    pub(super) fn put(&self, plan: Arc<CheckPlan>, state: HeartbeatState) {
        let (monitor, mut known) = (plan.monitor, self.lock());
        let running = match known.monitors.remove(&monitor) {
            Some(before) => RunningHeartbeat { plan, state, ..before },
            None => RunningHeartbeat::new(plan, state),
        };
        known.monitors.insert(monitor, running);
    }

    /// Removes a monitor that runs no more.
    pub(super) fn remove(&self, monitor: MonitorId) {
        self.lock().monitors.remove(&monitor);
    }

    /// Evaluates the calls of a monitor for this job. `None` for a monitor of another kind, or one that runs
    /// no more.
    pub(super) fn evaluate(&self, job: &Job, now: Timestamp) -> Option<CheckResult> {
        let plan = heartbeat(&job.plan)?;
        let mut known = self.lock();
        known.read_clock(now);
        let up_since = known.up_since;
        let running = known.monitors.get_mut(&job.plan.monitor)?;
        running.state.set_back(now);
        running.last_slot = running.last_slot.max(job.slot);
        let available = Availability { up_since, was_late: running.was_late };
        Some(evaluate(job.identity(), (plan, &running.state), available, (now, this_server())))
    }

    /// Replaces what is known of a monitor's calls by what was stored of the call at `at`. Returns the key
    /// of its result and whether to keep its output, if the monitor runs.
    fn update(
        &self,
        monitor: MonitorId,
        state: HeartbeatState,
        at: Timestamp,
    ) -> Option<(ResultKey, bool)> {
        let mut known = self.lock();
        let running = known.monitors.get_mut(&monitor)?;
        running.state = state;
        let (region, trigger) = (UNPROBED_REGION, Trigger::Scheduled);
        let slot = running.take_slot(at);
        let key = ResultKey { monitor, revision: running.plan.revision, region, slot, trigger };
        Some((key, running.keeps_output(at)))
    }

    fn lock(&self) -> MutexGuard<'_, KnownHeartbeats> {
        self.0.lock().expect("no thread panics while it holds the lock")
    }
}

impl KnownHeartbeats {
    /// Notices a gap before `now` in which calls may have been missed.
    fn read_clock(&mut self, now: Timestamp) {
        let before = std::mem::replace(&mut self.evaluated_at, now);
        if now.since(before) > GAP {
            self.pause(before, now);
        }
        self.up_since = self.up_since.min(now);
    }

    /// Notes that calls may have been missed between two times.
    fn pause(&mut self, from: Timestamp, to: Timestamp) {
        let up_since = self.up_since;
        self.monitors.values_mut().for_each(|running| running.pause(from, up_since));
        self.up_since = to;
    }
}

impl RunningHeartbeat {
    fn new(plan: Arc<CheckPlan>, state: HeartbeatState) -> Self {
        let (last_slot, all_outputs_at) = (Timestamp::default(), Timestamp::default());
        Self { plan, state, was_late: false, last_slot, all_outputs_at }
    }

    /// Notes whether a call was late when a pause of the server began.
    fn pause(&mut self, at: Timestamp, up_since: Timestamp) {
        let available = Availability { up_since, was_late: self.was_late };
        self.was_late = heartbeat(&self.plan)
            .is_some_and(|plan| plan.has_late_call(&self.state, available, at));
    }

    /// Returns the slot of a call.
    fn take_slot(&mut self, at: Timestamp) -> Timestamp {
        let is_taken = self.last_slot >= at && self.last_slot < at + RECENT;
        self.last_slot = if is_taken { self.last_slot + Duration::from_millis(1) } else { at };
        self.last_slot
    }

    /// Returns whether to keep the output that a call has brought: of a success, which replaces the one
    /// before, and of a limited number of failures.
    fn keeps_output(&mut self, at: Timestamp) -> bool {
        if self.state.failure.is_none() {
            return true;
        }
        let all_at = at + OUTPUT_EVERY * OUTPUTS_AT_ONCE;
        // The clock may have been set back.
        let next = self.all_outputs_at.clamp(at, all_at) + OUTPUT_EVERY;
        let keeps = next <= all_at;
        self.all_outputs_at = if keeps { next } else { self.all_outputs_at.min(all_at) };
        keeps
    }
}

impl Pipeline {
    /// Records a call, and returns when it is stored. If the monitor runs, its result is judged, and is in
    /// the history soon.
    pub(crate) async fn receive_call(&self, call: ReceivedCall) -> Result<(), PipelineError> {
        let (this, monitor) = (self.clone(), call.target.monitor);
        self.change(monitor, async move { this.store_call(&call).await }).await?
    }

    async fn store_call(&self, call: &ReceivedCall) -> Result<(), PipelineError> {
        let (target, at) = (call.target, self.ctx.now());
        let recorded = self.store.heartbeats().record(target, call.signal, at).await?;
        let Some(recorded) = recorded else {
            return Err(PipelineError::NotFound(target.monitor));
        };
        let updated = self.calls.update(target.monitor, recorded.state, at);
        let Some((identity, keeps_output)) = updated else { return Ok(()) };
        let body = if keeps_output { &*call.body } else { &[] };
        let ended = HeartbeatCall {
            signal: call.signal,
            at,
            ran_for: recorded.ran_for,
            body,
            has_more: call.has_more && keeps_output,
        };
        let Some(result) = received(identity, &ended, this_server()) else { return Ok(()) };
        let inputs = self.inputs.upgrade().ok_or(PipelineError::Stopping)?;
        let sent = inputs.send(JudgeInput::Result(result, None)).await;
        sent.map_err(|_| PipelineError::Stopping)
    }

    /// Notes that the server could not store a call. Calls that were expected before now are not late for some
    /// minutes, in which the callers retry.
    pub(crate) fn miss_calls(&self) {
        self.calls.miss(self.ctx.now());
    }

    /// Reads what is known of the calls of a monitor that begins to run, if it is a heartbeat monitor.
    pub(super) async fn watch_calls(&self, plan: &Arc<CheckPlan>) -> Result<(), PipelineError> {
        if heartbeat(plan).is_some() {
            let state = self.store.heartbeats().state(plan.monitor).await?;
            let state = state.unwrap_or_else(|| HeartbeatState::waiting(self.ctx.now()));
            self.calls.put(plan.clone(), state);
        }
        Ok(())
    }
}

/// Returns the times of a heartbeat monitor. `None` for other kinds.
pub(super) fn heartbeat(plan: &CheckPlan) -> Option<HeartbeatPlan> {
    match &plan.check {
        PlannedCheck::Heartbeat(heartbeat) => Some(*heartbeat),
        PlannedCheck::Http(_) | PlannedCheck::Tcp(_) | PlannedCheck::Dns(_) => None,
    }
}

fn this_server() -> ProbeName {
    ProbeName(Arc::from(THIS_SERVER))
}

#[cfg(test)]
pub(super) mod tests;
