//! Encodes the pipeline's state of a monitor as responses of `monitor.v1.MonitorService`.

use contract::monitor::encode_instant;
use contract::monitor::wire::{CheckResult, Phases, RegionStatus};
use domain::check::{CheckResult as Checked, ProbeName};
use rules::{MonitorKind, Region};

use crate::pipeline::{RegionView, WorkspaceProbes};

/// Names of the regions of a monitor's results. All are empty for a kind that no probe checks.
#[derive(Clone, Copy)]
pub(in crate::rpc) struct RegionNames<'p> {
    probes: WorkspaceProbes<'p>,
    is_probed: bool,
}

impl<'p> RegionNames<'p> {
    pub(in crate::rpc) const fn new(probes: WorkspaceProbes<'p>, kind: MonitorKind) -> Self {
        Self { probes, is_probed: kind.is_probed() }
    }

    pub(in crate::rpc) fn name(self, region: Region) -> String {
        if self.is_probed { region.to_string() } else { String::new() }
    }

    /// Returns the name of the probe of a result.
    pub(in crate::rpc) fn probe(self, probe: &ProbeName) -> String {
        if self.is_probed { probe.0.to_string() } else { String::new() }
    }

    /// Returns the place that checks of a region come from, see [`location`].
    pub(in crate::rpc) fn place(self, region: Region) -> String {
        if self.is_probed { location(self.probes, region) } else { String::new() }
    }
}

/// Encodes the result of one requested check.
pub(super) fn encode_result(result: &Checked, probes: WorkspaceProbes<'_>) -> CheckResult {
    let last = result.evidence.as_ref().and_then(|evidence| evidence.attempts.last());
    let micros = |part: Option<u32>| part.map(|us| i32::try_from(us).unwrap_or(i32::MAX));
    CheckResult {
        region: result.identity.region.to_string(),
        served_by: result.probe.0.to_string(),
        outcome: result.outcome.as_str().to_owned(),
        latency_ms: millis(result.latency_us),
        reasons: last.map(|attempt| attempt.reasons.clone()).unwrap_or_default(),
        phases: Phases {
            dns_us: micros(result.phases.dns_us),
            connect_us: micros(result.phases.connect_us),
            tls_us: micros(result.phases.tls_us),
            first_byte_us: micros(result.phases.first_byte_us),
            transfer_us: micros(result.phases.transfer_us),
        }
        .into(),
        status_code: result.status.map(i32::from),
        finished_at: encode_instant(result.finished_at),
        attempts: i32::from(result.attempts),
        place: location(probes, result.identity.region),
    }
}

/// Encodes the status of a monitor in one region.
pub(super) fn encode_region(view: &RegionView, probes: WorkspaceProbes<'_>) -> RegionStatus {
    RegionStatus {
        region: view.region.to_string(),
        status: view.status.to_string(),
        checked_at: view.checked_at.map(encode_instant).unwrap_or_default(),
        latency_ms: view.latency_us.map(millis),
        served_by: view.served_by.clone(),
        place: location(probes, view.region),
    }
}

/// Returns the place that checks of a region come from, or an empty text if the region has a probe
/// of its own.
pub(in crate::rpc) fn location(probes: WorkspaceProbes<'_>, region: Region) -> String {
    probes.location_of(region).map(|name| name.0.to_string()).unwrap_or_default()
}

/// Rounds up to whole milliseconds, so that no duration is 0.
const fn millis(us: u32) -> i32 {
    us.div_ceil(1_000) as i32
}
