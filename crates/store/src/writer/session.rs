//! The session: the writer's connection with what it remembers, and one transaction of all the work that
//! waited together. Who brings work, and on which thread it is done, stands in `writer`.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use rules::WorkspaceId;
use tokio::time::Instant;

use super::disk::{Disk, Due, Durable};
use super::task::{Begin, Kept, Task, Undone};
use crate::StoreError;
use crate::db::{self, Connection};
use crate::engine::{self, Owner};
use crate::folder::FolderLock;
use crate::generations::{Generations, Touched};
use crate::line::{self, Line};
use crate::numbers::Numbers;
use crate::outbox;
use crate::results::Ends;
use crate::vault::Vault;

/// What a piece of work has in its hands.
pub(crate) struct Session {
    pub(crate) db: Connection,
    pub(crate) vault: Arc<Vault>,
    pub(crate) numbers: Numbers,
    pub(crate) ends: Ends,
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

/// What is to be done between two groups of work.
pub(super) enum Chore {
    /// Nothing before then, unless work comes.
    Wait(Option<Instant>),
    /// This is to be done of the log. Others may write meanwhile.
    Log(PathBuf, Due),
}

impl Session {
    /// Of a connection that nobody else writes by.
    pub(crate) fn new(
        db: Connection,
        owner: Option<Owner>,
        vault: Arc<Vault>,
        lock: FolderLock,
        generations: Arc<Generations>,
        outbox: outbox::Memory,
    ) -> Self {
        Self {
            db,
            vault,
            numbers: Numbers::default(),
            ends: Ends::default(),
            outbox,
            touched: Touched::default(),
            generations,
            is_begun: false,
            disk: Disk::default(),
            line: Line::new(owner),
            _lock: lock,
        }
    }

    /// What others see of its line to the database.
    pub(super) fn state(&self) -> line::State {
        self.line.state()
    }

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

    /// Whether a thread that has something else to do may do such work itself.
    pub(super) fn is_quick(&self, durable: Durable) -> bool {
        self.db.is_embedded() && self.disk.is_quick(durable)
    }

    /// Whether something waits for a sync since now: who syncs has to be told.
    pub(super) fn begins_to_wait(&mut self) -> bool {
        self.disk.watch(Instant::now())
    }

    /// Does all the tasks in one transaction and answers them.
    pub(super) async fn group(&mut self, mut tasks: Vec<Box<dyn Task>>) {
        let committed = match self.restored().await {
            Ok(()) => self.attempt(&mut tasks).await,
            Err(why) => Err(Undone { why, is_unsure: false }),
        };
        for task in tasks {
            task.answer(committed.as_ref().copied());
        }
    }

    /// What is to be done while there is no work.
    pub(super) fn chore(&mut self) -> Chore {
        if !self.db.is_embedded() {
            return Chore::Wait(self.line.quiet());
        }
        let now = Instant::now();
        self.disk.watch(now);
        match self.disk.look(now).zip(self.db.log()) {
            Some((due, log)) => Chore::Log(log, due),
            None => Chore::Wait(self.disk.looks_at()),
        }
    }

    /// The log could not be opened to be synced, which is tried again with what is written until then.
    pub(super) fn not_synced(&mut self, why: &io::Error) {
        tracing::error!(
            "the database's log could not be synced; where the machine fails now, checks of the last \
             seconds may be lost: {why}"
        );
        self.disk.still_waits();
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
        self.forget(undone.is_unsure);
        let rolled_back = if is_open { self.control("ROLLBACK").await.is_ok() } else { false };
        if !rolled_back {
            self.line.lose(&undone.why);
        }
        self.settle();
        Err(undone)
    }

    async fn transaction(&mut self, tasks: &mut [Box<dyn Task>]) -> Result<(), Undone> {
        self.clear().await?;
        // One alone is undone with its transaction: its savepoint would be two statements for nothing.
        let is_alone = tasks.len() == 1;
        let is_embedded = self.db.is_embedded();
        let began = Instant::now();
        let due = Durable::of(tasks.iter().map(|task| task.begin().durable()));
        if is_embedded && let Some(statement) = self.disk.turns(due) {
            self.control(statement).await?;
            self.disk.turned(due);
        }
        let are_by_work = tasks.iter().all(|task| matches!(task.begin(), Begin::ByWork(_)));
        // A line to another machine that is lost is known by a transaction that cannot begin or end.
        if !(is_alone && is_embedded && are_by_work) {
            self.begin().await?;
        }
        let (mut touched, mut has_changed) = (Touched::NOTHING, false);
        for task in tasks {
            if !is_alone {
                self.control("SAVEPOINT task").await?;
            }
            self.touched = Touched::default();
            let before = self.db.rows_changed();
            let kept = task.run(self).await;
            if kept == Kept::Yes {
                touched.join(std::mem::take(&mut self.touched));
                has_changed |= self.db.rows_changed() != before;
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
        if is_embedded && has_changed {
            self.disk.committed(due, began.elapsed());
        }
        self.numbers.keep();
        self.outbox.keep();
        Ok(())
    }

    /// Undoes what is left of work that panicked in the thread that asked for it: nobody was told that it is
    /// stored, and what is one statement would be a part of it.
    async fn clear(&mut self) -> Result<(), Undone> {
        self.is_begun = false;
        if !self.db.is_in_transaction() {
            return Ok(());
        }
        tracing::error!("work that failed left a transaction open, which is undone");
        self.forget(false);
        self.control("ROLLBACK").await?;
        self.settle();
        Ok(())
    }

    /// What was remembered of an undone transaction may not be so.
    fn forget(&mut self, is_unsure: bool) {
        self.numbers.forget();
        self.outbox.begin_anew();
        if is_unsure {
            self.outbox.keep();
        } else {
            self.outbox.forget();
        }
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
    pub(super) async fn listen(&mut self) {
        if self.db.is_embedded() || self.restored().await.is_err() {
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

    pub(super) async fn close(mut self) -> Result<(), StoreError> {
        let folded = engine::fold(&mut self.db).await;
        self.db.close().await?;
        folded.map_err(StoreError::from)
    }

    /// Notes how long a commit took that changed something.
    #[cfg(test)]
    pub(super) fn note_commit(&mut self, durable: Durable, took: std::time::Duration) {
        self.disk.committed(durable, took);
    }

    /// Whether something is committed that is not synced.
    #[cfg(test)]
    pub(super) fn waits_for_a_sync(&self) -> bool {
        self.disk.waits()
    }
}
