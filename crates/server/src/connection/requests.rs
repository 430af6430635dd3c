//! Request limits of callers without a key: per connection, per address and in total. A request
//! uses memory before its handler is known, and an HTTP/2 connection carries many.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::atomic::Ordering;

use super::Connection;

/// Maximum number of requests without a key on one connection.
const OF_CONNECTION_MAX: u32 = 100;
/// Maximum number of requests without a key from one address.
const OF_ADDRESS_MAX: u32 = 1_000;
/// Maximum number of requests without a key in total.
const IN_ALL_MAX: u32 = 8_192;

/// Requests without a key of one listener.
#[derive(Debug, Default)]
pub(super) struct Requests {
    in_all: u32,
    of_address: HashMap<IpAddr, u32>,
}

/// Request without a key, counted until it is dropped.
#[derive(Debug)]
pub(crate) struct Open(Connection);

impl Connection {
    /// Counts a request without a key. Returns `None` if there are too many.
    pub(crate) fn open(&self) -> Option<Open> {
        let state = &self.0;
        let mut table = state.limits.table();
        let requests = &mut table.requests;
        let own = requests.of_address.get(&state.peer).copied().unwrap_or(0);
        let is_exempt = state.limits.is_exempt(state.peer);
        if state.open.load(Ordering::Relaxed) >= OF_CONNECTION_MAX
            || requests.in_all >= IN_ALL_MAX
            || (!is_exempt && own >= OF_ADDRESS_MAX)
        {
            return None;
        }
        requests.in_all += 1;
        requests.of_address.insert(state.peer, own + 1);
        state.open.fetch_add(1, Ordering::Relaxed);
        Some(Open(self.clone()))
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        let state = &self.0.0;
        let mut table = state.limits.table();
        let requests = &mut table.requests;
        requests.in_all -= 1;
        let own = requests.of_address.get(&state.peer).copied().unwrap_or(0);
        if own > 1 {
            requests.of_address.insert(state.peer, own - 1);
        } else {
            requests.of_address.remove(&state.peer);
        }
        state.open.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::connection::{AdmitResult, ConnectionLimits, ConnectionPermit};

    fn connected(places: &Arc<ConnectionLimits>, peer: &str) -> ConnectionPermit {
        match places.admit(peer.parse().unwrap()) {
            AdmitResult::Admitted(place) => place,
            AdmitResult::Refused | AdmitResult::Full => panic!("there are places"),
        }
    }

    #[test]
    fn a_connection_an_address_and_all_have_limits() {
        let places = ConnectionLimits::new(1_000, Vec::new());
        let mut held: Vec<ConnectionPermit> = Vec::new();
        let mut requests = |peer: String, connections: u32| -> Vec<Open> {
            let opened: Vec<ConnectionPermit> =
                (0..connections).map(|_| connected(&places, &peer)).collect();
            let asked = opened.iter().flat_map(|place| (0..=OF_CONNECTION_MAX).map(move |_| place));
            let open = asked.filter_map(|place| place.connection().open()).collect();
            held.extend(opened);
            open
        };
        let of_connection = requests("192.0.2.1".to_owned(), 1);
        assert_eq!(of_connection.len() as u32, OF_CONNECTION_MAX);
        let of_address = requests("192.0.2.1".to_owned(), 20);
        assert_eq!(of_address.len() as u32, OF_ADDRESS_MAX - OF_CONNECTION_MAX);
        let of_others: Vec<Open> =
            (0..10).flat_map(|number| requests(format!("10.0.{number}.1"), 20)).collect();
        assert_eq!(of_others.len() as u32, IN_ALL_MAX - OF_ADDRESS_MAX);
        drop((of_connection, of_address, of_others));
        assert_eq!(places.table().requests.in_all, 0);
        assert!(places.table().requests.of_address.is_empty());
    }
}
