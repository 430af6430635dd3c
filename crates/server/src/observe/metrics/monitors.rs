//! Metrics of single monitors, for operators who allow them by a setting. Only these have labels of tenants:
//! their IDs, names and workspaces.
//!
//! A scrape brings the monitors to show with their statuses, and the judge the results since then. So latencies
//! appear with the first check after the scrape that first shows a monitor, and memory is bounded by the setting.

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use domain::check::{CheckResult, Outcome, Phases};
use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric as _, MetricEncoder};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::gauge::ConstGauge;
use prometheus_client::registry::Unit;
use rules::{MonitorId, MonitorStatus, Region, Timestamp};
use store::ActiveMonitor;

/// Microseconds of a second.
const MICROS: f64 = 1e6;

/// Figures of the monitors that the page shows. Cheap to clone.
#[derive(Clone, Debug)]
pub struct MonitorMetrics {
    limit: u32,
    figures: Arc<Mutex<MonitorFigures>>,
}

#[derive(Clone, Debug, Default)]
struct MonitorFigures {
    /// Monitors of the last scrape.
    shown: Arc<[ActiveMonitor]>,
    /// Latest results of these.
    latest: HashMap<MonitorId, LatestResults>,
}

/// Latest results of a monitor.
#[derive(Clone, Debug, Default)]
struct LatestResults {
    /// Revision of the checks. Results of earlier settings are forgotten.
    revision: u32,
    regions: BTreeMap<Region, RegionResult>,
    /// Time at which the first certificate of a hop expires.
    certificate_expiry: Option<Timestamp>,
}

#[derive(Clone, Copy, Debug)]
struct RegionResult {
    latency_us: u32,
    phases: Phases,
}

impl MonitorMetrics {
    /// Creates metrics of up to this many monitors. With 0, nothing is recorded and shown.
    pub(super) fn new(limit: u32) -> Self {
        Self { limit, figures: Arc::default() }
    }

    /// Returns the maximum number of monitors, or `None` if none are shown.
    pub fn limit(&self) -> Option<u32> {
        (self.limit > 0).then_some(self.limit)
    }

    /// Replaces the monitors to show. Results of others are forgotten.
    pub fn show(&self, monitors: Vec<ActiveMonitor>) {
        let mut figures = self.figures();
        let mut known = std::mem::take(&mut figures.latest);
        let latest =
            |monitor: &ActiveMonitor| (monitor.id, known.remove(&monitor.id).unwrap_or_default());
        figures.latest = monitors.iter().map(latest).collect();
        figures.shown = monitors.into();
    }

    /// Records stored results.
    pub fn record(&self, results: &[CheckResult]) {
        if self.limit == 0 {
            return;
        }
        let mut figures = self.figures();
        for result in results.iter().filter(|result| result.outcome != Outcome::Skipped) {
            let Some(latest) = figures.latest.get_mut(&result.identity.monitor) else { continue };
            let revision = result.identity.revision;
            if revision < latest.revision {
                continue;
            }
            if revision > latest.revision {
                *latest = LatestResults { revision, ..LatestResults::default() };
            }
            // An evaluation of a heartbeat monitor measures nothing.
            if result.attempts > 0 {
                let region = RegionResult { latency_us: result.latency_us, phases: result.phases };
                latest.regions.insert(result.identity.region, region);
            }
            // Evidence of a success is kept every few minutes only, and then has the certificate.
            latest.certificate_expiry = certificate_expiry(result).or(latest.certificate_expiry);
        }
    }

    fn figures(&self) -> MutexGuard<'_, MonitorFigures> {
        self.figures.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns the time at which the first certificate of the latest response expires, as `certificate_warn_days`
/// sees it.
fn certificate_expiry(result: &CheckResult) -> Option<Timestamp> {
    let attempt = result.evidence.as_ref()?.attempts.last()?;
    let certificates = attempt.hops.iter().filter_map(|hop| hop.certificate.as_ref());
    certificates.map(|it| it.not_after).min()
}

impl MonitorFigures {
    fn results(&self) -> impl Iterator<Item = (&ActiveMonitor, &LatestResults)> {
        self.shown.iter().filter_map(|monitor| Some((monitor, self.latest.get(&monitor.id)?)))
    }

    fn encode_statuses(&self, mut family: MetricEncoder<'_>) -> fmt::Result {
        for monitor in &*self.shown {
            for status in MonitorStatus::ALL {
                let is_current = i64::from(monitor.status == *status);
                write(&mut family, monitor, &[("status", status.as_str())], is_current)?;
            }
        }
        Ok(())
    }

    fn encode_maintenance(&self, mut family: MetricEncoder<'_>) -> fmt::Result {
        for monitor in &*self.shown {
            write(&mut family, monitor, &[], i64::from(monitor.is_in_maintenance))?;
        }
        Ok(())
    }

    fn encode_latencies(&self, mut family: MetricEncoder<'_>) -> fmt::Result {
        for (monitor, latest) in self.results() {
            for (region, result) in &latest.regions {
                let seconds = f64::from(result.latency_us) / MICROS;
                write(&mut family, monitor, &[("region", name(monitor, *region))], seconds)?;
            }
        }
        Ok(())
    }

    fn encode_phases(&self, mut family: MetricEncoder<'_>) -> fmt::Result {
        for (monitor, latest) in self.results() {
            for (region, result) in &latest.regions {
                for (phase, micros) in phases(&result.phases) {
                    let labels = [("region", name(monitor, *region)), ("phase", phase)];
                    write(&mut family, monitor, &labels, f64::from(micros) / MICROS)?;
                }
            }
        }
        Ok(())
    }

    fn encode_certificates(&self, mut family: MetricEncoder<'_>) -> fmt::Result {
        for (monitor, latest) in self.results() {
            if let Some(expiry) = latest.certificate_expiry {
                write(&mut family, monitor, &[], expiry.as_millis() / 1000)?;
            }
        }
        Ok(())
    }
}

/// Returns the name of a region of a monitor's results. Empty for a kind that probes do not check.
fn name(monitor: &ActiveMonitor, region: Region) -> &'static str {
    if monitor.kind.is_probed() { region.as_str() } else { "" }
}

/// Returns the phases that a check has reached, by name.
fn phases(phases: &Phases) -> impl Iterator<Item = (&'static str, u32)> {
    let Phases { dns_us, connect_us, tls_us, first_byte_us, transfer_us } = *phases;
    let named = [
        ("dns", dns_us),
        ("connect", connect_us),
        ("tls", tls_us),
        ("first_byte", first_byte_us),
        ("transfer", transfer_us),
    ];
    named.into_iter().filter_map(|(name, micros)| Some((name, micros?)))
}

/// Writes a value with the labels of its monitor and these.
fn write<V>(
    family: &mut MetricEncoder<'_>,
    monitor: &ActiveMonitor,
    labels: &[(&'static str, &str)],
    value: V,
) -> fmt::Result
where
    ConstGauge<V>: prometheus_client::encoding::EncodeMetric,
{
    let id = monitor.id.to_string();
    let mut all = vec![
        ("workspace", monitor.workspace.as_str()),
        ("id", &id),
        ("name", &monitor.name),
        ("kind", monitor.kind.as_str()),
    ];
    all.extend(labels);
    ConstGauge::new(value).encode(family.encode_family(&all)?)
}

impl Collector for MonitorMetrics {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        if self.limit == 0 {
            return Ok(());
        }
        // The page may have many megabytes, and the judge records results meanwhile.
        let figures = self.figures().clone();
        let gauge = MetricType::Gauge;
        let help = "Status of a monitor: 1 for the current one";
        figures.encode_statuses(encoder.encode_descriptor(
            "monitor_status",
            help,
            None,
            gauge,
        )?)?;
        let help = "Whether a maintenance holds the alerts of a monitor: 1 or 0";
        figures.encode_maintenance(encoder.encode_descriptor(
            "monitor_in_maintenance",
            help,
            None,
            gauge,
        )?)?;
        let help = "Duration of the latest check of a monitor in a region";
        let seconds = Some(&Unit::Seconds);
        figures.encode_latencies(encoder.encode_descriptor(
            "monitor_latency",
            help,
            seconds,
            gauge,
        )?)?;
        let help = "Duration of a phase of that check";
        figures.encode_phases(encoder.encode_descriptor(
            "monitor_phase",
            help,
            seconds,
            gauge,
        )?)?;
        let help = "Time at which the first certificate of a monitor expires";
        let name = "monitor_certificate_expiry_timestamp";
        figures.encode_certificates(encoder.encode_descriptor(name, help, seconds, gauge)?)
    }
}

#[cfg(test)]
pub(super) mod tests;
