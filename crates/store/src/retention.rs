//! Deletes expired data in steps that are small enough not to delay other writers. The operator's
//! settings define the retention periods. The server calls the steps until no expired data remains.

mod records;

use std::collections::HashMap;
use std::time::Duration;

use rules::{MonitorId, Timestamp, limits};
use sqlx::AssertSqlSafe;

use crate::db::{Connection, query};
use crate::history::BucketSize;
use crate::row::id;
use crate::{Store, StoreError, plans};

pub use records::PrunedRecords;

/// Maximum number of rows of one kind that one step deletes.
const STEP_ROWS: i64 = 2_000;
const DAY_MILLIS: i64 = 86_400_000;

/// Retention periods.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RetentionPolicy {
    /// Retention of results and missed slots.
    pub results: Duration,
    pub evidence: Duration,
    /// Time during which a repeated create returns the first one's result.
    pub idempotency_keys: Duration,
}

impl Default for RetentionPolicy {
    /// Returns the periods that apply unless an operator sets others.
    fn default() -> Self {
        Self {
            results: Duration::from_hours(24) * limits::RETENTION_DAYS_DEFAULT,
            evidence: limits::EVIDENCE_KEPT,
            idempotency_keys: limits::IDEMPOTENCY_KEYS_KEPT,
        }
    }
}

/// Outcome of a step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pruned {
    /// Number of deleted rows of uncompacted results. A row holds results that were committed
    /// together.
    pub results: u64,
    /// Number of deleted ranges of missed slots.
    pub missed: u64,
    /// Number of deleted rows of evidence, including evidence of deleted monitors.
    pub evidence: u64,
    /// Number of deleted idempotency keys.
    pub idempotency_keys: u64,
}

/// Handle of retention.
#[derive(Clone, Copy, Debug)]
pub struct Retention<'s> {
    pub(crate) store: &'s Store,
}

impl Pruned {
    /// Returns whether the step reached its limit, so that more expired data may remain.
    pub const fn has_more(&self) -> bool {
        let step = STEP_ROWS as u64;
        self.results >= step
            || self.missed >= step
            || self.evidence >= step
            || self.idempotency_keys >= step
    }
}

impl Retention<'_> {
    /// Deletes expired data of one step.
    pub async fn step(&self, keep: RetentionPolicy, now: Timestamp) -> Result<Pruned, StoreError> {
        let days = plans::retention_expression(self.store.operator_plans());
        let pruned = self
            .store
            .write(move |session| {
                session.declare_no_change();
                Box::pin(async move { step(&mut session.db, (keep, &days), now).await })
            })
            .await?;
        let erased = self.erase_successes(keep, now).await?;
        Ok(Pruned { evidence: pruned.evidence + erased, ..pruned })
    }

    /// Erases details of successes that are too old, or whose monitor is deleted.
    async fn erase_successes(
        &self,
        keep: RetentionPolicy,
        now: Timestamp,
    ) -> Result<u64, StoreError> {
        let days = plans::retention_expression(self.store.operator_plans());
        let rows = query(AssertSqlSafe(format!(
            "SELECT m.id, {days} FROM monitors m \
             JOIN workspaces w ON w.id = m.workspace_id WHERE m.deleted_at IS NULL"
        )))
        .fetch_all(&mut self.store.read().await?)
        .await?;
        let mut oldest = HashMap::with_capacity(rows.len());
        for row in &rows {
            // One damaged row must not stop retention. Nobody can ask for the details of its monitor.
            let Ok(monitor) = id(row, 0, MonitorId::parse) else {
                continue;
            };
            let days: Option<i64> = row.try_get(1)?;
            let days = days.and_then(|days| u64::try_from(days).ok());
            let own = days.map_or(keep.evidence, |days| Duration::from_hours(24 * days));
            oldest.insert(monitor, now - own.min(keep.evidence));
        }
        let is_wanted = |monitor, slot| oldest.get(&monitor).is_some_and(|oldest| slot >= *oldest);
        Ok(self.store.successes().retain(is_wanted))
    }
}

async fn step(
    db: &mut Connection,
    (keep, days): (RetentionPolicy, &str),
    now: Timestamp,
) -> Result<Pruned, StoreError> {
    let results_end = now - keep.results;
    // Compacted results expire with the history. These are whole buckets that were never compacted.
    let results = query(
        "DELETE FROM recent_results WHERE key <= (SELECT MAX(key) FROM \
         (SELECT key FROM recent_results WHERE key < $1 ORDER BY key LIMIT $2) AS oldest)",
    )
    .bind(BucketSize::TenMinutes.key(results_end.as_millis(), 0))
    .bind(STEP_ROWS)
    .execute(&mut *db)
    .await?;
    let missed = query(
        "DELETE FROM missed_slots WHERE last_slot <= (SELECT MAX(last_slot) FROM \
         (SELECT last_slot FROM missed_slots WHERE last_slot < $1 ORDER BY last_slot LIMIT $2) AS oldest)",
    )
    .bind(results_end.as_millis())
    .bind(STEP_ROWS)
    .execute(&mut *db)
    .await?;
    let old_evidence = query(
        "DELETE FROM evidence WHERE number IN \
         (SELECT number FROM evidence WHERE slot < $1 ORDER BY slot LIMIT $2)",
    )
    .bind((now - keep.evidence).as_millis())
    .bind(STEP_ROWS)
    .execute(&mut *db)
    .await?;
    // Evidence of a workspace with a shorter retention expires with its results.
    let early_evidence = query(AssertSqlSafe(format!(
        "DELETE FROM evidence WHERE number IN (SELECT e.number FROM workspaces w \
         JOIN monitors m ON m.workspace_id = w.id AND m.deleted_at IS NULL \
         JOIN evidence e ON e.monitor = m.number \
         AND e.slot < $1 - ({days}) * CAST($2 AS BIGINT) \
         WHERE {days} IS NOT NULL LIMIT $3)"
    )))
    .bind(now.as_millis())
    .bind(DAY_MILLIS)
    .bind(STEP_ROWS)
    .execute(&mut *db)
    .await?;
    let ownerless_evidence = query(
        "DELETE FROM evidence WHERE number IN (SELECT e.number FROM monitors m \
         JOIN evidence e ON e.monitor = m.number WHERE m.deleted_at IS NOT NULL LIMIT $1)",
    )
    .bind(STEP_ROWS)
    .execute(&mut *db)
    .await?;
    let idempotency_keys = query(
        "DELETE FROM idempotency_keys WHERE created_at <= (SELECT MAX(created_at) FROM \
         (SELECT created_at FROM idempotency_keys WHERE created_at < $1 ORDER BY created_at LIMIT $2) AS oldest)",
    )
    .bind((now - keep.idempotency_keys).as_millis())
    .bind(STEP_ROWS)
    .execute(db)
    .await?;
    let evidence = old_evidence + early_evidence + ownerless_evidence;
    Ok(Pruned { results, missed, evidence, idempotency_keys })
}
