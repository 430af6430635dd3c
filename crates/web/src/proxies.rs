//! Client address of a request. Forwarding headers are trusted only from the operator's proxies
//! (design §6), because anyone can send them.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use http::HeaderMap;
use ipnet::IpNet;

const FORWARDED_FOR: &str = "x-forwarded-for";
/// Maximum number of hops that are read; chains of trusted proxies are shorter.
const HOPS_MAX: usize = 32;

/// The operator's proxies. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub struct TrustedProxies {
    networks: Arc<[IpNet]>,
    /// Whether the log already warned that forwarded addresses are ignored.
    has_warned: Arc<AtomicBool>,
}

impl TrustedProxies {
    /// Trusts the proxies in these networks.
    pub fn new(networks: &[IpNet]) -> Self {
        Self { networks: networks.into(), has_warned: Arc::default() }
    }

    /// Returns the client address of a request with these headers on a connection from `peer`.
    pub fn address(&self, peer: IpAddr, headers: &HeaderMap) -> IpAddr {
        if self.ignores_first(headers) {
            tracing::warn!(
                client.address = %peer,
                "ignoring X-Forwarded-For from {peer}: if it is your proxy, name it in the setting \
                 `trusted_proxies`; else the limits of addresses do not tell its clients apart"
            );
        }
        caller(peer, headers, &self.networks)
    }

    /// Returns whether this is the first request whose forwarding header is ignored because no proxy
    /// is named.
    fn ignores_first(&self, headers: &HeaderMap) -> bool {
        self.networks.is_empty()
            && headers.contains_key(FORWARDED_FOR)
            && !self.has_warned.swap(true, Ordering::Relaxed)
    }

    /// Returns whether the address belongs to a trusted proxy.
    pub fn contains(&self, peer: IpAddr) -> bool {
        is_trusted(peer, &self.networks)
    }
}

/// Returns the client address of a connection from `peer`. If `peer` is a trusted proxy, this is
/// the last address of `X-Forwarded-For` that is not one.
fn caller(peer: IpAddr, headers: &HeaderMap, trusted: &[IpNet]) -> IpAddr {
    let mut address = peer;
    if !is_trusted(address, trusted) {
        return address;
    }
    // A client may have sent other bytes before the address that the proxy added.
    let lines = headers.get_all(FORWARDED_FOR).iter().rev();
    let hops = lines.flat_map(|line| line.as_bytes().rsplit(|byte| *byte == b','));
    for hop in hops.take(HOPS_MAX) {
        // Trusted proxies write addresses. Anything else ends the trusted part.
        let Some(before) = parse(hop) else { break };
        address = before;
        if !is_trusted(address, trusted) {
            break;
        }
    }
    address
}

/// Parses a hop: an address, alone or with a port. IPv6 may have brackets.
fn parse(hop: &[u8]) -> Option<IpAddr> {
    let hop = std::str::from_utf8(hop).ok()?.trim();
    let bare = hop.strip_prefix('[').and_then(|it| it.strip_suffix(']')).unwrap_or(hop);
    let with_port = || hop.parse().ok().map(|address: SocketAddr| address.ip());
    bare.parse().ok().or_else(with_port)
}

/// Returns whether the address belongs to a trusted proxy.
fn is_trusted(address: IpAddr, trusted: &[IpNet]) -> bool {
    trusted.iter().any(|network| network.contains(&address.to_canonical()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn from(peer: &str, forwarded: &[&[u8]]) -> String {
        let mut headers = HeaderMap::new();
        for line in forwarded {
            headers.append(FORWARDED_FOR, http::HeaderValue::from_bytes(line).unwrap());
        }
        let trusted = ["10.0.0.0/8".parse().unwrap(), "2001:db8::/32".parse().unwrap()];
        caller(peer.parse().unwrap(), &headers, &trusted).to_string()
    }

    #[test]
    fn only_trusted_proxies_are_believed() {
        // design: §6
        for (peer, forwarded, expected) in [
            ("192.0.2.1", &[][..], "192.0.2.1"),
            ("192.0.2.1", &["198.51.100.7"], "192.0.2.1"),
            ("10.0.0.1", &[], "10.0.0.1"),
            ("10.0.0.1", &["198.51.100.7"], "198.51.100.7"),
            ("::ffff:10.0.0.1", &["198.51.100.7"], "198.51.100.7"),
            ("10.0.0.1", &["1.1.1.1, 198.51.100.7, 10.0.0.2"], "198.51.100.7"),
            ("10.0.0.1", &["1.1.1.1", "198.51.100.7,2001:db8::2"], "198.51.100.7"),
            ("10.0.0.1", &["198.51.100.7, unknown"], "10.0.0.1"),
            ("10.0.0.1", &["198.51.100.7:4711"], "198.51.100.7"),
            ("10.0.0.1", &["[2001:db9::7]:4711"], "2001:db9::7"),
            ("10.0.0.1", &["[2001:db9::7]"], "2001:db9::7"),
            ("10.0.0.1", &["10.0.0.3"], "10.0.0.3"),
        ] {
            let lines: Vec<&[u8]> = forwarded.iter().map(|line| line.as_bytes()).collect();
            assert_eq!(from(peer, &lines), expected, "{peer} {forwarded:?}");
        }
    }

    // nginx keeps the line of a visitor and adds an address. One byte hid that address.
    #[test]
    fn strange_bytes_do_not_hide_the_client() {
        assert_eq!(from("10.0.0.1", &[b"\xff, 198.51.100.7"]), "198.51.100.7");
        assert_eq!(from("10.0.0.1", &[b"\xff", b"198.51.100.7"]), "198.51.100.7");
    }

    // issue 16, point 10
    #[test]
    fn ignored_forwarded_addresses_are_logged_once() {
        let peer = IpAddr::from([192, 0, 2, 7]);
        let forwarded = HeaderMap::from_iter([(
            http::HeaderName::from_static(FORWARDED_FOR),
            http::HeaderValue::from_static("203.0.113.9"),
        )]);
        let without = TrustedProxies::default();
        assert_eq!(without.address(peer, &forwarded), peer);
        assert!(!without.clone().ignores_first(&forwarded), "the log warned already");
        let fresh = TrustedProxies::default();
        assert!(!fresh.ignores_first(&HeaderMap::new()) && fresh.ignores_first(&forwarded));

        let with = TrustedProxies::new(&[IpNet::from(peer)]);
        assert_ne!(with.address(peer, &forwarded), peer);
        assert!(!with.ignores_first(&forwarded), "the proxy is named");
    }
}
