//! Memory of responses that their clients have not read, apart for connections with and without a
//! key. Above the limit, the connection that uses most closes, of the network that uses most: one
//! that reads nothing of many responses, and not one that reads slowly.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::net::IpAddr;

use rules::limits::{WITH_KEY_UNREAD_BYTES_MAX, WITHOUT_KEY_UNREAD_BYTES_MAX};

use super::peers::network;
use super::{Connection, ConnectionState, Credential};

/// Memory that each response needs besides its own bytes: its headers and the state of its stream.
const RESPONSE_BYTES: usize = 8 * 1024;

/// Unread responses of one listener.
#[derive(Debug)]
pub(super) struct UnreadResponses {
    max: usize,
    bytes: usize,
    of_network: HashMap<IpAddr, OfNetwork>,
}

#[derive(Debug, Default)]
struct OfNetwork {
    bytes: usize,
    of_connection: HashMap<u64, usize>,
}

/// Response that its client has not read yet, counted until this is dropped.
#[derive(Debug)]
pub(crate) struct UnreadResponse {
    connection: Connection,
    /// Credential of the connection when the response began.
    credential: Credential,
    bytes: usize,
}

impl Connection {
    /// Counts a response with this many bytes that nothing else shares. Closes connections if
    /// unread responses use too much memory.
    pub(crate) fn count_unread(&self, bytes: usize) -> UnreadResponse {
        let (credential, bytes) = (self.0.credential(), RESPONSE_BYTES + bytes);
        let unread = |bytes| UnreadResponse { connection: self.clone(), credential, bytes };
        let mut table = self.0.limits.table();
        // The responses of a closed connection are about to be dropped, and not counted.
        if self.0.closed.is_cancelled() {
            return unread(0);
        }
        table.unread(credential).add(&self.0, bytes);
        while let Some(id) = table.unread(credential).remove_largest() {
            if let Some(largest) = table.connections.get(&id).cloned() {
                table.remove(&largest.0);
                largest.0.closed.cancel();
            }
        }
        drop(table);
        unread(bytes)
    }
}

impl UnreadResponses {
    /// Counts responses of connections with this credential.
    pub(super) fn new(credential: Credential) -> Self {
        let max = match credential {
            Credential::None => WITHOUT_KEY_UNREAD_BYTES_MAX,
            Credential::Key => WITH_KEY_UNREAD_BYTES_MAX,
        };
        Self { max, bytes: 0, of_network: HashMap::new() }
    }

    #[cfg(test)]
    pub(super) const fn bytes(&self) -> usize {
        self.bytes
    }

    fn add(&mut self, connection: &ConnectionState, bytes: usize) {
        self.bytes += bytes;
        let of = self.of_network.entry(network(connection.peer)).or_default();
        of.bytes += bytes;
        *of.of_connection.entry(connection.id).or_default() += bytes;
    }

    /// Removes a response, unless its connection was removed.
    fn remove(&mut self, connection: &ConnectionState, bytes: usize) {
        let network = network(connection.peer);
        let Some(of) = self.of_network.get_mut(&network) else { return };
        let Some(own) = of.of_connection.get_mut(&connection.id) else { return };
        *own -= bytes;
        of.bytes -= bytes;
        self.bytes -= bytes;
        if *own == 0 {
            of.of_connection.remove(&connection.id);
        }
        if of.of_connection.is_empty() {
            self.of_network.remove(&network);
        }
    }

    /// Removes the connection that must close because unread responses are over the limit, if they
    /// are.
    fn remove_largest(&mut self) -> Option<u64> {
        if self.bytes <= self.max {
            return None;
        }
        let (network, of) = self.of_network.iter_mut().max_by_key(|(_, of)| of.bytes)?;
        let (bytes, Reverse(id)) =
            of.of_connection.iter().map(|(id, bytes)| (*bytes, Reverse(*id))).max()?;
        let network = *network;
        of.of_connection.remove(&id);
        of.bytes -= bytes;
        self.bytes -= bytes;
        if of.of_connection.is_empty() {
            self.of_network.remove(&network);
        }
        Some(id)
    }
}

impl Drop for UnreadResponse {
    fn drop(&mut self) {
        let state = &self.connection.0;
        state.limits.table().unread(self.credential).remove(state, self.bytes);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use web::proxies::TrustedProxies;

    use super::*;
    use crate::connection::{AdmitResult, ConnectionLimits, ConnectionPermit};

    const MIB: usize = 1024 * 1024;

    fn from(limits: &Arc<ConnectionLimits>, peer: &str) -> ConnectionPermit {
        match limits.admit(peer.parse().unwrap()) {
            AdmitResult::Admitted(permit) => permit,
            AdmitResult::Refused | AdmitResult::Full => panic!("the listener has a permit"),
        }
    }

    fn is_closed(permit: &ConnectionPermit) -> bool {
        permit.0.0.closed.is_cancelled()
    }

    // issue 16: 8,000 unread responses of 14 KB used 130 MiB
    #[test]
    fn unread_responses_use_bounded_memory() {
        let limits = ConnectionLimits::new(10_000, TrustedProxies::default());
        let reader = from(&limits, "192.0.2.1");
        let slow = reader.connection().count_unread(MIB);
        let hostile: Vec<ConnectionPermit> =
            (0..200).map(|it| from(&limits, &format!("198.51.100.{it}"))).collect();
        let mut held = Vec::new();
        for _ in 0..20 {
            for permit in &hostile {
                held.push(permit.connection().count_unread(14_000));
                assert!(limits.unread_bytes() <= WITHOUT_KEY_UNREAD_BYTES_MAX);
            }
        }
        assert!(!is_closed(&reader), "its network uses less");
        let open = hostile.iter().filter(|permit| !is_closed(permit)).count();
        assert!((1..200).contains(&open), "{open} connections are open");
        drop((held, slow));
        assert_eq!(limits.unread_bytes(), 0);
        assert!(limits.table().unread(Credential::None).of_network.is_empty());
    }

    // 25,000 unread responses on 100 connections with one read key used 370 MiB
    #[test]
    fn keys_have_a_limit_of_their_own() {
        let limits = ConnectionLimits::new(10, TrustedProxies::default());
        let [reader, greedy] = [from(&limits, "192.0.2.1"), from(&limits, "192.0.2.2")];
        greedy.connection().set_has_key();
        let response = WITH_KEY_UNREAD_BYTES_MAX / 8;
        let mut held: Vec<UnreadResponse> =
            (0..7).map(|_| greedy.connection().count_unread(response)).collect();
        held.push(reader.connection().count_unread(MIB));
        assert_eq!([&reader, &greedy].map(is_closed), [false, false]);
        held.push(greedy.connection().count_unread(response));
        assert_eq!([&reader, &greedy].map(is_closed), [false, true]);
        drop(held);
        assert_eq!(limits.table().unread(Credential::Key).bytes(), 0);
    }

    #[test]
    fn connection_with_most_unread_bytes_closes() {
        let limits = ConnectionLimits::new(10, TrustedProxies::default());
        let [small, large] = [from(&limits, "192.0.2.1"), from(&limits, "192.0.2.2")];
        let response = WITHOUT_KEY_UNREAD_BYTES_MAX / 8;
        let mut held: Vec<UnreadResponse> =
            (0..5).map(|_| large.connection().count_unread(response)).collect();
        held.extend((0..3).map(|_| small.connection().count_unread(response)));
        assert_eq!([&small, &large].map(is_closed), [false, true]);
        // Its later responses do not count, and its earlier ones are no longer counted.
        held.push(large.connection().count_unread(response));
        assert_eq!(limits.unread_bytes(), 3 * (response + RESPONSE_BYTES));
        held.drain(..5);
        assert_eq!(limits.unread_bytes(), 3 * (response + RESPONSE_BYTES));
    }

    #[test]
    fn responses_of_shared_bytes_are_bounded_in_number() {
        let limits = ConnectionLimits::new(10, TrustedProxies::default());
        let permits = [from(&limits, "192.0.2.1"), from(&limits, "192.0.2.2")];
        let most = WITHOUT_KEY_UNREAD_BYTES_MAX / RESPONSE_BYTES;
        let held: Vec<UnreadResponse> =
            (0..most).map(|it| permits[it % 2].connection().count_unread(0)).collect();
        assert!(!permits.iter().any(is_closed));
        let _last = permits[0].connection().count_unread(0);
        assert_eq!(permits.each_ref().map(is_closed), [true, false]);
        drop(held);
        assert_eq!(limits.unread_bytes(), 0);
    }
}
