//! Caches of the data that was read for detail pages. If a read fails, the last value is served
//! again. `cache::detail_bodies` caches the rendered pages.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::Arc;
use std::time::Duration;

use domain::history::Sketch;
use domain::page::{
    HistoryDay, IncidentFacts, IncidentView, LatencyPoint, MaintenanceView, Month, MonthView,
    Range, ReportView, UpdateView,
};
use rules::report::{Report, ReportUpdate};
use rules::{IncidentId, MonitorId, PageId, Region, ReportId, Timestamp, WorkspaceId};
use store::{Generation, StoreError};
use web::cache::{Cache, CacheMetrics, CachePolicy, ReadError};

use crate::source::Source;

/// Limits of data that is valid until the workspace changes, and for a few seconds. The largest
/// report and the largest month fit.
const UNCHANGED: CachePolicy = CachePolicy::new(Duration::from_secs(5), 16 << 20);
/// Limits of latencies. They cover hours or days.
const LATENCIES: CachePolicy = CachePolicy::new(Duration::from_mins(1), 8 << 20);
/// Age up to which the last value is kept for a time without the database.
const LAST_SERVED_FOR: Duration = Duration::from_hours(1);

/// An incident, and the regions in which its checks failed.
pub(super) type IncidentWithRegions = (IncidentFacts, Vec<Region>);
/// Latency series of a component over a range of days.
pub(super) type LatencySeries = Arc<[LatencyPoint]>;

/// Latencies of a page's public monitors.
pub(super) type Latencies = Arc<HashMap<MonitorId, Sketch>>;

/// Cache of a kind of data that is valid until its workspace changes.
type UnchangedData<K, V> = Cache<K, V, Generation>;

/// Caches of the data for detail pages, one for each kind.
#[derive(Debug)]
pub(crate) struct DetailCache {
    pub(super) reports: UnchangedData<(PageId, ReportId), Arc<Report>>,
    pub(super) incidents: UnchangedData<(PageId, IncidentId), IncidentWithRegions>,
    pub(super) months: UnchangedData<(PageId, Month), Arc<MonthView>>,
    /// Start of the oldest event stored for a page.
    pub(super) first_events: UnchangedData<PageId, Option<Timestamp>>,
    pub(super) latency_series: Cache<(MonitorId, Range), LatencySeries>,
    /// Latencies of all public monitors of a page, for badges. The key contains a hash of the
    /// monitors.
    pub(super) latencies: Cache<(PageId, u64), Latencies>,
}

impl DetailCache {
    /// Creates empty caches.
    pub(crate) fn new(metrics: &CacheMetrics) -> Self {
        Self {
            reports: Cache::new(
                UNCHANGED,
                |_, report| report_bytes(report),
                metrics.counters("page_reports"),
            ),
            incidents: Cache::new(UNCHANGED, |_, _| 0, metrics.counters("page_incidents")),
            months: Cache::new(
                UNCHANGED,
                |_, month| month.days.iter().map(day_bytes).sum(),
                metrics.counters("page_months"),
            ),
            first_events: Cache::new(UNCHANGED, |_, _| 0, metrics.counters("page_first_events")),
            latency_series: Cache::new(
                LATENCIES,
                |_, series| size_of_val(&series[..]),
                metrics.counters("page_latency_series"),
            ),
            latencies: Cache::new(
                LATENCIES,
                |_, latencies| latencies_bytes(latencies),
                metrics.counters("page_latencies"),
            ),
        }
    }
}

impl DetailCache {
    /// Removes the values that are too old to be served if the database is unavailable.
    pub(crate) fn evict_expired(&self, now: Timestamp) {
        self.reports.evict_older_than(LAST_SERVED_FOR, now);
        self.incidents.evict_older_than(LAST_SERVED_FOR, now);
        self.months.evict_older_than(LAST_SERVED_FOR, now);
        self.first_events.evict_older_than(LAST_SERVED_FOR, now);
        self.latency_series.evict_older_than(LAST_SERVED_FOR, now);
        self.latencies.evict_older_than(LAST_SERVED_FOR, now);
    }
}

/// Returns data that is valid until the workspace changes.
pub(super) async fn get_unchanged<K, V, R>(
    cache: &UnchangedData<K, V>,
    (source, workspace): (&Source, WorkspaceId),
    key: K,
    read: impl FnOnce() -> R + Send,
) -> Result<Option<V>, String>
where
    K: Clone + Eq + Hash,
    V: Clone,
    R: Future<Output = Result<Option<V>, StoreError>> + Send,
{
    let generation = || source.store.generation(workspace);
    or_last(cache.get_or_read(key, generation, source.ctx.now(), read).await)
}

/// Returns latencies, which change all the time.
pub(super) async fn get_latencies<K, V, R>(
    cache: &Cache<K, V>,
    source: &Source,
    key: K,
    read: impl FnOnce() -> R + Send,
) -> Result<V, String>
where
    K: Clone + Eq + Hash,
    V: Clone + Default,
    R: Future<Output = Result<V, StoreError>> + Send,
{
    let read = || async { read().await.map(Some) };
    let found = or_last(cache.get_or_read(key, || Some(()), source.ctx.now(), read).await);
    found.map(Option::unwrap_or_default)
}

fn or_last<V>(read: Result<Option<V>, ReadError<V>>) -> Result<Option<V>, String> {
    match read {
        Err(ReadError { why, last: Some(last) }) => {
            tracing::warn!("failed to read a detail page, serving it from the cache: {why}");
            Ok(Some(last))
        }
        Err(ReadError { why, last: None }) => Err(why),
        Ok(found) => Ok(found),
    }
}

fn report_bytes(report: &Report) -> usize {
    let update = |it: &ReportUpdate| {
        size_of::<ReportUpdate>() + it.text.len() + size_of_val(&it.components[..])
    };
    size_of::<Report>() + report.title.len() + report.updates.iter().map(update).sum::<usize>()
}

fn day_bytes(day: &HistoryDay) -> usize {
    let update = |it: &UpdateView| {
        size_of::<UpdateView>() + it.text.len() + named_bytes(&it.components, |it| &it.name)
    };
    let report = |it: &Arc<ReportView>| {
        let updates: usize = it.updates.iter().map(update).sum();
        size_of::<ReportView>()
            + it.title.len()
            + named_bytes(&it.components, |it| &it.name)
            + updates
    };
    let incident =
        |it: &IncidentView| size_of::<IncidentView>() + named_bytes(&it.components, |it| &it.name);
    let maintenance = |it: &MaintenanceView| {
        let description = it.description.as_ref().map_or(0, String::len);
        size_of::<MaintenanceView>()
            + it.title.len()
            + description
            + named_bytes(&it.components, |it| &it.name)
    };
    size_of::<HistoryDay>()
        + day.reports.iter().map(report).sum::<usize>()
        + day.incidents.iter().map(incident).sum::<usize>()
        + day.maintenances.iter().map(maintenance).sum::<usize>()
}

fn named_bytes<T>(components: &[T], name: impl Fn(&T) -> &String) -> usize {
    size_of_val(components) + components.iter().map(|it| name(it).len()).sum::<usize>()
}

fn latencies_bytes(latencies: &HashMap<MonitorId, Sketch>) -> usize {
    latencies.values().map(|sketch| size_of::<MonitorId>() + sketch.byte_size()).sum()
}
