//! Warnings about monitors that cannot succeed: they are inactive, their client certificate is of no use,
//! or this server may not reach their address.

mod client_certificate;

use std::net::{IpAddr, Ipv4Addr};
use std::time::Duration;

use contract::monitor::wire::Warning;
use rules::monitor::{Check, HttpCheck, Monitor};
use rules::notification::literal_address;
use url::Url;

use super::RESOURCE;
use crate::rpc::Services;

/// Time to resolve the name of a draft, because a person waits.
const RESOLVED_WITHIN: Duration = Duration::from_secs(1);

/// Returns the warnings about a new monitor. People forget `active`, whose default is false.
pub(super) fn for_new_monitor(services: &Services, monitor: &Monitor) -> Vec<Warning> {
    let inactive = (!monitor.settings.active)
        .then(|| warning("active", "the monitor is not checked until `active` is true".to_owned()));
    inactive.into_iter().chain(for_monitor(services, monitor)).collect()
}

/// Returns the warnings about an updated monitor. Pausing is intended and causes no warning. The
/// person who starts the probe of a private region decides which addresses it may reach.
pub(super) fn for_monitor(services: &Services, monitor: &Monitor) -> Vec<Warning> {
    let of_client = client_certificate::warnings(monitor, services.ctx.now());
    let certificates = certificate_without_tls(monitor).into_iter().chain(of_client);
    certificates.chain(for_address(services, monitor)).collect()
}

fn for_address(services: &Services, monitor: &Monitor) -> Option<Warning> {
    let (field, url) = address_of(services, monitor)?;
    let address = literal_address(&url).or_else(|| loopback(&url))?;
    let why = services.egress.permit(address).err()?;
    Some(unreachable(field, &why.to_string()))
}

/// Returns the warning about days before the expiry of a certificate that a check may never see.
fn certificate_without_tls(monitor: &Monitor) -> Option<Warning> {
    let Check::Http(http) = &monitor.settings.check else { return None };
    (is_plain(http) && http.certificate_warn_days > 0).then(|| {
        let message = "an http URL has no certificate; only https URLs that it redirects to count";
        warning("certificate_warn_days", message.to_owned())
    })
}

fn is_plain(http: &HttpCheck) -> bool {
    Url::parse(&http.url).is_ok_and(|url| url.scheme() == "http")
}

/// Returns the warnings about a draft, whose name is resolved once. A name without addresses causes no
/// warning, because a person may create its record next.
pub(super) async fn for_draft(services: &Services, draft: &Monitor) -> Vec<Warning> {
    let known = for_monitor(services, draft);
    let knows_address = for_address(services, draft).is_some();
    let Some((field, url)) = address_of(services, draft).filter(|_| !knows_address) else {
        return known;
    };
    let Some(name) = domain(&url) else { return known };
    let Ok(found) = services.domains.dns().resolve(&name, RESOLVED_WITHIN).await else {
        return known;
    };
    // As checks do: one permitted address suffices.
    let mut first = None;
    for address in found.addresses {
        match services.egress.permit(address) {
            Ok(()) => return known,
            Err(why) => first = first.or(Some(why)),
        }
    }
    let warning = first.map(|why| unreachable(field, &format!("`{name}` is blocked: {why}")));
    known.into_iter().chain(warning).collect()
}

/// Returns the field with the address of a monitor that this server checks, and the address as a URL.
fn address_of(services: &Services, monitor: &Monitor) -> Option<(&'static str, String)> {
    let regions = monitor.settings.resolved_regions(&services.default_regions);
    if regions.iter().all(|region| region.is_private()) {
        return None;
    }
    match &monitor.settings.check {
        Check::Http(http) => Some(("url", http.url.clone())),
        Check::Tcp(tcp) => Some(("uri", format!("http://{}", tcp.uri))),
        // DNS checks query the name servers of the operator.
        Check::Dns(_) | Check::Heartbeat(_) => None,
    }
}

fn unreachable(field: &str, why: &str) -> Warning {
    warning(field, format!("checks will fail: {why}; the operator of this server decides"))
}

/// Returns the host of a URL as A-labels, if it is a name.
fn domain(url: &str) -> Option<String> {
    Url::parse(url).ok()?.domain().map(|name| name.trim_end_matches('.').to_owned())
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
