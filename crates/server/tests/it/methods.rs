//! Wrong methods: every route answers them with 405, and `Allow` names exactly those that it has
//! (RFC 9110 §15.5.6).

use std::collections::BTreeMap;

use axum::body::Body;
use http::{Method, Request};
use rules::{Scope, person_role};
use testkit::server::{Caller, TestServer};
use tokio_util::sync::CancellationToken;
use tower::ServiceExt as _;

const METHODS: [Method; 7] = [
    Method::GET,
    Method::HEAD,
    Method::POST,
    Method::PUT,
    Method::PATCH,
    Method::DELETE,
    Method::OPTIONS,
];
/// Prefix of the paths that answer 404 to every method.
const UNKNOWN: [&str; 3] = ["/v1", "/v1/", "/v1/none"];

/// Status and `Allow` of each method.
type Answers = BTreeMap<String, (u16, Option<String>)>;

/// Replaces the parameters of a path, `{…}`, by a value.
fn with_values(path: &str) -> String {
    let value = |segment: &str| if segment.starts_with('{') { "none" } else { segment }.to_owned();
    path.split('/').map(value).collect::<Vec<_>>().join("/")
}

async fn answers(caller: &Caller, path: &str) -> Answers {
    let mut answers = Answers::new();
    for method in METHODS {
        let named = method.to_string();
        let reply = caller.send(method, path, "application/json", "").await;
        let allow = reply.headers.get("allow").map(|it| it.to_str().unwrap().to_owned());
        answers.insert(named, (reply.status.as_u16(), allow));
    }
    answers
}

/// Checks that exactly the methods that `Allow` lacks are answered with 405.
fn check(path: &str, answers: &Answers) {
    let (status, allow) = &answers["PATCH"];
    assert_eq!(*status, 405, "{path}: {answers:?}");
    let allow = allow.as_deref().unwrap_or_default();
    let allowed: Vec<&str> = allow.split(',').map(str::trim).collect();
    for (method, (status, own)) in answers {
        assert_eq!(
            *status != 405,
            allowed.contains(&method.as_str()),
            "{method} {path}: {answers:?}"
        );
        assert!(*status != 405 || own.as_deref() == Some(allow), "{method} {path}: {answers:?}");
    }
}

// issue 16, point 16: "`Allow` on every 405"
#[tokio::test]
async fn wrong_method_of_a_route_gets_allow() {
    let server = TestServer::start().await;
    let caller = server.caller(Scope::Write);
    let mut routes: Vec<String> = ::server::paths().map(|path| with_values(&path)).collect();
    routes.sort_unstable();
    routes.dedup();
    for path in routes {
        let answers = answers(&caller, &path).await;
        if UNKNOWN.contains(&path.as_str()) {
            assert!(answers.values().all(|it| it.0 == 404), "{path}: {answers:?}");
        } else {
            check(&path, &answers);
        }
    }
}

#[tokio::test]
async fn wrong_method_without_a_session_is_405() {
    let server = TestServer::start().await;
    for path in ["/login", "/account", "/w/acme/monitors", "/docs", "/status/none"] {
        check(path, &answers(&server.nobody(), path).await);
    }
}

#[tokio::test]
async fn wrong_method_of_a_call_gets_allow() {
    let server = TestServer::start().await;
    let caller = server.caller(Scope::Write);
    // Keys get 403 from methods for people, whatever they send.
    let keyed = contract::rpc::methods().iter().filter(|it| person_role(&it.path).is_none());
    let paths =
        keyed.flat_map(|it| ["", "/rpc"].map(|prefix| (format!("{prefix}{}", it.path), it)));
    let wrong = [Method::PUT, Method::PATCH, Method::DELETE];
    for ((path, method), wrong) in paths.zip(wrong.iter().cycle()) {
        let reply = caller.send(wrong.clone(), &path, "application/json", "{}").await;
        let allow = if method.reads_only { "GET, POST" } else { "POST" };
        assert_eq!(reply.status, 405, "{wrong} {path}: {reply}");
        assert_eq!(reply.headers["allow"], allow, "{wrong} {path}");
    }
}

#[tokio::test]
async fn wrong_method_on_page_domain_gets_allow() {
    let server = TestServer::start().await;
    let stop = CancellationToken::new();
    let router = server.running().app().page_router("status.acme.example", stop);
    for path in pages::page_paths() {
        let path = with_values(if path.is_empty() { "/" } else { path });
        let request = Request::patch(&path).body(Body::empty()).unwrap();
        let response = router.clone().oneshot(request).await.unwrap();
        assert_eq!(response.status(), 405, "{path}");
        assert!(response.headers().contains_key("allow"), "{path}");
    }
}
