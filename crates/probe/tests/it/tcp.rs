//! TCP checks.

use domain::check::{FailureKind, Outcome};
use rules::IpVersion;
use testkit::target::{DnsTarget, TcpTarget};

use crate::checking::connect;

#[tokio::test]
async fn connection_succeeds_with_phases() {
    // design: §5 "TCP"
    let target = TcpTarget::accepting().await;
    let dns = DnsTarget::start().await;
    dns.address_of("db.test", "127.0.0.1");
    let port = target.address().port();
    let outcome = connect(format!("db.test:{port}")).asking(&dns).run().await;
    outcome.assert_success();
    let seen = outcome.tcp();
    assert_eq!(seen.address, Some(target.address()));
    let sum = seen.phases.dns_us.unwrap() + seen.phases.connect_us.unwrap();
    assert!(sum <= outcome.latency_us());
}

#[tokio::test]
async fn both_address_families_are_supported() {
    let v4 = TcpTarget::accepting().await;
    connect(v4.address().to_string()).run().await.assert_success();
    let v6 = TcpTarget::accepting_at("[::1]:0").await;
    connect(v6.address().to_string()).run().await.assert_success();
}

#[tokio::test]
async fn closed_port_refuses_the_connection() {
    let target = TcpTarget::refusing();
    let outcome = connect(target.address().to_string()).run().await;
    assert_eq!(outcome.failure_kind(), FailureKind::ConnectionRefused);
    assert_eq!(outcome.failure().detail, format!("connection to {} refused", target.address()));
}

#[tokio::test]
async fn unanswered_connection_times_out() {
    let target = TcpTarget::full().await;
    let outcome = connect(target.address().to_string()).timeout_ms(200).run().await;
    assert_eq!(outcome.outcome(), Outcome::Failure);
    let address = target.address();
    let detail = format!("timed out after 200 ms while connecting to {address}");
    assert_eq!(outcome.failure().detail, detail);
    assert_eq!(outcome.tcp().phases.connect_us, None);
}

#[tokio::test]
async fn only_addresses_of_the_version_are_connected() {
    let target = TcpTarget::accepting().await;
    let dns = DnsTarget::start().await;
    dns.address_of("db.test", "127.0.0.1");
    let check = |version| {
        let uri = format!("db.test:{}", target.address().port());
        connect(uri).asking(&dns).tcp(|tcp| tcp.ip_version = version)
    };
    check(IpVersion::V4).run().await.assert_success();
    let outcome = check(IpVersion::V6).run().await;
    assert_eq!(outcome.failure_kind(), FailureKind::NameUnresolved);
}
