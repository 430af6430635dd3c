//! Request limits of callers without a key: per connection, address, network and in total. A
//! request uses memory before its handler is known, and an HTTP/2 connection carries many. Streams
//! last, so `streams` limits them apart and leaves the other requests their capacity. People who
//! signed in to the dashboard have a capacity of their own.

use std::net::IpAddr;
use std::sync::atomic::Ordering;

use rules::limits;
use tokio_util::sync::CancellationToken;

use super::peers::{PeerCounts, PeerLimits};
use super::streams::{StreamLimit, Streams};
use super::{Connection, ConnectionState, Credential};

const OF_PEER_MAX: PeerLimits = PeerLimits {
    of_address: limits::WITHOUT_KEY_OF_ADDRESS_MAX,
    of_network: limits::WITHOUT_KEY_OF_NETWORK_MAX,
};
/// Limits of people who signed in, so that one of them cannot keep out the others.
const OF_PEER_WITH_SESSION_MAX: PeerLimits = PeerLimits {
    of_address: limits::WITH_SESSION_MAX / 8,
    of_network: limits::WITH_SESSION_MAX / 4,
};
/// Maximum number of requests whose key is not verified yet. Verification takes milliseconds.
const UNVERIFIED_MAX: u32 = 4_096;

/// Requests without a key of one listener, and all streams.
#[derive(Debug)]
pub(super) struct Requests {
    /// Number of requests that are not streams.
    in_all: u32,
    with_body: u32,
    of_peer: PeerCounts,
    /// Number of requests of people who signed in.
    with_session: u32,
    with_session_of_peer: PeerCounts,
    /// Number of requests whose key is not verified yet.
    unverified: u32,
    streams: Streams,
    streams_with_key: Streams,
}

/// Kind of a request that needs no key. It decides the limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RequestKind {
    /// Request of a load balancer, which sends one at a time. It counts for its connection only.
    Alone,
    WithoutBody,
    WithBody,
    /// Request with a session of the dashboard that was valid before.
    WithSession,
    /// Call of a method that may last, such as `Health/Watch`.
    Stream,
    /// Stream of a connection whose requests have shown a key.
    StreamWithKey,
}

/// Request without a key, counted until it is dropped.
#[derive(Debug)]
pub(crate) struct Open {
    connection: Connection,
    kind: RequestKind,
    /// Client that the limits count.
    client: IpAddr,
    /// Tick at which the request began.
    id: u64,
    /// Whether it counts for its connection only.
    is_answered: bool,
    evicted: CancellationToken,
}

/// Request whose key is not verified yet, counted until it is or until this is dropped.
#[derive(Debug)]
pub(crate) struct Unverified(Connection);

impl Connection {
    /// Counts a request without a key for the client that sent it. Returns `None` if there are too
    /// many.
    pub(crate) fn open(&self, kind: RequestKind, client: IpAddr) -> Option<Open> {
        let state = &self.0;
        let mut table = state.limits.table();
        let requests = &mut table.requests;
        let limited = (!state.limits.is_exempt(client)).then_some(client);
        // A proxy's connection carries the requests of many clients.
        let is_shared = self.is_of_proxy() && kind != RequestKind::Alone;
        let of_connection_max = if is_shared { u32::MAX } else { kind.of_connection_max() };
        if state.open.load(Ordering::Relaxed) >= of_connection_max
            || requests.are_full(kind, limited)
        {
            return None;
        }
        let open = Open {
            connection: self.clone(),
            kind,
            client,
            id: state.limits.tick(),
            is_answered: false,
            evicted: CancellationToken::new(),
        };
        requests.add(&open);
        state.open.fetch_add(kind.count_of_connection(), Ordering::Relaxed);
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

impl RequestKind {
    /// Returns the number of other requests on its connection at which a request is rejected.
    const fn of_connection_max(self) -> u32 {
        match self {
            Self::Alone => 1,
            Self::WithoutBody | Self::WithBody | Self::WithSession | Self::Stream => {
                limits::WITHOUT_KEY_OF_CONNECTION_MAX
            }
            Self::StreamWithKey => u32::MAX,
        }
    }

    const fn count_of_connection(self) -> u32 {
        match self {
            Self::Alone | Self::WithoutBody | Self::WithBody | Self::WithSession | Self::Stream => {
                1
            }
            Self::StreamWithKey => 0,
        }
    }
}

impl Default for Requests {
    fn default() -> Self {
        Self {
            in_all: 0,
            with_body: 0,
            of_peer: PeerCounts::default(),
            with_session: 0,
            with_session_of_peer: PeerCounts::default(),
            unverified: 0,
            streams: Streams::new(Credential::None),
            streams_with_key: Streams::new(Credential::Key),
        }
    }
}

impl Requests {
    /// Counts no request of this connection as unverified any longer.
    pub(super) fn mark_verified(&mut self, connection: &ConnectionState) {
        self.unverified -= connection.unverified.swap(0, Ordering::Relaxed);
    }

    /// Returns whether a request of this kind is over a limit. `peer` is `None` if no
    /// limits of peers apply.
    fn are_full(&self, kind: RequestKind, peer: Option<IpAddr>) -> bool {
        match kind {
            RequestKind::Alone => false,
            RequestKind::WithSession => {
                let of_peer = &self.with_session_of_peer;
                let has_reached = |peer| of_peer.reached_limit(peer, OF_PEER_WITH_SESSION_MAX);
                self.with_session >= limits::WITH_SESSION_MAX
                    || peer.is_some_and(|peer| has_reached(peer).is_some())
            }
            RequestKind::Stream => peer.is_some_and(|peer| self.streams.are_full(peer)),
            RequestKind::StreamWithKey => {
                peer.is_some_and(|peer| self.streams_with_key.are_full(peer))
            }
            RequestKind::WithBody if self.with_body >= limits::WITHOUT_KEY_WITH_BODY_MAX => true,
            RequestKind::WithBody | RequestKind::WithoutBody => {
                self.in_all >= limits::WITHOUT_KEY_MAX
                    || peer
                        .is_some_and(|peer| self.of_peer.reached_limit(peer, OF_PEER_MAX).is_some())
            }
        }
    }

    fn streams(&mut self, kind: RequestKind) -> Option<&mut Streams> {
        match kind {
            RequestKind::Stream => Some(&mut self.streams),
            RequestKind::StreamWithKey => Some(&mut self.streams_with_key),
            RequestKind::Alone
            | RequestKind::WithoutBody
            | RequestKind::WithBody
            | RequestKind::WithSession => None,
        }
    }

    fn add(&mut self, open: &Open) {
        let peer = open.client;
        if let Some(streams) = self.streams(open.kind) {
            streams.add(open.id, peer, open.evicted.clone());
        } else if open.kind == RequestKind::WithSession {
            self.with_session += 1;
            self.with_session_of_peer.add(peer);
        } else if open.kind != RequestKind::Alone {
            self.in_all += 1;
            self.with_body += u32::from(open.kind == RequestKind::WithBody);
            self.of_peer.add(peer);
        }
    }

    fn remove(&mut self, open: &Open) {
        if let Some(streams) = self.streams(open.kind) {
            streams.remove(open.id);
        } else if open.kind == RequestKind::WithSession {
            self.with_session -= 1;
            self.with_session_of_peer.remove(open.client);
        } else if open.kind != RequestKind::Alone {
            self.in_all -= 1;
            self.with_body -= u32::from(open.kind == RequestKind::WithBody);
            self.of_peer.remove(open.client);
        }
    }
}

impl Open {
    /// Returns the limit of a stream. `None` for other requests.
    pub(crate) fn stream_limit(&self) -> Option<StreamLimit> {
        let mut table = self.connection.0.limits.table();
        let within = table.requests.streams(self.kind)?.within();
        Some(StreamLimit { evicted: self.evicted.clone(), within })
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

impl Drop for Open {
    fn drop(&mut self) {
        self.mark_answered();
        let count = self.kind.count_of_connection();
        self.connection.0.open.fetch_sub(count, Ordering::Relaxed);
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
mod tests;
