//! Rejects monitors that nothing can check: with settings that make no request, with a client certificate
//! that no check can present, and in private regions without a probe.

use contract::rpc::{self, Error};
use domain::check::CheckPlan;
use probe::{ClientCertificate, UnusableClientCertificate};
use rules::monitor::{Check, Monitor as Stored};
use rules::{Region, Violation};

use super::RESOURCE;
use crate::rpc::Services;
use crate::rpc::request::invalid;

/// Rejects a monitor that cannot be planned. Valid monitors can be; this check avoids storing one
/// that never runs. `rules` checks certificates by their form only, and the probe's TLS library decides.
pub(super) fn refuse_unplannable(monitor: &Stored) -> Result<(), Error> {
    let planned = CheckPlan::new(monitor).map(drop);
    planned
        .map_err(|error| rpc::invalid(&Violation::without_value("monitor", error.why).into()))?;
    match client_certificate(monitor) {
        None | Some(Ok(_)) => Ok(()),
        Some(Err(error)) => {
            let violation = Violation::without_value(error.argument(), error.to_string());
            Err(invalid(RESOURCE)(violation.into()))
        }
    }
}

/// Reads the client certificate of a monitor that has one.
pub(super) fn client_certificate(
    monitor: &Stored,
) -> Option<Result<ClientCertificate, UnusableClientCertificate>> {
    let Check::Http(http) = &monitor.settings.check else { return None };
    let (certificate, key) = http.client_certificate.as_ref().zip(http.client_key.as_ref())?;
    Some(ClientCertificate::read(certificate, key.0.expose()))
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
