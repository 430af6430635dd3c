//! Gives up what takes too long: streams without a sign of life, and jobs without a result.

use std::collections::HashMap;
use std::time::Duration;

use domain::cadence::Missed;
use domain::judge::ProbeIndex;
use rules::{ProbeId, Timestamp};
use store::{ProbeSeen, StoredProbe};
use tokio_util::sync::CancellationToken;
use tracing::warn;

use super::probe_state::{Assigned, RemoteProbe};
use super::{RemoteLane, SILENCE_MAX, missed_job};
use crate::lane::probes::MovedRegion;
use crate::lane::{JudgeInput, QueuedJob};

/// Interval in which jobs and streams are given up.
const TICK: Duration = Duration::from_secs(1);

impl RemoteLane {
    /// Gives up streams without a sign of life, and jobs without a result, until `stop`.
    pub(crate) async fn run(self, stop: CancellationToken) {
        while stop.run_until_cancelled(tokio::time::sleep(TICK)).await.is_some() {
            for missed in self.tick() {
                self.send(Some(JudgeInput::Missed(missed))).await;
            }
            let now = self.0.ctx.now();
            self.give_up(|assigned| assigned.is_expired(now)).await;
        }
        // Jobs without a result are missed, unless their results come after the next start.
        for missed in self.end_all() {
            self.send(Some(JudgeInput::Missed(missed))).await;
        }
        self.give_up(|_| true).await;
        // From now on, reports are refused, and the judge can end.
        self.state().inputs = None;
    }

    /// Gives up jobs that a probe has. The judge gets each missed slot before the result that may still
    /// come, so that the result is stored last and the slot no longer counts as missed.
    async fn give_up(&self, is_over: impl Fn(&Assigned) -> bool) {
        let mut over = Vec::new();
        for (index, probe) in &self.state().probes {
            let nonces = probe.assigned.iter().filter(|(_, it)| is_over(it)).map(|(it, _)| *it);
            over.extend(nonces.map(|nonce| (*index, nonce)));
        }
        for (index, nonce) in over {
            let Some(judge) = self.state().inputs.clone() else { return };
            // The judge ends last; see `RunningPipeline::stop`.
            let Ok(place) = judge.reserve().await else { return };
            let mut state = self.state();
            let probe = state.probes.get_mut(&index);
            // It may have been reported meanwhile.
            let Some(mut assigned) = probe.and_then(|it| it.take_assigned(nonce)) else { continue };
            if let Some(missed) = assigned.missed.take() {
                self.count_missed([&missed]);
                place.send(JudgeInput::Missed(missed));
            }
            drop(state);
            self.finish(&mut assigned);
        }
    }

    /// Closes all streams and takes all jobs that wait. Returns their slots.
    fn end_all(&self) -> Vec<Missed> {
        let mut state = self.state();
        let mut missed = Vec::new();
        for probe in state.probes.values_mut() {
            probe.close();
            missed.extend(probe.waiting.drain().filter_map(|(_, it)| missed_job(&it)));
        }
        self.count_missed(&missed);
        missed
    }

    fn tick(&self) -> Vec<Missed> {
        let now = self.0.ctx.now();
        let (mut missed, mut freed) = (Vec::new(), Vec::new());
        let mut state = self.state();
        for probe in state.probes.values_mut() {
            freed.extend(probe.close_silent(SILENCE_MAX));
            let is_over = |queued: &QueuedJob| {
                queued.job.next_slot <= now || !queued.revision_flag.is_current()
            };
            let over = probe.waiting.extract_if(|_, queued| is_over(queued));
            missed.extend(over.filter_map(|(_, queued)| missed_job(&queued)));
            self.send_waiting(probe);
        }
        drop(state);
        for (handle, region) in freed {
            self.0.finished.record(handle, region);
        }
        self.count_missed(&missed);
        missed
    }

    /// Closes streams whose probe was deleted, or whose token is no longer valid.
    pub(crate) fn close_without_token(&self, stored: &[StoredProbe], now: Timestamp) {
        let stored: HashMap<ProbeId, &StoredProbe> = stored.iter().map(|it| (it.id, it)).collect();
        for probe in self.state().probes.values_mut() {
            probe.close_without_token(stored.get(&probe.id).copied(), now);
        }
    }

    /// Returns whether a stream of a probe is open.
    pub(crate) fn has_stream(&self, index: ProbeIndex, number: u64) -> bool {
        self.state().probes.get(&index).is_some_and(|it| it.has_session(number))
    }

    /// Closes a stream whose probe ends it.
    pub(crate) fn close_stream(&self, index: ProbeIndex, number: u64) {
        if let Some(probe) = self.state().probes.get(&index) {
            probe.close_session(number);
        }
    }

    /// Records that other probes serve these regions now.
    pub(crate) fn record_moved(&self, moved: &[MovedRegion]) {
        for MovedRegion { region, workspace } in moved {
            // Metrics have no private regions, because every workspace has its own.
            if workspace.is_some() {
                continue;
            }
            let probe = self.0.probes.public(*region);
            self.0.metrics.probes.set_connected(&[*region], self.is_connected(probe));
        }
    }

    /// Returns the signs of life since the last call.
    pub(crate) fn take_seen(&self) -> Vec<ProbeSeen> {
        self.state().probes.values_mut().filter_map(RemoteProbe::take_seen).collect()
    }

    pub(super) fn end_stream(&self, index: ProbeIndex, number: u64) {
        let mut state = self.state();
        let Some(probe) = state.probes.get_mut(&index) else { return };
        let handles = probe.end_session(number);
        let is_connected = probe.is_connected();
        drop(state);
        for (handle, region) in handles {
            self.0.finished.record(handle, region);
        }
        if !is_connected {
            let name = self.0.probes.name(index);
            warn!(probe.name = %name.0, "probe `{}` is no longer connected", name.0);
            self.0.metrics.probes.set_connected(&self.0.probes.public_regions(index), false);
        }
    }
}
