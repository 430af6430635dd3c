//! Tests of request limits.

use std::sync::Arc;
use std::time::Duration;

use http::{HeaderMap, HeaderName};
use web::proxies::TrustedProxies;

use super::RequestKind::{Alone, Stream, StreamWithKey, WithBody, WithSession, WithoutBody};
use super::*;
use crate::connection::{AdmitResult, ConnectionLimits, ConnectionPermit};

fn proxies() -> TrustedProxies {
    TrustedProxies::new(&["10.0.0.0/8".parse().unwrap()])
}

/// Opens a request that no proxy forwarded.
fn of_itself(connection: &Connection, kind: RequestKind) -> Option<Open> {
    connection.open(kind, connection.client(&HeaderMap::new()))
}

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
    let open = requests.filter_map(|it| of_itself(it.connection(), kind)).collect();
    (open, connections)
}

/// Addresses without limits of their own.
fn local(network: u32, count: u32) -> Vec<String> {
    (1..=count).map(|number| format!("127.0.{network}.{number}")).collect()
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
        (StreamWithKey, 256, 1_024, 20 * 1_024),
    ] {
        let limits = ConnectionLimits::new(10_000, TrustedProxies::default());
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
        assert!(requests.of_peer.is_empty() && requests.streams.is_empty());
        assert!(requests.streams_with_key.is_empty());
    }
}

#[test]
fn one_connection_has_a_limit() {
    let limits = ConnectionLimits::new(10_000, TrustedProxies::default());
    let (held, connections) = open(&limits, Stream, &local(0, 1));
    assert_eq!(held.len() as u32, limits::WITHOUT_KEY_OF_CONNECTION_MAX * connections.len() as u32);
}

// issue 16, point 1: behind a proxy, one client held the requests and streams of all
#[test]
fn clients_behind_a_proxy_are_limited() {
    for (kind, of_address) in [(WithoutBody, 512), (Stream, 32), (WithSession, 128)] {
        let limits = ConnectionLimits::new(10_000, proxies());
        let (_, connections) = open(&limits, Alone, &addresses(0, 2));
        let of = |client: &str| {
            let headers = HeaderMap::from_iter([(
                HeaderName::from_static("x-forwarded-for"),
                client.parse().unwrap(),
            )]);
            let open = |it: &ConnectionPermit| {
                let connection = it.connection();
                connection.open(kind, connection.client(&headers))
            };
            let all = connections.iter().cycle().take(1_024);
            all.filter_map(open).collect::<Vec<Open>>()
        };
        let greedy = of("198.51.100.7");
        assert_eq!(greedy.len(), of_address, "{kind:?}");
        assert!(of("198.51.100.7, 10.9.9.9").is_empty(), "{kind:?}");
        assert!(!of("203.0.113.9").is_empty(), "{kind:?}");
        drop(greedy);
        assert_eq!(of("198.51.100.7").len(), of_address, "{kind:?}");
    }
}

// 100 slow requests of one client blocked all others on a proxy's connection
#[test]
fn connection_of_a_proxy_has_no_limit() {
    let limits = ConnectionLimits::new(10_000, proxies());
    let (_, connections) = open(&limits, Alone, &addresses(0, 1));
    let connection = connections[0].connection();
    let client = |number: u8| IpAddr::from([198, 51, 100, number]);
    let many = limits::WITHOUT_KEY_OF_CONNECTION_MAX + 1;
    let slow: Vec<Open> = (0..many).filter_map(|_| connection.open(WithBody, client(7))).collect();
    assert_eq!(slow.len(), many as usize);
    for kind in [WithoutBody, WithSession] {
        assert!(connection.open(kind, client(8)).is_some(), "{kind:?}");
    }
    drop(slow);
    let requests = &limits.table().requests;
    assert!(requests.of_peer.is_empty() && requests.with_session_of_peer.is_empty());
}

// 9 addresses with 90 connections of 100 streams each took all status pages offline
#[test]
fn streams_leave_capacity_to_other_requests() {
    let limits = ConnectionLimits::new(10_000, TrustedProxies::default());
    let streams = open(&limits, Stream, &local(0, 9));
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
    let bodies = open(&limits, WithBody, &local(1, 9));
    assert_eq!(bodies.0.len() as u32, limits::WITHOUT_KEY_WITH_BODY_MAX);
    let visitors = open(&limits, WithoutBody, &local(2, 9));
    assert_eq!(
        visitors.0.len() as u32,
        limits::WITHOUT_KEY_MAX - limits::WITHOUT_KEY_WITH_BODY_MAX
    );
}

#[test]
fn signed_in_people_have_their_own_capacity() {
    let limits = ConnectionLimits::new(10_000, TrustedProxies::default());
    let bodies = open(&limits, WithBody, &local(0, 9));
    let visitors = open(&limits, WithoutBody, &local(1, 9));
    assert_eq!((bodies.0.len() + visitors.0.len()) as u32, limits::WITHOUT_KEY_MAX);
    let people = open(&limits, WithSession, &local(2, 9));
    assert_eq!(people.0.len() as u32, limits::WITH_SESSION_MAX);
    drop(people);
    assert_eq!(limits.table().requests.with_session, 0);
}

// issue 16, point 1: a connection with a key had any number of watches, for ever
#[test]
fn newer_streams_with_a_key_end_the_oldest() {
    let limits = ConnectionLimits::new(10_000, TrustedProxies::default());
    let (held, _connections) = open(&limits, StreamWithKey, &local(0, 9));
    let ended = held.iter().take_while(|it| it.evicted.is_cancelled()).count();
    assert_eq!(held.len() - ended, limits::WITH_KEY_STREAMS_MAX);
    let limit = held[0].stream_limit().unwrap();
    assert_eq!(limit.within, limits::WITH_KEY_STREAM_WITHIN);
}

// 30,000 requests of `/readyz` on 120 connections made the server unready for 5 s
#[test]
fn only_one_request_on_a_connection_is_unlimited() {
    let limits = ConnectionLimits::new(10_000, TrustedProxies::default());
    let (_full, connections) = open(&limits, WithoutBody, &addresses(0, 6));
    assert_eq!(limits.table().requests.in_all, limits::WITHOUT_KEY_OF_NETWORK_MAX);
    let AdmitResult::Admitted(balancer) = limits.admit("10.0.0.9".parse().unwrap()) else {
        panic!("the listener has a permit")
    };
    let first = of_itself(balancer.connection(), Alone).unwrap();
    assert!(of_itself(balancer.connection(), Alone).is_none());
    assert!(of_itself(balancer.connection(), WithoutBody).is_none(), "its network is full");
    drop(first);
    assert!(of_itself(balancer.connection(), Alone).is_some());
    assert!(of_itself(connections[0].connection(), Alone).is_none());
}

#[test]
fn unread_responses_count_for_their_connection_only() {
    let limits = ConnectionLimits::new(10_000, TrustedProxies::default());
    let (mut held, connections) = open(&limits, WithoutBody, &addresses(0, 1));
    held.iter_mut().for_each(Open::mark_answered);
    assert_eq!(limits.table().requests.in_all, 0);
    assert!(of_itself(connections[0].connection(), WithoutBody).is_none());
    drop(held);
    assert!(of_itself(connections[0].connection(), WithoutBody).is_some());
}

#[test]
fn verified_connection_gives_its_count_back_once() {
    let limits = ConnectionLimits::new(10_000, TrustedProxies::default());
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
    let limits = ConnectionLimits::new(10_000, TrustedProxies::default());
    let (held, _connections) = open(&limits, Stream, &addresses(0, 1));
    let limit = held[0].stream_limit().unwrap();
    assert_eq!(limit.within, limits::WITHOUT_KEY_STREAM_WITHIN);
    StreamLimit { within: Duration::ZERO, ..limit.clone() }.reached().await;
    held[0].evicted.cancel();
    limit.reached().await;
    assert!(open(&limits, WithBody, &addresses(1, 1)).0[0].stream_limit().is_none());
}
