//! Metrics of `/metrics`. They are created once and shared. Series that are known in advance are
//! resolved here, so that counting is one atomic addition.
//!
//! Labels never contain tenants' data (names, IDs, addresses), because the page needs no key. The exception
//! are those in `monitors`, which a setting allows.

mod bounds;
mod monitors;
mod probes;

use std::sync::Arc;

use domain::check::Outcome;
use pages::PageMetrics;
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::metrics::info::Info;
use prometheus_client::registry::{Registry, Unit};
use rules::{MonitorKind, ProviderType};
use web::cache::CacheMetrics;

use self::bounds::{CALL_BOUNDS, CHECK_BOUNDS, COMMIT_BOUNDS, LATENESS_BOUNDS, MESSAGE_BOUNDS};
pub use self::monitors::MonitorMetrics;
pub use self::probes::{ProbeMetrics, ProbeStatus};
use super::process::ProcessFigures;
use super::traces::Traces;

/// Counters and histograms of one server. Cheap to clone; clones share their values.
#[derive(Clone, Debug)]
pub struct Metrics(Arc<MetricSet>);

/// All metrics. Counters and histograms are shared handles themselves.
#[derive(Debug)]
pub struct MetricSet {
    checks: [[Counter; Outcome::ALL.len()]; KINDS],
    /// Total duration of checks including retries, in seconds.
    pub check_seconds: Histogram,
    /// Delay between the slot and the start of a check, in seconds.
    pub check_start_delay_seconds: Histogram,
    /// Slots that were not run.
    pub missed_slots: Counter,
    /// Slots that were skipped because the previous check was still running.
    pub skipped_slots: Counter,
    /// Slots that waited for a permit until the next slot was due. Each also counts as missed.
    pub expired_slots: Counter,
    /// Bodies that were truncated to save memory.
    pub bodies_cut: Counter,
    /// Running checks.
    pub in_flight: Gauge,
    /// Checks that wait for a permit.
    pub checks_waiting: Gauge,
    /// Workspaces whose checks wait for a permit.
    pub workspaces_waiting: Gauge,
    /// Requested confirmations.
    pub confirmations_requested: Counter,
    /// Rounds of confirmations that were dropped because cadence was too busy.
    pub confirmations_dropped: Counter,
    /// Number of times that a probe became suspect.
    pub probe_suspicions: Counter,
    /// Probes that are suspect now. Their votes do not count.
    pub probes_suspect: Gauge,
    /// Probes in other places.
    pub probes: ProbeMetrics,
    /// Monitors that the operator lets the page show.
    pub monitors: MonitorMetrics,
    /// Traces of checks and requests.
    pub traces: Traces,
    /// Results that are durably stored.
    pub results_committed: Counter,
    /// Transactions of results that failed and are retried.
    pub commits_failed: Counter,
    /// Duration of transactions that store results, in seconds.
    pub commit_seconds: Histogram,
    messages: Vec<[Counter; MessageOutcome::ALL.len()]>,
    /// Time from an event until the receiver accepts its message, in seconds.
    pub message_seconds: Histogram,
    /// Pending deliveries.
    pub deliveries_waiting: Gauge,
    /// Dead letters.
    pub deliveries_dead: Gauge,
    /// Duration of calls, in seconds. For streams: time until the headers.
    pub call_seconds: Histogram,
    /// Calls that were answered from the cache.
    pub calls_cached: Counter,
    pub pages: PageMetrics,
    pub caches: CacheMetrics,
    /// Unreadable database rows.
    pub unreadable_rows: Gauge,
    /// Servers that wait to take over the database.
    pub standbys: Gauge,
    calls: Family<[(&'static str, &'static str); 2], Counter>,
    registry: Registry,
}

/// Outcome of one attempt to send a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MessageOutcome {
    /// The receiver accepted the message.
    Accepted,
    /// The message will be retried.
    Retry,
    /// The message is a dead letter.
    Dead,
}

impl MessageOutcome {
    const ALL: [Self; 3] = [Self::Accepted, Self::Retry, Self::Dead];

    const fn as_str(self) -> &'static str {
        match self {
            Self::Accepted => "accepted",
            Self::Retry => "retry",
            Self::Dead => "dead_letter",
        }
    }
}

const KINDS: usize = MonitorKind::ALL.len();

impl Metrics {
    /// Creates all metrics with the value zero, without single monitors.
    pub fn new() -> Self {
        Self::with_traces(0, Traces::default())
    }

    /// Creates all metrics with the value zero. The page shows up to this many single monitors, and the
    /// counters of the traces.
    #[expect(clippy::too_many_lines, reason = "an entry for each figure, and nothing else")]
    pub fn with_traces(limit: u32, traces: Traces) -> Self {
        let mut root = Registry::default();
        // Process metrics keep their usual Prometheus names.
        root.register_collector(Box::new(ProcessFigures));
        let registry = root.sub_registry_with_prefix("aloft");
        let build = Info::new([("version", env!("CARGO_PKG_VERSION"))]);
        registry.register("build", "The binary that runs", build);
        let calls = Family::<[(&'static str, &'static str); 2], Counter>::default();
        let monitors = MonitorMetrics::new(limit);
        traces.register(registry);
        registry.register_collector(Box::new(monitors.clone()));
        registry.register("calls", "Answered calls by method and code", calls.clone());
        let figures = MetricSet {
            checks: checks(registry),
            messages: messages(registry),
            message_seconds: histogram(
                registry,
                "message",
                "From an event to its message being accepted",
                MESSAGE_BOUNDS,
            ),
            deliveries_waiting: gauge(
                registry,
                "deliveries_waiting",
                "Deliveries that wait to be sent",
            ),
            unreadable_rows: gauge(
                registry,
                "unreadable_rows",
                "Unreadable rows of the database, which are skipped",
            ),
            standbys: gauge(registry, "standbys", "Servers that wait to take over the database"),
            deliveries_dead: gauge(registry, "deliveries_dead", "Deliveries that are dead letters"),
            check_seconds: histogram(registry, "check", "Duration of checks", CHECK_BOUNDS),
            check_start_delay_seconds: histogram(
                registry,
                "check_start_delay",
                "How long after its slot a check started",
                LATENESS_BOUNDS,
            ),
            missed_slots: counter(registry, "missed_slots", "Slots that no probe ran"),
            skipped_slots: counter(
                registry,
                "skipped_slots",
                "Slots skipped because the check before still ran",
            ),
            expired_slots: counter(
                registry,
                "expired_slots",
                "Missed slots that waited for a permit until the next one was due",
            ),
            bodies_cut: counter(
                registry,
                "check_bodies_cut",
                "Bodies cut short because the memory budget was used up",
            ),
            in_flight: gauge(registry, "checks_in_flight", "Checks that run now"),
            checks_waiting: gauge(registry, "checks_waiting", "Checks that wait for a permit"),
            workspaces_waiting: gauge(
                registry,
                "workspaces_waiting",
                "Workspaces whose checks wait for a permit",
            ),
            confirmations_requested: counter(
                registry,
                "confirmations_requested",
                "Confirmation checks requested",
            ),
            confirmations_dropped: counter(
                registry,
                "confirmations_dropped",
                "Rounds of confirmation checks that were not requested",
            ),
            probe_suspicions: counter(
                registry,
                "probe_suspicions",
                "Times that a probe became suspect",
            ),
            probes_suspect: gauge(registry, "probes_suspect", "Probes that are suspect now"),
            probes: ProbeMetrics::register(registry),
            monitors,
            traces,
            results_committed: counter(
                registry,
                "results_committed",
                "Results that are stored for good",
            ),
            commits_failed: counter(
                registry,
                "commits_failed",
                "Transactions of results that failed and are tried again",
            ),
            commit_seconds: histogram(
                registry,
                "commit",
                "Duration of the transactions that store results",
                COMMIT_BOUNDS,
            ),
            call_seconds: histogram(registry, "call", "Duration of answered calls", CALL_BOUNDS),
            calls_cached: counter(
                registry,
                "calls_cached",
                "Answered calls whose answer was given before",
            ),
            caches: CacheMetrics::register(registry),
            pages: PageMetrics {
                build_seconds: histogram(
                    registry,
                    "page_build",
                    "Duration of deciding what a status page shows",
                    CALL_BOUNDS,
                ),
                render_seconds: histogram(
                    registry,
                    "page_render",
                    "Duration of rendering a status page in one representation",
                    CALL_BOUNDS,
                ),
                streams: gauge(
                    registry,
                    "page_streams",
                    "Browsers that wait for live updates of a status page now",
                ),
            },
            calls,
            registry: root,
        };
        Self(Arc::new(figures))
    }

    /// Renders the body of `/metrics` as `OpenMetrics` text.
    pub fn page(&self) -> String {
        let mut page = String::new();
        encode(&mut page, &self.0.registry).expect("writing to memory does not fail");
        page
    }
}

impl Default for Metrics {
    fn default() -> Self {
        Self::new()
    }
}

impl std::ops::Deref for Metrics {
    type Target = MetricSet;
    fn deref(&self) -> &MetricSet {
        &self.0
    }
}

impl MetricSet {
    /// Returns the counter of finished checks of this kind and outcome.
    pub const fn checks(&self, kind: MonitorKind, outcome: Outcome) -> &Counter {
        &self.checks[kind as usize][outcome as usize]
    }

    /// Returns the counter of attempts through channels of this kind with this outcome.
    pub fn messages(&self, kind: ProviderType, outcome: MessageOutcome) -> &Counter {
        &self.messages[kind as usize][outcome as usize]
    }

    /// Counts a call by its method name in the contract and its response code.
    pub fn count_call(&self, method: &'static str, code: &'static str) {
        self.calls.get_or_create(&[("method", method), ("code", code)]).inc();
    }
}

fn checks(registry: &mut Registry) -> [[Counter; Outcome::ALL.len()]; KINDS] {
    let family = Family::<[(&'static str, &'static str); 2], Counter>::default();
    let checks = std::array::from_fn(|at| {
        let kind = MonitorKind::ALL[at];
        Outcome::ALL.map(|outcome| {
            family.get_or_create_owned(&[("kind", kind.as_str()), ("outcome", outcome.as_str())])
        })
    });
    registry.register("checks", "Checks that were finished, by kind and outcome", family);
    checks
}

fn messages(registry: &mut Registry) -> Vec<[Counter; MessageOutcome::ALL.len()]> {
    let family = Family::<[(&'static str, &'static str); 2], Counter>::default();
    let of_kind = |kind: &ProviderType| {
        MessageOutcome::ALL.map(|outcome| {
            family.get_or_create_owned(&[("kind", kind.as_str()), ("outcome", outcome.as_str())])
        })
    };
    let messages = ProviderType::ALL.iter().map(of_kind).collect();
    registry.register("messages", "Tries to send a message, by kind and outcome", family);
    messages
}

fn counter(registry: &mut Registry, name: &str, help: &str) -> Counter {
    let counter = Counter::default();
    registry.register(name, help, counter.clone());
    counter
}

fn gauge(registry: &mut Registry, name: &str, help: &str) -> Gauge {
    let gauge = Gauge::default();
    registry.register(name, help, gauge.clone());
    gauge
}

fn histogram<const N: usize>(
    registry: &mut Registry,
    name: &str,
    help: &str,
    bounds: [f64; N],
) -> Histogram {
    let histogram = Histogram::new(bounds);
    registry.register_with_unit(name, help, Unit::Seconds, histogram.clone());
    histogram
}

#[cfg(test)]
mod tests;
