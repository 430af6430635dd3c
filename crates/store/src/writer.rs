//! The one writer: everything that changes the database waits in one queue, and what waits together
//! is committed together. Each piece of work has a savepoint of its own, so that one that fails is
//! undone alone; all are answered after the commit. What is written belongs to the aggregates.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use sqlx::{Connection, SqliteConnection};
use tokio::sync::{mpsc, oneshot};

use crate::StoreError;
use crate::folder::FolderLock;
use crate::numbers::Numbers;
use crate::vault::Vault;

/// Work that may wait before those who bring more have to wait themselves.
const QUEUE_MAX: usize = 1_024;
/// Work of one transaction at most, so that nobody waits long for the commit.
const GROUP_MAX: usize = 64;

/// What a piece of work has in its hands.
pub(crate) struct Session {
    pub(crate) db: SqliteConnection,
    pub(crate) vault: Arc<Vault>,
    pub(crate) numbers: Numbers,
    /// Let go after the connection, which is why it stands last.
    _lock: FolderLock,
}

/// The future of a piece of work.
pub(crate) type Work<'s, T> = Pin<Box<dyn Future<Output = Result<T, StoreError>> + Send + 's>>;

/// The queue's near end. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Writer {
    queue: mpsc::Sender<Message>,
}

enum Message {
    Task(Box<dyn Task>),
    Close(oneshot::Sender<Result<(), StoreError>>),
}

impl Writer {
    /// Starts the writer, which runs until it is closed or nobody can bring work any more.
    pub(crate) fn start(db: SqliteConnection, vault: Arc<Vault>, lock: FolderLock) -> Self {
        let (queue, waiting) = mpsc::channel(QUEUE_MAX);
        let session = Session { db, vault, numbers: Numbers::default(), _lock: lock };
        tokio::spawn(run(session, waiting));
        Self { queue }
    }

    /// Does `work` in a transaction; the answer comes after the commit.
    pub(crate) async fn write<T, F>(&self, work: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: for<'s> FnOnce(&'s mut Session) -> Work<'s, T> + Send + 'static,
    {
        let (reply, answer) = oneshot::channel();
        let task = Pending { work: Some(work), outcome: None, reply };
        self.queue.send(Message::Task(Box::new(task))).await.map_err(|_| StoreError::Closed)?;
        answer.await.map_err(|_| StoreError::Closed)?
    }

    /// Whether the writer takes work.
    pub(crate) fn is_working(&self) -> bool {
        !self.queue.is_closed()
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

/// A piece of work whose types are forgotten.
trait Task: Send {
    /// Does the work and says whether it is to be kept.
    fn run<'s>(
        &'s mut self,
        session: &'s mut Session,
    ) -> Pin<Box<dyn Future<Output = Kept> + Send + 's>>;

    /// Answers the caller: with the outcome of the work, or with why it was not committed.
    fn answer(self: Box<Self>, committed: Result<(), &str>);
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kept {
    Yes,
    No,
}

struct Pending<T, F> {
    work: Option<F>,
    outcome: Option<Result<T, StoreError>>,
    reply: oneshot::Sender<Result<T, StoreError>>,
}

impl<T, F> Task for Pending<T, F>
where
    T: Send + 'static,
    F: for<'s> FnOnce(&'s mut Session) -> Work<'s, T> + Send + 'static,
{
    fn run<'s>(
        &'s mut self,
        session: &'s mut Session,
    ) -> Pin<Box<dyn Future<Output = Kept> + Send + 's>> {
        Box::pin(async move {
            let Some(work) = self.work.take() else { return Kept::No };
            let outcome = work(session).await;
            let kept = if outcome.is_ok() { Kept::Yes } else { Kept::No };
            self.outcome = Some(outcome);
            kept
        })
    }

    fn answer(self: Box<Self>, committed: Result<(), &str>) {
        let answer = match (self.outcome, committed) {
            // Its own failure tells the caller more than the group's.
            (Some(Err(failure)), _) => Err(failure),
            (_, Err(why)) => Err(StoreError::NotCommitted { why: why.to_owned() }),
            (Some(outcome), Ok(())) => outcome,
            (None, Ok(())) => Err(StoreError::Closed),
        };
        // Whoever asked may have gone away; the work is done all the same.
        let _ = self.reply.send(answer);
    }
}

async fn run(mut session: Session, mut waiting: mpsc::Receiver<Message>) {
    let mut messages = Vec::with_capacity(GROUP_MAX);
    while waiting.recv_many(&mut messages, GROUP_MAX).await > 0 {
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
        if let Some(reply) = closing.pop() {
            waiting.close();
            let _ = reply.send(session.close().await);
            return;
        }
    }
    // Nobody closed the store: what was answered is in the log, and the next start reads it.
}

impl Session {
    /// Does all the tasks in one transaction and answers them.
    async fn group(&mut self, mut tasks: Vec<Box<dyn Task>>) {
        let committed = self.transaction(&mut tasks).await.map_err(|error| error.to_string());
        if committed.is_err() {
            // What was remembered of an undone transaction may not be so.
            self.numbers.forget();
            if let Err(error) = self.control("ROLLBACK").await {
                tracing::debug!("after a failed commit there was nothing to undo: {error}");
            }
        }
        for task in tasks {
            task.answer(committed.as_ref().copied().map_err(String::as_str));
        }
    }

    async fn transaction(&mut self, tasks: &mut [Box<dyn Task>]) -> Result<(), sqlx::Error> {
        self.control("BEGIN IMMEDIATE").await?;
        for task in tasks {
            self.control("SAVEPOINT task").await?;
            if task.run(self).await == Kept::No {
                self.numbers.forget();
                self.control("ROLLBACK TO task").await?;
            }
            self.control("RELEASE task").await?;
        }
        self.control("COMMIT").await?;
        self.numbers.keep();
        Ok(())
    }

    async fn control(&mut self, statement: &'static str) -> Result<(), sqlx::Error> {
        sqlx::query(statement).execute(&mut self.db).await.map(|_| ())
    }

    async fn close(mut self) -> Result<(), StoreError> {
        let folded = sqlx::raw_sql("PRAGMA wal_checkpoint(TRUNCATE)").execute(&mut self.db).await;
        self.db.close().await?;
        folded.map(|_| ()).map_err(StoreError::from)
    }
}
