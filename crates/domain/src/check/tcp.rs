//! TCP checks: connect to `host:port` (design §5, "TCP"). A connection is all that is asked for.

use rules::monitor::TcpCheck;
use rules::{Host, HostPort};

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
        let HostPort { host, port } =
            HostPort::parse(&check.uri).map_err(|refusal| format!("its address {}", refusal.0))?;
        let host = match host {
            Host::Name(name) => name.to_string(),
            Host::Address(address) => address.to_string(),
        };
        Ok(Self { host, port })
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
            ("my_host:80", "my_host 80"),
        ] {
            assert_eq!(plan(uri).as_deref(), Ok(expected), "{uri}");
        }
    }

    // Numbers that some resolvers take for addresses would be a way around the egress rule.
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
            "2130706433:80",
            "0177.0.0.1:80",
            "0x7f.1:80",
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
