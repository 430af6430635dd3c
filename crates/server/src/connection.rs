//! Connection limits. Callers without a key have limits per address and per network,
//! and leave a share of all connections to callers with a key. At a limit, one of the connections
//! that it counts is closed if it is not being served, so that slow clients block nobody. If all
//! are being served, a new connection is on probation and must show a key. `table` chooses
//! connections to close, `requests` limits the requests, and `unread` limits the memory of their
//! responses.

mod peers;
mod requests;
mod table;
mod unread;

use std::fmt;
use std::net::IpAddr;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ipnet::IpNet;
use tokio::sync::Notify;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use self::peers::PeerLimits;
pub(crate) use self::requests::{Open, RequestKind, StreamLimit, Unverified};
use self::table::ConnectionTable;
pub(crate) use self::unread::UnreadResponse;

/// Share of all connections that is reserved for callers with a key: one in this many.
const RESERVED_SHARE: usize = 4;
/// Maximum number of connections without a key from one peer.
const OF_PEER_MAX: PeerLimits = PeerLimits { of_address: 256, of_network: 1_024 };

/// Connection limits of one listener.
#[derive(Debug)]
pub(crate) struct ConnectionLimits {
    max: usize,
    /// Maximum number of connections without a key.
    without_key_max: usize,
    /// Trusted proxies. They carry many callers and have no limit per address.
    proxies: Vec<IpNet>,
    table: Mutex<ConnectionTable>,
    freed: Notify,
    /// Counter of requests and connections, which serves as a logical clock.
    ticks: AtomicU64,
}

/// Open connection, in the extensions of its requests.
#[derive(Clone)]
pub(crate) struct Connection(Arc<ConnectionState>);

struct ConnectionState {
    id: u64,
    peer: IpAddr,
    limits: Arc<ConnectionLimits>,
    opened_at: Instant,
    has_key: AtomicBool,
    /// Whether its last key was rejected. Further keys have to be verified first.
    has_wrong_key: AtomicBool,
    /// Number of requests in progress whose key is not verified yet.
    unverified: AtomicU32,
    /// Whether its permit is a reserved one and it has not shown a key yet.
    on_probation: bool,
    /// Number of requests without a key in progress.
    open: AtomicU32,
    /// Number of complete requests that are being handled: the client waits for the server.
    serving: AtomicU32,
    /// Tick of [`ConnectionLimits::ticks`] when the client was served last.
    served_at: AtomicU64,
    closed: CancellationToken,
}

/// Place of a connection, released on drop.
#[derive(Debug)]
pub(crate) struct ConnectionPermit(Connection);

/// Complete request that is being handled, until it is dropped.
#[derive(Debug)]
pub(crate) struct Served(Connection);

/// Result of admitting a new connection.
#[derive(Debug)]
pub(crate) enum AdmitResult {
    Admitted(ConnectionPermit),
    /// Its address or network is at the limit, and all its connections are being served.
    Refused,
    /// All connections, including the reserved ones, are being served. A free permit wakes
    /// [`ConnectionLimits::wait_until_freed`].
    Full,
}

impl ConnectionLimits {
    /// Creates limits for `max` connections.
    pub(crate) fn new(max: usize, proxies: Vec<IpNet>) -> Arc<Self> {
        Arc::new(Self {
            max,
            without_key_max: (max - max / RESERVED_SHARE).max(1),
            proxies,
            table: Mutex::default(),
            freed: Notify::new(),
            ticks: AtomicU64::new(0),
        })
    }

    /// Admits a connection, and closes another one if necessary.
    pub(crate) fn admit(self: &Arc<Self>, peer: IpAddr) -> AdmitResult {
        self.admit_at(peer, Instant::now())
    }

    fn admit_at(self: &Arc<Self>, peer: IpAddr, now: Instant) -> AdmitResult {
        let peer = peer.to_canonical();
        let mut table = self.table();
        if !self.is_exempt(peer)
            && let Some(limit) = table.of_peer.reached_limit(peer, OF_PEER_MAX)
            && !table.evict_near(peer, limit, now)
        {
            return AdmitResult::Refused;
        }
        let is_full = table.connections.len() >= self.max;
        let is_crowded = is_full || table.without_key >= self.without_key_max;
        let on_probation = is_crowded && !table.evict(now);
        if is_full && on_probation {
            return AdmitResult::Full;
        }
        let id = self.tick();
        let connection = Connection(Arc::new(ConnectionState {
            id,
            peer,
            limits: Arc::clone(self),
            opened_at: now,
            has_key: AtomicBool::new(false),
            has_wrong_key: AtomicBool::new(false),
            unverified: AtomicU32::new(0),
            on_probation,
            open: AtomicU32::new(0),
            serving: AtomicU32::new(0),
            served_at: AtomicU64::new(id),
            closed: CancellationToken::new(),
        }));
        table.connections.insert(id, connection.clone());
        table.count(&connection.0, true);
        AdmitResult::Admitted(ConnectionPermit(connection))
    }

    /// Waits until a connection may have been freed.
    pub(crate) async fn wait_until_freed(&self) {
        self.freed.notified().await;
    }

    fn is_exempt(&self, peer: IpAddr) -> bool {
        peer.is_loopback() || self.is_proxy(peer)
    }

    fn is_proxy(&self, peer: IpAddr) -> bool {
        self.proxies.iter().any(|proxy| proxy.contains(&peer))
    }

    fn tick(&self) -> u64 {
        self.ticks.fetch_add(1, Ordering::Relaxed)
    }

    /// Returns the memory of unread responses without a key.
    #[cfg(test)]
    pub(crate) fn unread_bytes(&self) -> usize {
        self.table().unread.bytes()
    }

    fn table(&self) -> MutexGuard<'_, ConnectionTable> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ConnectionState {
    fn is_idle(&self) -> bool {
        !self.has_key.load(Ordering::Relaxed) && self.serving.load(Ordering::Relaxed) == 0
    }
}

impl Connection {
    /// Records that a request of this connection has shown a valid key.
    pub(crate) fn set_has_key(&self) {
        if self.0.has_key.load(Ordering::Relaxed) {
            return;
        }
        let mut table = self.0.limits.table();
        let is_first = !self.0.has_key.swap(true, Ordering::Relaxed);
        if is_first && table.connections.contains_key(&self.0.id) {
            table.count(&self.0, false);
        }
        self.0.has_wrong_key.store(false, Ordering::Relaxed);
        table.requests.mark_verified(&self.0);
    }

    /// Records that a request of this connection has shown a wrong key, such as a revoked one. The
    /// limits of callers without a key apply to it again.
    pub(crate) fn set_has_wrong_key(&self) {
        // A proxy's connection carries the requests of many callers.
        if self.0.limits.is_proxy(self.0.peer) {
            return;
        }
        let mut table = self.0.limits.table();
        self.0.has_wrong_key.store(true, Ordering::Relaxed);
        let had_key = self.0.has_key.swap(false, Ordering::Relaxed);
        if had_key && table.connections.contains_key(&self.0.id) {
            table.count(&self.0, true);
        }
    }

    /// Returns whether a key in a request counts before it is verified. The first wrong key ends
    /// this.
    pub(crate) fn may_show_key(&self) -> bool {
        !self.0.has_wrong_key.load(Ordering::Relaxed)
    }

    /// Returns whether only requests with a key and health requests are handled.
    pub(crate) fn is_on_probation(&self) -> bool {
        self.0.on_probation && self.is_without_key()
    }

    /// Returns whether no request has shown a valid key yet.
    pub(crate) fn is_without_key(&self) -> bool {
        !self.0.has_key.load(Ordering::Relaxed)
    }

    /// Marks a complete request as being handled until the result is dropped.
    pub(crate) fn serve(&self) -> Served {
        self.0.serving.fetch_add(1, Ordering::Relaxed);
        Served(self.clone())
    }

    /// Waits until the connection loses its permit.
    pub(crate) async fn closed(&self) {
        self.0.closed.cancelled().await;
    }
}

impl fmt::Debug for Connection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connection").field("peer", &self.0.peer).finish_non_exhaustive()
    }
}

impl ConnectionPermit {
    /// Returns the connection of this permit.
    pub(crate) const fn connection(&self) -> &Connection {
        &self.0
    }
}

impl Drop for ConnectionPermit {
    fn drop(&mut self) {
        let state = &self.0.0;
        state.limits.table().remove(state);
        state.limits.freed.notify_one();
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let state = &self.0.0;
        state.served_at.store(state.limits.tick(), Ordering::Relaxed);
        if state.serving.fetch_sub(1, Ordering::Relaxed) == 1 {
            state.limits.freed.notify_one();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn from(limits: &Arc<ConnectionLimits>, peer: &str) -> Option<ConnectionPermit> {
        match limits.admit(peer.parse().unwrap()) {
            AdmitResult::Admitted(permit) => Some(permit),
            AdmitResult::Refused | AdmitResult::Full => None,
        }
    }

    fn is_closed(permit: &ConnectionPermit) -> bool {
        permit.0.0.closed.is_cancelled()
    }

    // issue 16, point 1: slow clients keep nobody out
    #[test]
    fn the_stalest_connection_makes_room() {
        let limits = ConnectionLimits::new(4, Vec::new());
        let first = from(&limits, "192.0.2.1").unwrap();
        let second = from(&limits, "198.51.100.1").unwrap();
        let third = from(&limits, "203.0.113.1").unwrap();
        drop(first.connection().serve());
        let _fourth = from(&limits, "203.0.113.2").unwrap();
        assert_eq!(
            [is_closed(&first), is_closed(&second), is_closed(&third)],
            [false, true, false]
        );
    }

    #[test]
    fn connections_with_a_key_keep_their_places() {
        let limits = ConnectionLimits::new(4, Vec::new());
        let keyed: Vec<ConnectionPermit> = (1..=4)
            .map(|number| {
                let permit = from(&limits, &format!("192.0.2.{number}")).unwrap();
                permit.connection().set_has_key();
                permit
            })
            .collect();
        assert!(matches!(limits.admit("192.0.2.9".parse().unwrap()), AdmitResult::Full));
        assert!(!keyed.iter().any(is_closed));
        drop(keyed);
        assert!(from(&limits, "192.0.2.9").is_some());
    }

    #[test]
    fn requests_being_answered_are_not_interrupted() {
        let limits = ConnectionLimits::new(1, Vec::new());
        let busy = from(&limits, "192.0.2.1").unwrap();
        let served = busy.connection().serve();
        assert!(matches!(limits.admit("192.0.2.2".parse().unwrap()), AdmitResult::Full));
        assert!(!is_closed(&busy));
        drop(served);
        assert!(from(&limits, "192.0.2.2").is_some() && is_closed(&busy));
    }

    // issue 16, point 1: capacity is reserved for callers with a key
    #[test]
    fn newcomer_is_on_probation_if_all_are_served() {
        let limits = ConnectionLimits::new(4, Vec::new());
        let busy: Vec<ConnectionPermit> =
            (1..=3).map(|number| from(&limits, &format!("192.0.2.{number}")).unwrap()).collect();
        let served: Vec<Served> = busy.iter().map(|permit| permit.connection().serve()).collect();
        let newcomer = from(&limits, "192.0.2.4").unwrap();
        assert!(newcomer.connection().is_on_probation());
        assert!(
            !busy.iter().any(|permit| is_closed(permit) || permit.connection().is_on_probation())
        );
        newcomer.connection().set_has_key();
        assert!(!newcomer.connection().is_on_probation());
        assert!(from(&limits, "192.0.2.5").is_none());
        drop(served);
        assert!(!from(&limits, "192.0.2.5").unwrap().connection().is_on_probation());
    }

    // A revoked key lifted the limits of callers without a key
    #[test]
    fn wrong_key_returns_the_connection_to_the_limits() {
        let limits = ConnectionLimits::new(4, Vec::new());
        let permit = from(&limits, "192.0.2.1").unwrap();
        let connection = permit.connection();
        assert!(connection.may_show_key());
        connection.set_has_key();
        assert_eq!((connection.is_without_key(), limits.table().without_key), (false, 0));
        connection.set_has_wrong_key();
        assert_eq!((connection.is_without_key(), limits.table().without_key), (true, 1));
        assert!(!connection.may_show_key());
        connection.set_has_key();
        assert!(connection.may_show_key() && !connection.is_without_key());
    }

    #[test]
    fn an_address_and_a_network_have_limits() {
        let limits = ConnectionLimits::new(100_000, vec!["10.0.0.0/8".parse().unwrap()]);
        let many = |peer: &dyn Fn(u32) -> String, count: u32| -> Vec<ConnectionPermit> {
            (0..count).filter_map(|number| from(&limits, &peer(number))).collect()
        };
        let of_address = many(&|_| "192.0.2.1".to_owned(), OF_PEER_MAX.of_address + 1);
        assert_eq!(of_address.iter().filter(|it| is_closed(it)).count(), 1);
        let of_network =
            many(&|number| format!("198.51.100.{}", number % 250), OF_PEER_MAX.of_network + 3);
        assert_eq!(of_network.iter().filter(|it| is_closed(it)).count(), 3);
        let of_network_v6 =
            many(&|number| format!("2001:db8::{number:x}"), OF_PEER_MAX.of_network + 3);
        assert_eq!(of_network_v6.iter().filter(|it| is_closed(it)).count(), 3);
        for exempt in ["127.0.0.1", "::1", "10.1.1.1", "::ffff:10.1.1.1"] {
            let limits = many(&|_| exempt.to_owned(), OF_PEER_MAX.of_network + 1);
            assert!(!limits.iter().any(is_closed), "{exempt}");
        }
    }

    #[test]
    fn permit_is_released_once() {
        let limits = ConnectionLimits::new(2, Vec::new());
        let first = from(&limits, "192.0.2.1").unwrap();
        let second = from(&limits, "192.0.2.1").unwrap();
        let third = from(&limits, "192.0.2.1").unwrap();
        assert!(is_closed(&first));
        drop((first, second, third));
        let table = limits.table();
        assert_eq!((table.connections.len(), table.without_key), (0, 0));
        assert!(table.of_peer.is_empty());
    }
}
