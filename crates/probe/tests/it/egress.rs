//! The egress policy in the connector: after the lookup and at every hop. Loopback addresses
//! represent both sides: 127.0.0.2 and 127.0.0.3 are allowed, everything else is blocked by
//! default.

use aloft_probe::Egress;
use domain::check::{FailureKind, Outcome};
use rules::RecordKind;
use testkit::target::{DnsReply, DnsTarget, HttpTarget, ScriptedResponse, TcpTarget};

use crate::checking::{connect, get};

/// Returns the default policy, except that 127.0.0.2 and 127.0.0.3 count as public.
fn policy() -> Egress {
    Egress::new(false, ["127.0.0.2/31".parse().unwrap()])
}

async fn inside() -> HttpTarget {
    let target = HttpTarget::start().await;
    target.on("/", ScriptedResponse::ok("inside"));
    target
}

async fn outside() -> HttpTarget {
    let target = HttpTarget::start_at("127.0.0.2:0").await;
    target.on("/", ScriptedResponse::ok("outside"));
    target
}

/// Returns a public target with the port of an internal one; no other target uses this address.
async fn outside_at_the_port_of(inside: &HttpTarget) -> HttpTarget {
    HttpTarget::start_at(&format!("127.0.0.3:{}", inside.address().port())).await
}

#[tokio::test]
async fn private_address_is_blocked_with_a_way_out() {
    // design: §6
    let target = inside().await;
    let outcome = get(target.url("/")).behind(policy()).run().await;
    assert_eq!((outcome.failure_kind(), target.hits()), (FailureKind::AddressRefused, 0));
    insta::assert_snapshot!(
        outcome.failure().detail,
        @"`127.0.0.1` is blocked: address 127.0.0.1 is loopback; `--allow-private-networks` opens private and loopback networks"
    );
    get(outside().await.url("/")).behind(policy()).run().await.assert_success();
}

#[tokio::test]
async fn every_form_of_a_private_address_is_blocked() {
    // design: §6 "IPv4-mapped, decimal, octal and NAT64 forms" (issue 3, point 6)
    let target = inside().await;
    let port = target.address().port();
    let forms = [
        "2130706433",
        "017700000001",
        "0x7f000001",
        "0x7f.0.0.1",
        "0177.0.0.1",
        "127.1",
        "127.0.1",
        "%31%32%37.0.0.1",
        "①②⑦.0.0.1",
        "127。0。0。1",
        "127.0.0.1.",
        "0",
        "0.0.0.0",
        "[::1]",
        "[::]",
        "[::ffff:127.0.0.1]",
        "[::ffff:7f00:1]",
        "[::127.0.0.1]",
        "[::ffff:0:127.0.0.1]",
        "[64:ff9b::7f00:1]",
        "[64:ff9b:1::7f00:1]",
        "[2002:7f00:1::]",
        "localhost",
        "LOCALHOST",
        "localhost.",
        "api.localhost",
    ];
    for form in forms {
        let outcome = get(format!("http://{form}:{port}/")).behind(policy()).run().await;
        assert_eq!(outcome.failure_kind(), FailureKind::AddressRefused, "{form}");
    }
    assert_eq!(target.hits(), 0);
}

#[tokio::test]
async fn name_is_blocked_by_its_address() {
    let target = inside().await;
    let dns = DnsTarget::start().await;
    dns.address_of("inside.test", "127.0.0.1");
    dns.record("alias.test", RecordKind::Cname, "inside.test");
    for name in ["inside.test", "alias.test"] {
        let checking = get(target.url_as(name, "/")).asking(&dns).behind(policy());
        assert_eq!(checking.run().await.failure_kind(), FailureKind::AddressRefused, "{name}");
    }
    assert_eq!(target.hits(), 0);
}

#[tokio::test]
async fn redirect_to_private_address_is_blocked() {
    // design: §5 "the egress rule holds at every hop"
    let target = inside().await;
    let front = outside().await;
    let port = target.address().port();
    let ways = [
        target.url("/"),
        format!("http://2130706433:{port}/"),
        format!("http://[::ffff:127.0.0.1]:{port}/"),
        format!("//127.0.0.1:{port}/"),
    ];
    for location in ways {
        front.on("/go", ScriptedResponse::redirect(302, &*location));
        let outcome = get(front.url("/go")).behind(policy()).run().await;
        assert_eq!(outcome.failure_kind(), FailureKind::AddressRefused, "{location}");
        let statuses: Vec<_> = outcome.http().hops.iter().map(|hop| hop.status).collect();
        assert_eq!(statuses, [Some(302), None], "{location}");
    }
    assert_eq!(target.hits(), 0);
}

#[tokio::test]
async fn dns_rebinding_is_blocked() {
    // design: §6 "after resolution and at every redirect"; issue 3, point 6 "rebinding names"
    let target = inside().await;
    let front = outside_at_the_port_of(&target).await;
    front.on("/", ScriptedResponse::redirect(302, "/again"));
    let dns = DnsTarget::start().await;
    let at = |address| DnsReply::Records(vec![("moving.test", RecordKind::A, address)]);
    dns.reply_each("moving.test", RecordKind::A, vec![at("127.0.0.3"), at("127.0.0.1")]);
    let checking = get(front.url_as("moving.test", "/")).asking(&dns).behind(policy());
    let outcome = checking.run().await;
    assert_eq!(outcome.failure_kind(), FailureKind::AddressRefused);
    assert_eq!((front.hits(), target.hits()), (1, 0));
}

#[tokio::test]
async fn only_permitted_address_of_a_name_is_tried() {
    let target = inside().await;
    let front = outside_at_the_port_of(&target).await;
    front.on("/", ScriptedResponse::ok("outside"));
    let dns = DnsTarget::start().await;
    dns.address_of("both.test", "127.0.0.1").address_of("both.test", "127.0.0.3");
    dns.address_of("both.test", "::1");
    let outcome = get(front.url_as("both.test", "/")).asking(&dns).behind(policy()).run().await;
    outcome.assert_success();
    assert_eq!(outcome.http().hops[0].address, Some(front.address()));
    assert_eq!(target.hits(), 0);
}

#[tokio::test]
async fn metadata_services_are_blocked_despite_private_networks() {
    // design: §6 "metadata addresses never are"
    let dns = DnsTarget::start().await;
    dns.address_of("metadata.test", "169.254.169.254");
    let open = || Egress::new(true, ["0.0.0.0/0".parse().unwrap(), "::/0".parse().unwrap()]);
    for host in ["169.254.169.254", "2852039166", "[fd00:ec2::254]", "metadata.test"] {
        let outcome = get(format!("http://{host}/")).asking(&dns).behind(open()).run().await;
        assert_eq!(outcome.failure_kind(), FailureKind::AddressRefused, "{host}");
    }
}

#[tokio::test]
async fn tcp_checks_obey_the_same_policy() {
    let target = TcpTarget::accepting().await;
    let port = target.address().port();
    for host in ["127.0.0.1", "[::ffff:127.0.0.1]", "localhost"] {
        let outcome = connect(format!("{host}:{port}")).behind(policy()).run().await;
        assert_eq!(outcome.failure_kind(), FailureKind::AddressRefused, "{host}");
        assert!(outcome.failure().detail.contains("--allow-private-networks"), "{host}");
    }
    assert_eq!(target.taken(), 0);
    let allowed = TcpTarget::accepting_at("127.0.0.2:0").await;
    let outcome = connect(allowed.address().to_string()).behind(policy()).run().await;
    assert_eq!(outcome.outcome(), Outcome::Success);
}
