//! The request of the first hop.

use proptest::prelude::*;
use rules::monitor::TextAssertion;
use rules::{Method, TextComparator};

use super::{a_check, header, lines, plan};
use crate::check::http::HttpPlan;

#[test]
fn default_headers_are_sent_unless_configured() {
    let plain = plan(&a_check("http://example.com/")).request();
    insta::assert_snapshot!(
        lines(&plain.headers).replace(env!("CARGO_PKG_VERSION"), "<version>"), @r#"
user-agent: Aloft/<version> (+uptime check)
accept: */*
accept-encoding: gzip, deflate, br
"#);
    let mut check = a_check("http://example.com/");
    check.headers = vec![
        header("User-Agent", "mine"),
        header("Accept", "text/html"),
        header("accept-encoding", "identity"),
    ];
    insta::assert_snapshot!(lines(&plan(&check).request().headers), @r#"
user-agent: mine
accept: text/html
accept-encoding: identity
"#);
}

#[test]
fn repeated_headers_keep_their_order() {
    let mut check = a_check("http://example.com/");
    check.headers = vec![header("X-A", "1"), header("x-b", ""), header("x-a", " 2\t")];
    let request = plan(&check).request();
    let values: Vec<_> = request.headers.get_all("x-a").iter().collect();
    assert_eq!(values, ["1", "2"]);
    assert_eq!(request.headers["x-b"], "");
}

// design: §5 "`Host` sets the authority, not the TLS name"
#[test]
fn host_header_becomes_the_authority() {
    for (value, authority) in [
        ("other.example:8080", Some("other.example:8080")),
        ("[2001:db8::1]:80", Some("[2001:db8::1]:80")),
        ("127.0.0.1", Some("127.0.0.1")),
        ("", None),
        ("  ", None),
    ] {
        let mut check = a_check("https://example.com/");
        check.headers = vec![header("HOST", value)];
        let request = plan(&check).request();
        assert_eq!(request.authority.as_ref().map(|value| value.to_str().unwrap()), authority);
        assert!(!request.headers.contains_key("host"));
        assert_eq!(request.url.host_str(), Some("example.com"));
    }
}

// design: §5 "Credentials in the URL become Basic authorisation unless that header is configured"
#[test]
fn url_credentials_become_basic_authorization() {
    for (url, configured, expected) in [
        ("http://user:pass@example.com/", None, Some("Basic dXNlcjpwYXNz")),
        ("http://us%40er:p%3Ass@example.com/", None, Some("Basic dXNAZXI6cDpzcw==")),
        ("http://user@example.com/", None, Some("Basic dXNlcjo=")),
        ("http://:pass@example.com/", None, Some("Basic OnBhc3M=")),
        ("http://user:pass@example.com/", Some("Bearer x"), Some("Bearer x")),
        ("http://example.com/", None, None),
    ] {
        let mut check = a_check(url);
        check.headers =
            configured.map(|value| header("AUTHORIZATION", value)).into_iter().collect();
        let plan = plan(&check);
        let value = plan.headers.get("authorization").map(|value| value.to_str().unwrap());
        assert_eq!(value, expected, "{url}");
        assert_eq!(plan.url.as_str(), "http://example.com/");
        assert!(!format!("{plan:?}").contains("dXNl"), "Debug shows a credential");
    }
}

// design: §5 "`body` is sent for POST, PUT and PATCH"
#[test]
fn body_is_sent_for_post_put_patch() {
    for method in Method::ALL {
        let mut check = a_check("http://example.com/");
        (check.method, check.body) = (*method, "hello".to_owned());
        let request = plan(&check).request();
        let sent = matches!(method, Method::Post | Method::Put | Method::Patch);
        assert_eq!(request.method.as_str(), method.as_str());
        assert_eq!(request.body.is_empty(), !sent, "{method}");
        assert_eq!(request.headers.contains_key("content-type"), sent, "{method}");
    }
}

#[test]
fn content_type_is_detected_unless_configured() {
    for (body, configured, expected) in [
        (r#" {"a": [1]}"#, None, Some("application/json")),
        ("[]", None, Some("application/json")),
        ("{", None, Some("text/plain; charset=utf-8")),
        ("42", None, Some("text/plain; charset=utf-8")),
        (" ", None, Some("text/plain; charset=utf-8")),
        (
            "a=b",
            Some("application/x-www-form-urlencoded"),
            Some("application/x-www-form-urlencoded"),
        ),
        ("", None, None),
        ("", Some("text/css"), Some("text/css")),
    ] {
        let mut check = a_check("http://example.com/");
        (check.method, check.body) = (Method::Post, body.to_owned());
        check.headers = configured.map(|value| header("Content-Type", value)).into_iter().collect();
        let request = plan(&check).request();
        let sent = request.headers.get("content-type").map(|value| value.to_str().unwrap());
        assert_eq!(sent, expected, "{body}");
    }
}

// design: §5 "International names are stored as written and looked up as A-labels"
#[test]
fn url_is_normalized_for_the_request() {
    for (written, url) in [
        (
            "https://münchen.example/straße?q=ä#top",
            "https://xn--mnchen-3ya.example/stra%C3%9Fe?q=%C3%A4",
        ),
        ("HTTP://EXAMPLE.com:80", "http://example.com/"),
        ("http://0x7f.1/", "http://127.0.0.1/"),
        ("http://[::1]:65535/", "http://[::1]:65535/"),
    ] {
        assert_eq!(plan(&a_check(written)).url.as_str(), url);
    }
    for wrong in
        ["", "example.com", "ftp://example.com/", "http://", "http://a:0/", "http://a:65536/"]
    {
        assert!(HttpPlan::new(&a_check(wrong)).is_err(), "{wrong}");
    }
}

// design: §5 "up to 1 MiB decoded", "the first 4 KiB of the body"
#[test]
fn kept_body_length_follows_assertions() {
    let mut check = a_check("http://example.com/");
    assert_eq!(plan(&check).body_kept, 4_096);
    for (comparator, target, kept) in [
        (TextComparator::Contains, "x".repeat(2_000), 4_096),
        (TextComparator::Empty, String::new(), 4_096),
        (TextComparator::Eq, "x".repeat(2_000), 8_016),
        (TextComparator::Matches, "x".to_owned(), 1_048_576),
    ] {
        check.body_assertions = vec![TextAssertion { target, comparator }];
        let plan = plan(&check);
        assert_eq!((plan.body_kept, plan.body_read), (kept, 1_048_576), "{comparator}");
    }
}

proptest! {
    #[test]
    fn planning_any_settings_never_panics(
        url in "(https?://)?.{0,30}", key: String, value: String, body: String,
    ) {
        let mut check = a_check(&url);
        (check.method, check.body) = (Method::Patch, body);
        check.headers = vec![header(&key, &value), header("host", &value)];
        if let Ok(plan) = HttpPlan::new(&check) {
            prop_assert!(plan.url.username().is_empty() && plan.url.password().is_none());
            prop_assert!(plan.request().url.has_host());
        }
    }
}
