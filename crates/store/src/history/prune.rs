//! Retention of the history: results as long as their workspace keeps them, rollups longer.

use std::time::Duration;

use rules::{Timestamp, WorkspaceId, limits};
use sqlx::AssertSqlSafe;

use super::{HistoryStore, days};
use crate::audit::{self, NewAuditEntry};
use crate::buckets::{self, BucketSize, Edge};
use crate::db::{Connection, query};
use crate::{AuditContext, StoreError, plans};

/// Maximum number of buckets whose blocks one step deletes, over all workspaces. Each is a
/// statement, and other writers wait for all of them.
const STEP_BUCKETS: i64 = 144;
/// Maximum number of rollups that one step deletes.
const STEP_ROLLUPS: i64 = 2_000;

/// Outcome of a step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PrunedHistory {
    /// Number of blocks of results that were deleted one by one.
    pub blocks: u64,
    /// Number of days that were dropped with all of their blocks.
    pub days: u64,
    /// Number of deleted hourly and daily rollups.
    pub rollups: u64,
    /// Whether more expired data remains.
    pub is_there_more: bool,
}

/// Retention of a workspace's results, and the progress of their deletion.
struct WorkspaceRetention {
    workspace: String,
    retention: Duration,
    pruned_until: Option<i64>,
}

impl HistoryStore<'_> {
    /// Sets the retention of a workspace's results in days. `None` restores the server's setting.
    pub async fn set_retention(
        &self,
        workspace: WorkspaceId,
        days: Option<u32>,
        change: AuditContext,
    ) -> Result<(), StoreError> {
        self.store
            .write_in(workspace, move |session| {
                Box::pin(async move {
                    let changed = query("UPDATE workspaces SET retention_days = $1 WHERE id = $2")
                        .bind(days.map(i64::from))
                        .bind(workspace.to_string())
                        .execute(&mut session.db)
                        .await?;
                    if changed == 0 {
                        return Err(StoreError::not_found("workspace", &workspace));
                    }
                    let detail =
                        days.map_or("as the setting".to_owned(), |days| format!("{days} d"));
                    let note = NewAuditEntry {
                        workspace,
                        change,
                        action: "workspace.keep_results",
                        resource_id: workspace.to_string(),
                        detail: &detail,
                    };
                    audit::record(&mut session.db, note).await
                })
            })
            .await
    }

    /// Deletes expired data of one step. `retention` applies to workspaces without their own
    /// setting.
    pub async fn prune(
        &self,
        kept_for: Duration,
        now: Timestamp,
    ) -> Result<PrunedHistory, StoreError> {
        let days = plans::retention_expression(self.store.operator_plans());
        let dropped = self.prune_days((kept_for, days.clone()), now).await?;
        let pruned = self.store.write(move |session| {
            session.declare_no_change();
            Box::pin(async move { prune(&mut session.db, (kept_for, &days), now).await })
        });
        Ok(PrunedHistory { days: dropped, ..pruned.await? })
    }

    /// Drops the days that no workspace keeps. Returns their number. If others use the table for
    /// long, a later step drops them.
    async fn prune_days(
        &self,
        (kept_for, days): (Duration, String),
        now: Timestamp,
    ) -> Result<u64, StoreError> {
        let dropped = self.store.write(move |session| {
            session.declare_no_change();
            Box::pin(async move { prune_days(&mut session.db, (kept_for, &days), now).await })
        });
        match dropped.await {
            Err(error) if days::is_lock_timeout(&error) => {
                tracing::warn!(
                    "failed to drop expired days of results, because others use their table; \
                     retrying in some minutes"
                );
                Ok(0)
            }
            dropped => dropped,
        }
    }
}

async fn prune_days(
    db: &mut Connection,
    (kept_for, days): (Duration, &str),
    now: Timestamp,
) -> Result<u64, StoreError> {
    if db.is_embedded() {
        return Ok(0);
    }
    let workspaces = workspace_retentions(db, kept_for, days).await?;
    let longest = workspaces.iter().map(|keeping| keeping.retention).max().unwrap_or(kept_for);
    days::drop_before(db, BucketSize::TenMinutes.number((now - longest).as_millis())).await
}

async fn prune(
    db: &mut Connection,
    (kept_for, days): (Duration, &str),
    now: Timestamp,
) -> Result<PrunedHistory, StoreError> {
    let mut pruned = PrunedHistory::default();
    days::create_ahead(db, now).await?;
    if let Some(oldest) = BucketSize::TenMinutes.edge(db, Edge::First).await? {
        let mut left = STEP_BUCKETS;
        for keeping in workspace_retentions(db, kept_for, days).await? {
            let until = BucketSize::TenMinutes.number((now - keeping.retention).as_millis());
            let from = keeping.pruned_until.unwrap_or(oldest).max(oldest);
            let end = until.min(from + left);
            pruned.is_there_more |= end < until;
            if from < end {
                left -= end - from;
                pruned.blocks += prune_blocks(db, &keeping.workspace, from, end).await?;
            }
        }
    }
    for (size, kept_for) in
        [(BucketSize::Hour, limits::HOUR_ROLLUPS_KEPT), (BucketSize::Day, limits::DAY_ROLLUPS_KEPT)]
    {
        let end = buckets::key(size.number((now - kept_for).as_millis()), 0);
        let taken = prune_rollups(db, size, end).await?;
        pruned.is_there_more |= taken >= STEP_ROLLUPS as u64;
        pruned.rollups += taken;
    }
    Ok(pruned)
}

/// Returns the workspaces. `days` is the SQL expression for their retention; if it is NULL, `retention` applies.
async fn workspace_retentions(
    db: &mut Connection,
    kept_for: Duration,
    days: &str,
) -> Result<Vec<WorkspaceRetention>, StoreError> {
    const DAY: Duration = Duration::from_hours(24);
    let all =
        format!("SELECT w.id, {days} AS days, w.blocks_kept_from FROM workspaces w ORDER BY w.id");
    let rows = query(AssertSqlSafe(all)).fetch_all(db).await?;
    rows.iter()
        .map(|row| {
            let days: Option<i64> = row.try_get("days")?;
            let days = days.and_then(|days| u32::try_from(days).ok()).map(|days| DAY * days);
            Ok(WorkspaceRetention {
                workspace: row.try_get("id")?,
                retention: days.unwrap_or(kept_for),
                pruned_until: row.try_get("blocks_kept_from")?,
            })
        })
        .collect()
}

/// Deletes the blocks of a workspace's monitors in buckets from `from` to before `end`.
async fn prune_blocks(
    db: &mut Connection,
    workspace: &str,
    from: i64,
    end: i64,
) -> Result<u64, StoreError> {
    let mut taken = 0;
    for bucket in from..end {
        taken += query(
            // The bounds choose the partition of PostgreSQL.
            "DELETE FROM result_blocks WHERE key >= $1 AND key < $3 AND key IN \
             (SELECT $1 + number FROM monitors WHERE workspace_id = $2)",
        )
        .bind(buckets::key(bucket, 0))
        .bind(workspace)
        .bind(buckets::key(bucket + 1, 0))
        .execute(db)
        .await?;
    }
    query("UPDATE workspaces SET blocks_kept_from = $1 WHERE id = $2")
        .bind(end)
        .bind(workspace)
        .execute(db)
        .await?;
    Ok(taken)
}

async fn prune_rollups(db: &mut Connection, size: BucketSize, end: i64) -> Result<u64, StoreError> {
    let table = size.table();
    let statement = format!(
        "DELETE FROM {table} WHERE key IN \
         (SELECT key FROM {table} WHERE key < $1 ORDER BY key LIMIT $2)"
    );
    Ok(query(AssertSqlSafe(statement)).bind(end).bind(STEP_ROLLUPS).execute(db).await?)
}
