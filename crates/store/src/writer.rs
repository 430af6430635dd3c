//! The one writer: everything that changes the database waits in one queue, and what waits together
//! is committed together. Each piece of work that is not alone has a savepoint of its own, so that one
//! that fails is undone alone; all are answered after the commit. What is one statement needs none of it.
//! What a piece of work is stands in `task`, one transaction in `session`, when it is on the disk in `disk`,
//! what becomes of a lost connection in `line`; what is written belongs to the aggregates.

mod disk;
mod session;
mod task;
#[cfg(test)]
mod tests;
mod thread;

use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::Arc;

use tokio::sync::{Mutex, mpsc, oneshot};
use tokio::time::Instant;

pub(crate) use self::disk::Durable;
use self::session::Chore;
pub(crate) use self::session::Session;
use self::task::{Answer, Pending, Task};
pub(crate) use self::task::{Begin, Work};
use crate::StoreError;
use crate::db::unsynced;
use crate::engine::Folding;
use crate::line;

/// Work that may wait before those who bring more have to wait themselves.
const QUEUE_MAX: usize = 1_024;
/// Work of one transaction at most, so that nobody waits long for the commit.
const GROUP_MAX: usize = 64;

/// The queue's near end. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Writer {
    queue: mpsc::Sender<Message>,
    session: Shared,
    state: line::State,
}

/// The session, for whoever writes just now; `None` once it is closed.
type Shared = Arc<Mutex<Option<Session>>>;

enum Message {
    Task(Box<dyn Task>),
    /// What somebody stored by itself waits for a sync.
    Watch,
    Close(oneshot::Sender<Result<(), StoreError>>),
}

impl Writer {
    /// Starts the writer, which runs until it is closed or nobody can bring work any more.
    pub(crate) fn start(session: Session) -> Result<Self, StoreError> {
        let (queue, waiting) = mpsc::channel(QUEUE_MAX);
        let (is_embedded, state) = (session.db.is_embedded(), session.state());
        let session = Arc::new(Mutex::new(Some(session)));
        thread::start(run(session.clone(), waiting), is_embedded)?;
        Ok(Self { queue, session, state })
    }

    /// Does `work` in a transaction; the answer comes after the commit.
    pub(crate) async fn write<T, F>(&self, begin: Begin, work: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: for<'s> FnOnce(&'s mut Session) -> Work<'s, T> + Send + 'static,
    {
        let (task, answer) = Pending::new(begin, work);
        self.queue.send(Message::Task(Box::new(task))).await.map_err(|_| StoreError::Closed)?;
        self.answered(answer).await
    }

    /// Like [`Self::write`], but where the database is embedded, quick, and nobody else writes now, the
    /// thread that asks does the work: nobody is woken for it.
    pub(crate) async fn write_here<T, F>(&self, begin: Begin, work: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: for<'s> FnOnce(&'s mut Session) -> Work<'s, T> + Send + 'static,
    {
        // The session outlives a writer that failed, and nobody would sync what is written there.
        if self.queue.is_closed() {
            return Err(StoreError::Closed);
        }
        let is_idle = self.queue.capacity() == self.queue.max_capacity();
        if is_idle
            && let Ok(mut shared) = self.session.try_lock()
            && let Some(session) = shared.as_mut()
            && session.is_quick(begin.durable())
        {
            let (task, answer) = Pending::new(begin, work);
            session.group(vec![Box::new(task)]).await;
            if session.begins_to_wait() {
                // Where the queue is full the writer is awake, and looks by itself.
                let _ = self.queue.try_send(Message::Watch);
            }
            drop(shared);
            return self.answered(answer).await;
        }
        self.write(begin, work).await
    }

    async fn answered<T>(&self, answer: Answer<T>) -> Result<T, StoreError> {
        match answer.await.map_err(|_| StoreError::Closed)? {
            Err(StoreError::NotCommitted { .. } | StoreError::Unconfirmed { .. })
                if self.state.is_taken_over() =>
            {
                Err(StoreError::TakenOver)
            }
            answer => answer,
        }
    }

    /// Ends when another server owns the database: nothing is ever written again.
    pub(crate) async fn taken_over(&self) {
        self.state.taken_over().await;
    }

    /// Why work would not be done now.
    pub(crate) fn ready(&self) -> Result<(), StoreError> {
        if self.queue.is_closed() {
            return Err(StoreError::Closed);
        }
        if self.state.is_taken_over() {
            return Err(StoreError::TakenOver);
        }
        self.state.lost().map_or(Ok(()), |why| Err(StoreError::NotCommitted { why }))
    }

    /// Ends the writer after what waits; the log is copied into the database and synced.
    pub(crate) async fn close(&self) -> Result<(), StoreError> {
        let (reply, answer) = oneshot::channel();
        if self.queue.send(Message::Close(reply)).await.is_err() {
            return Ok(());
        }
        answer.await.unwrap_or(Ok(()))
    }
}

async fn run(shared: Shared, mut waiting: mpsc::Receiver<Message>) {
    let mut messages = Vec::with_capacity(GROUP_MAX);
    let mut folding = Folding::default();
    loop {
        let Some(until) = look_after(&shared, &mut folding).await else { return };
        let waiting_for_work = waiting.recv_many(&mut messages, GROUP_MAX);
        let came = line::while_quiet(until, waiting_for_work).await;
        let mut shared = shared.lock().await;
        let Some(session) = shared.as_mut() else { return };
        match came {
            None => session.listen().await,
            // Nobody closed the store: what was answered is with the system.
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
            session.group(tasks).await;
        }
        if let Some(reply) = closing.pop()
            && let Some(session) = shared.take()
        {
            waiting.close();
            // The last connection takes the log away.
            drop(folding);
            let _ = reply.send(session.close().await);
            return;
        }
    }
}

/// Syncs the log and copies it into the database where that is due, and says when to look again, unless there
/// is work before; `None` where there is no session any more.
async fn look_after(shared: &Shared, folding: &mut Folding) -> Option<Option<Instant>> {
    loop {
        let chore = shared.lock().await.as_mut()?.chore();
        let (log, due) = match chore {
            Chore::Wait(until) => return Some(until),
            Chore::Log(log, due) => (log, due),
        };
        // SQLite has no locks on its log that closing this would let go of.
        let synced = if due.sync { sync(&log) } else { Ok(()) };
        if let Err(why) = synced {
            shared.lock().await.as_mut()?.not_synced(&why);
        } else if due.fold
            && let Err(why) = folding.fold(&log)
        {
            tracing::warn!("the database's log could not be copied into it, and grows: {why}");
        }
    }
}

/// Syncs the log; an error where it could not be opened, which may be tried again.
fn sync(log: &Path) -> io::Result<()> {
    let log = File::open(log)?;
    if let Err(why) = log.sync_data() {
        unsynced::end(&why);
    }
    Ok(())
}
