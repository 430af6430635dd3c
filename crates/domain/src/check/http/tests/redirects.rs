//! Targets of redirects.

use ::http::{HeaderValue, StatusCode};
use proptest::prelude::*;
use rules::monitor::HttpCheck;
use rules::{IpVersion, Method};

use super::{a_check, header, lines, plan};
use crate::check::FailureKind;
use crate::check::http::{Redirect, Request, redirect};

/// Returns a `POST` with a body and headers of all sorts.
fn a_post(url: &str) -> HttpCheck {
    let mut check = a_check(url);
    (check.method, check.body) = (Method::Post, "{}".to_owned());
    check.headers = vec![
        header("authorization", "Bearer secret"),
        header("content-type", "application/vnd.api+json"),
        header("content-language", "de"),
        header("user-agent", "mine"),
        header("host", "virtual.example"),
    ];
    check
}

fn answer(check: &HttpCheck, status: u16, location: Option<&str>) -> Redirect {
    let plan = plan(check);
    let location = location.map(|location| HeaderValue::from_bytes(location.as_bytes()).unwrap());
    let status = StatusCode::from_u16(status).unwrap();
    redirect(&plan, &plan.request(), status, location.as_ref())
}

// decision 0083
#[test]
fn redirect_requires_ipv6_by_version_only() {
    for (url, ip_version, first, redirected) in [
        ("http://a.example/", IpVersion::Any, false, false),
        ("http://a.example/", IpVersion::V6, true, true),
        ("http://192.0.2.1/", IpVersion::Any, false, false),
        ("http://[2001:db8::1]/", IpVersion::Any, true, false),
        ("http://[2001:db8::1]/", IpVersion::V6, true, true),
    ] {
        let mut check = a_check(url);
        check.ip_version = ip_version;
        let plan = plan(&check);
        let required = (plan.requires_ipv6(true), plan.requires_ipv6(false));
        assert_eq!(required, (first, redirected), "{url} {ip_version}");
    }
}

fn followed(check: &HttpCheck, status: u16, location: &str) -> Request {
    match answer(check, status, Some(location)) {
        Redirect::Follow(request) => *request,
        other @ (Redirect::Final | Redirect::Failed(_)) => {
            panic!("{status} to {location}: {other:?}")
        }
    }
}

// design: §5 "301 and 302 turn POST into GET, 303 anything but HEAD into GET, 307 and 308 keep"
#[test]
fn redirect_status_decides_method_and_body() {
    for (method, expected) in [
        (Method::Post, ["GET", "GET", "GET", "POST", "POST"]),
        (Method::Put, ["PUT", "PUT", "GET", "PUT", "PUT"]),
        (Method::Patch, ["PATCH", "PATCH", "GET", "PATCH", "PATCH"]),
        (Method::Delete, ["DELETE", "DELETE", "GET", "DELETE", "DELETE"]),
        (Method::Options, ["OPTIONS", "OPTIONS", "GET", "OPTIONS", "OPTIONS"]),
        (Method::Get, ["GET"; 5]),
        (Method::Head, ["HEAD"; 5]),
    ] {
        for (status, expected) in [301, 302, 303, 307, 308].into_iter().zip(expected) {
            let mut check = a_post("http://example.com/");
            check.method = method;
            let next = followed(&check, status, "/next");
            assert_eq!(next.method, expected, "{status} of {method}");
            let has_body = matches!(expected, "POST" | "PUT" | "PATCH");
            assert_eq!(next.body.is_empty(), !has_body, "{status} of {method}");
        }
    }
}

#[test]
fn dropped_body_drops_its_headers() {
    let check = a_post("http://example.com/");
    insta::assert_snapshot!(lines(&followed(&check, 302, "/next").headers), @r#"
authorization: Bearer secret
user-agent: mine
accept: */*
accept-encoding: gzip, deflate, br
"#);
    let kept = followed(&check, 307, "/next");
    assert_eq!(kept.headers["content-type"], "application/vnd.api+json");
    assert_eq!(kept.headers["content-language"], "de");
}

// design: §5 "a hop to another host or from https to http drops configured headers"
#[test]
fn configured_headers_stay_on_their_host() {
    for (from, location, kept) in [
        ("http://example.com/", "/next", true),
        ("http://example.com/", "https://EXAMPLE.com/next", true),
        ("http://example.com/", "http://example.com:8080/", true),
        ("https://example.com/", "//example.com/next", true),
        ("https://example.com/", "http://example.com/", false),
        ("http://example.com/", "http://www.example.com/", false),
        ("http://example.com/", "//other.example/", false),
        ("http://127.0.0.1/", "http://127.0.0.2/", false),
    ] {
        let next = followed(&a_post(from), 308, location);
        assert_eq!(next.headers.contains_key("authorization"), kept, "{from} to {location}");
        assert_eq!(next.authority.is_some(), kept, "{from} to {location}");
        assert_eq!(next.headers["user-agent"] == "mine", kept, "{from} to {location}");
        // The body is sent along, with the type that we detect.
        assert_eq!(&*next.body, b"{}");
        assert_eq!(next.headers["content-type"] == "application/json", !kept);
    }
}

#[test]
fn basic_authorization_is_dropped_on_other_hosts() {
    let check = a_check("http://user:pass@example.com/");
    let plan = plan(&check);
    let away = followed(&check, 302, "http://other.example/");
    assert!(!away.headers.contains_key("authorization"));
    let home = HeaderValue::from_static("http://example.com/");
    let Redirect::Follow(back) = redirect(&plan, &away, StatusCode::FOUND, Some(&home)) else {
        panic!("the redirect is followed");
    };
    assert!(!back.headers.contains_key("authorization"));
    assert_eq!(back.redirects, 2);
}

#[test]
fn location_is_resolved_against_its_url() {
    for (location, expected) in [
        ("next", "http://example.com/a/next"),
        (" /next ", "http://example.com/next"),
        ("?q=1", "http://example.com/a/b?q=1"),
        ("//other.example", "http://other.example/"),
        ("https://bücher.example/#top", "https://xn--bcher-kva.example/"),
        ("http://user:pass@example.com/", "http://example.com/"),
        ("/grün", "http://example.com/gr%C3%BCn"),
    ] {
        let next = followed(&a_check("http://example.com/a/b"), 301, location);
        assert_eq!(next.url.as_str(), expected, "{location}");
    }
}

#[test]
fn invalid_location_fails_without_revealing_credentials() {
    let cases =
        ["ftp://user:pass@example.com/", "http://user:pass@[::", "http://:0/", "http://a:0/"];
    let details = cases.map(|location| match answer(&a_check("http://a/"), 302, Some(location)) {
        Redirect::Failed(failure) => {
            assert_eq!(failure.kind, FailureKind::RedirectInvalid);
            failure.detail
        }
        other @ (Redirect::Final | Redirect::Follow(_)) => panic!("{location}: {other:?}"),
    });
    insta::assert_snapshot!(details.join("\n"), @r#"
redirects to `ftp://example.com/`, which is not an http or https URL
redirects to `…@[::`, which is not a valid URL
redirects to `http://:0/`, which is not a valid URL
redirects to `http://a:0/`, which has port 0
"#);
}

#[test]
fn non_redirect_is_the_final_response() {
    let check = a_check("http://example.com/");
    let mut stays = a_check("http://example.com/");
    stays.follow_redirects = false;
    for (check, status, location) in [
        (&check, 200, Some("/next")),
        (&check, 201, Some("/next")),
        (&check, 300, Some("/next")),
        (&check, 304, Some("/next")),
        (&check, 305, Some("/next")),
        (&check, 301, None),
        (&check, 302, Some("")),
        (&check, 302, Some("  ")),
        (&stays, 301, Some("/next")),
    ] {
        let answer = answer(check, status, location);
        assert!(matches!(answer, Redirect::Final), "{status} {location:?}: {answer:?}");
    }
}

// design: §5 "up to 10, then a failure that says so"
#[test]
fn eleventh_redirect_fails() {
    let plan = plan(&a_check("http://example.com/"));
    let location = HeaderValue::from_static("/");
    let mut request = plan.request();
    for followed in 1..=10 {
        match redirect(&plan, &request, StatusCode::FOUND, Some(&location)) {
            Redirect::Follow(next) => request = *next,
            other @ (Redirect::Final | Redirect::Failed(_)) => {
                panic!("redirect {followed}: {other:?}")
            }
        }
        assert_eq!(request.redirects, followed);
    }
    match redirect(&plan, &request, StatusCode::FOUND, Some(&location)) {
        Redirect::Failed(failure) => {
            assert_eq!(failure.kind, FailureKind::RedirectsExhausted);
            assert_eq!(failure.detail, "more than 10 redirects");
        }
        other @ (Redirect::Final | Redirect::Follow(_)) => panic!("{other:?}"),
    }
    assert!(matches!(redirect(&plan, &request, StatusCode::OK, None), Redirect::Final));
}

proptest! {
    #[test]
    fn any_location_is_handled_without_credentials(
        location: Vec<u8>, url in "(https?:)?//.{0,30}", status in 300_u16..400,
    ) {
        let plan = plan(&a_post("https://example.com/"));
        for location in [&*location, url.as_bytes()] {
            let Ok(location) = HeaderValue::from_bytes(location) else { continue };
            let status = StatusCode::from_u16(status).unwrap();
            let answer = redirect(&plan, &plan.request(), status, Some(&location));
            if let Redirect::Follow(next) = answer {
                prop_assert!(next.url.username().is_empty() && next.url.password().is_none());
                let safe = next.url.scheme() == "https" && next.url.host_str() == Some("example.com");
                prop_assert_eq!(next.headers.contains_key("authorization"), safe);
            }
        }
    }
}
