//! Limits of streams: calls of methods that last as long as their client likes, such as
//! `Health/Watch`. They need no key, but their limits are lower without one. At the total limit, a
//! new stream ends the oldest one.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::time::Duration;

use rules::limits;
use tokio_util::sync::CancellationToken;

use super::Credential;
use super::peers::{PeerCounts, PeerLimits};

const WITHOUT_KEY: StreamLimits = StreamLimits {
    of_peer: PeerLimits {
        of_address: limits::WITHOUT_KEY_STREAMS_OF_ADDRESS_MAX,
        of_network: limits::WITHOUT_KEY_STREAMS_OF_NETWORK_MAX,
    },
    total: limits::WITHOUT_KEY_STREAMS_MAX,
    within: limits::WITHOUT_KEY_STREAM_WITHIN,
};
const WITH_KEY: StreamLimits = StreamLimits {
    of_peer: PeerLimits {
        of_address: limits::WITH_KEY_STREAMS_OF_ADDRESS_MAX,
        of_network: limits::WITH_KEY_STREAMS_OF_NETWORK_MAX,
    },
    total: limits::WITH_KEY_STREAMS_MAX,
    within: limits::WITH_KEY_STREAM_WITHIN,
};

#[derive(Clone, Copy, Debug)]
pub(super) struct StreamLimits {
    of_peer: PeerLimits,
    total: usize,
    within: Duration,
}

/// Open streams of one kind of callers.
#[derive(Debug)]
pub(super) struct Streams {
    limits: StreamLimits,
    /// Streams by the tick at which they began.
    open: BTreeMap<u64, OpenStream>,
    of_peer: PeerCounts,
}

#[derive(Debug)]
struct OpenStream {
    peer: IpAddr,
    evicted: CancellationToken,
}

/// Limit of a stream, in the extensions of its request.
#[derive(Clone, Debug)]
pub(crate) struct StreamLimit {
    pub(super) evicted: CancellationToken,
    pub(super) within: Duration,
}

impl Streams {
    /// Counts the streams of connections with this credential.
    pub(super) fn new(credential: Credential) -> Self {
        let limits = match credential {
            Credential::None => WITHOUT_KEY,
            Credential::Key => WITH_KEY,
        };
        Self { limits, open: BTreeMap::new(), of_peer: PeerCounts::default() }
    }

    /// Returns the maximum duration of a stream.
    pub(super) const fn within(&self) -> Duration {
        self.limits.within
    }

    /// Returns whether a peer has as many streams as it may have.
    pub(super) fn are_full(&self, peer: IpAddr) -> bool {
        self.of_peer.reached_limit(peer, self.limits.of_peer).is_some()
    }

    /// Adds a stream that began at this tick, and ends the oldest one if there are too many.
    pub(super) fn add(&mut self, id: u64, peer: IpAddr, evicted: CancellationToken) {
        if self.open.len() >= self.limits.total
            && let Some((_, oldest)) = self.open.pop_first()
        {
            self.of_peer.remove(oldest.peer);
            oldest.evicted.cancel();
        }
        self.open.insert(id, OpenStream { peer, evicted });
        self.of_peer.add(peer);
    }

    /// Removes a stream, unless it was evicted.
    pub(super) fn remove(&mut self, id: u64) {
        if let Some(ended) = self.open.remove(&id) {
            self.of_peer.remove(ended.peer);
        }
    }

    #[cfg(test)]
    pub(super) fn is_empty(&self) -> bool {
        self.open.is_empty() && self.of_peer.is_empty()
    }
}

impl StreamLimit {
    /// Waits until the stream has lasted too long, or gives way to a newer one.
    pub(crate) async fn reached(self) {
        // The error is the timeout, which ends the stream too.
        let _ = tokio::time::timeout(self.within, self.evicted.cancelled()).await;
    }
}
