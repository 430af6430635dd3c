//! Runs the jobs of a probe, at most as many at a time as it may. Workspaces take turns as they do in the
//! server (`domain::cadence::Turns`).

use std::collections::HashMap;
use std::panic::AssertUnwindSafe;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use domain::cadence::{MissedReason, Turns};
use domain::check::{ProbeName, Undecided, conclude};
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use probe::Probe;
use rules::{Timestamp, WorkspaceId};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tracing::error;

use super::AgentSettings;
use super::clock::ServerClock;
use crate::messages::{RemoteJob, encode_missed, encode_result};
use crate::wire;

/// Time after its last job from which a workspace no longer shares the permits.
const SHARES_FOR: Duration = Duration::from_hours(2);
/// Interval in which jobs are looked for that waited too long.
const EXPIRE_EVERY: Duration = Duration::from_millis(500);

/// The checks of a probe.
pub(super) struct Work {
    probe: Probe,
    clock: ServerClock,
    turns: Mutex<Shares>,
    results: mpsc::Sender<wire::JobResult>,
    load: Load,
    tasks: TaskTracker,
    stop: CancellationToken,
    give_up: CancellationToken,
}

/// The permits, and the last job of each workspace.
struct Shares {
    turns: Turns<RemoteJob>,
    last_jobs: HashMap<WorkspaceId, LastJob>,
}

/// When a workspace had its last job, and its weight then.
#[derive(Clone, Copy, Debug)]
struct LastJob {
    at: Timestamp,
    weight: u32,
}

/// Number of checks that run and wait. Clones share it.
#[derive(Clone, Debug, Default)]
pub(super) struct Load {
    running: Arc<AtomicUsize>,
    waiting: Arc<AtomicUsize>,
}

impl Load {
    /// Returns the number of running and of waiting checks.
    pub(super) fn counts(&self) -> (usize, usize) {
        (self.running.load(Ordering::Relaxed), self.waiting.load(Ordering::Relaxed))
    }
}

impl Work {
    pub(super) fn new(
        settings: &AgentSettings,
        clock: ServerClock,
        results: mpsc::Sender<wire::JobResult>,
    ) -> Arc<Self> {
        let concurrency = settings.checks_max;
        let network = probe::Settings { concurrency, ..settings.probe.clone() };
        let turns = Turns::new(concurrency);
        let work = Arc::new(Self {
            probe: Probe::new(network),
            clock,
            turns: Mutex::new(Shares { turns, last_jobs: HashMap::new() }),
            results,
            load: Load::default(),
            tasks: TaskTracker::new(),
            stop: CancellationToken::new(),
            give_up: CancellationToken::new(),
        });
        tokio::spawn(expire_waiting(Arc::clone(&work)));
        work
    }

    pub(super) fn load(&self) -> Load {
        self.load.clone()
    }

    /// Runs a job, or queues it for a permit.
    pub(super) async fn accept(self: &Arc<Self>, job: RemoteJob) {
        let now = self.clock.now();
        if self.stop.is_cancelled() {
            return self.miss(job.ticket, MissedReason::Down).await;
        }
        if now >= job.job.next_slot {
            return self.miss(job.ticket, MissedReason::Overloaded).await;
        }
        let (workspace, deadline) = (job.job.plan.workspace, job.job.next_slot);
        let runnable = self.with(|shares| {
            let last = LastJob { at: now, weight: job.weight };
            let before = shares.last_jobs.insert(workspace, last);
            let mut runnable = Vec::new();
            if before.is_none_or(|it| it.weight != job.weight) {
                runnable.extend(shares.turns.set_weight(workspace, job.weight, now));
            }
            if before.is_none() {
                runnable.extend(shares.turns.join(workspace, now));
            }
            runnable.extend(shares.turns.admit(workspace, deadline, job));
            runnable
        });
        for job in runnable {
            self.start(job);
        }
    }

    /// Starts no more checks, waits for running ones, and reports all others as missed.
    pub(super) async fn stop(&self, within: Duration) {
        self.stop.cancel();
        for job in self.with(|shares| shares.turns.drain()) {
            self.miss(job.ticket, MissedReason::Down).await;
        }
        self.tasks.close();
        if tokio::time::timeout(within, self.tasks.wait()).await.is_err() {
            self.give_up.cancel();
            self.tasks.wait().await;
        }
    }

    /// Starts a check that has a permit. After its result is queued, the permit passes to the next one.
    fn start(self: &Arc<Self>, job: RemoteJob) {
        let this = Arc::clone(self);
        let workspace = job.job.plan.workspace;
        // Type-erased because it starts further tasks of its own type.
        let check: BoxFuture<'static, ()> = Box::pin(async move {
            let begun = this.clock.now();
            this.load.running.fetch_add(1, Ordering::Relaxed);
            let result = this.check(job).await;
            this.load.running.fetch_sub(1, Ordering::Relaxed);
            let ran = this.clock.now().since(begun);
            // The reporter ends last.
            let _ = this.results.send(result).await;
            let now = this.clock.now();
            for next in this.with(|shares| shares.turns.release(workspace, ran, now)) {
                this.start(next);
            }
        });
        self.tasks.spawn(check);
    }

    async fn check(&self, RemoteJob { ticket, job, .. }: RemoteJob) -> wire::JobResult {
        if self.stop.is_cancelled() {
            return encode_missed(ticket, MissedReason::Down);
        }
        let run = async {
            let attempts = self.probe.run(&job, || self.clock.now()).await;
            let is_cut = attempts.iter().any(|(attempt, _)| attempt.observation.is_cut());
            // The server sets the name.
            let name = ProbeName(Arc::from(""));
            match Undecided::of(&attempts) {
                None => Ok((conclude(&job, attempts, self.clock.now(), name), is_cut)),
                Some(undecided) => Err(undecided),
            }
        };
        // A bug that a target's bytes trigger ends only that check.
        let caught = AssertUnwindSafe(run).catch_unwind();
        match self.give_up.run_until_cancelled(caught).await {
            Some(Ok(Ok((result, is_cut)))) => encode_result(ticket, &result, is_cut),
            Some(Ok(Err(undecided))) => encode_missed(ticket, undecided.into()),
            Some(Err(_)) => {
                let monitor = job.plan.monitor;
                error!(monitor.id = %monitor, "a check of monitor `{monitor}` panicked, which is a fault of this program; its slot counts as missed");
                encode_missed(ticket, MissedReason::Fault)
            }
            None => encode_missed(ticket, MissedReason::Down),
        }
    }

    async fn miss(&self, ticket: Vec<u8>, reason: MissedReason) {
        // The reporter ends last.
        let _ = self.results.send(encode_missed(ticket, reason)).await;
    }

    /// Reports the jobs that waited until their next slot, and forgets workspaces without jobs.
    async fn expire(self: &Arc<Self>) {
        let now = self.clock.now();
        let (expired, runnable) = self.with(|shares| {
            let expired = shares.turns.expired(now);
            let silent = |(workspace, last): (&WorkspaceId, &LastJob)| {
                (now.since(last.at) > SHARES_FOR).then_some(*workspace)
            };
            let gone: Vec<WorkspaceId> = shares.last_jobs.iter().filter_map(silent).collect();
            let mut runnable = Vec::new();
            for workspace in gone {
                shares.last_jobs.remove(&workspace);
                runnable.extend(shares.turns.remove_workspace(workspace, now));
                // Weights other than 1 take memory.
                runnable.extend(shares.turns.set_weight(workspace, 1, now));
            }
            (expired, runnable)
        });
        for job in runnable {
            self.start(job);
        }
        for job in expired {
            self.miss(job.ticket, MissedReason::Overloaded).await;
        }
    }

    fn with<T>(&self, work: impl FnOnce(&mut Shares) -> T) -> T {
        let mut shares = self.turns.lock().unwrap_or_else(PoisonError::into_inner);
        let done = work(&mut shares);
        self.load.waiting.store(shares.turns.waiting(), Ordering::Relaxed);
        done
    }
}

/// Looks for jobs that waited too long until the checks stop.
async fn expire_waiting(work: Arc<Work>) {
    let stop = work.stop.clone();
    while stop.run_until_cancelled(tokio::time::sleep(EXPIRE_EVERY)).await.is_some() {
        work.expire().await;
    }
}
