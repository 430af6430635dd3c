//! Warnings about monitors that were stored but cannot succeed: they are inactive, or this server
//! may not reach their address.

use std::net::{IpAddr, Ipv4Addr};

use contract::monitor::wire::Warning;
use rules::monitor::{Check, Monitor};
use rules::notification::literal_address;
use url::Url;

use super::RESOURCE;
use crate::rpc::Services;

/// Returns the warnings about a new monitor. People forget `active`, whose default is false.
pub(super) fn for_new_monitor(services: &Services, monitor: &Monitor) -> Vec<Warning> {
    let inactive = (!monitor.settings.active)
        .then(|| warning("active", "the monitor is not checked until `active` is true".to_owned()));
    inactive.into_iter().chain(for_monitor(services, monitor)).collect()
}

/// Returns the warnings about an updated monitor. Pausing is intended and causes no warning. The
/// person who starts the probe of a private region decides which addresses it may reach.
pub(super) fn for_monitor(services: &Services, monitor: &Monitor) -> Vec<Warning> {
    let regions = monitor.settings.resolved_regions(&services.default_regions);
    if regions.iter().all(|region| region.is_private()) {
        return Vec::new();
    }
    let (field, url) = match &monitor.settings.check {
        Check::Http(http) => ("url", http.url.clone()),
        Check::Tcp(tcp) => ("uri", format!("http://{}", tcp.uri)),
        // DNS checks query the name servers of the operator.
        Check::Dns(_) => return Vec::new(),
    };
    let address = literal_address(&url).or_else(|| loopback(&url));
    let refused = address.and_then(|address| services.egress.permit(address).err());
    let refused = refused.map(|why| {
        warning(field, format!("checks will fail: {why}; the operator of this server decides"))
    });
    refused.into_iter().collect()
}

/// Returns the loopback address if the URL names `localhost`. Each check resolves other names.
fn loopback(url: &str) -> Option<IpAddr> {
    let url = Url::parse(url).ok()?;
    let is_local = url.host_str()?.trim_end_matches('.') == "localhost";
    is_local.then_some(IpAddr::V4(Ipv4Addr::LOCALHOST))
}

fn warning(field: &str, message: String) -> Warning {
    Warning { field: format!("{RESOURCE}.{field}"), message }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn localhost_is_loopback() {
        for (url, expected) in [
            ("http://LOCALHOST:80/", true),
            ("https://localhost./", true),
            ("https://localhost.example.com/", false),
        ] {
            assert_eq!(loopback(url).is_some(), expected, "{url}");
        }
    }
}
