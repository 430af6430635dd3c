//! Tests of connection limits.

use super::*;

fn from(limits: &Arc<ConnectionLimits>, peer: &str) -> Option<ConnectionPermit> {
    match limits.admit(peer.parse().unwrap()) {
        AdmitResult::Admitted(permit) => Some(permit),
        AdmitResult::Refused | AdmitResult::Full => None,
    }
}

fn proxies() -> TrustedProxies {
    TrustedProxies::new(&["10.0.0.0/8".parse().unwrap()])
}

fn is_closed(permit: &ConnectionPermit) -> bool {
    permit.0.0.closed.is_cancelled()
}

// issue 16, point 1: slow clients keep nobody out
#[test]
fn the_stalest_connection_makes_room() {
    let limits = ConnectionLimits::new(4, TrustedProxies::default());
    let first = from(&limits, "192.0.2.1").unwrap();
    let second = from(&limits, "198.51.100.1").unwrap();
    let third = from(&limits, "203.0.113.1").unwrap();
    drop(first.connection().serve());
    let _fourth = from(&limits, "203.0.113.2").unwrap();
    assert_eq!([is_closed(&first), is_closed(&second), is_closed(&third)], [false, true, false]);
}

/// Admits a connection and shows a key.
fn keyed(limits: &Arc<ConnectionLimits>, peer: &str) -> ConnectionPermit {
    let permit = from(limits, peer).unwrap();
    permit.connection().set_has_key();
    permit
}

#[test]
fn connections_with_a_key_keep_their_places() {
    let limits = ConnectionLimits::new(4, TrustedProxies::default());
    let kept: Vec<ConnectionPermit> =
        (1..=4).map(|number| keyed(&limits, &format!("192.0.2.{number}"))).collect();
    let served: Vec<Served> = kept.iter().map(|permit| permit.connection().serve()).collect();
    assert!(matches!(limits.admit("192.0.2.9".parse().unwrap()), AdmitResult::Full));
    assert!(!kept.iter().any(is_closed));
    drop((kept, served));
    assert!(from(&limits, "192.0.2.9").is_some());
}

// issue 16, point 1: 64 idle connections with one read key locked everybody out, `/readyz` too
#[test]
fn idle_connections_with_a_key_leave_a_share() {
    let limits = ConnectionLimits::new(4, TrustedProxies::default());
    let kept: Vec<ConnectionPermit> =
        (1..=4).map(|number| keyed(&limits, &format!("192.0.2.{number}"))).collect();
    let newcomer = from(&limits, "198.51.100.1").unwrap();
    assert!(!newcomer.connection().is_on_probation());
    assert_eq!(kept.iter().map(is_closed).collect::<Vec<_>>(), [true, false, false, false]);
    // Idle connections without a key close first.
    let _next = from(&limits, "198.51.100.2").unwrap();
    assert!(is_closed(&newcomer) && kept.iter().filter(|it| is_closed(it)).count() == 1);
}

#[test]
fn idle_connections_with_a_key_keep_a_quarter() {
    let limits = ConnectionLimits::new(4, TrustedProxies::default());
    let kept: Vec<ConnectionPermit> =
        (1..=3).map(|number| keyed(&limits, &format!("192.0.2.{number}"))).collect();
    let busy = |number| {
        let permit = from(&limits, &format!("198.51.100.{number}")).unwrap();
        let served = permit.connection().serve();
        (permit, served)
    };
    let _busy: Vec<(ConnectionPermit, Served)> = (1..=3).map(busy).collect();
    assert!(matches!(limits.admit("198.51.100.4".parse().unwrap()), AdmitResult::Full));
    assert_eq!(kept.iter().map(is_closed).collect::<Vec<_>>(), [true, true, false]);
}

// issue 16, point 1: limits per address and per network, lower without a valid key
#[test]
fn connections_with_a_key_are_limited_by_peer() {
    let limits = ConnectionLimits::new(100_000, proxies());
    let max = OF_PEER_WITH_KEY_MAX;
    let neighbour = keyed(&limits, "192.0.2.2");
    let of_address: Vec<_> = (0..=max.of_address).map(|_| keyed(&limits, "192.0.2.1")).collect();
    assert_eq!(of_address.iter().map(is_closed).filter(|it| *it).count(), 1);
    assert!(is_closed(&of_address[0]) && !is_closed(&neighbour));
    let of_network: Vec<_> = (0..max.of_network + 3)
        .map(|number| keyed(&limits, &format!("198.51.100.{}", number % 250)))
        .collect();
    assert_eq!(of_network.iter().filter(|it| is_closed(it)).count(), 3);
    let of_proxy: Vec<_> = (0..=max.of_network).map(|_| keyed(&limits, "10.1.1.1")).collect();
    assert!(!of_proxy.iter().any(is_closed));
}

#[test]
fn key_over_the_limit_keeps_lower_limits() {
    let limits = ConnectionLimits::new(100_000, TrustedProxies::default());
    let busy: Vec<_> = (0..OF_PEER_WITH_KEY_MAX.of_address)
        .map(|_| {
            let permit = keyed(&limits, "192.0.2.1");
            let served = permit.connection().serve();
            (permit, served)
        })
        .collect();
    assert!(keyed(&limits, "192.0.2.1").connection().is_without_key());
    drop(busy);
    assert!(!keyed(&limits, "192.0.2.1").connection().is_without_key());
}

#[test]
fn requests_being_answered_are_not_interrupted() {
    let limits = ConnectionLimits::new(1, TrustedProxies::default());
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
    let limits = ConnectionLimits::new(4, TrustedProxies::default());
    let busy: Vec<ConnectionPermit> =
        (1..=3).map(|number| from(&limits, &format!("192.0.2.{number}")).unwrap()).collect();
    let served: Vec<Served> = busy.iter().map(|permit| permit.connection().serve()).collect();
    let newcomer = from(&limits, "192.0.2.4").unwrap();
    assert!(newcomer.connection().is_on_probation());
    assert!(!busy.iter().any(|permit| is_closed(permit) || permit.connection().is_on_probation()));
    newcomer.connection().set_has_key();
    assert!(!newcomer.connection().is_on_probation());
    assert!(from(&limits, "192.0.2.5").is_none());
    drop(served);
    assert!(!from(&limits, "192.0.2.5").unwrap().connection().is_on_probation());
}

// A revoked key lifted the limits of callers without a key
#[test]
fn wrong_key_returns_the_connection_to_the_limits() {
    let limits = ConnectionLimits::new(4, TrustedProxies::default());
    let permit = from(&limits, "192.0.2.1").unwrap();
    let connection = permit.connection();
    assert!(connection.may_show_key());
    connection.set_has_key();
    assert_eq!((connection.is_without_key(), limits.table().without_key.total), (false, 0));
    connection.set_has_wrong_key();
    assert_eq!((connection.is_without_key(), limits.table().without_key.total), (true, 1));
    assert!(!connection.may_show_key());
    connection.set_has_key();
    assert!(connection.may_show_key() && !connection.is_without_key());
}

#[test]
fn an_address_and_a_network_have_limits() {
    let limits = ConnectionLimits::new(100_000, proxies());
    let many = |peer: &dyn Fn(u32) -> String, count: u32| -> Vec<ConnectionPermit> {
        (0..count).filter_map(|number| from(&limits, &peer(number))).collect()
    };
    let of_address = many(&|_| "192.0.2.1".to_owned(), OF_PEER_MAX.of_address + 1);
    assert_eq!(of_address.iter().filter(|it| is_closed(it)).count(), 1);
    let of_network =
        many(&|number| format!("198.51.100.{}", number % 250), OF_PEER_MAX.of_network + 3);
    assert_eq!(of_network.iter().filter(|it| is_closed(it)).count(), 3);
    let of_address_v6 =
        many(&|number| format!("2001:db8:1::{number:x}"), OF_PEER_MAX.of_address + 2);
    assert_eq!(of_address_v6.iter().filter(|it| is_closed(it)).count(), 2);
    let of_network_v6 =
        many(&|number| format!("2001:db8:0:{:x}::1", number % 250), OF_PEER_MAX.of_network + 3);
    assert_eq!(of_network_v6.iter().filter(|it| is_closed(it)).count(), 3);
    for exempt in ["127.0.0.1", "::1", "10.1.1.1", "::ffff:10.1.1.1"] {
        let limits = many(&|_| exempt.to_owned(), OF_PEER_MAX.of_network + 1);
        assert!(!limits.iter().any(is_closed), "{exempt}");
    }
}

#[test]
fn permit_is_released_once() {
    let limits = ConnectionLimits::new(2, TrustedProxies::default());
    let first = from(&limits, "192.0.2.1").unwrap();
    let second = from(&limits, "192.0.2.1").unwrap();
    let third = from(&limits, "192.0.2.1").unwrap();
    assert!(is_closed(&first));
    drop((first, second, third));
    let table = limits.table();
    assert_eq!((table.connections.len(), table.without_key.total, table.with_key.total), (0, 0, 0));
    assert!(table.without_key.of_peer.is_empty());
}
