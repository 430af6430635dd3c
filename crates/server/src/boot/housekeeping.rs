//! Background tasks of a running server, every few seconds. They store when keys were last used,
//! evict limits and compact results. They also plan recurring maintenance and delete expired data.

use std::time::Duration;

use store::{RetentionPolicy, StoreError};
use tokio_util::sync::CancellationToken;

use crate::app::App;

/// Interval between two rounds.
const EVERY: Duration = Duration::from_secs(10);
/// Rounds between two deletions of expired data.
const RETENTION_ROUNDS: u32 = 30;

/// Runs until `stop` is cancelled.
pub(super) async fn run(app: App, results_for: Duration, stop: CancellationToken) {
    let keep = retention_policy(results_for);
    for round in 0_u32.. {
        if let Err(error) = app.auth.save_last_uses().await {
            tracing::warn!(%error, "failed to store when keys were last used: {error}");
        }
        app.auth.evict_expired();
        app.pages.evict_expired();
        app.response_cache.evict_expired(app.ctx.now());
        if let Err(error) = compact(&app, &stop).await {
            tracing::error!(%error, "failed to aggregate results into the history: {error}");
        }
        if round % RETENTION_ROUNDS == 0
            && let Err(error) = plan_ahead(&app, &stop).await
        {
            tracing::error!(%error, "failed to schedule maintenance windows: {error}");
        }
        if round % RETENTION_ROUNDS == 0
            && let Err(error) = prune(&app, keep, &stop).await
        {
            tracing::error!(%error, "failed to delete expired data: {error}");
        }
        let next = app.ctx.now() + EVERY;
        tokio::select! {
            () = stop.cancelled() => return,
            () = app.ctx.sleep_until(next) => {}
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
    app: &App,
    keep: RetentionPolicy,
    stop: &CancellationToken,
) -> Result<(), StoreError> {
    while !stop.is_cancelled() {
        let pruned = app.store.retention().step(keep, app.ctx.now()).await?;
        if !pruned.has_more() {
            break;
        }
    }
    let mut successes = app.store.retention().successes(keep, app.ctx.now(), None).await?;
    while let Some(after) = successes.filter(|_| !stop.is_cancelled()) {
        successes = app.store.retention().successes(keep, app.ctx.now(), Some(after)).await?;
    }
    while !stop.is_cancelled() {
        let pruned = app.store.retention().records(app.ctx.now()).await?;
        if !pruned.has_more() {
            break;
        }
    }
    while !stop.is_cancelled() && app.store.maintenances().prune(app.ctx.now()).await? {}
    while !stop.is_cancelled() {
        let pruned = app.store.history().prune(keep.results, app.ctx.now()).await?;
        if !pruned.is_there_more {
            break;
        }
    }
    Ok(())
}

/// Creates upcoming windows of recurring maintenance.
async fn plan_ahead(app: &App, stop: &CancellationToken) -> Result<(), StoreError> {
    while !stop.is_cancelled() && app.store.maintenances().extend(app.ctx.now()).await? {}
    Ok(())
}

/// Compacts results into the history, except those of the last minutes.
async fn compact(app: &App, stop: &CancellationToken) -> Result<(), StoreError> {
    while !stop.is_cancelled() {
        let gathered = app.store.history().compact().await?;
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
