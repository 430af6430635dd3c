//! DNS checks against a misbehaving nameserver.

use domain::check::{DnsAnswer, FailureKind, Outcome};
use rules::monitor::RecordAssertion;
use rules::{RecordComparator, RecordKind};
use testkit::target::{Code, DnsReply, DnsTarget};

use crate::checking::{Checking, Outcomes, look_up, portless};

fn wanting(kind: RecordKind, target: &str) -> impl FnOnce(Checking) -> Checking {
    let assertion = RecordAssertion {
        record: kind,
        target: target.to_owned(),
        comparator: RecordComparator::Eq,
    };
    |checking| checking.dns(|dns| dns.record_assertions.push(assertion))
}

async fn check(dns: &DnsTarget, name: &str, kind: RecordKind, target: &str) -> Outcomes {
    wanting(kind, target)(look_up(name, dns)).run().await
}

fn answers(outcome: &Outcomes) -> &[DnsAnswer] {
    &outcome.dns().answers
}

fn values(answer: &DnsAnswer) -> Vec<&str> {
    answer.records.iter().map(|record| record.value.as_str()).collect()
}

#[tokio::test]
async fn both_address_types_are_queried_without_assertions() {
    // design: §5 "A and AAAA when none is"
    let dns = DnsTarget::start().await;
    dns.address_of("api.test", "192.0.2.1").address_of("api.test", "2001:db8::1");
    let outcome = look_up("api.test", &dns).run().await;
    outcome.assert_success();
    let mut asked = dns.asked();
    asked.sort();
    // A query without a response within a second is repeated, which can happen on a busy machine.
    asked.dedup();
    let name = "api.test".to_owned();
    assert_eq!(asked, [(name.clone(), RecordKind::A), (name, RecordKind::Aaaa)]);
    assert_eq!(values(&answers(&outcome)[0]), ["192.0.2.1"]);
    assert_eq!(values(&answers(&outcome)[1]), ["2001:db8::1"]);
}

#[tokio::test]
async fn asserted_types_are_queried_with_rcode_and_ttl() {
    // design: §5 "asking only for the types asserted … rcode and TTL recorded"
    let dns = DnsTarget::start().await;
    dns.record("mail.test", RecordKind::Mx, "10 mx.test");
    let outcome = check(&dns, "mail.test", RecordKind::Mx, "10 mx.test").await;
    outcome.assert_success();
    let mut asked = dns.asked();
    asked.dedup();
    assert_eq!(asked, [("mail.test".to_owned(), RecordKind::Mx)]);
    let answer = &answers(&outcome)[0];
    assert_eq!((&*answer.rcode, answer.over_tcp), ("NOERROR", false));
    assert_eq!((answer.server, answer.records[0].ttl), (Some(dns.address()), 300));
    assert!(outcome.dns().phases.dns_us.unwrap() <= outcome.latency_us());
}

#[tokio::test]
async fn records_have_their_usual_text_form() {
    // design: §5 "MX as `10 mail.example.com`, TXT joined"
    let dns = DnsTarget::start().await;
    let cases = [
        (RecordKind::A, "192.0.2.1", "192.0.2.1"),
        (RecordKind::Aaaa, "2001:db8::1", "2001:db8::1"),
        (RecordKind::Cname, "target.test", "target.test"),
        (RecordKind::Mx, "10 mx.test", "10 mx.test"),
        (RecordKind::Txt, "v=spf1 |include:a.test| -all", "v=spf1 include:a.test -all"),
    ];
    for (kind, written, read) in cases {
        let name = format!("{}.test", kind.as_str().to_lowercase());
        dns.record(&name, kind, written);
        let outcome = check(&dns, &name, kind, read).await;
        outcome.assert_success();
        assert_eq!(values(&answers(&outcome)[0]), [read]);
    }
}

#[tokio::test]
async fn aliases_are_followed_to_addresses() {
    // design: §5 "A and AAAA follow CNAME chains, CNAME is the first hop"
    let dns = DnsTarget::start().await;
    dns.record("www.test", RecordKind::Cname, "cdn.test");
    dns.record("cdn.test", RecordKind::Cname, "edge.test").address_of("edge.test", "192.0.2.1");
    let outcome = check(&dns, "www.test", RecordKind::A, "192.0.2.1").await;
    outcome.assert_success();
    assert_eq!(answers(&outcome)[0].aliases, ["cdn.test", "edge.test"]);
    let outcome = check(&dns, "www.test", RecordKind::Cname, "cdn.test").await;
    outcome.assert_success();
    assert_eq!(values(&answers(&outcome)[0]), ["cdn.test"]);
}

#[tokio::test]
async fn alias_without_records_is_queried_again() {
    let dns = DnsTarget::start().await;
    let alias = DnsReply::Records(vec![("www.test", RecordKind::Cname, "edge.test")]);
    dns.reply("www.test", RecordKind::A, alias).address_of("edge.test", "192.0.2.1");
    let outcome = check(&dns, "www.test", RecordKind::A, "192.0.2.1").await;
    outcome.assert_success();
    assert_eq!(answers(&outcome)[0].aliases, ["edge.test"]);
    assert!(dns.asked().len() >= 2, "{:?}", dns.asked());
}

#[tokio::test]
async fn circular_aliases_fail() {
    let dns = DnsTarget::start().await;
    for (from, to) in [("a.test", "b.test"), ("b.test", "a.test")] {
        dns.reply(from, RecordKind::A, DnsReply::Records(vec![(from, RecordKind::Cname, to)]));
    }
    let outcome = check(&dns, "a.test", RecordKind::A, "192.0.2.1").await;
    assert_eq!(outcome.failure_kind(), FailureKind::NameUnresolved);
    assert!(outcome.failure().detail.contains("more than 16 aliases"));
}

#[tokio::test]
async fn error_codes_fail_the_check() {
    // design: §5 "NXDOMAIN, SERVFAIL, REFUSED … are failures"
    let dns = DnsTarget::start().await;
    let cases = [
        (Code::NxDomain, "NXDOMAIN"),
        (Code::ServFail, "SERVFAIL"),
        (Code::Refused, "REFUSED"),
        (Code::FormErr, "FORMERR"),
    ];
    for (code, word) in cases {
        dns.reply("api.test", RecordKind::A, DnsReply::Code(code));
        let outcome = check(&dns, "api.test", RecordKind::A, "192.0.2.1").await;
        assert_eq!(outcome.outcome(), Outcome::Failure);
        assert_eq!(outcome.last().0.failure, None, "the exchange completed");
        assert_eq!(answers(&outcome)[0].rcode, word);
    }
}

#[tokio::test]
async fn truncated_response_is_repeated_over_tcp() {
    // design: §5 "UDP then TCP"
    let dns = DnsTarget::start().await;
    dns.record("big.test", RecordKind::Txt, "long").reply(
        "big.test",
        RecordKind::Txt,
        DnsReply::TooLong,
    );
    let outcome = check(&dns, "big.test", RecordKind::Txt, "long").await;
    outcome.assert_success();
    assert!(answers(&outcome)[0].over_tcp);
}

#[tokio::test]
async fn responses_to_other_queries_are_ignored() {
    let dns = DnsTarget::start().await;
    dns.address_of("api.test", "192.0.2.1").reply("api.test", RecordKind::A, DnsReply::ForgedFirst);
    let outcome = check(&dns, "api.test", RecordKind::A, "192.0.2.1").await;
    outcome.assert_success();
    assert_eq!(values(&answers(&outcome)[0]), ["192.0.2.1"]);
}

#[tokio::test]
async fn lost_query_is_repeated() {
    let dns = DnsTarget::start().await;
    dns.address_of("api.test", "192.0.2.1").reply("api.test", RecordKind::A, DnsReply::LostOnce);
    check(&dns, "api.test", RecordKind::A, "192.0.2.1").await.assert_success();
    assert!(dns.asked().len() >= 2, "{:?}", dns.asked());
}

#[tokio::test]
async fn failing_nameserver_is_skipped() {
    use aloft_probe::Nameservers;
    let (failing, good) = (DnsTarget::start().await, DnsTarget::start().await);
    failing.reply("api.test", RecordKind::A, DnsReply::Code(Code::ServFail));
    good.address_of("api.test", "192.0.2.1");
    let nobody = testkit::target::TcpTarget::refusing().address();
    let mut checking = wanting(RecordKind::A, "192.0.2.1")(look_up("api.test", &good));
    let servers = vec![nobody, failing.address(), good.address()];
    checking.settings.nameservers = Nameservers::Given(servers);
    let outcome = checking.run().await;
    outcome.assert_success();
    assert_eq!(answers(&outcome)[0].server, Some(good.address()));
}

#[tokio::test]
async fn silent_nameserver_times_out() {
    let dns = DnsTarget::start().await;
    dns.reply("api.test", RecordKind::A, DnsReply::Silence);
    let checking = wanting(RecordKind::A, "192.0.2.1")(look_up("api.test", &dns));
    let outcome = checking.timeout_ms(200).run().await;
    assert_eq!(outcome.failure_kind(), FailureKind::Timeout);
    insta::assert_snapshot!(
        portless(&outcome.failure().detail, dns.address().port()),
        @"timed out after 200 ms while looking up `api.test` at 127.0.0.1:PORT"
    );
}

#[tokio::test]
async fn invalid_dns_message_fails() {
    let dns = DnsTarget::start().await;
    dns.reply("api.test", RecordKind::A, DnsReply::Garbage);
    let outcome = check(&dns, "api.test", RecordKind::A, "192.0.2.1").await;
    assert_eq!(outcome.failure_kind(), FailureKind::ProtocolBroken);
}
