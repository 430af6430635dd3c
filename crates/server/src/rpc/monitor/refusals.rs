//! Rejects monitors that nothing can check: with settings that make no request, and in private regions
//! without a probe.

use contract::rpc::{self, Error};
use domain::check::CheckPlan;
use rules::monitor::Monitor as Stored;
use rules::{Region, Violation};

use super::RESOURCE;
use crate::rpc::Services;
use crate::rpc::request::invalid;

/// Rejects a monitor that cannot be planned. Valid monitors can be; this check avoids storing one
/// that never runs.
pub(super) fn refuse_unplannable(monitor: &Stored) -> Result<(), Error> {
    let planned = CheckPlan::new(monitor).map(drop);
    planned.map_err(|error| rpc::invalid(&Violation::without_value("monitor", error.why).into()))
}

/// Rejects private regions without a probe in the monitor's workspace, except those that it `had`.
pub(super) fn refuse_unserved(
    services: &Services,
    monitor: &Stored,
    had: &[Region],
) -> Result<(), Error> {
    let probes = services.pipeline.probes().of(monitor.workspace);
    let is_refused = |region: &&Region| !probes.has_probe(**region) && !had.contains(region);
    match monitor.settings.regions.iter().find(is_refused) {
        Some(region) => {
            let allowed =
                format!("must not name `{region}`, because it has no probe; create one first");
            let violation = Violation::without_value("regions", allowed);
            Err(invalid(RESOURCE)(violation.into()))
        }
        None => Ok(()),
    }
}
