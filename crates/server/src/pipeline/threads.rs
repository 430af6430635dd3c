//! Threads of the stages, separate from those that answer calls. The operating system shares the
//! cores between both, so that neither waits for the other to be idle. A stage and its checks on
//! one thread also need no wakeups across cores. A second thread gets jobs if the first cannot keep
//! up (see `lane`).

use std::io;
use std::thread;
use std::time::Duration;

use tokio::runtime::{Builder, Handle};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

/// Maximum number of threads. More threads than cores gain nothing, and no load has needed more
/// than these.
const THREADS_MAX: usize = 8;
/// Interval of a timer that always runs. A new timer that ends before all others wakes the runtime's
/// thread, even if that thread sets it. This one ends sooner than the timers of most checks.
const SOON: Duration = Duration::from_secs(1);

/// Thread with a runtime of its own.
pub(super) struct Thread {
    handle: Handle,
    /// Guard that keeps the thread alive.
    pub(super) alive: Alive,
}

/// Guard of a thread, which ends with the last clone. Remaining tasks are dropped.
#[derive(Clone, Debug)]
pub(super) struct Alive {
    _until_dropped: mpsc::Sender<()>,
}

impl Thread {
    /// Spawns a task on the thread, which lives at least as long.
    pub(super) fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) -> JoinHandle<()> {
        let alive = self.alive.clone();
        self.handle.spawn(async move {
            task.await;
            drop(alive);
        })
    }
}

/// Starts a thread for each core, up to [`THREADS_MAX`].
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
