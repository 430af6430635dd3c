//! The transaction that commits all waiting work together, or rolls back what failed. `writer`
//! queues the work and chooses its thread.

use tokio::time::Instant;

use super::durability::Durability;
use super::fault::Fault;
use super::session::Session;
use super::task::{Begin, RolledBack, Task, TxOutcome};
use crate::generations::ChangedWorkspaces;

impl Session {
    /// Does all tasks in one transaction and sends their replies.
    pub(super) async fn run_group(&mut self, mut tasks: Vec<Box<dyn Task>>) {
        let committed = match self.restore_connection().await {
            Ok(()) => self.attempt(&mut tasks).await,
            Err(why) => Err(RolledBack { why, is_unsure: false, fault: None }),
        };
        for task in tasks {
            task.reply(committed.as_ref().copied());
        }
    }

    /// Runs one transaction. Rolls back after a failure.
    async fn attempt(&mut self, tasks: &mut [Box<dyn Task>]) -> Result<(), RolledBack> {
        let limit = self.connection.stall_timeout();
        let (rolled_back, is_open) = match limit.wait(self.transaction(tasks)).await {
            Ok(Ok(())) => return Ok(()),
            Ok(Err(rolled_back)) => (rolled_back, true),
            // The state of the database is unknown, and this connection cannot reveal it.
            Err(why) => (RolledBack { why, is_unsure: true, fault: None }, false),
        };
        if let Some(fault) = rolled_back.fault {
            self.health.failed(fault);
        }
        self.discard_caches(rolled_back.is_unsure);
        let is_undone = is_open && self.control("ROLLBACK").await.is_ok();
        if !is_undone {
            self.mark_lost(&rolled_back.why);
        }
        self.update_generations();
        Err(rolled_back)
    }

    async fn transaction(&mut self, tasks: &mut [Box<dyn Task>]) -> Result<(), RolledBack> {
        self.roll_back_abandoned().await?;
        // A single task is rolled back with its transaction. A savepoint would be two useless
        // statements.
        let is_alone = tasks.len() == 1;
        let is_embedded = self.db.is_embedded();
        let began = Instant::now();
        let due = Durability::combine(tasks.iter().map(|task| task.begin().durability()));
        if is_embedded && let Some(statement) = self.disk.mode_statement(due) {
            self.control(statement).await?;
            self.disk.set_mode(due);
        }
        let are_by_work = tasks.iter().all(|task| matches!(task.begin(), Begin::ByWork(_)));
        // For a database on another machine, `BEGIN` or `COMMIT` detects a lost connection.
        if !is_alone {
            self.begin_group().await?;
        } else if !(is_embedded && are_by_work) {
            self.begin().await?;
        }
        let (mut changed, mut has_changed, mut are_all_committed) =
            (ChangedWorkspaces::NOTHING, false, true);
        for (left, task) in (0..tasks.len()).rev().zip(tasks) {
            self.changed_workspaces = ChangedWorkspaces::default();
            let before = self.db.rows_changed();
            let outcome = task.run(self).await;
            if outcome == TxOutcome::Yes {
                changed.merge(std::mem::take(&mut self.changed_workspaces));
                has_changed |= self.db.rows_changed() != before;
            } else {
                are_all_committed = false;
                self.row_ids.roll_back();
            }
            match (is_alone, outcome) {
                (true, TxOutcome::Yes) => {}
                (true, TxOutcome::No) => {
                    self.outbox.roll_back();
                    if self.is_begun {
                        self.control("ROLLBACK").await?;
                    }
                    return Ok(());
                }
                (false, TxOutcome::Yes) => {
                    self.outbox.end_task();
                    if left > 0 {
                        self.next_savepoint().await?;
                    }
                }
                (false, TxOutcome::No) => {
                    self.outbox.roll_back_task();
                    // The savepoint stays, for the next task.
                    self.control("ROLLBACK TO task").await?;
                }
            }
        }
        if self.is_begun {
            self.generations.begin(changed);
            self.control("COMMIT").await.map_err(|error| RolledBack {
                // An error from the database is a refusal. Other errors may follow a successful
                // commit.
                is_unsure: error.as_database_error().is_none(),
                why: error.to_string(),
                fault: Fault::from_error(&error),
            })?;
            self.generations.end();
        }
        if is_embedded && has_changed {
            self.disk.record_commit(due, began.elapsed());
        }
        // Another engine does not say whether the commit wrote anything, so one failed task counts.
        if has_changed || (!is_embedded && are_all_committed) {
            self.health.succeeded();
        }
        self.row_ids.commit();
        self.outbox.commit();
        Ok(())
    }

    /// Rolls back the work of a thread that panicked. Its caller got no reply, and the next single
    /// statement would become part of its transaction.
    async fn roll_back_abandoned(&mut self) -> Result<(), RolledBack> {
        self.is_begun = false;
        if !self.db.is_in_transaction() {
            return Ok(());
        }
        tracing::error!("rolling back a transaction that a panic left open");
        self.discard_caches(false);
        self.control("ROLLBACK").await?;
        self.update_generations();
        Ok(())
    }

    /// Drops cached data of a rolled-back transaction.
    fn discard_caches(&mut self, is_unsure: bool) {
        self.row_ids.roll_back();
        self.outbox.clear_progress();
        if is_unsure {
            self.outbox.commit();
        } else {
            self.outbox.roll_back();
        }
    }
}
