//! The threads that the stages run on, apart from those that answer calls: the system shares the
//! cores between both, so that neither waits until the other has nothing to do. Stages and their
//! checks on one thread also need nobody to wake another core for each of them. A second thread
//! gets jobs where the first cannot keep up (see `lane`).

use std::io;
use std::thread;
use std::time::Duration;

use tokio::runtime::{Builder, Handle};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

/// More threads than cores gain nothing, and more than these nobody needed yet.
const THREADS_MAX: usize = 8;
/// There is always a timer that ends sooner than that of most checks: where none is, the runtime wakes its
/// own thread, which is awake, for every check that begins.
const SOON: Duration = Duration::from_secs(1);

/// A thread with a runtime of its own.
pub(super) struct Thread {
    handle: Handle,
    /// What keeps it.
    pub(super) alive: Alive,
}

/// The thread lives until the last clone of this is dropped; tasks that still are there go with it.
#[derive(Clone, Debug)]
pub(super) struct Alive {
    _until_dropped: mpsc::Sender<()>,
}

impl Thread {
    /// Runs a task on the thread, which lives at least as long.
    pub(super) fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) -> JoinHandle<()> {
        let alive = self.alive.clone();
        self.handle.spawn(async move {
            task.await;
            drop(alive);
        })
    }
}

/// Starts a thread for each core.
pub(super) fn start() -> io::Result<Vec<Thread>> {
    let cores = thread::available_parallelism().map_or(1, usize::from);
    (0..cores.min(THREADS_MAX)).map(start_one).collect()
}

fn start_one(number: usize) -> io::Result<Thread> {
    let runtime = Builder::new_current_thread().enable_all().build()?;
    let handle = runtime.handle().clone();
    let (until_dropped, mut dropped) = mpsc::channel(1);
    thread::Builder::new().name(format!("checks-{number}")).spawn(move || {
        runtime.block_on(async move {
            while tokio::time::timeout(SOON, dropped.recv()).await.is_err() {}
        });
    })?;
    Ok(Thread { handle, alive: Alive { _until_dropped: until_dropped } })
}
