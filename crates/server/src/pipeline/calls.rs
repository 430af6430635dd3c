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
use tokio::sync::oneshot;
use tokio::time::timeout;

use super::{Pipeline, PipelineError, THIS_SERVER};
use crate::lane::JudgeInput;

/// Pause between two evaluations from which the server may have missed calls: it was suspended, or its
/// clock was set forward. Running monitors are evaluated every 30 seconds.
const GAP: Duration = Duration::from_secs(90);
/// Slots that are later than a call by no more are those of other calls at the same time. Later ones are
/// from before the clock was set back.
const RECENT: Duration = Duration::from_secs(1);
/// Time that a caller waits for the history of a call that is already stored.
const RESULT_WITHIN: Duration = Duration::from_secs(2);

/// Calls of the running heartbeat monitors. Clones share them.
#[derive(Clone, Debug, Default)]
pub(super) struct ReceivedCalls(Arc<Mutex<KnownHeartbeats>>);

#[derive(Debug, Default)]
struct KnownHeartbeats {
    monitors: ById<MonitorId, RunningHeartbeat>,
    available: Availability,
    /// Time of the last evaluation.
    evaluated_at: Timestamp,
}

/// A heartbeat monitor that runs.
#[derive(Debug)]
struct RunningHeartbeat {
    plan: Arc<CheckPlan>,
    state: HeartbeatState,
    /// Slot of its last result. Each result has one of its own, even at the same millisecond.
    last_slot: Timestamp,
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
    /// Sets the time in which no server received calls.
    pub(super) fn start(&self, down_since: Option<Timestamp>, up_since: Timestamp) {
        let mut known = self.lock();
        known.available = Availability { down_since, up_since };
        known.evaluated_at = up_since;
    }

    /// Adds a monitor that runs from now on, or replaces its earlier revision.
    pub(super) fn put(&self, plan: Arc<CheckPlan>, state: HeartbeatState) {
        let mut known = self.lock();
        let before = known.monitors.remove(&plan.monitor);
        let last_slot = before.map(|before| before.last_slot).unwrap_or_default();
        known.monitors.insert(plan.monitor, RunningHeartbeat { plan, state, last_slot });
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
        let available = known.available;
        let running = known.monitors.get_mut(&job.plan.monitor)?;
        running.state.set_back(now);
        running.last_slot = running.last_slot.max(job.slot);
        Some(evaluate(job.identity(), (plan, &running.state), available, (now, this_server())))
    }

    /// Replaces what is known of a monitor's calls by what was stored of the call at `at`. Returns the key
    /// of its result if the monitor runs.
    fn update(
        &self,
        monitor: MonitorId,
        state: HeartbeatState,
        at: Timestamp,
    ) -> Option<ResultKey> {
        let mut known = self.lock();
        let running = known.monitors.get_mut(&monitor)?;
        running.state = state;
        let is_taken = running.last_slot >= at && running.last_slot < at + RECENT;
        let slot = if is_taken { running.last_slot + Duration::from_millis(1) } else { at };
        running.last_slot = slot;
        let (region, trigger) = (UNPROBED_REGION, Trigger::Scheduled);
        Some(ResultKey { monitor, revision: running.plan.revision, region, slot, trigger })
    }

    fn lock(&self) -> MutexGuard<'_, KnownHeartbeats> {
        self.0.lock().expect("no thread panics while it holds the lock")
    }
}

impl KnownHeartbeats {
    /// Notices a gap before `now` in which calls may have been missed.
    fn read_clock(&mut self, now: Timestamp) {
        if now.since(self.evaluated_at) > GAP {
            self.available = Availability { down_since: Some(self.evaluated_at), up_since: now };
        }
        self.available.up_since = self.available.up_since.min(now);
        self.evaluated_at = now;
    }
}

impl Pipeline {
    /// Records a call, and returns when it is stored. Its result is judged if the monitor runs. A caller
    /// waits a moment until the history has it.
    pub(crate) async fn receive_call(&self, call: ReceivedCall) -> Result<(), PipelineError> {
        let (this, monitor) = (self.clone(), call.target.monitor);
        let stored = self.change(monitor, async move { this.store_call(&call).await }).await??;
        if let Some(stored) = stored {
            // The call counts without it: the next evaluation knows the call.
            let _ = timeout(RESULT_WITHIN, stored).await;
        }
        Ok(())
    }

    async fn store_call(
        &self,
        call: &ReceivedCall,
    ) -> Result<Option<oneshot::Receiver<CheckResult>>, PipelineError> {
        let (target, at) = (call.target, self.ctx.now());
        let recorded = self.store.heartbeats().record(target, call.signal, at).await?;
        let Some(recorded) = recorded else {
            return Err(PipelineError::NotFound(target.monitor));
        };
        let updated = self.calls.update(target.monitor, recorded.state, at);
        let Some(identity) = updated else { return Ok(None) };
        let ended = HeartbeatCall {
            signal: call.signal,
            at,
            ran_for: recorded.ran_for,
            body: &call.body,
            has_more: call.has_more,
        };
        let Some(result) = received(identity, &ended, this_server()) else { return Ok(None) };
        let inputs = self.inputs.upgrade().ok_or(PipelineError::Stopping)?;
        let (reply, stored) = oneshot::channel();
        let sent = inputs.send(JudgeInput::Result(result, Some(reply))).await;
        sent.map_err(|_| PipelineError::Stopping)?;
        Ok(Some(stored))
    }

    /// Reads what is known of the calls of a monitor that begins to run, if it is a heartbeat monitor.
    pub(super) async fn watch_calls(&self, plan: &Arc<CheckPlan>) -> Result<(), PipelineError> {
        if heartbeat(plan).is_some() {
            let state = self.store.heartbeats().state(plan.monitor).await?;
            self.calls.put(plan.clone(), state.unwrap_or_default());
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
