//! Request limits of callers without a key: per connection, address, network and in total. A
//! request uses memory before its handler is known, and an HTTP/2 connection carries many. Streams
//! last, so they have low limits of their own and leave the other requests their capacity.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::atomic::Ordering;
use std::time::Duration;

use rules::limits;
use tokio_util::sync::CancellationToken;

use super::peers::{PeerCounts, PeerLimits};
use super::{Connection, ConnectionState};

const OF_PEER_MAX: PeerLimits = PeerLimits {
    of_address: limits::WITHOUT_KEY_OF_ADDRESS_MAX,
    of_network: limits::WITHOUT_KEY_OF_NETWORK_MAX,
};
/// Maximum number of requests whose key is not verified yet. Verification takes milliseconds.
const UNVERIFIED_MAX: u32 = 4_096;
const STREAMS_OF_PEER_MAX: PeerLimits = PeerLimits {
    of_address: limits::WITHOUT_KEY_STREAMS_OF_ADDRESS_MAX,
    of_network: limits::WITHOUT_KEY_STREAMS_OF_NETWORK_MAX,
};

/// Requests without a key of one listener.
#[derive(Debug, Default)]
pub(super) struct Requests {
    /// Number of requests that are not streams.
    in_all: u32,
    with_body: u32,
    of_peer: PeerCounts,
    /// Number of requests whose key is not verified yet.
    unverified: u32,
    /// Streams by the tick at which they began.
    streams: BTreeMap<u64, OpenStream>,
    streams_of_peer: PeerCounts,
}

#[derive(Debug)]
struct OpenStream {
    peer: IpAddr,
    evicted: CancellationToken,
}

/// Kind of a request without a key. It decides the limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RequestKind {
    WithoutBody,
    WithBody,
    /// Call of a method that may last, such as `Health/Watch`.
    Stream,
}

/// Request without a key, counted until it is dropped.
#[derive(Debug)]
pub(crate) struct Open {
    connection: Connection,
    kind: RequestKind,
    /// Tick at which the request began.
    id: u64,
    /// Whether it counts for its connection only.
    is_answered: bool,
    evicted: CancellationToken,
}

/// Request whose key is not verified yet, counted until it is or until this is dropped.
#[derive(Debug)]
pub(crate) struct Unverified(Connection);

/// Limit of a stream without a key, in the extensions of its request.
#[derive(Clone, Debug)]
pub(crate) struct StreamLimit {
    evicted: CancellationToken,
    within: Duration,
}

impl Connection {
    /// Counts a request without a key. Returns `None` if there are too many.
    pub(crate) fn open(&self, kind: RequestKind) -> Option<Open> {
        let state = &self.0;
        let mut table = state.limits.table();
        let requests = &mut table.requests;
        let peer = (!state.limits.is_exempt(state.peer)).then_some(state.peer);
        if state.open.load(Ordering::Relaxed) >= limits::WITHOUT_KEY_OF_CONNECTION_MAX
            || requests.are_full(kind, peer)
        {
            return None;
        }
        let open = Open {
            connection: self.clone(),
            kind,
            id: state.limits.tick(),
            is_answered: false,
            evicted: CancellationToken::new(),
        };
        requests.add(&open);
        state.open.fetch_add(1, Ordering::Relaxed);
        Some(open)
    }

    /// Counts a request whose key is about to be verified. Returns `None` if there are too many.
    pub(crate) fn verify(&self) -> Option<Unverified> {
        let mut table = self.0.limits.table();
        if table.requests.unverified >= UNVERIFIED_MAX {
            return None;
        }
        table.requests.unverified += 1;
        self.0.unverified.fetch_add(1, Ordering::Relaxed);
        Some(Unverified(self.clone()))
    }
}

impl Requests {
    /// Counts no request of this connection as unverified any longer.
    pub(super) fn mark_verified(&mut self, connection: &ConnectionState) {
        self.unverified -= connection.unverified.swap(0, Ordering::Relaxed);
    }

    /// Returns whether a request of this kind is over a limit. `peer` is `None` if it has none.
    fn are_full(&self, kind: RequestKind, peer: Option<IpAddr>) -> bool {
        let is_full = |counts: &PeerCounts, max| {
            peer.is_some_and(|peer| counts.reached_limit(peer, max).is_some())
        };
        match kind {
            RequestKind::Stream => is_full(&self.streams_of_peer, STREAMS_OF_PEER_MAX),
            RequestKind::WithBody if self.with_body >= limits::WITHOUT_KEY_WITH_BODY_MAX => true,
            RequestKind::WithBody | RequestKind::WithoutBody => {
                self.in_all >= limits::WITHOUT_KEY_MAX || is_full(&self.of_peer, OF_PEER_MAX)
            }
        }
    }

    fn add(&mut self, open: &Open) {
        let peer = open.connection.0.peer;
        if open.kind == RequestKind::Stream {
            if self.streams.len() >= limits::WITHOUT_KEY_STREAMS_MAX
                && let Some((_, oldest)) = self.streams.pop_first()
            {
                self.streams_of_peer.remove(oldest.peer);
                oldest.evicted.cancel();
            }
            self.streams.insert(open.id, OpenStream { peer, evicted: open.evicted.clone() });
            self.streams_of_peer.add(peer);
            return;
        }
        self.in_all += 1;
        self.with_body += u32::from(open.kind == RequestKind::WithBody);
        self.of_peer.add(peer);
    }

    fn remove(&mut self, open: &Open) {
        let peer = open.connection.0.peer;
        if open.kind == RequestKind::Stream {
            // An evicted stream is no longer counted.
            if self.streams.remove(&open.id).is_some() {
                self.streams_of_peer.remove(peer);
            }
            return;
        }
        self.in_all -= 1;
        self.with_body -= u32::from(open.kind == RequestKind::WithBody);
        self.of_peer.remove(peer);
    }
}

impl Open {
    /// Returns the limit of a stream. `None` for other requests.
    pub(crate) fn stream_limit(&self) -> Option<StreamLimit> {
        let evicted = &self.evicted;
        (self.kind == RequestKind::Stream).then(|| StreamLimit {
            evicted: evicted.clone(),
            within: limits::WITHOUT_KEY_STREAM_WITHIN,
        })
    }

    /// Returns the connection of the request.
    pub(crate) const fn connection(&self) -> &Connection {
        &self.connection
    }

    /// Counts the request for its connection only, because its response waits for the client.
    pub(crate) fn mark_answered(&mut self) {
        if !std::mem::replace(&mut self.is_answered, true) {
            let limits = &self.connection.0.limits;
            limits.table().requests.remove(self);
        }
    }
}

impl StreamLimit {
    /// Waits until the stream has lasted too long, or gives way to a newer one.
    pub(crate) async fn reached(self) {
        // The error is the timeout, which ends the stream too.
        let _ = tokio::time::timeout(self.within, self.evicted.cancelled()).await;
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        self.mark_answered();
        self.connection.0.open.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Drop for Unverified {
    fn drop(&mut self) {
        let state = &self.0.0;
        let requests = &mut state.limits.table().requests;
        let count = state.unverified.load(Ordering::Relaxed);
        if count > 0 {
            state.unverified.store(count - 1, Ordering::Relaxed);
            requests.unverified -= 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::RequestKind::{Stream, WithBody, WithoutBody};
    use super::*;
    use crate::connection::{AdmitResult, ConnectionLimits, ConnectionPermit};

    /// Opens as many requests as the limits admit, on ten connections of each peer.
    fn open(
        limits: &Arc<ConnectionLimits>,
        kind: RequestKind,
        peers: &[String],
    ) -> (Vec<Open>, Vec<ConnectionPermit>) {
        let connections: Vec<ConnectionPermit> = (0..10)
            .flat_map(|_| peers)
            .map(|peer| match limits.admit(peer.parse().unwrap()) {
                AdmitResult::Admitted(permit) => permit,
                AdmitResult::Refused | AdmitResult::Full => panic!("the listener has a permit"),
            })
            .collect();
        let requests = connections
            .iter()
            .flat_map(|it| (0..=limits::WITHOUT_KEY_OF_CONNECTION_MAX).map(move |_| it));
        let open = requests.filter_map(|it| it.connection().open(kind)).collect();
        (open, connections)
    }

    fn addresses(network: u32, count: u32) -> Vec<String> {
        (1..=count).map(|number| format!("10.0.{network}.{number}")).collect()
    }

    #[test]
    fn connection_peer_and_total_have_limits() {
        for (kind, of_address, of_network, in_all) in [
            (WithoutBody, 512, 1_024, limits::WITHOUT_KEY_MAX),
            (WithBody, 512, 1_024, limits::WITHOUT_KEY_WITH_BODY_MAX),
            (Stream, 32, 128, 20 * 128),
        ] {
            let limits = ConnectionLimits::new(10_000, Vec::new());
            let (mut held, mut connections) = open(&limits, kind, &addresses(0, 1));
            assert_eq!(held.len(), of_address, "{kind:?}");
            let mut more = |network| {
                let (open, of) = open(&limits, kind, &addresses(network, 6));
                held.extend(open);
                connections.extend(of);
                held.len()
            };
            assert_eq!(more(0), of_network, "{kind:?}");
            let total = (1..20).map(&mut more).last();
            assert_eq!(total, Some(in_all as usize), "{kind:?}");
            drop(held);
            let requests = &limits.table().requests;
            assert_eq!((requests.in_all, requests.with_body), (0, 0));
            assert!(requests.of_peer.is_empty() && requests.streams_of_peer.is_empty());
        }
    }

    #[test]
    fn one_connection_has_a_limit() {
        let limits = ConnectionLimits::new(10_000, vec!["10.0.0.0/8".parse().unwrap()]);
        let (held, connections) = open(&limits, Stream, &addresses(0, 1));
        assert_eq!(
            held.len() as u32,
            limits::WITHOUT_KEY_OF_CONNECTION_MAX * connections.len() as u32
        );
    }

    // 9 addresses with 90 connections of 100 streams each took all status pages offline
    #[test]
    fn streams_leave_capacity_to_other_requests() {
        let limits = ConnectionLimits::new(10_000, vec!["10.0.0.0/8".parse().unwrap()]);
        let streams = open(&limits, Stream, &addresses(0, 9));
        assert_eq!(streams.0.len(), 9_000);
        let ended = streams.0.iter().filter(|it| it.evicted.is_cancelled()).count();
        assert_eq!(ended, 9_000 - limits::WITHOUT_KEY_STREAMS_MAX);
        assert!(
            streams
                .0
                .iter()
                .rev()
                .take(limits::WITHOUT_KEY_STREAMS_MAX)
                .all(|it| !it.evicted.is_cancelled())
        );
        let bodies = open(&limits, WithBody, &addresses(1, 9));
        assert_eq!(bodies.0.len() as u32, limits::WITHOUT_KEY_WITH_BODY_MAX);
        let visitors = open(&limits, WithoutBody, &addresses(2, 9));
        assert_eq!(
            visitors.0.len() as u32,
            limits::WITHOUT_KEY_MAX - limits::WITHOUT_KEY_WITH_BODY_MAX
        );
    }

    #[test]
    fn unread_responses_count_for_their_connection_only() {
        let limits = ConnectionLimits::new(10_000, Vec::new());
        let (mut held, connections) = open(&limits, WithoutBody, &addresses(0, 1));
        held.iter_mut().for_each(Open::mark_answered);
        assert_eq!(limits.table().requests.in_all, 0);
        assert!(connections[0].connection().open(WithoutBody).is_none());
        drop(held);
        assert!(connections[0].connection().open(WithoutBody).is_some());
    }

    #[test]
    fn verified_connection_gives_its_count_back_once() {
        let limits = ConnectionLimits::new(10_000, Vec::new());
        let (_, connections) = open(&limits, WithoutBody, &addresses(0, 2));
        let [one, other] = [0, 1].map(|it| connections[it].connection());
        let held: Vec<Unverified> = (0..3).filter_map(|_| one.verify()).collect();
        let _other = other.verify();
        one.set_has_key();
        assert_eq!(limits.table().requests.unverified, 1);
        drop(held);
        assert_eq!(limits.table().requests.unverified, 1);
        let many: Vec<Unverified> = std::iter::from_fn(|| other.verify()).collect();
        assert_eq!(many.len() as u32, UNVERIFIED_MAX - 1);
    }

    #[tokio::test]
    async fn stream_ends_by_eviction_or_time() {
        let limits = ConnectionLimits::new(10_000, Vec::new());
        let (held, _connections) = open(&limits, Stream, &addresses(0, 1));
        let limit = held[0].stream_limit().unwrap();
        assert_eq!(limit.within, limits::WITHOUT_KEY_STREAM_WITHIN);
        StreamLimit { within: Duration::ZERO, ..limit.clone() }.reached().await;
        held[0].evicted.cancel();
        limit.reached().await;
        assert!(open(&limits, WithBody, &addresses(1, 1)).0[0].stream_limit().is_none());
    }
}
