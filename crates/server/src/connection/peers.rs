//! Counts by address and by network of the peer.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};

use web::peer::rate_limit_address;

const NETWORK_BITS_V4: u32 = 24;
const NETWORK_BITS_V6: u32 = 56;

/// Number of connections or requests of each address and of each network. An IPv6 /64 counts as one
/// address.
#[derive(Debug, Default)]
pub(super) struct PeerCounts {
    of_address: HashMap<IpAddr, u32>,
    of_network: HashMap<IpAddr, u32>,
}

/// Maximum counts of one peer.
#[derive(Clone, Copy, Debug)]
pub(super) struct PeerLimits {
    pub(super) of_address: u32,
    /// Maximum of a network: /24 of IPv4, /56 of IPv6.
    pub(super) of_network: u32,
}

/// Limit that a peer has reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ReachedLimit {
    OfAddress,
    OfNetwork,
}

impl PeerCounts {
    pub(super) fn add(&mut self, peer: IpAddr) {
        *self.of_address.entry(rate_limit_address(peer)).or_default() += 1;
        *self.of_network.entry(network(peer)).or_default() += 1;
    }

    pub(super) fn remove(&mut self, peer: IpAddr) {
        let maps = [
            (&mut self.of_address, rate_limit_address(peer)),
            (&mut self.of_network, network(peer)),
        ];
        for (counts, key) in maps {
            let count = counts.get(&key).copied().unwrap_or(0);
            if count > 1 {
                counts.insert(key, count - 1);
            } else {
                counts.remove(&key);
            }
        }
    }

    /// Returns the limit that a peer has reached, if any: that of its address before that of its
    /// network.
    pub(super) fn reached_limit(&self, peer: IpAddr, limits: PeerLimits) -> Option<ReachedLimit> {
        if self
            .of_address
            .get(&rate_limit_address(peer))
            .is_some_and(|count| *count >= limits.of_address)
        {
            return Some(ReachedLimit::OfAddress);
        }
        (self.of_network(peer) >= limits.of_network).then_some(ReachedLimit::OfNetwork)
    }

    /// Returns the count of the peer's network.
    pub(super) fn of_network(&self, peer: IpAddr) -> u32 {
        self.of_network.get(&network(peer)).copied().unwrap_or(0)
    }

    #[cfg(test)]
    pub(super) fn is_empty(&self) -> bool {
        self.of_address.is_empty() && self.of_network.is_empty()
    }
}

/// Returns the network of an address, as its first address.
pub(super) fn network(address: IpAddr) -> IpAddr {
    match address {
        IpAddr::V4(v4) => {
            let bits = v4.to_bits() & (u32::MAX << (u32::BITS - NETWORK_BITS_V4));
            IpAddr::V4(bits.into())
        }
        IpAddr::V6(v6) => {
            let bits = v6.to_bits() & (u128::MAX << (u128::BITS - NETWORK_BITS_V6));
            IpAddr::V6(Ipv6Addr::from_bits(bits))
        }
    }
}
