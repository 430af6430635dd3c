//! Client address of a request. Forwarding headers are trusted only from the operator's proxies
//! (design §6), because anyone can send them.

use std::net::IpAddr;

use http::HeaderMap;
use ipnet::IpNet;

const FORWARDED_FOR: &str = "x-forwarded-for";
/// Maximum number of hops that are read; chains of trusted proxies are shorter.
const HOPS_MAX: usize = 32;

/// Returns the client address of a connection from `peer`. If `peer` is a trusted proxy, this is
/// the last address of `X-Forwarded-For` that is not one.
pub(super) fn caller(peer: IpAddr, headers: &HeaderMap, trusted: &[IpNet]) -> IpAddr {
    let mut address = peer;
    if !is_trusted(address, trusted) {
        return address;
    }
    let lines = headers.get_all(FORWARDED_FOR).iter().rev();
    let hops = lines.filter_map(|line| line.to_str().ok()).flat_map(|line| line.rsplit(','));
    for hop in hops.take(HOPS_MAX) {
        // Trusted proxies write addresses. Anything else ends the trusted part.
        let Ok(before) = hop.trim().parse() else { break };
        address = before;
        if !is_trusted(address, trusted) {
            break;
        }
    }
    address
}

/// Returns whether a proxy added a forwarding header.
pub(super) fn is_forwarded(headers: &HeaderMap) -> bool {
    headers.contains_key(FORWARDED_FOR)
}

/// Returns whether the address belongs to a trusted proxy.
pub(super) fn is_trusted(address: IpAddr, trusted: &[IpNet]) -> bool {
    trusted.iter().any(|network| network.contains(&address.to_canonical()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn from(peer: &str, forwarded: &[&'static str]) -> String {
        let mut headers = HeaderMap::new();
        for line in forwarded {
            headers.append(FORWARDED_FOR, http::HeaderValue::from_static(line));
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
            ("10.0.0.1", &["10.0.0.3"], "10.0.0.3"),
        ] {
            assert_eq!(from(peer, forwarded), expected, "{peer} {forwarded:?}");
        }
    }
}
