//! lane: channels between the stages. Jobs flow from cadence to the checkers, and their results to
//! the judge. A lane is a bounded channel, or `remote`: the connections of probes in other places.

pub(crate) mod probes;
pub(crate) mod remote;

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use domain::cadence::{Handle, Missed};
use domain::check::{CheckResult, Job};
use domain::judge::{ConnectivityCheck, ProbeIndex};
use futures_util::future::select_all;
use rules::Region;
use tokio::sync::{Notify, mpsc, oneshot};
use tokio::time::{Instant, sleep_until};

use self::remote::RemoteLane;

/// Capacity of one lane of jobs; cadence waits if it is full.
const JOBS_WAITING: usize = 1_024;
/// Number of waiting jobs from which a lane counts as overloaded and the next one gets some.
const BEHIND: usize = 512;
/// Capacity of the lane of inputs; checks wait with their result if it is full.
const INPUTS_WAITING: usize = 8_192;
/// Interval in which inputs are batched: short compared with the 100 ms in which they are stored.
const PAUSE: Duration = Duration::from_millis(4);

/// Job on its way to a probe.
#[derive(Debug)]
pub(crate) struct QueuedJob {
    pub(crate) job: Job,
    /// Position of the slot on the timetable; `None` for jobs beside it.
    pub(crate) handle: Option<Handle>,
    /// Caller that waits for the result to be stored.
    pub(crate) reply: Option<oneshot::Sender<CheckResult>>,
    /// Whether the result is only for the caller: a draft's is neither judged nor stored.
    pub(crate) is_draft: bool,
    /// Flag of the revision to check.
    pub(crate) revision_flag: RevisionFlag,
    /// Whether the job waited for a permit and got it.
    pub(crate) has_permit: bool,
    /// Guard that is dropped after the result is sent.
    pub(crate) in_flight: InFlightGuard,
}

/// Counter of jobs in progress, from sending the job to sending its result. At zero the judge has
/// nothing to wait for.
#[derive(Debug, Default)]
pub(crate) struct InFlight {
    count: AtomicUsize,
    ended: Notify,
}

/// Guard that counts one job in progress until it is dropped.
#[derive(Debug)]
pub(crate) struct InFlightGuard(Arc<InFlight>);

/// Flag whether a revision of a monitor is outdated: edited, paused or deleted since. Clones share
/// the flag.
#[derive(Clone, Debug, Default)]
pub(crate) struct RevisionFlag(Arc<AtomicBool>);

/// Input of the judge.
#[derive(Debug)]
pub(crate) enum JudgeInput {
    /// Result of an ended or skipped check.
    Result(CheckResult, Option<oneshot::Sender<CheckResult>>),
    /// Result from a probe in another place, which keeps it until it is stored.
    Reported {
        result: CheckResult,
        /// Whether the slot may be recorded as missed.
        is_late: bool,
        /// Whether it votes.
        is_judged: bool,
        stored: oneshot::Sender<()>,
    },
    /// Slots without a check.
    Missed(Missed),
    /// Result of the connectivity check of a suspect probe.
    ConnectivityCheck(ProbeIndex, ConnectivityCheck),
}

/// Checks that ended since cadence last looked. Cadence polls when it needs to know, so that an
/// ended check wakes no task.
#[derive(Debug, Default)]
pub(crate) struct Finished(Mutex<Vec<(Handle, Region)>>);

/// Sender of jobs, to the checkers of this process or to probes in other places. Cheap to clone.
#[derive(Clone, Debug)]
pub(crate) struct Jobs {
    local: Lanes<QueuedJob>,
    remote: Option<RemoteLane>,
}

/// Sender of several lanes, one for each checker thread.
#[derive(Debug)]
pub(crate) struct Lanes<T>(Arc<[mpsc::Sender<T>]>);

/// Error of a lane without a receiver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LaneClosed;

/// Receiver of the judge's inputs, which batches them under load, because each wakeup costs as much
/// as an input.
pub(crate) struct BatchedReceiver<T = JudgeInput> {
    inputs: mpsc::Receiver<T>,
    in_flight: Arc<InFlight>,
    /// Time of the last batch.
    taken_at: Instant,
}

/// Result of waiting for inputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RecvOutcome {
    /// Some inputs were received.
    Some,
    /// The last job ended, and its result was received before.
    Idle,
    /// All senders are dropped.
    Closed,
}

impl QueuedJob {
    /// Creates the job of a slot, which waits for a permit.
    pub(crate) const fn scheduled(
        job: Job,
        handle: Handle,
        revision_flag: RevisionFlag,
        in_flight: InFlightGuard,
    ) -> Self {
        Self {
            job,
            handle: Some(handle),
            reply: None,
            is_draft: false,
            revision_flag,
            has_permit: false,
            in_flight,
        }
    }
}

impl QueuedJob {
    /// Creates a job beside the slots, for a caller that waits.
    pub(crate) fn beside(
        job: Job,
        reply: oneshot::Sender<CheckResult>,
        is_draft: bool,
        in_flight: InFlightGuard,
    ) -> Self {
        Self {
            job,
            handle: None,
            reply: Some(reply),
            is_draft,
            revision_flag: RevisionFlag::default(),
            has_permit: false,
            in_flight,
        }
    }
}

/// Creates `count` lanes of jobs.
pub(crate) fn jobs(count: usize) -> (Jobs, Vec<mpsc::Receiver<QueuedJob>>) {
    let (near, far): (Vec<_>, Vec<_>) = (0..count).map(|_| mpsc::channel(JOBS_WAITING)).unzip();
    (Jobs { local: Lanes(near.into()), remote: None }, far)
}

impl Jobs {
    /// Returns the same sender, which gives jobs of other places to their probes.
    pub(crate) fn with_remote(self, remote: RemoteLane) -> Self {
        Self { remote: Some(remote), ..self }
    }

    /// Sends a job to the probe of its region. Waits for room if that is this process; a probe in
    /// another place gets it at once or when it connects.
    pub(crate) async fn send(&self, job: QueuedJob) -> Result<(), LaneClosed> {
        let elsewhere = self.remote.as_ref();
        let workspace = job.job.plan.workspace;
        match elsewhere.and_then(|lane| Some((lane, lane.probe_of(workspace, job.job.region)?))) {
            Some((lane, probe)) => {
                lane.assign(probe, job).await;
                Ok(())
            }
            None => self.local.send(job).await,
        }
    }

    /// Returns whether a lane of this process has room.
    pub(crate) fn has_room(&self) -> bool {
        self.local.has_room()
    }

    /// Waits until a lane of this process has room or is closed.
    pub(crate) async fn wait_for_room(&self) {
        self.local.wait_for_room().await;
    }

    /// Returns whether all lanes of this process are closed.
    pub(crate) fn is_closed(&self) -> bool {
        self.local.is_closed()
    }
}

/// Creates the lane of inputs.
pub(crate) fn inputs() -> (mpsc::Sender<JudgeInput>, mpsc::Receiver<JudgeInput>) {
    mpsc::channel(INPUTS_WAITING)
}

impl<T> Lanes<T> {
    /// Sends a job to the first lane that is not overloaded, else to the one with the most room.
    /// Waits if all are full.
    pub(crate) async fn send(&self, job: T) -> Result<(), LaneClosed> {
        let keeps_up = |lane: &&mpsc::Sender<T>| lane.max_capacity() - lane.capacity() < BEHIND;
        let roomiest = || self.0.iter().max_by_key(|lane| lane.capacity());
        let lane = self.0.iter().find(keeps_up).or_else(roomiest).ok_or(LaneClosed)?;
        lane.send(job).await.map_err(|_| LaneClosed)
    }

    /// Returns whether a lane has room.
    pub(crate) fn has_room(&self) -> bool {
        self.0.iter().any(|lane| lane.capacity() > 0)
    }

    /// Waits until a lane has room or is closed.
    pub(crate) async fn wait_for_room(&self) {
        if !self.has_room() {
            let _ = select_all(self.0.iter().map(|lane| Box::pin(lane.reserve()))).await;
        }
    }

    /// Returns whether all lanes are closed.
    pub(crate) fn is_closed(&self) -> bool {
        self.0.iter().all(mpsc::Sender::is_closed)
    }
}

impl<T> Clone for Lanes<T> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<T> BatchedReceiver<T> {
    pub(crate) fn new(inputs: mpsc::Receiver<T>, in_flight: Arc<InFlight>) -> Self {
        Self { inputs, in_flight, taken_at: Instant::now() }
    }

    /// Returns whether no input waits and no job is in progress.
    pub(crate) fn is_idle(&self) -> bool {
        self.in_flight.is_none() && self.inputs.is_empty()
    }

    /// Returns whether no input waits.
    pub(crate) fn is_empty(&self) -> bool {
        self.inputs.is_empty()
    }

    /// Rejects further inputs, and returns those that wait.
    pub(crate) fn close(&mut self) -> Vec<T> {
        self.inputs.close();
        std::iter::from_fn(|| self.inputs.try_recv().ok()).collect()
    }

    /// Waits for inputs and receives as many as there are, up to `limit`. Cancel safe: dropping
    /// the future loses none.
    pub(crate) async fn recv_batch(&mut self, inputs: &mut Vec<T>, limit: usize) -> RecvOutcome {
        let again_at = self.taken_at + PAUSE;
        let has_time = Instant::now() < again_at && self.inputs.len() < limit;
        if has_time && !self.in_flight.is_none() {
            tokio::select! {
                () = sleep_until(again_at) => {}
                () = self.in_flight.wait_idle() => {}
            }
        }
        tokio::select! {
            biased;
            count = self.inputs.recv_many(inputs, limit) => {
                self.taken_at = Instant::now();
                if count == 0 { RecvOutcome::Closed } else { RecvOutcome::Some }
            }
            () = self.in_flight.wait_idle() => RecvOutcome::Idle,
        }
    }
}

impl InFlight {
    /// Counts a job until the guard is dropped.
    pub(crate) fn begin(self: &Arc<Self>) -> InFlightGuard {
        self.count.fetch_add(1, Ordering::Relaxed);
        InFlightGuard(Arc::clone(self))
    }

    /// Returns whether no job is in progress. The results of ended jobs can be received then.
    pub(crate) fn is_none(&self) -> bool {
        self.count.load(Ordering::Acquire) == 0
    }

    /// Waits until no job is in progress. May return early after an earlier end. Supports one
    /// waiter.
    pub(crate) async fn wait_idle(&self) {
        self.ended.notified().await;
    }
}

impl Drop for InFlightGuard {
    fn drop(&mut self) {
        if self.0.count.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.0.ended.notify_one();
        }
    }
}

impl RevisionFlag {
    /// Marks the revision as outdated.
    pub(crate) fn mark_outdated(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Returns whether the revision is current.
    pub(crate) fn is_current(&self) -> bool {
        !self.0.load(Ordering::Relaxed)
    }
}

impl Finished {
    /// Records that a check ended.
    pub(crate) fn record(&self, handle: Handle, region: Region) {
        self.0.lock().expect("no thread panics while it holds the lock").push((handle, region));
    }

    /// Takes the ended checks and leaves `empty` in their place.
    pub(crate) fn take(&self, empty: Vec<(Handle, Region)>) -> Vec<(Handle, Region)> {
        std::mem::replace(
            &mut *self.0.lock().expect("no thread panics while it holds the lock"),
            empty,
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn overloaded_lane_shares_with_the_next() {
        let (near, mut far): (Vec<_>, Vec<_>) = (0..2).map(|_| mpsc::channel(2 * BEHIND)).unzip();
        let lanes = Lanes(near.into());
        let waiting =
            |far: &[mpsc::Receiver<usize>]| far.iter().map(mpsc::Receiver::len).collect::<Vec<_>>();
        for job in 0..BEHIND {
            lanes.send(job).await.unwrap();
        }
        assert_eq!(waiting(&far), [BEHIND, 0]);
        lanes.send(BEHIND).await.unwrap();
        assert_eq!(waiting(&far), [BEHIND, 1]);
        assert_eq!(far[0].recv().await, Some(0));
        lanes.send(BEHIND).await.unwrap();
        assert_eq!(waiting(&far), [BEHIND, 1], "it keeps up again");
        for job in 0..=BEHIND {
            lanes.send(job).await.unwrap();
        }
        assert_eq!(waiting(&far), [BEHIND + 1, BEHIND + 1], "none keeps up");
        drop(far);
        assert!(lanes.is_closed());
        assert_eq!(lanes.send(0).await, Err(LaneClosed));
    }

    #[tokio::test]
    async fn inputs_in_quick_succession_are_batched() {
        let (sender, receiver) = mpsc::channel(8);
        let begun = Instant::now();
        let in_flight = Arc::<InFlight>::default();
        let one = in_flight.begin();
        let mut paced = BatchedReceiver::new(receiver, in_flight);
        let mut taken = Vec::new();
        for input in 0..3 {
            sender.send(input).await.unwrap();
        }
        assert_eq!(paced.recv_batch(&mut taken, 8).await, RecvOutcome::Some);
        assert!(begun.elapsed() >= PAUSE, "some were taken just before");
        sender.send(3).await.unwrap();
        assert_eq!(
            paced.recv_batch(&mut taken, 1).await,
            RecvOutcome::Some,
            "as many as it may are there"
        );
        assert!(!paced.is_idle(), "one is under way");
        drop(one);
        assert!(paced.is_idle());
        assert_eq!(paced.recv_batch(&mut taken, 8).await, RecvOutcome::Idle);
        drop(sender);
        assert_eq!(paced.recv_batch(&mut taken, 8).await, RecvOutcome::Closed);
        assert_eq!(taken, [0, 1, 2, 3]);
    }
}
