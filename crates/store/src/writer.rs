//! The one writer: everything that changes the database waits in one queue, and what waits together
//! is committed together. Each piece of work that is not alone has a savepoint of its own, so that one
//! that fails is undone alone; all are answered after the commit. What is one statement needs none of it.
//! What a piece of work is stands in `task`, what becomes of a lost connection in `line`; what is written
//! belongs to the aggregates.

mod disk;
mod task;
mod thread;

use std::sync::Arc;

use rules::WorkspaceId;
use tokio::sync::{Mutex, mpsc, oneshot};
use tokio::time::Instant;

use self::disk::Disk;
pub(crate) use self::disk::Durable;
use self::task::{Answer, Kept, Pending, Task, Undone};
pub(crate) use self::task::{Begin, Work};
use crate::StoreError;
use crate::db::{self, Connection};
use crate::engine::{self, Owner};
use crate::folder::FolderLock;
use crate::generations::{Generations, Touched};
use crate::line::{self, Line};
use crate::numbers::Numbers;
use crate::outbox;
use crate::vault::Vault;

/// Work that may wait before those who bring more have to wait themselves.
const QUEUE_MAX: usize = 1_024;
/// Work of one transaction at most, so that nobody waits long for the commit.
const GROUP_MAX: usize = 64;

/// What a piece of work has in its hands.
pub(crate) struct Session {
    pub(crate) db: Connection,
    pub(crate) vault: Arc<Vault>,
    pub(crate) numbers: Numbers,
    pub(crate) outbox: outbox::Memory,
    /// What the work at hand changes of what callers read.
    touched: Touched,
    generations: Arc<Generations>,
    /// Whether the transaction of the work at hand has begun.
    is_begun: bool,
    disk: Disk,
    line: Line,
    /// Let go after the connection, which is why it stands last.
    _lock: FolderLock,
}

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
    Close(oneshot::Sender<Result<(), StoreError>>),
}

impl Writer {
    /// Starts the writer, which runs until it is closed or nobody can bring work any more.
    pub(crate) fn start(
        db: Connection,
        owner: Option<Owner>,
        vault: Arc<Vault>,
        lock: FolderLock,
        generations: Arc<Generations>,
        outbox: outbox::Memory,
    ) -> Result<Self, StoreError> {
        let (queue, waiting) = mpsc::channel(QUEUE_MAX);
        let line = Line::new(owner);
        let state = line.state();
        let (numbers, touched) = (Numbers::default(), Touched::default());
        let (is_begun, is_embedded) = (false, db.is_embedded());
        let session = Session {
            db,
            vault,
            numbers,
            outbox,
            touched,
            generations,
            is_begun,
            disk: Disk::default(),
            line,
            _lock: lock,
        };
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

    /// Like [`Self::write`], but where the database is embedded and nobody else writes now, the thread
    /// that asks does the work and waits for the disk: nobody is woken for it.
    pub(crate) async fn write_here<T, F>(&self, begin: Begin, work: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: for<'s> FnOnce(&'s mut Session) -> Work<'s, T> + Send + 'static,
    {
        let is_idle = self.queue.capacity() == self.queue.max_capacity();
        if is_idle
            && let Ok(mut shared) = self.session.try_lock()
            && let Some(session) = shared.as_mut().filter(|session| session.db.is_embedded())
        {
            let (task, answer) = Pending::new(begin, work);
            session.group(vec![Box::new(task)]).await;
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
    loop {
        let waiting_for_work = waiting.recv_many(&mut messages, GROUP_MAX);
        let quiet_until = shared.lock().await.as_ref().and_then(|session| session.line.quiet());
        let came = line::while_quiet(quiet_until, waiting_for_work).await;
        let mut shared = shared.lock().await;
        let Some(session) = shared.as_mut() else { return };
        match came {
            None => session.listen().await,
            // Nobody closed the store: what was answered is on disk.
            Some(0) => return,
            Some(_) => {}
        }
        let mut tasks = Vec::with_capacity(messages.len());
        let mut closing = Vec::new();
        for message in messages.drain(..) {
            match message {
                Message::Task(task) => tasks.push(task),
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
            let _ = reply.send(session.close().await);
            return;
        }
    }
}

impl Session {
    /// Says that the work at hand changes what this workspace reads, and nothing of those that are
    /// not named.
    pub(crate) fn touches(&mut self, workspace: WorkspaceId) {
        self.touched.add(workspace);
    }

    /// Says that the work at hand changes nothing that is remembered of any workspace.
    pub(crate) fn touches_nothing(&mut self) {
        self.touched = Touched::NOTHING;
    }

    /// Begins the transaction of the work at hand, where it has not begun.
    pub(crate) async fn begin(&mut self) -> Result<(), sqlx::Error> {
        if !self.is_begun {
            let begin = engine::begin(&self.db);
            self.control(begin).await?;
            self.is_begun = true;
        }
        Ok(())
    }

    /// Does all the tasks in one transaction and answers them.
    async fn group(&mut self, mut tasks: Vec<Box<dyn Task>>) {
        let committed = match self.restored().await {
            Ok(()) => self.attempt(&mut tasks).await,
            Err(why) => Err(Undone { why, is_unsure: false }),
        };
        for task in tasks {
            task.answer(committed.as_ref().copied());
        }
    }

    /// One transaction; what is left of one that failed is undone.
    async fn attempt(&mut self, tasks: &mut [Box<dyn Task>]) -> Result<(), Undone> {
        let limit = self.line.patience();
        let (undone, is_open) = match limit.wait(self.transaction(tasks)).await {
            Ok(Ok(())) => return Ok(()),
            Ok(Err(undone)) => (undone, true),
            // Whatever the database is doing, this connection is no way to learn it.
            Err(why) => (Undone { why, is_unsure: true }, false),
        };
        // What was remembered of an undone transaction may not be so.
        self.numbers.forget();
        if undone.is_unsure {
            self.outbox.keep();
        } else {
            self.outbox.forget();
        }
        let rolled_back = if is_open { self.control("ROLLBACK").await.is_ok() } else { false };
        if !rolled_back {
            self.line.lose(&undone.why);
        }
        self.settle();
        Err(undone)
    }

    async fn transaction(&mut self, tasks: &mut [Box<dyn Task>]) -> Result<(), Undone> {
        // One alone is undone with its transaction: its savepoint would be two statements for nothing.
        let is_alone = tasks.len() == 1;
        self.is_begun = false;
        // A line to another machine that is lost is known by a transaction that cannot begin or end.
        let is_embedded = self.db.is_embedded();
        let due = self.disk.due(tasks.iter().map(|task| task.begin().durable()), Instant::now());
        if is_embedded && let Some(statement) = self.disk.turns(due) {
            self.control(statement).await?;
            self.disk.turned(due);
        }
        let are_by_work = tasks.iter().all(|task| matches!(task.begin(), Begin::ByWork(_)));
        if !(is_alone && is_embedded && are_by_work) {
            self.begin().await?;
        }
        let mut touched = Touched::NOTHING;
        for task in tasks {
            if !is_alone {
                self.control("SAVEPOINT task").await?;
            }
            self.touched = Touched::default();
            let kept = task.run(self).await;
            if kept == Kept::Yes {
                touched.join(std::mem::take(&mut self.touched));
            } else {
                self.numbers.forget();
            }
            match (is_alone, kept) {
                (true, Kept::Yes) => {}
                (true, Kept::No) => {
                    self.outbox.forget();
                    if self.is_begun {
                        self.control("ROLLBACK").await?;
                    }
                    return Ok(());
                }
                (false, Kept::Yes) => self.control("RELEASE task").await?,
                (false, Kept::No) => {
                    self.control("ROLLBACK TO task").await?;
                    self.control("RELEASE task").await?;
                }
            }
        }
        if self.is_begun {
            self.generations.begin(touched);
            self.control("COMMIT").await.map_err(|error| Undone {
                // An answer of the database is a no; anything else may have come after its yes.
                is_unsure: error.as_database_error().is_none(),
                why: error.to_string(),
            })?;
            self.generations.end();
        }
        self.disk.committed(due, Instant::now());
        self.numbers.keep();
        self.outbox.keep();
        Ok(())
    }

    /// What a failed commit came to is certain now, unless the line was lost with it: then it may
    /// still become so, and others may write, until the database is ours again.
    fn settle(&self) {
        if self.line.is_lost() {
            self.generations.begin(Touched::Everything);
        } else {
            self.generations.end();
        }
    }

    /// The connection, made anew where it was lost and its time has come; or why there is none.
    async fn restored(&mut self) -> Result<(), String> {
        if let Some(db) = self.line.restore().await? {
            self.db = db;
            self.numbers = Numbers::default();
            self.generations.end();
        }
        Ok(())
    }

    /// Finds out in quiet times whether the connection still is.
    async fn listen(&mut self) {
        if self.restored().await.is_err() {
            return;
        }
        let limit = self.line.patience();
        let heard = limit.wait(self.control("SELECT 1")).await;
        let heard = heard.and_then(|answer| answer.map_err(|error| error.to_string()));
        if let Err(why) = heard {
            self.line.lose(&why);
            self.settle();
        }
    }

    async fn control(&mut self, statement: &'static str) -> Result<(), sqlx::Error> {
        db::query(statement).execute(&mut self.db).await.map(|_| ())
    }

    async fn close(mut self) -> Result<(), StoreError> {
        let folded = engine::fold(&mut self.db).await;
        self.db.close().await?;
        folded.map_err(StoreError::from)
    }
}
