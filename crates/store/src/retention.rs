//! Deletes expired data in steps that are small enough not to delay other writers. The operator's
//! settings define the retention periods. The server calls the steps until no expired data remains.

mod records;

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use rules::{MonitorId, Timestamp, limits};
use sqlx::AssertSqlSafe;

use crate::buckets::BucketSize;
use crate::db::{Connection, query};
use crate::row::id;
use crate::{Store, StoreError, plans};

pub use records::PrunedRecords;

/// Maximum number of rows of one kind that one step deletes.
const STEP_ROWS: i64 = 2_000;
/// Number of monitors whose details of successes one step looks at.
const STEP_MONITORS: usize = 256;
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

impl Store {
    /// Returns the handle that deletes expired data.
    pub const fn retention(&self) -> Retention<'_> {
        Retention { store: self }
    }
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
    /// Deletes expired data of one step from the database.
    pub async fn step(&self, keep: RetentionPolicy, now: Timestamp) -> Result<Pruned, StoreError> {
        let days = plans::retention_expression(self.store.operator_plans());
        self.store
            .write(move |session| {
                session.declare_no_change();
                Box::pin(async move { step(&mut session.db, (keep, &days), now).await })
            })
            .await
    }

    /// Erases details of successes that are too old, or whose monitor is deleted, of some monitors
    /// after `after` in the order of their identifiers. Returns the last of them; `None` at the
    /// end.
    pub async fn successes(
        &self,
        keep: RetentionPolicy,
        now: Timestamp,
        after: Option<MonitorId>,
    ) -> Result<Option<MonitorId>, StoreError> {
        // Monitors are known before the database is asked for them, so one that is created
        // meanwhile is not erased.
        let monitors = self.store.successes().monitors_after(after, STEP_MONITORS);
        let Some(last) = monitors.last().copied() else { return Ok(None) };
        let oldest = Arc::new(self.oldest(&monitors, keep, now).await?);
        let monitors: Arc<[MonitorId]> = monitors.into();
        loop {
            let (store, monitors, oldest) =
                (self.store.clone(), Arc::clone(&monitors), Arc::clone(&oldest));
            let erase = move || {
                let is_wanted =
                    |monitor, slot| oldest.get(&monitor).is_some_and(|oldest| slot >= *oldest);
                store.successes().retain(&monitors, is_wanted)
            };
            let erased = tokio::task::spawn_blocking(erase).await;
            // A runtime that stops takes no more tasks.
            if !erased.unwrap_or(false) {
                break;
            }
        }
        Ok((monitors.len() == STEP_MONITORS).then_some(last))
    }

    /// Returns the first slot of each of these monitors whose details are kept. Deleted monitors
    /// have none.
    async fn oldest(
        &self,
        monitors: &[MonitorId],
        keep: RetentionPolicy,
        now: Timestamp,
    ) -> Result<HashMap<MonitorId, Timestamp>, StoreError> {
        let days = plans::retention_expression(self.store.operator_plans());
        let placeholders: Vec<String> =
            (1..=STEP_MONITORS).map(|index| format!("${index}")).collect();
        let statement = format!(
            "SELECT m.id, {days} AS retention_days FROM monitors m JOIN workspaces w \
             ON w.id = m.workspace_id WHERE m.id IN ({}) AND m.deleted_at IS NULL",
            placeholders.join(",")
        );
        // A list that is too short is filled with its last monitor, so that the statement stays the
        // same.
        let last = monitors.last();
        let padded = (0..STEP_MONITORS).filter_map(|index| monitors.get(index).or(last));
        let query = padded.fold(query(AssertSqlSafe(statement)), |query, monitor| {
            query.bind(monitor.to_string())
        });
        let rows = query.fetch_all(&mut self.store.read().await?).await?;
        let mut oldest = HashMap::with_capacity(rows.len());
        for row in &rows {
            // Days that are out of range belong to a damaged row: the server's setting decides.
            let days: Option<i64> = row.try_get("retention_days")?;
            let days = days.and_then(|days| u32::try_from(days).ok());
            let own = days.map_or(keep.evidence, |days| Duration::from_hours(24) * days);
            oldest.insert(id(row, "id", MonitorId::parse)?, now - own.min(keep.evidence));
        }
        Ok(oldest)
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
         (SELECT last_slot FROM missed_slots WHERE last_slot < $1 ORDER BY last_slot \
         LIMIT $2) AS oldest)",
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
         (SELECT created_at FROM idempotency_keys WHERE created_at < $1 ORDER BY created_at \
         LIMIT $2) AS oldest)",
    )
    .bind((now - keep.idempotency_keys).as_millis())
    .bind(STEP_ROWS)
    .execute(db)
    .await?;
    let evidence = old_evidence + early_evidence + ownerless_evidence;
    Ok(Pruned { results, missed, evidence, idempotency_keys })
}
