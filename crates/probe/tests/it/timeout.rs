//! The time limit of an attempt: it covers everything from the lookup to the last byte over all
//! hops, and keeps the observations so far.

use std::time::Duration;

use domain::check::FailureKind;
use testkit::target::{DnsReply, DnsTarget, HttpTarget, ScriptedResponse, TcpTarget};

use crate::checking::{Outcomes, get, portless};

/// Short, but long enough on a busy machine for everything that does not wait on purpose.
const LIMIT_MS: u32 = 3_000;

fn failure_text(outcome: &Outcomes, port: u16) -> String {
    assert_eq!(outcome.failure_kind(), FailureKind::Timeout);
    assert!(outcome.latency_us() >= LIMIT_MS * 1000);
    portless(&outcome.failure().detail, port)
}

#[tokio::test]
async fn silent_nameserver_times_out() {
    let dns = DnsTarget::start().await;
    dns.reply_addresses("slow.test", &DnsReply::Silence);
    let outcome = get("http://slow.test/").asking(&dns).timeout_ms(LIMIT_MS).run().await;
    insta::assert_snapshot!(failure_text(&outcome, dns.address().port()), @"timed out after 3000 ms while looking up `slow.test`");
    assert_eq!(outcome.http().hops[0].phases.dns_us, None);
}

#[tokio::test]
async fn unanswered_connection_times_out() {
    let target = TcpTarget::full().await;
    let outcome = get(format!("http://{}/", target.address())).timeout_ms(LIMIT_MS).run().await;
    insta::assert_snapshot!(
        failure_text(&outcome, target.address().port()),
        @"timed out after 3000 ms while connecting to 127.0.0.1:PORT"
    );
}

#[tokio::test]
async fn stuck_handshake_times_out() {
    let target = TcpTarget::accepting().await;
    let outcome = get(format!("https://{}/", target.address())).timeout_ms(LIMIT_MS).run().await;
    insta::assert_snapshot!(
        failure_text(&outcome, target.address().port()),
        @"timed out after 3000 ms while TLS handshake with 127.0.0.1:PORT"
    );
    assert!(outcome.http().hops[0].phases.connect_us.is_some());
}

#[tokio::test]
async fn silent_target_times_out_and_keeps_observations() {
    let target = HttpTarget::start().await;
    target.on("/", ScriptedResponse::silent());
    let outcome = get(target.url("/")).timeout_ms(LIMIT_MS).run().await;
    insta::assert_snapshot!(
        failure_text(&outcome, target.address().port()),
        @"timed out after 3000 ms while waiting for the first byte from 127.0.0.1:PORT"
    );
    let hop = &outcome.http().hops[0];
    assert_eq!(hop.address, Some(target.address()));
    assert!(hop.phases.connect_us.is_some() && hop.phases.first_byte_us.is_none());
}

#[tokio::test]
async fn stuck_headers_time_out() {
    let target = HttpTarget::start().await;
    target.on("/", ScriptedResponse::stuck_after("HTTP/1.1 200 OK\r\nx-a: "));
    let outcome = get(target.url("/")).timeout_ms(LIMIT_MS).run().await;
    insta::assert_snapshot!(
        failure_text(&outcome, target.address().port()),
        @"timed out after 3000 ms while reading the headers from 127.0.0.1:PORT"
    );
    assert!(outcome.http().hops[0].phases.first_byte_us.is_some());
}

#[tokio::test]
async fn stuck_body_times_out_and_is_kept() {
    let target = HttpTarget::start().await;
    target
        .on("/", ScriptedResponse::stuck_after("HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhalf"));
    let outcome = get(target.url("/")).timeout_ms(LIMIT_MS).run().await;
    insta::assert_snapshot!(
        failure_text(&outcome, target.address().port()),
        @"timed out after 3000 ms while reading the body from 127.0.0.1:PORT"
    );
    let seen = outcome.http();
    assert_eq!((&seen.body.bytes[..], seen.body.truncated), (&b"half"[..], true));
    assert_eq!((seen.hops[0].status, seen.hops[0].phases.transfer_us), (Some(200), None));
}

#[tokio::test]
async fn time_limit_covers_all_hops() {
    // design: §5 "The timeout holds for one attempt … over all hops"
    let target = HttpTarget::start().await;
    // Each hop is within the limit, but not both together.
    let part = |sixths: u64| Duration::from_millis(u64::from(LIMIT_MS) * sixths / 6);
    target.on("/", ScriptedResponse::redirect(302, "/next").after(part(2)));
    target.on("/next", ScriptedResponse::ok("").after(part(5)));
    let outcome = get(target.url("/")).timeout_ms(LIMIT_MS).run().await;
    assert_eq!(outcome.failure_kind(), FailureKind::Timeout);
    let statuses: Vec<_> = outcome.http().hops.iter().map(|hop| hop.status).collect();
    assert_eq!(statuses, [Some(302), None]);
}
