//! TCP checks: connect to `host:port` (design §5, "TCP"). A successful connection is enough.

use std::net::Ipv6Addr;

use rules::monitor::TcpCheck;
use rules::{Host, HostPort, IpVersion};

use super::TcpObservation;
use super::findings::Findings;

/// Target of a TCP monitor.
#[derive(Debug)]
pub struct TcpPlan {
    /// Name (as A-label) or address, without brackets.
    pub host: String,
    /// 1 to 65535.
    pub port: u16,
    pub ip_version: IpVersion,
}

impl TcpPlan {
    /// Creates the plan of this check. Returns the reason if the address is invalid.
    pub(super) fn new(check: &TcpCheck) -> Result<Self, String> {
        let HostPort { host, port } =
            HostPort::parse(&check.uri).map_err(|refusal| format!("its address {}", refusal.0))?;
        let host = match host {
            Host::Name(name) => name.to_string(),
            Host::Address(address) => address.to_string(),
        };
        Ok(Self { host, port, ip_version: check.ip_version })
    }

    /// Returns whether the monitor itself requires IPv6: by its version, or by an address in its URI.
    pub fn requires_ipv6(&self) -> bool {
        self.ip_version == IpVersion::V6 || self.host.parse::<Ipv6Addr>().is_ok()
    }
}

/// Assesses a completed exchange, which always passes: the connection was established.
pub(super) fn assess(_plan: &TcpPlan, _seen: &TcpObservation) -> Findings {
    Findings::default()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn plan(uri: &str) -> Result<String, String> {
        let plan = TcpPlan::new(&TcpCheck::new(uri))?;
        Ok(format!("{} {}", plan.host, plan.port))
    }

    // design: §5 "Connect to `host:port` (names, IPv4, `[IPv6]:port`)"
    #[test]
    fn names_and_addresses_are_planned() {
        for (uri, expected) in [
            ("db.example.com:5432", "db.example.com 5432"),
            ("DB.Example.com:1", "db.example.com 1"),
            ("münchen.example:65535", "xn--mnchen-3ya.example 65535"),
            ("192.0.2.7:25", "192.0.2.7 25"),
            ("[2001:DB8::1]:443", "2001:db8::1 443"),
            ("[::ffff:127.0.0.1]:80", "::ffff:127.0.0.1 80"),
            ("my_host:80", "my_host 80"),
        ] {
            assert_eq!(plan(uri).as_deref(), Ok(expected), "{uri}");
        }
    }

    // decision 0083
    #[test]
    fn version_or_address_requires_ipv6() {
        for (uri, ip_version, expected) in [
            ("db.example.com:5432", IpVersion::Any, false),
            ("db.example.com:5432", IpVersion::V6, true),
            ("192.0.2.7:25", IpVersion::Any, false),
            ("[2001:db8::1]:443", IpVersion::Any, true),
        ] {
            let plan = TcpPlan::new(&TcpCheck { ip_version, ..TcpCheck::new(uri) }).unwrap();
            assert_eq!(plan.requires_ipv6(), expected, "{uri} {ip_version}");
        }
    }

    // Some resolvers accept such numbers as addresses, which would bypass the egress policy.
    #[test]
    fn invalid_address_is_rejected() {
        for uri in [
            "",
            "host",
            "host:",
            ":80",
            "host:0",
            "host:65536",
            "host:+80",
            "host:８０",
            "::1:80",
            "[::1]",
            "[::1:80",
            "[fe80::1%eth0]:80",
            "tcp://host:80",
            "a b:80",
            "user@host:80",
            "2130706433:80",
            "0177.0.0.1:80",
            "0x7f.1:80",
        ] {
            assert!(plan(uri).is_err(), "{uri}: {:?}", plan(uri));
        }
    }

    proptest! {
        #[test]
        fn planning_any_text_never_panics(uri: String) {
            let _ = plan(&uri);
        }
    }
}
