//! What a running server does beside its work, every few seconds: writes down when keys were used,
//! forgets limits that nobody is near, gathers results into the history, writes the windows of maintenance
//! ahead, and takes away what is past its time.

use std::time::Duration;

use store::{KeepFor, StoreError};
use tokio_util::sync::CancellationToken;

use crate::app::App;

/// Time between two rounds.
const EVERY: Duration = Duration::from_secs(10);
/// Rounds between two looks for what is past its time.
const RETENTION_ROUNDS: u32 = 30;

/// Works until `stop`.
pub(super) async fn keep(app: App, results_for: Duration, stop: CancellationToken) {
    let keep = kept(results_for);
    for round in 0_u32.. {
        if let Err(error) = app.auth.save_last_uses().await {
            tracing::warn!(%error, "failed to store when keys were last used: {error}");
        }
        app.auth.tidy();
        app.visitors.tidy();
        app.subscribing.tidy();
        app.shelf.tidy(app.ctx.now());
        if let Err(error) = gather(&app, &stop).await {
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

/// What is seen of a check is kept no longer than its result.
fn kept(results: Duration) -> KeepFor {
    let usual = KeepFor::default();
    KeepFor { results, evidence: usual.evidence.min(results), ..usual }
}

/// In small steps, between which others write.
async fn prune(app: &App, keep: KeepFor, stop: &CancellationToken) -> Result<(), StoreError> {
    while !stop.is_cancelled() {
        let pruned = app.store.retention().step(keep, app.ctx.now()).await?;
        if !pruned.is_there_more() {
            break;
        }
    }
    while !stop.is_cancelled() {
        let pruned = app.store.retention().records(app.ctx.now()).await?;
        if !pruned.is_there_more() {
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

/// Writes the windows of recurring maintenance ahead.
async fn plan_ahead(app: &App, stop: &CancellationToken) -> Result<(), StoreError> {
    while !stop.is_cancelled() && app.store.maintenances().extend(app.ctx.now()).await? {}
    Ok(())
}

/// Moves results into the history until only those of the last minutes are left.
async fn gather(app: &App, stop: &CancellationToken) -> Result<(), StoreError> {
    while !stop.is_cancelled() {
        let gathered = app.store.history().gather().await?;
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
    fn evidence_goes_with_its_result_or_before() {
        const DAY: Duration = Duration::from_hours(24);
        for (results, evidence) in [(DAY, DAY), (14 * DAY, 14 * DAY), (3_650 * DAY, 14 * DAY)] {
            assert_eq!(kept(results).evidence, evidence);
            assert_eq!(kept(results).results, results);
        }
    }
}
