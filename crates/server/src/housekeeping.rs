//! Background tasks of a running server, every few seconds. They store when keys were last used,
//! evict limits and compact results. They also plan recurring maintenance, and delete expired data and
//! workspaces whose deletion is due. `monthly` runs beside them.

use std::sync::Arc;
use std::time::Duration;

use dashboard::Dashboard;
use pages::Pages;
use rules::UserId;
use store::{RetentionPolicy, Store, StoreError};
use tokio_util::sync::CancellationToken;
use web::context::Context;
use web::limits::AttemptLimiter;

use crate::auth::Auth;
use crate::heartbeats::CallLimits;
use crate::monthly::MonthEnd;
use crate::probes::ProbeTokens;
use crate::rpc::ResponseEntries;
use crate::workspaces::WorkspaceAdmin;

/// Interval between two rounds.
const EVERY: Duration = Duration::from_secs(10);
/// Rounds between two deletions of expired data.
const RETENTION_ROUNDS: u32 = 30;

/// Parts of a running server that need upkeep.
#[derive(Debug)]
pub(crate) struct Housekeeping {
    pub(crate) ctx: Context,
    pub(crate) store: Store,
    pub(crate) auth: Arc<Auth>,
    pub(crate) probe_tokens: Arc<ProbeTokens>,
    pub(crate) invitations: Arc<AttemptLimiter<UserId>>,
    pub(crate) call_limits: Arc<CallLimits>,
    pub(crate) workspaces: WorkspaceAdmin,
    pub(crate) pages: Pages,
    pub(crate) dashboard: Dashboard,
    pub(crate) response_cache: Arc<ResponseEntries>,
}

/// Runs until `stop` is cancelled.
pub(crate) async fn run(parts: Housekeeping, results_for: Duration, stop: CancellationToken) {
    let Housekeeping { ctx, store, dashboard, .. } = &parts;
    let month_end =
        MonthEnd { ctx: ctx.clone(), store: store.clone(), dashboard: dashboard.clone() };
    tokio::join!(rounds(&parts, results_for, &stop), month_end.run(stop.clone()));
}

async fn rounds(parts: &Housekeeping, results_for: Duration, stop: &CancellationToken) {
    let keep = retention_policy(results_for);
    for round in 0_u32.. {
        if let Err(error) = parts.auth.save_last_uses().await {
            tracing::warn!(%error, "failed to store when keys were last used: {error}");
        }
        if let Err(error) = parts.workspaces.delete_due(parts.ctx.now()).await {
            tracing::error!(%error, "failed to delete a workspace as scheduled: {error}");
        }
        parts.auth.evict_expired();
        parts.probe_tokens.evict_expired();
        parts.invitations.evict_expired();
        parts.call_limits.evict_expired();
        parts.pages.evict_expired();
        parts.dashboard.evict_expired();
        parts.response_cache.evict_expired(parts.ctx.now());
        if let Err(error) = compact(parts, stop).await {
            tracing::error!(%error, "failed to aggregate results into the history: {error}");
        }
        if round % RETENTION_ROUNDS == 0
            && let Err(error) = plan_ahead(parts, stop).await
        {
            tracing::error!(%error, "failed to schedule maintenance windows: {error}");
        }
        if round % RETENTION_ROUNDS == 0
            && let Err(error) = prune(parts, keep, stop).await
        {
            tracing::error!(%error, "failed to delete expired data: {error}");
        }
        let next = parts.ctx.now() + EVERY;
        tokio::select! {
            () = stop.cancelled() => return,
            () = parts.ctx.sleep_until(next) => {}
        }
    }
}

/// Returns the retention policy. Evidence of a check is kept no longer than its result.
fn retention_policy(results: Duration) -> RetentionPolicy {
    let usual = RetentionPolicy::default();
    RetentionPolicy { results, evidence: usual.evidence.min(results), ..usual }
}

/// Deletes expired data in small steps, between which others can write.
async fn prune(
    parts: &Housekeeping,
    keep: RetentionPolicy,
    stop: &CancellationToken,
) -> Result<(), StoreError> {
    while !stop.is_cancelled() {
        let pruned = parts.store.retention().step(keep, parts.ctx.now()).await?;
        if !pruned.has_more() {
            break;
        }
    }
    let mut successes = parts.store.retention().successes(keep, parts.ctx.now(), None).await?;
    while let Some(after) = successes.filter(|_| !stop.is_cancelled()) {
        successes = parts.store.retention().successes(keep, parts.ctx.now(), Some(after)).await?;
    }
    while !stop.is_cancelled() {
        let pruned = parts.store.retention().records(parts.ctx.now()).await?;
        if !pruned.has_more() {
            break;
        }
    }
    parts.store.invitations().delete_expired(parts.ctx.now()).await?;
    while !stop.is_cancelled() && parts.store.maintenances().prune(parts.ctx.now()).await? {}
    while !stop.is_cancelled() {
        let pruned = parts.store.history().prune(keep.results, parts.ctx.now()).await?;
        if !pruned.is_there_more {
            break;
        }
    }
    Ok(())
}

/// Creates upcoming windows of recurring maintenance.
async fn plan_ahead(parts: &Housekeeping, stop: &CancellationToken) -> Result<(), StoreError> {
    while !stop.is_cancelled() && parts.store.maintenances().extend(parts.ctx.now()).await? {}
    Ok(())
}

/// Compacts results into the history, except those of the last minutes.
async fn compact(parts: &Housekeeping, stop: &CancellationToken) -> Result<(), StoreError> {
    while !stop.is_cancelled() {
        let gathered = parts.store.history().compact().await?;
        if gathered.results == 0 {
            break;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn evidence_is_kept_no_longer_than_results() {
        const DAY: Duration = Duration::from_hours(24);
        for (results, evidence) in [(DAY, DAY), (14 * DAY, 14 * DAY), (3_650 * DAY, 14 * DAY)] {
            assert_eq!(retention_policy(results).evidence, evidence);
            assert_eq!(retention_policy(results).results, results);
        }
    }
}
