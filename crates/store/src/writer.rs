//! The single writer: all changes wait in one queue, and waiting work is committed in groups. In a
//! group, each piece of work has its own savepoint, so that a failure is rolled back alone. All
//! callers get their reply after the commit. A single statement needs no transaction of its own.
//! `task` defines a piece of work, `session` is what it works with, `transaction` commits a group,
//! `durability` decides when it is on disk, `fault` records a fault of the disk, and
//! `crate::connection` handles lost connections. The aggregates define the changes.

mod durability;
mod fault;
mod session;
mod task;
#[cfg(test)]
mod tests;
mod thread;
mod transaction;

use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::Arc;

use tokio::sync::{Mutex, mpsc, oneshot, watch};
use tokio::time::Instant;

pub(crate) use self::durability::Durability;
use self::fault::DiskHealth;
use self::session::IdleTask;
pub(crate) use self::session::Session;
pub(crate) use self::task::{Begin, Work};
use self::task::{Pending, ReplyReceiver, Task};
use crate::StoreError;
use crate::connection;
use crate::db::unsynced;
use crate::engine::Checkpointer;

/// Length of the queue. Callers wait while it is full.
const QUEUE_MAX: usize = 1_024;
/// Number of tasks per transaction, so that no caller waits long for the commit.
const GROUP_MAX: usize = 64;

/// Sender of the queue. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Writer {
    queue: mpsc::Sender<Message>,
    session: SharedSession,
    state: connection::ConnectionState,
    health: DiskHealth,
}

/// Session, shared by the threads that write. `None` once it is closed.
type SharedSession = Arc<Mutex<Option<Session>>>;

enum Message {
    Task(Box<dyn Task>),
    /// Work stored outside the queue waits for a sync.
    Watch,
    Close(oneshot::Sender<Result<(), StoreError>>),
}

impl Writer {
    /// Starts the writer. It runs until it is closed or all senders are dropped.
    pub(crate) fn start(session: Session) -> Result<Self, StoreError> {
        let (queue, waiting) = mpsc::channel(QUEUE_MAX);
        let (is_embedded, state) = (session.db.is_embedded(), session.state());
        let health = session.health();
        let session = Arc::new(Mutex::new(Some(session)));
        thread::start(run(session.clone(), waiting), is_embedded)?;
        Ok(Self { queue, session, state, health })
    }

    /// Does `work` in a transaction and returns after the commit.
    pub(crate) async fn write<T, F>(&self, begin: Begin, work: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: for<'s> FnOnce(&'s mut Session) -> Work<'s, T> + Send + 'static,
    {
        let (task, reply) = Pending::new(begin, work);
        self.queue.send(Message::Task(Box::new(task))).await.map_err(|_| StoreError::Closed)?;
        self.await_reply(reply).await
    }

    /// Like [`Self::write`], but does the work on the calling thread if the database is embedded
    /// and quick and nothing else is being written. No thread is woken then.
    pub(crate) async fn write_inline<T, F>(&self, begin: Begin, work: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: for<'s> FnOnce(&'s mut Session) -> Work<'s, T> + Send + 'static,
    {
        // The session outlives a writer that failed, and then no thread syncs.
        if self.queue.is_closed() {
            return Err(StoreError::Closed);
        }
        let is_idle = self.queue.capacity() == self.queue.max_capacity();
        if is_idle
            && let Ok(mut shared) = self.session.try_lock()
            && let Some(session) = shared.as_mut()
            && session.is_quick(begin.durability())
        {
            let (task, reply) = Pending::new(begin, work);
            session.run_group(vec![Box::new(task)]).await;
            if session.schedule_check() {
                // If the queue is full, the writer is awake and checks by itself.
                let _ = self.queue.try_send(Message::Watch);
            }
            drop(shared);
            return self.await_reply(reply).await;
        }
        self.write(begin, work).await
    }

    async fn await_reply<T>(&self, reply: ReplyReceiver<T>) -> Result<T, StoreError> {
        match reply.await.map_err(|_| StoreError::Closed)? {
            Err(StoreError::NotCommitted { .. } | StoreError::Unconfirmed { .. })
                if self.state.is_taken_over() =>
            {
                Err(StoreError::TakenOver)
            }
            reply => reply,
        }
    }

    /// Returns a question whether the writer runs. Asking it does not keep the writer running.
    pub(crate) fn is_running(&self) -> impl Fn() -> bool + Send + Sync + 'static {
        let queue = self.queue.downgrade();
        move || queue.upgrade().is_some_and(|queue| !queue.is_closed())
    }

    /// Returns the flag whether another server owns the database.
    pub(crate) fn taken_over(&self) -> Arc<watch::Sender<bool>> {
        self.state.taken_over()
    }

    /// Waits until another server owns the database. No write succeeds after that.
    pub(crate) async fn wait_for_takeover(&self) {
        self.state.wait_for_takeover().await;
    }

    /// Returns the reason why work would currently fail.
    pub(crate) fn ready(&self) -> Result<(), StoreError> {
        if self.queue.is_closed() {
            return Err(StoreError::Closed);
        }
        if self.state.is_taken_over() {
            return Err(StoreError::TakenOver);
        }
        self.state.lost().map_or(Ok(()), |why| Err(StoreError::NotCommitted { why }))
    }

    /// Returns whether the last write failed because of the disk. Fails with the reason if the disk
    /// is known to have this fault still; otherwise only a write can tell.
    pub(crate) fn has_disk_fault(&self) -> Result<bool, StoreError> {
        match self.health.fault() {
            Some(fault) if self.health.lasts(fault) => Err(fault.error(&"the disk is full")),
            fault => Ok(fault.is_some()),
        }
    }

    /// Records that a write succeeded.
    pub(crate) fn disk_works(&self) {
        self.health.succeeded();
    }

    /// Stops the writer after the waiting work, and checkpoints and syncs the log.
    pub(crate) async fn close(&self) -> Result<(), StoreError> {
        let (sender, reply) = oneshot::channel();
        if self.queue.send(Message::Close(sender)).await.is_err() {
            return Ok(());
        }
        reply.await.unwrap_or(Ok(()))
    }
}

async fn run(shared: SharedSession, mut waiting: mpsc::Receiver<Message>) {
    let mut messages = Vec::with_capacity(GROUP_MAX);
    let mut checkpointer = Checkpointer::default();
    loop {
        let Some(until) = run_idle_tasks(&shared, &mut checkpointer).await else { return };
        let waiting_for_work = waiting.recv_many(&mut messages, GROUP_MAX);
        let came = connection::until_check(until, waiting_for_work).await;
        let mut shared = shared.lock().await;
        let Some(session) = shared.as_mut() else { return };
        match came {
            None => session.check_connection().await,
            // The store was dropped without closing. Committed data is already with the operating
            // system.
            Some(0) => return,
            Some(_) => {}
        }
        let mut tasks = Vec::with_capacity(messages.len());
        let mut closing = Vec::new();
        for message in messages.drain(..) {
            match message {
                Message::Task(task) => tasks.push(task),
                Message::Watch => {}
                Message::Close(reply) => closing.push(reply),
            }
        }
        if !tasks.is_empty() {
            session.run_group(tasks).await;
        }
        if let Some(reply) = closing.pop()
            && let Some(session) = shared.take()
        {
            waiting.close();
            // Drop this connection first: the last one removes the log.
            drop(checkpointer);
            let _ = reply.send(session.close().await);
            return;
        }
    }
}

/// Syncs and checkpoints the log if due. Returns the time of the next check unless there is work
/// before, or `None` after the session is closed.
async fn run_idle_tasks(
    shared: &SharedSession,
    checkpointer: &mut Checkpointer,
) -> Option<Option<Instant>> {
    loop {
        let chore = shared.lock().await.as_mut()?.idle_task();
        let (log, due) = match chore {
            IdleTask::Wait(until) => return Some(until),
            IdleTask::Log(log, due) => (log, due),
        };
        // Closing this file releases no locks, because SQLite has none on its log.
        let synced = if due.sync { sync(&log) } else { Ok(()) };
        if let Err(why) = synced {
            shared.lock().await.as_mut()?.record_sync_failure(&why);
        } else if due.checkpoint
            && let Err(why) = checkpointer.checkpoint(&log)
        {
            tracing::warn!(
                "failed to checkpoint the database's write-ahead log, which grows: {why}"
            );
        }
    }
}

/// Syncs the log. Fails if the file cannot be opened; the caller may retry then.
fn sync(log: &Path) -> io::Result<()> {
    let log = File::open(log)?;
    if let Err(why) = log.sync_data() {
        unsynced::end(&why);
    }
    Ok(())
}
