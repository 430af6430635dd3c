//! Metrics of probes in other places, by region. Names of probes are no labels, because the page needs no
//! key.

use std::sync::atomic::AtomicU64;
use std::time::Duration;

use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::Registry;
use rules::{Region, Timestamp};

use super::counter;

type ByRegion<M> = Family<[(&'static str, &'static str); 1], M>;
type Decimal = Gauge<f64, AtomicU64>;

/// State of a probe for people.
#[derive(Clone, Debug, PartialEq)]
pub struct ProbeStatus {
    pub is_connected: bool,
    /// Version of its program.
    pub version: String,
    pub heard_at: Timestamp,
    /// Age of the oldest result in its last report with results.
    pub lag: Duration,
    /// Time that its own clock is ahead of the server's, in milliseconds. Includes the way to the server.
    pub clock_offset_ms: i64,
    /// Number of checks that it runs.
    pub running: u32,
    /// Number of checks that wait at the probe.
    pub waiting: u32,
}

/// Metrics of probes in other places.
#[derive(Debug)]
pub struct ProbeMetrics {
    /// Results that were refused.
    pub results_refused: Counter,
    /// Results that probes dropped, because their disks or limits were full.
    pub results_dropped: Counter,
    /// Whether the server is connected to NATS.
    pub nats_connected: Gauge,
    /// Connections to NATS that failed or ended.
    pub nats_failures: Counter,
    requests_refused: Family<[(&'static str, &'static str); 1], Counter>,
    connected: ByRegion<Gauge>,
    lag_seconds: ByRegion<Decimal>,
    clock_offset_seconds: ByRegion<Decimal>,
    running: ByRegion<Gauge>,
    waiting: ByRegion<Gauge>,
    versions: Family<[(&'static str, String); 2], Gauge>,
}

impl ProbeMetrics {
    pub(super) fn register(registry: &mut Registry) -> Self {
        let (connected, running, waiting) = <(ByRegion<Gauge>, _, _)>::default();
        let (lag_seconds, clock_offset_seconds) = <(ByRegion<Decimal>, _)>::default();
        let versions = Family::default();
        let gauges: [(&str, &str, &ByRegion<Gauge>); 3] = [
            ("probe_connected", "Whether the probe of the region is connected", &connected),
            ("probe_checks_running", "Checks that the probe of the region runs", &running),
            ("probe_checks_waiting", "Checks that wait at the probe of the region", &waiting),
        ];
        for (name, help, family) in gauges {
            registry.register(name, help, family.clone());
        }
        let seconds: [(&str, &str, &ByRegion<Decimal>); 2] = [
            (
                "probe_lag_seconds",
                "Age of the oldest result in the last report with results",
                &lag_seconds,
            ),
            (
                "probe_clock_offset_seconds",
                "Time that the clock of the probe is ahead of this server's",
                &clock_offset_seconds,
            ),
        ];
        for (name, help, family) in seconds {
            registry.register(name, help, family.clone());
        }
        registry.register("probe_version", "1 for the version of each probe", versions.clone());
        let requests_refused = Family::<[(&'static str, &'static str); 1], Counter>::default();
        registry.register(
            "probe_requests_refused",
            "Requests of probes that were refused, by reason",
            requests_refused.clone(),
        );
        let nats_connected = Gauge::default();
        registry.register(
            "nats_connected",
            "Whether this server is connected to NATS",
            nats_connected.clone(),
        );
        Self {
            results_refused: counter(
                registry,
                "probe_results_refused",
                "Results of probes that were refused",
            ),
            results_dropped: counter(
                registry,
                "probe_results_dropped",
                "Results that probes dropped because their disks or limits were full",
            ),
            nats_failures: counter(
                registry,
                "nats_failures",
                "Connections to NATS that failed or ended",
            ),
            nats_connected,
            requests_refused,
            connected,
            lag_seconds,
            clock_offset_seconds,
            running,
            waiting,
            versions,
        }
    }

    /// Counts a request that was refused for this reason.
    pub(crate) fn count_refused(&self, reason: &'static str) {
        self.requests_refused.get_or_create_owned(&[("reason", reason)]).inc();
    }

    /// Records whether the probe of these regions is connected.
    pub(crate) fn set_connected(&self, regions: &[Region], is_connected: bool) {
        for region in regions {
            let label = [("region", region.as_str())];
            self.connected.get_or_create_owned(&label).set(i64::from(is_connected));
        }
    }

    /// Records the state of the probe of these regions, whose version was `before`.
    pub(crate) fn set_status(&self, regions: &[Region], before: &str, status: &ProbeStatus) {
        let versioned = |region: &Region, version: &str| {
            [("region", region.as_str().to_owned()), ("version", version.to_owned())]
        };
        for region in regions {
            if before != status.version {
                self.versions.remove(&versioned(region, before));
            }
            let label = [("region", region.as_str())];
            self.lag_seconds.get_or_create_owned(&label).set(status.lag.as_secs_f64());
            let offset = status.clock_offset_ms as f64 / 1_000.0;
            self.clock_offset_seconds.get_or_create_owned(&label).set(offset);
            self.running.get_or_create_owned(&label).set(i64::from(status.running));
            self.waiting.get_or_create_owned(&label).set(i64::from(status.waiting));
            self.versions.get_or_create_owned(&versioned(region, &status.version)).set(1);
        }
    }
}
