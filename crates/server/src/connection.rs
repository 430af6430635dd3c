//! Connection limits. Callers have limits per address and per network, which are lower without a
//! key, and callers without a key leave a share of all connections to callers with one. At a limit,
//! one of the connections that it counts is closed if it is not being served, so that slow clients
//! block nobody. If all are being served, a new connection is on probation and must show a key.
//! Idle connections with a key close last, and only if such connections hold more than their share:
//! a key must not lock others out. `table` chooses connections to close, `requests` limits the
//! requests, `streams` those that last, and `unread` the memory of responses.

mod peers;
mod requests;
mod streams;
mod table;
#[cfg(test)]
mod tests;
mod unread;

use std::fmt;
use std::net::IpAddr;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use http::HeaderMap;
use tokio::sync::Notify;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use web::proxies::TrustedProxies;

use self::peers::PeerLimits;
pub(crate) use self::requests::{Open, RequestKind, Unverified};
pub(crate) use self::streams::StreamLimit;
use self::table::ConnectionTable;
pub(crate) use self::unread::UnreadResponse;

/// Share of all connections that is reserved for callers with a key: one in this many. Above this
/// share, idle connections with a key are closed if a new connection needs a place.
const RESERVED_SHARE: usize = 4;
/// Maximum number of connections without a key from one peer.
const OF_PEER_MAX: PeerLimits = PeerLimits { of_address: 256, of_network: 1_024 };
/// Maximum number of connections with a key from one peer.
const OF_PEER_WITH_KEY_MAX: PeerLimits = PeerLimits { of_address: 1_024, of_network: 2_048 };

/// Connection limits of one listener.
#[derive(Debug)]
pub(crate) struct ConnectionLimits {
    max: usize,
    /// Maximum number of connections without a key.
    without_key_max: usize,
    /// The operator's proxies. Their connections carry many callers and have no limit per address.
    proxies: TrustedProxies,
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

/// Credential that the requests of a connection have shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Credential {
    None,
    Key,
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
    pub(crate) fn new(max: usize, proxies: TrustedProxies) -> Arc<Self> {
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
            && let Some(limit) = table.without_key.of_peer.reached_limit(peer, OF_PEER_MAX)
            && !table.evict_near(peer, limit, Credential::None, now)
        {
            return AdmitResult::Refused;
        }
        let is_full = table.connections.len() >= self.max;
        let is_crowded = is_full || table.without_key.total >= self.without_key_max;
        let is_evicted = is_crowded
            && (table.evict(Credential::None, now)
                || (is_full
                    && table.with_key.total > self.max / RESERVED_SHARE
                    && table.evict(Credential::Key, now)));
        let on_probation = is_crowded && !is_evicted;
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
        table.without_key.add(peer);
        AdmitResult::Admitted(ConnectionPermit(connection))
    }

    /// Waits until a connection may have been freed.
    pub(crate) async fn wait_until_freed(&self) {
        self.freed.notified().await;
    }

    fn is_exempt(&self, peer: IpAddr) -> bool {
        peer.is_loopback() || self.proxies.contains(peer)
    }

    fn tick(&self) -> u64 {
        self.ticks.fetch_add(1, Ordering::Relaxed)
    }

    /// Returns the memory of unread responses without a key.
    #[cfg(test)]
    pub(crate) fn unread_bytes(&self) -> usize {
        self.table().unread(Credential::None).bytes()
    }

    fn table(&self) -> MutexGuard<'_, ConnectionTable> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ConnectionState {
    fn is_idle(&self) -> bool {
        self.serving.load(Ordering::Relaxed) == 0
    }

    fn credential(&self) -> Credential {
        if self.has_key.load(Ordering::Relaxed) { Credential::Key } else { Credential::None }
    }
}

impl Connection {
    /// Records that a request of this connection has shown a valid key. If its peer has too many
    /// connections with a key, all in use, the limits of callers without a key still apply to it.
    pub(crate) fn set_has_key(&self) {
        if self.0.has_key.load(Ordering::Relaxed) {
            return;
        }
        let (peer, limits) = (self.0.peer, &self.0.limits);
        let mut table = limits.table();
        table.requests.mark_verified(&self.0);
        // Another request of the connection was first, or it was closed.
        if self.0.has_key.load(Ordering::Relaxed) || !table.connections.contains_key(&self.0.id) {
            return;
        }
        self.0.has_wrong_key.store(false, Ordering::Relaxed);
        if !limits.is_exempt(peer)
            && let Some(limit) = table.with_key.of_peer.reached_limit(peer, OF_PEER_WITH_KEY_MAX)
            && !table.evict_near(peer, limit, Credential::Key, Instant::now())
        {
            return;
        }
        self.0.has_key.store(true, Ordering::Relaxed);
        table.without_key.remove(peer);
        table.with_key.add(peer);
    }

    /// Records that a request of this connection has shown a wrong key, such as a revoked one. The
    /// limits of callers without a key apply to it again.
    pub(crate) fn set_has_wrong_key(&self) {
        // A proxy's connection carries the requests of many callers.
        if self.is_of_proxy() {
            return;
        }
        let mut table = self.0.limits.table();
        self.0.has_wrong_key.store(true, Ordering::Relaxed);
        let had_key = self.0.has_key.swap(false, Ordering::Relaxed);
        if had_key && table.connections.contains_key(&self.0.id) {
            table.with_key.remove(self.0.peer);
            table.without_key.add(self.0.peer);
        }
    }

    /// Returns whether a trusted proxy opened the connection.
    pub(crate) fn is_of_proxy(&self) -> bool {
        self.0.limits.proxies.contains(self.0.peer)
    }

    /// Returns the address of the client that sent a request with these headers.
    pub(crate) fn client(&self, headers: &HeaderMap) -> IpAddr {
        self.0.limits.proxies.address(self.0.peer, headers).to_canonical()
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
