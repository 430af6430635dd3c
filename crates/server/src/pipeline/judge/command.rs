//! Commands and queries to the judge. They are handled in order with the inputs, and answered when
//! their effects are stored, except `Watch` and `Move`: the next commit stores the state.

use std::collections::HashMap;

use domain::judge::{self, CloseReason, IncidentChange, StatusReason, Transition};
use domain::notify::Cause;
use rules::{IncidentId, MonitorId, MonitorStatus, Timestamp, WorkspaceId};
use tokio::sync::oneshot;

use super::health::RegionHealth;
use super::suspicion::step_context;
use super::{Judge, JudgedMonitor, MonitorView, StoreEnded};
use crate::pipeline::PipelineError;

/// Command or query to the judge.
#[derive(Debug)]
pub(in crate::pipeline) enum Command {
    /// Runs a monitor, or a new revision of it.
    Watch { judged: Box<JudgedMonitor>, done: oneshot::Sender<()> },
    /// Counts the votes of a monitor by the probes that serve its regions now.
    Move { judged: Box<JudgedMonitor>, done: oneshot::Sender<()> },
    /// Pauses a monitor and closes its incident.
    Pause { monitor: MonitorId, revision: u32, done: oneshot::Sender<()> },
    /// Removes a deleted monitor and closes its incident.
    Remove { monitor: MonitorId, done: oneshot::Sender<()> },
    /// Closes an incident at a person's request.
    Resolve { monitor: MonitorId, incident: IncidentId, done: oneshot::Sender<()> },
    /// Returns the state of a monitor.
    View { monitor: MonitorId, answer: oneshot::Sender<Result<MonitorView, PipelineError>> },
    /// Returns the time of the last check of each of these monitors.
    Checked { monitors: Vec<MonitorId>, answer: oneshot::Sender<HashMap<MonitorId, Timestamp>> },
    /// Returns the health of the regions.
    Regions { workspace: WorkspaceId, answer: oneshot::Sender<Vec<RegionHealth>> },
}

impl Judge {
    pub(super) async fn handle(&mut self, command: Command) -> Result<(), StoreEnded> {
        match command {
            Command::Watch { judged, done } => {
                self.replace(*judged);
                let _ = done.send(());
            }
            Command::Move { judged, done } => {
                self.move_to_probes(*judged);
                let _ = done.send(());
            }
            Command::Pause { monitor, revision, done } => {
                self.pause(monitor, revision);
                self.commit().await?;
                self.judged.remove(&monitor);
                let _ = done.send(());
            }
            Command::Remove { monitor, done } => {
                self.remove(monitor);
                self.commit().await?;
                let _ = done.send(());
            }
            Command::Resolve { monitor, incident, done } => {
                self.resolve(monitor, incident);
                self.commit().await?;
                let _ = done.send(());
            }
            Command::Regions { workspace, answer } => {
                let _ = answer.send(self.regions(workspace));
            }
            Command::Checked { monitors, answer } => {
                let checked = |id: MonitorId| Some((id, self.judged.get(&id)?.checked_at()?));
                let _ = answer.send(monitors.into_iter().filter_map(checked).collect());
            }
            Command::View { monitor, answer } => {
                let now = self.ctx.now();
                let view = self
                    .judged
                    .get(&monitor)
                    .map(|judged| judged.view(&self.connectivity.probes, &self.suspicions, now));
                let _ = answer.send(view.ok_or(PipelineError::NotFound(monitor)));
            }
        }
        Ok(())
    }

    /// Replaces a monitor by a new revision, which keeps the state of the old one.
    fn replace(&mut self, mut judged: JudgedMonitor) {
        if let Some(before) = self.judged.remove(&judged.monitor) {
            judged.take_over(before);
        }
        self.watch(judged);
    }

    /// Judges a monitor by the probes of its new policy, without a grace period: its settings and
    /// results stay the same.
    fn move_to_probes(&mut self, mut judged: JudgedMonitor) {
        let Some(mut before) = self.judged.remove(&judged.monitor) else {
            return self.watch(judged);
        };
        self.read_clock();
        let policies = [&before.policy, &judged.policy];
        judge::forget_void_results(&mut before.state, policies, &self.suspicions);
        let monitor = judged.monitor;
        judged.take_over(before);
        self.judged.insert(monitor, judged);
        self.judge_at(monitor, self.now);
    }

    fn pause(&mut self, monitor: MonitorId, revision: u32) {
        let Some(judged) = self.judged.get_mut(&monitor) else { return };
        judged.policy.active = false;
        judged.policy.revision = revision;
        let context = step_context(&self.ctx, &self.suspicions, self.ctx.now());
        let effects = judge::revise(&judged.policy, &mut judged.state, context);
        self.apply_effects(monitor, &effects);
    }

    fn remove(&mut self, monitor: MonitorId) {
        let Some(judged) = self.judged.get_mut(&monitor) else { return };
        let effects = judge::delete(&mut judged.state, self.ctx.now());
        self.apply_effects(monitor, &effects);
        self.pending.remove_state(monitor);
        self.deferred.remove(monitor);
        self.judged.remove(&monitor);
    }

    /// Closes an incident by hand. If its monitor does not run, the incident is closed in the
    /// store. If the monitor already closed it, this has no effect.
    fn resolve(&mut self, monitor: MonitorId, incident: IncidentId) {
        let context = step_context(&self.ctx, &self.suspicions, self.ctx.now());
        if let Some(judged) = self.judged.get_mut(&monitor) {
            let JudgedMonitor { policy, state: judge_state, .. } = judged;
            let effects = judge::resolve(policy, judge_state, incident, context);
            return self.apply_effects(monitor, &effects);
        }
        let transition = Transition {
            from: MonitorStatus::Unknown,
            to: MonitorStatus::Unknown,
            at: context.now,
            incident: IncidentChange::Closed { id: incident, reason: CloseReason::Resolved },
            why: StatusReason::Resolved,
        };
        let cause = Cause { why: transition.why.to_string(), regions: Vec::new() };
        self.pending.add_transition(monitor, transition, cause);
    }
}
