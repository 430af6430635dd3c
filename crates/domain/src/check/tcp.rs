//! TCP checks: connect to `host:port` (design §5, "TCP"). A connection is all that is asked for.

use rules::monitor::TcpCheck;
use url::Host;

use super::TcpSeen;
use super::assess::Findings;

/// Where a TCP monitor connects to.
#[derive(Debug)]
pub struct TcpPlan {
    /// Name (as A-label) or address, without brackets.
    pub host: String,
    /// 1 to 65535.
    pub port: u16,
}

impl TcpPlan {
    /// The plan for this check, or why there is none.
    pub(super) fn of(check: &TcpCheck) -> Result<Self, String> {
        let uri = check.uri.trim();
        let (host, port) = uri.rsplit_once(':').ok_or("its address has no port: `host:port`")?;
        if host.contains(':') && !host.starts_with('[') {
            return Err("its IPv6 address is not in brackets: `[::1]:port`".to_owned());
        }
        let digits = !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit());
        let port = digits.then(|| port.parse().ok()).flatten().filter(|port| *port > 0);
        // Numbers that are addresses in disguise (`0x7f.1`) become addresses here, before the
        // egress rule looks at them.
        let host = match Host::parse(host) {
            Ok(Host::Domain(name)) => name,
            Ok(Host::Ipv4(address)) => address.to_string(),
            Ok(Host::Ipv6(address)) => address.to_string(),
            Err(error) => return Err(format!("its host: {error}")),
        };
        Ok(Self { host, port: port.ok_or("its port is not one of 1 to 65535")? })
    }
}

/// Holds an exchange that came to its end against its plan: that it did is all there is to hold.
pub(super) fn assess(_plan: &TcpPlan, _seen: &TcpSeen) -> Findings {
    Findings::default()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn plan(uri: &str) -> Result<String, String> {
        let plan = TcpPlan::of(&TcpCheck { uri: uri.to_owned() })?;
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
            ("2130706433:80", "127.0.0.1 80"),
            ("0177.0.0.1:80", "127.0.0.1 80"),
            ("my_host:80", "my_host 80"),
        ] {
            assert_eq!(plan(uri).as_deref(), Ok(expected), "{uri}");
        }
    }

    #[test]
    fn what_is_no_address_is_refused_and_not_guessed() {
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
        ] {
            assert!(plan(uri).is_err(), "{uri}: {:?}", plan(uri));
        }
    }

    proptest! {
        #[test]
        fn no_text_makes_planning_panic(uri: String) {
            let _ = plan(&uri);
        }
    }
}
