//! Uptime and latency of the monitors that a list shows, in memory for a minute: open pages load the
//! same rows after each change, and a minute changes the figures of a week little.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use domain::history::{Span, Uptime};
use rules::{MonitorId, Timestamp, WorkspaceId};
use store::{FleetFigures, MonitorNumber, Store, StoreError};
use web::cache::{Cache, CacheCounters, CachePolicy, ReadError};

/// Number of days, today included.
pub(crate) const DAYS: i64 = 7;
const DAY_MS: i64 = 86_400_000;
/// Age from which figures are read again.
const FRESH_FOR: Duration = Duration::from_mins(1);
const BYTES_MAX: usize = 16 << 20;
/// Approximate size of a row, in bytes.
const ROW_BYTES: usize = 128;
/// The displayed percentile of latencies.
const PERCENT: u8 = 95;

/// Figures of a row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct RowFigures {
    pub(crate) uptime: Option<Uptime>,
    /// The 95th percentile in microseconds.
    pub(crate) p95_us: Option<u32>,
}

/// Figures by monitor.
pub(crate) type FiguresById = HashMap<MonitorId, RowFigures>;

/// The shown monitors of a workspace.
type ShownRows = (WorkspaceId, Vec<MonitorNumber>);

/// Figures in memory.
pub(crate) struct ShownFigures(Cache<ShownRows, Arc<FiguresById>>);

impl ShownFigures {
    pub(crate) fn new() -> Self {
        let size = |key: &ShownRows, _: &Arc<FiguresById>| key.1.len() * ROW_BYTES;
        Self(Cache::new(CachePolicy::new(FRESH_FOR, BYTES_MAX), size, CacheCounters::default()))
    }

    /// Returns the figures of these monitors over the last days.
    pub(crate) async fn get(
        &self,
        store: &Store,
        (workspace, monitors): (WorkspaceId, Vec<MonitorNumber>),
        now: Timestamp,
    ) -> Result<Arc<FiguresById>, ReadError<Arc<FiguresById>>> {
        let key = (workspace, monitors.clone());
        let read = || read(store, (workspace, monitors), now);
        let figures = self.0.get_or_read(key, || Some(()), now, read).await?;
        Ok(figures.expect("a read always returns figures"))
    }
}

impl std::fmt::Debug for ShownFigures {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("ShownFigures")
    }
}

async fn read(
    store: &Store,
    (workspace, monitors): (WorkspaceId, Vec<MonitorNumber>),
    now: Timestamp,
) -> Result<Option<Arc<FiguresById>>, StoreError> {
    let found = store.fleets().figures(workspace, &monitors, last_days(now)).await?;
    let row =
        |it: FleetFigures| RowFigures { uptime: it.uptime, p95_us: it.latency.percentile(PERCENT) };
    Ok(Some(Arc::new(found.into_iter().map(|(id, it)| (id, row(it))).collect())))
}

/// Returns the last days until now. They begin at midnight in UTC, as rollups do.
fn last_days(now: Timestamp) -> Span {
    let today = now.as_millis().div_euclid(DAY_MS);
    Span { from: Timestamp::from_millis((today - DAYS + 1) * DAY_MS), to: now }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_begin_at_midnight() {
        let midnight = 1_795_219_200_000;
        let now = Timestamp::from_millis(midnight + 5);
        let from = Timestamp::from_millis(midnight - 6 * DAY_MS);
        assert_eq!(last_days(now), Span { from, to: now });
    }
}
