//! The writer's connection with its caches, which a piece of work receives. `transaction` commits
//! all waiting work together.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use rules::WorkspaceId;
use sqlx::AssertSqlSafe;
use tokio::time::Instant;

use super::durability::{Disk, Durability, WalTask};
use super::fault::{DiskHealth, Fault};
use crate::StoreError;
use crate::connection::{self, WriterConnection};
use crate::data_dir::FolderLock;
use crate::db::{self, Connection};
use crate::engine::{self, Owner};
use crate::generations::{ChangeExtent, ChangedWorkspaces, Generations};
use crate::outbox_cache::OutboxCache;
use crate::quarantine::Quarantine;
use crate::result_rows::NextRowKeys;
use crate::row_ids::RowIds;
use crate::vault::Vault;

/// Statement that begins the savepoint of a task.
const SAVEPOINT: &str = "SAVEPOINT task";

/// Context of a piece of work.
pub(crate) struct Session {
    pub(crate) db: Connection,
    pub(crate) vault: Arc<Vault>,
    /// Unreadable rows that writes came across.
    pub(crate) quarantine: Arc<Quarantine>,
    pub(crate) row_ids: RowIds,
    pub(crate) ends: NextRowKeys,
    pub(crate) outbox: OutboxCache,
    /// Workspaces whose data the current work changes.
    pub(super) changed_workspaces: ChangedWorkspaces,
    pub(super) generations: Arc<Generations>,
    /// Whether the transaction of the current work has begun.
    pub(super) is_begun: bool,
    pub(super) disk: Disk,
    pub(super) health: DiskHealth,
    pub(super) connection: WriterConnection,
    /// The last field, because the lock is released after the connection closes.
    _lock: FolderLock,
}

/// Work between two groups.
pub(super) enum IdleTask {
    /// Nothing is due before this time.
    Wait(Option<Instant>),
    /// Sync or checkpoint the log. Other connections may write meanwhile.
    Log(PathBuf, WalTask),
}

impl Session {
    /// Creates the session of a connection that nothing else writes with.
    pub(crate) fn new(
        db: Connection,
        owner: Option<Owner>,
        (vault, quarantine): (Arc<Vault>, Arc<Quarantine>),
        lock: FolderLock,
        generations: Arc<Generations>,
        outbox: OutboxCache,
    ) -> Self {
        let health = DiskHealth::new(&db);
        Self {
            db,
            vault,
            quarantine,
            row_ids: RowIds::default(),
            ends: NextRowKeys::default(),
            outbox,
            changed_workspaces: ChangedWorkspaces::default(),
            generations,
            is_begun: false,
            disk: Disk::default(),
            health,
            connection: WriterConnection::new(owner),
            _lock: lock,
        }
    }

    /// Returns the state of the connection, for other threads.
    pub(super) fn state(&self) -> connection::ConnectionState {
        self.connection.state()
    }

    /// Returns the state of the disk, for other threads.
    pub(super) fn health(&self) -> DiskHealth {
        self.health.clone()
    }

    /// Records the fault of the disk that caused an error of the current work, and names it.
    pub(super) fn record_fault(&self, error: StoreError) -> StoreError {
        let StoreError::Database(cause) = &error else { return error };
        let Some(fault) = Fault::from_error(cause) else { return error };
        self.health.failed(fault);
        fault.error(cause)
    }

    /// Declares that the current work changes data of this workspace, and of no workspace that is
    /// not named.
    pub(crate) fn declare_change(&mut self, workspace: WorkspaceId) {
        self.changed_workspaces.add(workspace, ChangeExtent::Anything);
    }

    /// Like [`Self::declare_change`], for statuses of monitors with their incidents.
    pub(crate) fn declare_status_change(&mut self, workspace: WorkspaceId) {
        self.changed_workspaces.add(workspace, ChangeExtent::Statuses);
    }

    /// Declares that the current work changes no cached data of any workspace.
    pub(crate) fn declare_no_change(&mut self) {
        self.changed_workspaces = ChangedWorkspaces::NOTHING;
    }

    /// Begins the transaction of the current work, unless it has begun.
    pub(crate) async fn begin(&mut self) -> Result<(), sqlx::Error> {
        if !self.is_begun {
            let begin = engine::begin_statement(&self.db);
            self.control(begin).await?;
            self.is_begun = true;
        }
        Ok(())
    }

    /// Begins the transaction of a group, and the savepoint of its first task.
    pub(super) async fn begin_group(&mut self) -> Result<(), sqlx::Error> {
        let begin = engine::begin_statement(&self.db);
        self.control_all(&[begin, SAVEPOINT]).await?;
        self.is_begun = true;
        Ok(())
    }

    /// Ends the savepoint of a task and begins the one of the next task.
    pub(super) async fn next_savepoint(&mut self) -> Result<(), sqlx::Error> {
        self.control_all(&["RELEASE task", SAVEPOINT]).await
    }

    /// Returns whether a thread with other work may do such work itself.
    pub(super) fn is_quick(&self, durable: Durability) -> bool {
        self.db.is_embedded() && self.disk.is_quick(durable)
    }

    /// Returns whether the first unsynced commit since the last check needs a wake-up of the
    /// writer.
    pub(super) fn schedule_check(&mut self) -> bool {
        self.disk.schedule_check(Instant::now())
    }

    /// Returns the work to do while the queue is empty.
    pub(super) fn idle_task(&mut self) -> IdleTask {
        if !self.db.is_embedded() {
            return IdleTask::Wait(self.connection.next_check());
        }
        let now = Instant::now();
        self.disk.schedule_check(now);
        match self.disk.take_due(now).zip(self.db.wal_path()) {
            Some((due, log)) => IdleTask::Log(log, due),
            None => IdleTask::Wait(self.disk.next_check_at()),
        }
    }

    /// Records that the log could not be opened for a sync. The next check retries.
    pub(super) fn record_sync_failure(&mut self, why: &io::Error) {
        tracing::error!(
            "failed to sync the database's log, retrying; if the machine crashes now, results of the \
             last seconds are lost: {why}"
        );
        self.disk.record_sync_failure();
    }

    /// After a failed commit, the outcome is known unless the connection was lost. In that case the
    /// commit may still succeed, and others may write, until this server owns the database again.
    pub(super) fn update_generations(&self) {
        if self.connection.is_lost() {
            self.generations.begin(ChangedWorkspaces::Everything);
        } else {
            self.generations.end();
        }
    }

    /// Marks the connection as lost and closes it. Its session would otherwise hold the lock on the
    /// database for as long as this process runs, and no new connection could take it.
    pub(super) fn mark_lost(&mut self, why: &str) {
        self.connection.mark_lost(why);
        if self.connection.is_lost() {
            self.db = Connection::Lost;
        }
    }

    /// Restores a lost connection if its delay is over. Fails with the reason otherwise.
    pub(super) async fn restore_connection(&mut self) -> Result<(), String> {
        if let Some(db) = self.connection.restore().await? {
            self.db = db;
            self.row_ids = RowIds::default();
            self.generations.end();
        }
        Ok(())
    }

    /// Checks an idle connection.
    pub(super) async fn check_connection(&mut self) {
        if self.db.is_embedded() || self.restore_connection().await.is_err() {
            return;
        }
        let limit = self.connection.stall_timeout();
        let response = limit.wait(self.control("SELECT 1")).await;
        let response = response.and_then(|result| result.map_err(|error| error.to_string()));
        if let Err(why) = response {
            self.mark_lost(&why);
            self.update_generations();
        }
    }

    pub(super) async fn control(&mut self, statement: &'static str) -> Result<(), sqlx::Error> {
        db::query(statement).execute(&mut self.db).await.map(|_| ())
    }

    /// Runs several statements, as one message to a database on another machine.
    async fn control_all(&mut self, statements: &[&'static str]) -> Result<(), sqlx::Error> {
        if !self.db.is_embedded() {
            return db::run(&mut self.db, AssertSqlSafe(statements.join("; "))).await;
        }
        for statement in statements {
            self.control(statement).await?;
        }
        Ok(())
    }

    pub(super) async fn close(mut self) -> Result<(), StoreError> {
        let checkpointed = engine::checkpoint(&mut self.db).await;
        self.connection.release(&mut self.db).await;
        self.db.close().await?;
        checkpointed.map_err(StoreError::from)
    }

    /// Records the duration of a commit that changed something.
    #[cfg(test)]
    pub(super) fn record_commit(&mut self, durable: Durability, took: std::time::Duration) {
        self.disk.record_commit(durable, took);
    }

    /// Returns whether a commit is unsynced.
    #[cfg(test)]
    pub(super) fn is_unsynced(&self) -> bool {
        self.disk.is_unsynced()
    }
}
