//! Redirects: limits, and what is sent to the next hop.

use domain::check::{FailureKind, Outcome};
use rules::Method;
use testkit::target::{DnsTarget, HttpTarget, ScriptedResponse};

use crate::checking::get;

#[tokio::test]
async fn redirects_are_separate_hops() {
    let target = HttpTarget::start().await;
    target
        .on("/a", ScriptedResponse::redirect(301, "/b"))
        .on("/b", ScriptedResponse::redirect(307, target.url("/c")));
    target.on("/c", ScriptedResponse::ok("here"));
    let outcome = get(target.url("/a")).run().await;
    outcome.assert_success();
    let hops: Vec<_> = outcome
        .http()
        .hops
        .iter()
        .map(|hop| {
            assert!(hop.phases.connect_us.is_some() && hop.phases.first_byte_us.is_some());
            format!("{} {:?}", hop.url.path(), hop.status)
        })
        .collect();
    assert_eq!(hops, ["/a Some(301)", "/b Some(307)", "/c Some(200)"]);
    assert_eq!(outcome.http().body.bytes, "here");
}

#[tokio::test]
async fn eleventh_redirect_fails() {
    // design: §5 "up to 10, then a failure that says so"
    let target = HttpTarget::start().await;
    for n in 0..11 {
        target.on(&format!("/{n}"), ScriptedResponse::redirect(302, format!("/{}", n + 1)));
    }
    target.on("/11", ScriptedResponse::ok(""));
    get(target.url("/1")).run().await.assert_success();
    let outcome = get(target.url("/0")).run().await;
    assert_eq!(outcome.failure_kind(), FailureKind::RedirectsExhausted);
    assert_eq!(outcome.http().hops.len(), 11);
    insta::assert_snapshot!(outcome.failure().detail, @"more than 10 redirects");
}

#[tokio::test]
async fn redirect_loop_fails() {
    let target = HttpTarget::start().await;
    target.on("/", ScriptedResponse::redirect(302, "/"));
    let outcome = get(target.url("/")).run().await;
    assert_eq!(outcome.failure_kind(), FailureKind::RedirectsExhausted);
    assert_eq!(target.hits(), 11);
}

#[tokio::test]
async fn disabled_redirect_is_the_final_response() {
    let target = HttpTarget::start().await;
    target.on("/", ScriptedResponse::redirect(302, "/elsewhere"));
    let outcome = get(target.url("/")).http(|http| http.follow_redirects = false).run().await;
    assert_eq!((outcome.outcome(), target.hits()), (Outcome::Failure, 1));
    assert_eq!(outcome.http().hops[0].status, Some(302));
}

#[tokio::test]
async fn redirect_status_decides_method_and_body() {
    // design: §5 "301 and 302 turn POST into GET, 303 anything but HEAD into GET, 307 and 308 keep"
    let cases = [
        (301, Method::Post, "GET "),
        (302, Method::Post, "GET "),
        (302, Method::Put, "PUT payload"),
        (303, Method::Put, "GET "),
        (303, Method::Head, "HEAD "),
        (307, Method::Post, "POST payload"),
        (308, Method::Patch, "PATCH payload"),
    ];
    for (status, method, arrives) in cases {
        let target = HttpTarget::start().await;
        target
            .on("/", ScriptedResponse::redirect(status, "/next"))
            .on("/next", ScriptedResponse::ok(""));
        get(target.url("/")).method(method, "payload").run().await.assert_success();
        let second = &target.received()[1];
        assert_eq!(format!("{} {}", second.method, second.body), arrives, "{status} {method:?}");
    }
}

#[tokio::test]
async fn configured_headers_are_not_sent_elsewhere() {
    // design: §5 "a hop to another host … drops configured headers"
    let dns = DnsTarget::start().await;
    dns.address_of("one.test", "127.0.0.1").address_of("two.test", "127.0.0.1");
    let target = HttpTarget::start().await;
    target.on("/", ScriptedResponse::redirect(302, "/same"));
    target.on("/same", ScriptedResponse::redirect(302, target.url_as("two.test", "/other")));
    target.on("/other", ScriptedResponse::ok(""));
    get(target.url_as("one.test", "/"))
        .asking(&dns)
        .header("Authorization", "Bearer secret")
        .header("Host", "front.test")
        .run()
        .await
        .assert_success();
    let hosts: Vec<_> = target
        .received()
        .iter()
        .map(|r| (r.header("authorization").is_some(), r.header("host").unwrap().to_owned()))
        .collect();
    let port = target.address().port();
    let front = "front.test".to_owned();
    assert_eq!(hosts, [(true, front.clone()), (true, front), (false, format!("two.test:{port}"))]);
}

#[tokio::test]
async fn invalid_redirect_fails() {
    let target = HttpTarget::start().await;
    for location in ["ftp://files.test/", "http://", "file:///etc/passwd", "http://a b/"] {
        target.on("/", ScriptedResponse::redirect(302, location));
        let outcome = get(target.url("/")).run().await;
        assert_eq!(outcome.failure_kind(), FailureKind::RedirectInvalid, "{location}");
    }
}
