//! Open connections of a listener, and the choice of those that close under pressure: first from
//! networks with many connections, then by the time since they were served. New connections close
//! last, because their request with a key may still arrive.

use std::cmp::Reverse;
use std::collections::{HashMap, VecDeque};
use std::net::IpAddr;
use std::sync::atomic::Ordering;
use std::time::Duration;

use tokio::time::Instant;
use web::peer::rate_limit_address;

use super::peers::{PeerCounts, ReachedLimit, network};
use super::requests::Requests;
use super::unread::UnreadResponses;
use super::{Connection, ConnectionState, Credential};

/// Age below which a connection closes only if no other one can.
const NEW_FOR: Duration = Duration::from_secs(2);
/// Number of connections of a network that are one step of its load. Smaller differences do not
/// matter.
const LOAD_STEP: u32 = 32;
/// Number of connections that one search finds. A search reads all connections, 4,096 at most. With
/// 64 found ones, searches were most of what each connection of a flood cost.
const MATCHES_MAX: usize = 256;
/// Number of ranges whose found connections are kept.
const RANGES_MAX: usize = 64;

#[derive(Debug)]
pub(super) struct ConnectionTable {
    pub(super) connections: HashMap<u64, Connection>,
    pub(super) without_key: ConnectionCounts,
    pub(super) with_key: ConnectionCounts,
    pub(super) requests: Requests,
    unread: UnreadResponses,
    unread_with_key: UnreadResponses,
    /// Connections to close next.
    next: HashMap<EvictionRange, VecDeque<Candidate>>,
}

/// Number of connections in total, and of each address and network.
#[derive(Debug, Default)]
pub(super) struct ConnectionCounts {
    pub(super) total: usize,
    pub(super) of_peer: PeerCounts,
}

/// Connections among which one is closed: those that a limit counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct EvictionRange {
    peers: PeerRange,
    credential: Credential,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum PeerRange {
    Any,
    Network(IpAddr),
    Address(IpAddr),
}

/// Connection that may close. The order of the fields decides which one is first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Candidate {
    is_new: bool,
    load: Reverse<u32>,
    served_at: u64,
    id: u64,
}

impl Default for ConnectionTable {
    fn default() -> Self {
        Self {
            connections: HashMap::new(),
            without_key: ConnectionCounts::default(),
            with_key: ConnectionCounts::default(),
            requests: Requests::default(),
            unread: UnreadResponses::new(Credential::None),
            unread_with_key: UnreadResponses::new(Credential::Key),
            next: HashMap::new(),
        }
    }
}

impl ConnectionTable {
    /// Returns the unread responses of connections with this credential.
    pub(super) const fn unread(&mut self, credential: Credential) -> &mut UnreadResponses {
        match credential {
            Credential::None => &mut self.unread,
            Credential::Key => &mut self.unread_with_key,
        }
    }

    /// Closes a connection with this credential that is not being served. Returns whether there
    /// was one.
    pub(super) fn evict(&mut self, credential: Credential, now: Instant) -> bool {
        self.close_next(EvictionRange { peers: PeerRange::Any, credential }, now)
    }

    /// Like [`Self::evict`], among the connections that the reached limit of this peer counts.
    pub(super) fn evict_near(
        &mut self,
        peer: IpAddr,
        limit: ReachedLimit,
        credential: Credential,
        now: Instant,
    ) -> bool {
        let peers = match limit {
            ReachedLimit::OfAddress => PeerRange::Address(rate_limit_address(peer)),
            ReachedLimit::OfNetwork => PeerRange::Network(network(peer)),
        };
        self.close_next(EvictionRange { peers, credential }, now)
    }

    /// Closes the next connection of this range, and searches only if no found one is left.
    fn close_next(&mut self, range: EvictionRange, now: Instant) -> bool {
        let mut has_searched = false;
        loop {
            while let Some(candidate) = self.next.get_mut(&range).and_then(VecDeque::pop_front) {
                if self.close(candidate, range.credential) {
                    return true;
                }
            }
            if has_searched {
                return false;
            }
            let found = self.search(now, |it| range.contains(it));
            if self.next.len() >= RANGES_MAX {
                self.next.clear();
            }
            self.next.insert(range, found.into());
            has_searched = true;
        }
    }

    pub(super) fn remove(&mut self, connection: &ConnectionState) {
        if self.connections.remove(&connection.id).is_some() {
            self.counts(connection.credential()).remove(connection.peer);
        }
    }

    const fn counts(&mut self, credential: Credential) -> &mut ConnectionCounts {
        match credential {
            Credential::None => &mut self.without_key,
            Credential::Key => &mut self.with_key,
        }
    }

    /// Returns the matching connections that may close, in order.
    fn search(&self, now: Instant, is_wanted: impl Fn(&ConnectionState) -> bool) -> Vec<Candidate> {
        let idle = self.connections.values().map(|it| &*it.0);
        let idle = idle.filter(|it| it.is_idle() && is_wanted(it));
        let mut found: Vec<Candidate> = idle.map(|it| self.candidate(it, now)).collect();
        if found.len() > MATCHES_MAX {
            found.select_nth_unstable(MATCHES_MAX);
            found.truncate(MATCHES_MAX);
        }
        found.sort_unstable();
        found
    }

    fn candidate(&self, connection: &ConnectionState, now: Instant) -> Candidate {
        let is_exempt = connection.limits.is_exempt(connection.peer);
        let counts = match connection.credential() {
            Credential::None => &self.without_key,
            Credential::Key => &self.with_key,
        };
        let count = if is_exempt { 0 } else { counts.of_peer.of_network(connection.peer) };
        Candidate {
            is_new: now.saturating_duration_since(connection.opened_at) < NEW_FOR,
            load: Reverse(count / LOAD_STEP),
            served_at: connection.served_at.load(Ordering::Relaxed),
            id: connection.id,
        }
    }

    /// Closes a connection unless it was served since the search.
    fn close(&mut self, candidate: Candidate, credential: Credential) -> bool {
        let Some(found) = self.connections.get(&candidate.id).cloned() else { return false };
        let served_at = found.0.served_at.load(Ordering::Relaxed);
        if !found.0.is_idle()
            || found.0.credential() != credential
            || served_at != candidate.served_at
        {
            return false;
        }
        self.remove(&found.0);
        found.0.closed.cancel();
        true
    }
}

impl ConnectionCounts {
    pub(super) fn add(&mut self, peer: IpAddr) {
        self.total += 1;
        self.of_peer.add(peer);
    }

    pub(super) fn remove(&mut self, peer: IpAddr) {
        self.total -= 1;
        self.of_peer.remove(peer);
    }
}

impl EvictionRange {
    fn contains(self, connection: &ConnectionState) -> bool {
        let peer = connection.peer;
        let is_near = match self.peers {
            PeerRange::Any => true,
            PeerRange::Network(own) => network(peer) == own,
            PeerRange::Address(own) => rate_limit_address(peer) == own,
        };
        is_near && connection.credential() == self.credential
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use web::proxies::TrustedProxies;

    use super::*;
    use crate::connection::{AdmitResult, ConnectionLimits, ConnectionPermit};

    fn from(limits: &Arc<ConnectionLimits>, peer: &str, at: Instant) -> ConnectionPermit {
        match limits.admit_at(peer.parse().unwrap(), at) {
            AdmitResult::Admitted(permit) => permit,
            AdmitResult::Refused | AdmitResult::Full => panic!("the listener has a permit"),
        }
    }

    fn is_closed(permit: &ConnectionPermit) -> bool {
        permit.0.0.closed.is_cancelled()
    }

    // A fresh connection was closed before its request with a key was read.
    #[test]
    fn new_connections_close_last() {
        let limits = ConnectionLimits::new(4, TrustedProxies::default());
        let began = Instant::now();
        let at = |peer, seconds| from(&limits, peer, began + Duration::from_secs(seconds));
        let old = at("192.0.2.1", 0);
        let new = [at("198.51.100.1", 3), at("203.0.113.1", 3)];
        drop(old.connection().serve());
        let newest = at("203.0.113.2", 4);
        assert!(is_closed(&old) && !new.iter().any(is_closed));
        let _last = at("203.0.113.3", 4);
        assert!(is_closed(&new[0]) && !is_closed(&new[1]) && !is_closed(&newest));
    }

    #[test]
    fn networks_with_many_connections_close_first() {
        let limits = ConnectionLimits::new(100, TrustedProxies::default());
        let now = Instant::now();
        let visitor = from(&limits, "192.0.2.1", now);
        let flood: Vec<_> =
            (0..80).map(|it| from(&limits, &format!("198.51.100.{it}"), now)).collect();
        assert!(!is_closed(&visitor));
        assert_eq!(flood.iter().filter(|it| is_closed(it)).count(), 6);
    }

    // An address at its limit closed the connections of its neighbours.
    #[test]
    fn full_address_closes_its_own_connections() {
        let limits = ConnectionLimits::new(100_000, TrustedProxies::default());
        let now = Instant::now();
        let neighbour = from(&limits, "192.0.2.2", now);
        let own: Vec<_> = (0..300).map(|_| from(&limits, "192.0.2.1", now)).collect();
        assert!(!is_closed(&neighbour));
        assert_eq!(own.iter().filter(|it| !is_closed(it)).count(), 256);
    }

    // With 64 found connections, a new one in a full listener cost 170 µs instead of 37 µs (debug build).
    #[test]
    fn one_search_makes_room_for_many_connections() {
        let limits = ConnectionLimits::new(4_096, TrustedProxies::default());
        let now = Instant::now();
        let open = |it: u32| from(&limits, &format!("10.{}.{}.1", it / 200, it % 200), now);
        let _open: Vec<_> = (0..=limits.without_key_max as u32).map(open).collect();
        let every = EvictionRange { peers: PeerRange::Any, credential: Credential::None };
        let found = limits.table().next[&every].len();
        assert!(found >= limits.max / 32, "{found} are left to close without another search");
    }
}
