//! The lane to probes in other places. Each probe keeps streams open, on which it gets jobs, and reports
//! results. `probes` has the two ways that these take, HTTP and NATS; this file decides which stream gets a job, what a
//! result belongs to, and which jobs are given up.
//!
//! A job whose probe is not connected waits until its next slot. A job that was sent is given up some
//! seconds after its last attempt can end; a result that arrives later is stored all the same, and its
//! slot then no longer counts as missed. A job that was sent runs even if its monitor is edited or
//! deleted meanwhile. This is harmless: the judge ignores results of earlier revisions, and the store
//! those of deleted monitors.

mod probe_state;
mod receive;
mod upkeep;

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use domain::cadence::{Handle, Missed, MissedReason};
use domain::check::{JobMessage, Trigger};
use domain::judge::ProbeIndex;
use remote::{Ticket, TicketKey, wire};
use rules::{ProbeId, Region, WorkspaceId};
use store::KeyHash;
use tokio::sync::mpsc;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tracing::info;
use web::context::Context;

pub(crate) use self::probe_state::ReportHead;
use self::probe_state::{Assigned, RemoteProbe, Session};
use super::probes::{ProbePlace, Probes};
use super::{Finished, InFlight, JudgeInput, QueuedJob};
use crate::observe::metrics::{Metrics, ProbeStatus};

/// Jobs that wait for the stream of a probe. More wait in the lane.
const STREAM_JOBS: usize = 4_096;
/// Size of the monitors of these jobs, in bytes.
const STREAM_BYTES: usize = 16 * 1024 * 1024;
/// Time without a report after which a stream is closed: the probe is gone, or cannot reach the server.
pub(crate) const SILENCE_MAX: Duration = Duration::from_secs(20);
/// Time after the longest possible end of a check at which it is given up.
const REPORTED_WITHIN: Duration = Duration::from_secs(10);

/// The lane to all probes in other places. Cheap to clone.
#[derive(Clone)]
pub(crate) struct RemoteLane(Arc<Inner>);

struct Inner {
    ctx: Context,
    metrics: Metrics,
    key: TicketKey,
    probes: Probes,
    finished: Arc<Finished>,
    /// Share of each workspace in the permits of a probe, if it is not 1.
    weights: Mutex<HashMap<WorkspaceId, u32>>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    probes: HashMap<ProbeIndex, RemoteProbe>,
    /// Queue of the judge. `None` after the stop.
    inputs: Option<mpsc::Sender<JudgeInput>>,
}

/// A new stream of jobs.
pub(crate) struct OpenedStream {
    pub(crate) number: u64,
    pub(crate) jobs: mpsc::Receiver<wire::Job>,
    /// Size of the monitors of the jobs in the queue. The receiver subtracts each job that it takes.
    pub(crate) bytes: Arc<AtomicUsize>,
    /// Ends the stream: its probe was deleted, its token was revoked, or it is silent.
    pub(crate) closed: CancellationToken,
    /// Frees the stream when it is dropped.
    pub(crate) guard: StreamGuard,
}

/// Probe that opens a stream.
#[derive(Clone, Debug)]
pub(crate) struct StreamOrigin {
    pub(crate) probe: ProbeId,
    /// Hash of the token that it showed.
    pub(crate) token: KeyHash,
    /// Version of its program.
    pub(crate) version: String,
    /// Address that it connects from, if it is known.
    pub(crate) address: Option<IpAddr>,
}

/// Ends a stream when it is dropped.
pub(crate) struct StreamGuard {
    lane: RemoteLane,
    probe: ProbeIndex,
    number: u64,
}

/// Error of a report: the server stops.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LaneStopped;

impl RemoteLane {
    /// Creates the lane without probes. Results go to `inputs` and `finished`.
    pub(crate) fn new(
        (ctx, metrics): (Context, Metrics),
        key: TicketKey,
        probes: Probes,
        finished: Arc<Finished>,
        inputs: mpsc::Sender<JudgeInput>,
    ) -> Self {
        let state = State { inputs: Some(inputs), ..State::default() };
        let state = Mutex::new(state);
        let weights = Mutex::default();
        Self(Arc::new(Inner { ctx, metrics, key, probes, finished, weights, state }))
    }

    /// Returns the index of the probe in another place that serves a region of this workspace.
    pub(crate) fn probe_of(&self, workspace: WorkspaceId, region: Region) -> Option<ProbeIndex> {
        self.0.probes.of(workspace).elsewhere(region)
    }

    /// Returns the index of a stored probe; `None` until the regions are mapped to it.
    pub(crate) fn index_of(&self, probe: ProbeId) -> Option<ProbeIndex> {
        self.0.probes.index_of(probe)
    }

    /// Returns whether a probe is connected.
    pub(crate) fn is_connected(&self, probe: ProbeIndex) -> bool {
        self.state().probes.get(&probe).is_some_and(RemoteProbe::is_connected)
    }

    /// Returns the state of a probe for people; `None` if it was never connected.
    pub(crate) fn status(&self, probe: ProbeIndex) -> Option<ProbeStatus> {
        self.state().probes.get(&probe).map(RemoteProbe::status)
    }

    /// Gives a job to a probe, or keeps it until the probe connects. A manual job of a probe that is not
    /// connected is dropped. Its caller notices the end of the reply's channel.
    pub(crate) async fn assign(&self, index: ProbeIndex, queued: QueuedJob) {
        let missed = self.assign_now(index, queued);
        self.send(missed.map(JudgeInput::Missed)).await;
    }

    /// Like [`Self::assign`]. Returns the slot that the job replaces, which is missed then.
    fn assign_now(&self, index: ProbeIndex, mut queued: QueuedJob) -> Option<Missed> {
        let ProbePlace::Elsewhere(id) = self.0.probes.place(index) else { return None };
        let mut state = self.state();
        let probe = state.probes.entry(index).or_insert_with(|| RemoteProbe::new(id));
        match self.send_to_stream(probe, queued) {
            Ok(()) => return None,
            Err(returned) => queued = returned,
        }
        // The next slot is due whether or not this one ran.
        if let Some(handle) = queued.handle.take() {
            self.0.finished.record(handle, queued.job.region);
        }
        let key = (queued.job.plan.monitor, queued.job.region);
        let is_slot = queued.job.trigger == Trigger::Scheduled;
        if queued.job.trigger == Trigger::Manual || (!is_slot && probe.waiting.contains_key(&key)) {
            return None;
        }
        // Nothing is certain to come, so the judge does not wait for it.
        queued.in_flight = Arc::<InFlight>::default().begin();
        let replaced = probe.waiting.insert(key, queued)?;
        let missed = missed_job(&replaced);
        self.count_missed(&missed);
        missed
    }

    /// Sends the jobs that wait to the streams, as far as these take them.
    fn send_waiting(&self, probe: &mut RemoteProbe) {
        if !probe.is_connected() {
            return;
        }
        let now = self.0.ctx.now();
        for (key, queued) in std::mem::take(&mut probe.waiting) {
            let is_wanted = queued.job.next_slot > now && queued.revision_flag.is_current();
            let kept = if is_wanted { self.send_to_stream(probe, queued) } else { Err(queued) };
            if let Err(queued) = kept {
                probe.waiting.insert(key, queued);
            }
        }
    }

    /// Sends a job to the stream with the fewest jobs. Returns the job if no stream takes it.
    fn send_to_stream(&self, probe: &mut RemoteProbe, queued: QueuedJob) -> Result<(), QueuedJob> {
        let Some(JobMessage(message)) = queued.job.plan.message.clone() else {
            return Err(queued);
        };
        let Some(session) = probe.sessions.iter_mut().min_by_key(|it| it.outstanding) else {
            return Err(queued);
        };
        let weight = self.weights().get(&queued.job.plan.workspace).copied().unwrap_or(1);
        let nonce = self.0.ctx.random();
        let ticket = Ticket {
            probe: probe.id.bits(),
            identity: queued.job.identity(),
            kind: queued.job.plan.check.kind(),
            is_draft: queued.is_draft,
            nonce,
        };
        let job = remote::encode_job(self.0.key.sign(&ticket), &queued.job, &message, weight);
        let bytes = job.monitor.len();
        // Counted before it is sent, because the receiver subtracts it.
        let before = session.bytes.fetch_add(bytes, Ordering::Relaxed);
        if before + bytes > STREAM_BYTES || session.jobs.try_send(job).is_err() {
            session.bytes.fetch_sub(bytes, Ordering::Relaxed);
            return Err(queued);
        }
        session.outstanding += 1;
        let number = session.number;
        probe.assigned.insert(nonce, Assigned::new(queued, number, REPORTED_WITHIN));
        Ok(())
    }

    /// Opens a stream for a probe, and gives it the jobs that wait.
    pub(crate) fn open(&self, index: ProbeIndex, from: StreamOrigin) -> OpenedStream {
        let (jobs, jobs_end) = mpsc::channel(STREAM_JOBS);
        let (number, closed) = (self.0.ctx.random(), CancellationToken::new());
        let bytes = Arc::<AtomicUsize>::default();
        let now = self.0.ctx.now();
        let StreamOrigin { probe: id, token, version, address } = from;
        let session = Session {
            number,
            token,
            jobs,
            closed: closed.clone(),
            heard_at: Instant::now(),
            outstanding: 0,
            bytes: Arc::clone(&bytes),
        };
        let mut state = self.state();
        let probe = state.probes.entry(index).or_insert_with(|| RemoteProbe::new(id));
        probe.sessions.push(session);
        probe.greet(version, address, now);
        self.send_waiting(probe);
        drop(state);
        let name = self.0.probes.name(index);
        info!(probe.name = %name.0, "probe `{}` is connected", name.0);
        self.0.metrics.probes.set_connected(&self.0.probes.public_regions(index), true);
        let guard = StreamGuard { lane: self.clone(), probe: index, number };
        OpenedStream { number, jobs: jobs_end, bytes, closed, guard }
    }

    /// Returns the key that encrypts results on the disk of a probe.
    pub(crate) fn spool_key(&self, probe: ProbeId) -> [u8; 32] {
        self.0.key.spool_key(probe.bits())
    }

    /// Counts slots that nobody ran, except in private regions, whose probes are not the operator's.
    fn count_missed<'m>(&self, missed: impl IntoIterator<Item = &'m Missed>) {
        let shared = missed.into_iter().filter(|it| !it.region.is_private());
        self.0.metrics.missed_slots.inc_by(shared.count() as u64);
    }

    async fn send(&self, input: Option<JudgeInput>) {
        let Some(input) = input else { return };
        let Some(judge) = self.state().inputs.clone() else { return };
        // The judge ends last; see `RunningPipeline::stop`.
        let _ = judge.send(input).await;
    }

    /// Sets the share of a workspace in the permits of each probe, from its next jobs on.
    pub(crate) fn set_weight(&self, workspace: WorkspaceId, weight: u32) {
        if weight == 1 {
            self.weights().remove(&workspace);
        } else {
            self.weights().insert(workspace, weight);
        }
    }

    fn weights(&self) -> MutexGuard<'_, HashMap<WorkspaceId, u32>> {
        self.0.weights.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for StreamGuard {
    fn drop(&mut self) {
        self.lane.end_stream(self.probe, self.number);
    }
}

impl std::fmt::Debug for RemoteLane {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("RemoteLane").field(&self.0.probes).finish()
    }
}

/// Returns the slot of a job that nobody ran. Jobs beside the slots have none.
fn missed_job(queued: &QueuedJob) -> Option<Missed> {
    let job = &queued.job;
    let is_current = queued.revision_flag.is_current();
    let reason = if is_current { MissedReason::Disconnected } else { MissedReason::Changed };
    let slot = Missed::slot(job.plan.monitor, job.region, job.slot, reason);
    (job.trigger == Trigger::Scheduled).then_some(slot)
}

/// Handle and region of a check that no longer keeps the next slot from running.
type Freed = (Handle, Region);
