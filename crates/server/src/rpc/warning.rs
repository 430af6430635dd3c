//! What a caller should know of a monitor that is stored all the same: it is not checked, or its checks
//! cannot succeed because this server may not reach its address.

use std::net::IpAddr;

use contract::monitor::wire::Warning;
use rules::monitor::{Check, Monitor};
use url::{Host, Url};

use super::monitor::RESOURCE;
use crate::app::App;

/// Of a monitor that was just created: people forget `active`, whose default is false.
pub(super) fn of_new(app: &App, monitor: &Monitor) -> Vec<Warning> {
    let inactive = (!monitor.settings.active)
        .then(|| warning("active", "the monitor is not checked until `active` is true".to_owned()));
    inactive.into_iter().chain(of(app, monitor)).collect()
}

/// Of a monitor that was changed. A pause is meant.
pub(super) fn of(app: &App, monitor: &Monitor) -> Vec<Warning> {
    let (field, address) = match &monitor.settings.check {
        Check::Http(http) => {
            ("url", Url::parse(&http.url).ok().and_then(|url| literal(url.host())))
        }
        Check::Tcp(tcp) => {
            let url = Url::parse(&format!("tcp://{}", tcp.uri)).ok();
            ("uri", url.and_then(|url| literal(url.host())))
        }
        // The name servers are the operator's.
        Check::Dns(_) => return Vec::new(),
    };
    let refused = address.and_then(|address| app.egress.permit(address).err());
    let refused = refused.map(|why| {
        warning(field, format!("checks will fail: {why}; the operator of this server decides"))
    });
    refused.into_iter().collect()
}

/// The address that a host is by itself. What other names lead to is seen when they are checked.
fn literal(host: Option<Host<&str>>) -> Option<IpAddr> {
    match host? {
        Host::Ipv4(address) => Some(IpAddr::V4(address)),
        Host::Ipv6(address) => Some(IpAddr::V6(address)),
        Host::Domain(name) => match name.trim_end_matches('.') {
            name if name.eq_ignore_ascii_case("localhost") => Some(IpAddr::from([127, 0, 0, 1])),
            // A scheme that browsers do not know keeps IPv4 addresses as names.
            name => name.parse().ok(),
        },
    }
}

fn warning(field: &str, message: String) -> Warning {
    Warning { field: format!("{RESOURCE}.{field}"), message }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_addresses_and_localhost_are_known_beforehand() {
        for (url, expected) in [
            ("http://10.0.0.1/x", Some("10.0.0.1")),
            ("https://[::1]:8443/", Some("::1")),
            ("http://LOCALHOST:80/", Some("127.0.0.1")),
            ("tcp://192.168.1.5:5432", Some("192.168.1.5")),
            ("tcp://[fd00::1]:22", Some("fd00::1")),
            ("https://example.com/", None),
        ] {
            let url = Url::parse(url).unwrap();
            let expected = expected.map(|text| text.parse().unwrap());
            assert_eq!(literal(url.host()), expected, "{url}");
        }
    }
}
