//! Hosts that are reached without a proxy: this machine, and those in `NO_PROXY`. Follows the rules
//! of Go's `httpproxy`, because Terraform reads the same variable.
//!
//! Rules: <https://pkg.go.dev/golang.org/x/net/http/httpproxy#Config>

use std::net::IpAddr;

use ipnet::IpNet;
use url::Host;

/// Entries of `NO_PROXY`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Bypass {
    entries: Vec<Entry>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Entry {
    /// Every host, written `*`.
    All,
    /// IP address, at every port if none is given.
    Address(IpAddr, Option<u16>),
    /// Network, such as `10.0.0.0/8`.
    Network(IpNet),
    /// Domain, without a leading dot.
    Domain { name: String, port: Option<u16>, reach: Reach },
}

/// Names that an entry with a domain matches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reach {
    /// The domain and its subdomains: `example.com`.
    Whole,
    /// Only subdomains: `.example.com` and `*.example.com`.
    Below,
}

impl Bypass {
    /// Parses the value of `NO_PROXY`. Skips malformed entries, as Go does.
    pub(super) fn parse(value: &str) -> Self {
        Self { entries: value.split(',').filter_map(|entry| Entry::parse(entry.trim())).collect() }
    }

    /// Returns whether a host is reached without a proxy. Loopback always is.
    pub(super) fn matches(&self, host: &str, port: u16) -> bool {
        let host = host.trim_start_matches('[').trim_end_matches(']').to_ascii_lowercase();
        let address = host.parse::<IpAddr>().ok().map(|address| address.to_canonical());
        let is_loopback = address.map_or(host == "localhost", |address| address.is_loopback());
        is_loopback || self.entries.iter().any(|entry| entry.matches(&host, address, port))
    }
}

impl Entry {
    fn parse(entry: &str) -> Option<Self> {
        if entry == "*" {
            return Some(Self::All);
        }
        if let Ok(network) = entry.parse() {
            return Some(Self::Network(network));
        }
        let (host, port) = split_port(entry)?;
        if let Ok(address) = host.parse::<IpAddr>() {
            return Some(Self::Address(address.to_canonical(), port));
        }
        let host = host.strip_prefix('*').filter(|rest| rest.starts_with('.')).unwrap_or(host);
        let (name, reach) = match host.strip_prefix('.') {
            Some(name) => (name, Reach::Below),
            None => (host, Reach::Whole),
        };
        // Names beyond ASCII are written as they are and looked up in their encoded form.
        let Ok(Host::Domain(name)) = Host::parse(name) else { return None };
        Some(Self::Domain { name, port, reach })
    }

    fn matches(&self, host: &str, address: Option<IpAddr>, port: u16) -> bool {
        let at = |wanted: Option<u16>| wanted.is_none_or(|wanted| wanted == port);
        match self {
            Self::All => true,
            Self::Address(wanted, wanted_port) => address == Some(*wanted) && at(*wanted_port),
            Self::Network(network) => address.is_some_and(|address| network.contains(&address)),
            Self::Domain { name, port, reach } => {
                let is_below = || host.strip_suffix(name).is_some_and(|rest| rest.ends_with('.'));
                let is_it = *reach == Reach::Whole && host == name;
                address.is_none() && (is_it || is_below()) && at(*port)
            }
        }
    }
}

/// Splits `host:port` and `[address]:port`. Returns `None` for a malformed entry.
fn split_port(entry: &str) -> Option<(&str, Option<u16>)> {
    if let Some(rest) = entry.strip_prefix('[') {
        let (address, rest) = rest.split_once(']')?;
        let port = rest.strip_prefix(':').map(str::parse).transpose().ok()?;
        return (port.is_some() || rest.is_empty()).then_some((address, port));
    }
    // An IPv6 address without brackets has more than one colon and no port.
    match entry.split_once(':') {
        Some((host, port)) if !port.contains(':') => {
            Some((host, Some(port.parse().ok()?))).filter(|_| !host.is_empty())
        }
        _ => (!entry.is_empty()).then_some((entry, None)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_match_as_in_go() {
        let cases = [
            ("example.com", "example.com", 443, true),
            ("example.com", "API.Example.com", 443, true),
            ("example.com", "notexample.com", 443, false),
            (".example.com", "api.example.com", 443, true),
            (".example.com", "example.com", 443, false),
            ("*.example.com", "api.example.com", 443, true),
            ("*.example.com", "example.com", 443, false),
            ("example.com:8443", "api.example.com", 8443, true),
            ("example.com:8443", "example.com", 443, false),
            ("bücher.example", "xn--bcher-kva.example", 443, true),
            ("a.test, EXAMPLE.com ,,", "example.com", 443, true),
            ("*", "example.com", 443, true),
            ("*", "192.0.2.7", 443, true),
            ("a.test,*", "example.com", 443, true),
            ("192.0.2.7", "192.0.2.7", 443, true),
            ("192.0.2.7", "192.0.2.8", 443, false),
            ("192.0.2.7:8080", "192.0.2.7", 8080, true),
            ("192.0.2.7:8080", "192.0.2.7", 443, false),
            ("192.0.2.0/24", "192.0.2.200", 443, true),
            ("192.0.2.0/24", "192.0.3.1", 443, false),
            ("192.0.2.0/24", "192.0.2.200.example.com", 443, false),
            ("2001:db8::/32", "[2001:db8::1]", 443, true),
            ("2001:db8::1", "[2001:db8::1]", 443, true),
            ("[2001:db8::1]:8443", "[2001:db8::1]", 8443, true),
            ("[2001:db8::1]:8443", "[2001:db8::1]", 443, false),
            ("7", "192.0.2.7", 443, false),
            ("", "example.com", 443, false),
            (":443", "example.com", 443, false),
            ("example.com:https", "example.com", 443, false),
        ];
        for (value, host, port, expected) in cases {
            let matches = Bypass::parse(value).matches(host, port);
            assert_eq!(matches, expected, "NO_PROXY={value} {host}:{port}");
        }
    }

    #[test]
    fn loopback_always_matches() {
        let none = Bypass::default();
        for host in
            ["localhost", "LOCALHOST", "127.0.0.1", "127.8.8.8", "[::1]", "[::ffff:127.0.0.1]"]
        {
            assert!(none.matches(host, 8080), "{host}");
        }
        for host in ["localhost.example.com", "10.0.0.1", "[2001:db8::1]"] {
            assert!(!none.matches(host, 8080), "{host}");
        }
    }
}
