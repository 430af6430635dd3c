//! Authorization of every contract method, in every protocol, with every kind of key.

use std::time::Duration;

use contract::rpc::{Code, methods};
use rules::{KeyId, Scope, person_role};
use serde_json::json;
use server::auth::key;
use testkit::server::{Caller, Reply, TestServer};

use crate::protocols::{
    KnownResources, RpcProtocol, framed, is_about_all, makes_a_resource, names_a_configuration,
};

const UNAUTHENTICATED: u32 = 16;
const PERMISSION_DENIED: u32 = 7;
const NOT_FOUND: u32 = 5;

/// Returns callers without a valid key, each with the expected error reason.
async fn refused(server: &TestServer) -> Vec<(&'static str, Caller)> {
    let unknown = key::compose(KeyId::from_bits(42), &[7; 32]);
    let whole = server.new_key(Scope::Write, None).await;
    let mut damaged = whole.key.expose().clone();
    damaged.pop();
    let expired = server.new_key(Scope::Write, Some(Duration::from_mins(1))).await;
    server.advance(Duration::from_mins(1));
    let revoked = server.new_key(Scope::Write, None).await;
    server.running().control().revoke_key(revoked.id).await.unwrap();
    vec![
        ("KEY_MISSING", server.nobody()),
        ("KEY_MISSING", server.with_key("")),
        ("KEY_UNKNOWN", server.with_key("hunter2")),
        ("KEY_UNKNOWN", server.with_key(&damaged)),
        ("KEY_UNKNOWN", server.with_key(unknown.expose())),
        ("KEY_EXPIRED", server.with_key(expired.key.expose())),
        ("KEY_REVOKED", server.with_key(revoked.key.expose())),
    ]
}

async fn legacy(server: &TestServer) -> Caller {
    let acme = server.running().app().store.workspaces().by_slug("acme").await.unwrap();
    let key =
        server.running().control().create_legacy_key(acme.id, "old".to_owned()).await.unwrap();
    server.with_key(key.key.expose())
}

#[tokio::test]
async fn every_method_requires_a_valid_key() {
    // spec: §5; design: §4, errors
    let server = TestServer::start().await;
    let refused = refused(&server).await;
    let mut calls = 0;
    for method in methods().iter().filter(|method| !is_open(&method.service)) {
        for protocol in RpcProtocol::ALL.into_iter().filter(|protocol| protocol.is_for(method)) {
            for (reason, caller) in &refused {
                let reply = protocol.call(caller, method, None).await;
                let at = format!("{} over {protocol:?} with {reason}: {reply}", method.path);
                assert_eq!(protocol.code(&reply), UNAUTHENTICATED, "{at}");
                assert!(reply.reason().is_none_or(|found| found == *reason), "{at}");
                assert!(reply.headers.contains_key("x-request-id"), "{at}");
                calls += 1;
            }
        }
    }
    assert!(calls > 300, "{calls} calls");
}

#[tokio::test]
async fn streams_do_not_pass_the_gate() {
    // design: §4: authentication runs before the protocols
    let server = TestServer::start().await;
    for method in methods().iter().filter(|method| !is_open(&method.service)) {
        let path = format!("/rpc{}", method.path);
        for codec in ["json", "proto"] {
            let kind = format!("application/connect+{codec}");
            let reply = server.nobody().send(http::Method::POST, &path, &kind, framed(b"")).await;
            // A stream reports its error in the last message.
            assert_eq!((reply.status.as_u16(), reply.body.first()), (200, Some(&2)), "{path}");
            let end = String::from_utf8_lossy(&reply.body[5..]).into_owned();
            assert!(end.contains(r#""code":"unauthenticated""#), "{path}: {end}");
        }
    }
}

#[tokio::test]
async fn read_key_may_call_only_reading_methods() {
    // spec: §5.5, §7 row 1
    let server = TestServer::start().await;
    let read = server.caller(Scope::Read);
    for method in methods().iter().filter(|method| !is_open(&method.service)) {
        for protocol in RpcProtocol::ALL.into_iter().filter(|protocol| protocol.is_for(method)) {
            let reply = protocol.call(&read, method, None).await;
            let is_denied = protocol.code(&reply) == PERMISSION_DENIED;
            assert_eq!(is_denied, !method.reads_only, "{} over {protocol:?}: {reply}", method.path);
        }
    }
}

#[tokio::test]
async fn write_keys_call_everything_except_for_people() {
    // spec: §5.5, §5.6
    let server = TestServer::start().await;
    for caller in [server.caller(Scope::Write), legacy(&server).await] {
        for method in methods().iter().filter(|method| !is_open(&method.service)) {
            for protocol in RpcProtocol::ALL.into_iter().filter(|protocol| protocol.is_for(method))
            {
                let code = protocol.code(&protocol.call(&caller, method, None).await);
                let is_refused = [UNAUTHENTICATED, PERMISSION_DENIED].contains(&code);
                let is_for_people = person_role(&method.path).is_some();
                assert_eq!(is_refused, is_for_people, "{} over {protocol:?}: {code}", method.path);
            }
        }
    }
}

#[tokio::test]
async fn other_workspaces_objects_are_never_found() {
    // design: §4, errors
    let server = TestServer::start().await;
    let known = KnownResources::made_by(&server.caller(Scope::Write)).await;
    let stranger = server.stranger();
    for method in methods().iter().filter(|method| !is_open(&method.service)) {
        let id = known.for_method(method);
        for protocol in RpcProtocol::ALL.into_iter().filter(|protocol| protocol.is_for(method)) {
            let reply = protocol.call(&stranger, method, Some(id)).await;
            let code = protocol.code(&reply);
            let at = format!("{} over {protocol:?}: {reply}", method.path);
            if person_role(&method.path).is_some() {
                assert_eq!(code, PERMISSION_DENIED, "{at}");
            } else if makes_a_resource(method) || names_a_configuration(method) {
                assert_eq!(code, Code::InvalidArgument.grpc_code(), "{at}");
            } else if is_about_all(method) {
                assert_eq!(code, 0, "{at}");
                assert!(!String::from_utf8_lossy(&reply.body).contains(id), "{at}");
            } else {
                assert_eq!(code, NOT_FOUND, "{at}");
            }
        }
    }
}

#[tokio::test]
async fn a_revocation_holds_for_the_next_call() {
    // issue 3: keys
    let server = TestServer::start().await;
    let key = server.new_key(Scope::Read, None).await;
    let caller = server.with_key(key.key.expose());
    assert_eq!(list(&caller).await.status, 200);
    server.running().control().revoke_key(key.id).await.unwrap();
    assert_eq!(list(&caller).await.status, 401);
}

#[tokio::test]
async fn external_key_revocation_takes_effect_within_a_second() {
    let server = TestServer::start().await;
    let key = server.new_key(Scope::Read, None).await;
    let caller = server.with_key(key.key.expose());
    assert_eq!(list(&caller).await.status, 200);
    // Write to the store directly, as another process does.
    let store = &server.running().app().store;
    let acme = store.workspaces().by_slug("acme").await.unwrap().id;
    let change = store::AuditContext::new(store::Actor::CommandLine, testkit::server::START);
    store.keys().revoke(acme, key.id, change).await.unwrap();
    server.advance(Duration::from_secs(1));
    assert_eq!(list(&caller).await.status, 401);
}

#[tokio::test]
async fn cached_key_expires_on_time() {
    let server = TestServer::start().await;
    let key = server.new_key(Scope::Read, Some(Duration::from_secs(1))).await;
    let caller = server.with_key(key.key.expose());
    server.advance(Duration::from_millis(999));
    assert_eq!(list(&caller).await.status, 200);
    server.advance(Duration::from_millis(1));
    let reply = list(&caller).await;
    assert_eq!((reply.status.as_u16(), reply.reason().as_deref()), (401, Some("KEY_EXPIRED")));
}

#[tokio::test]
async fn last_key_use_is_stored() {
    let server = TestServer::start().await;
    server.advance(Duration::from_secs(5));
    assert_eq!(list(&server.caller(Scope::Read)).await.status, 200);
    server.running().app().auth.save_last_uses().await.unwrap();
    let keys = server.running().control().list_keys(Some("acme")).await.unwrap();
    let used = keys.iter().find(|key| key.id == server.key_id(Scope::Read)).unwrap();
    assert_eq!(used.last_used_at, Some(testkit::server::START + Duration::from_secs(5)));
    let unused = keys.iter().find(|key| key.id == server.key_id(Scope::Write)).unwrap();
    assert_eq!(unused.last_used_at, None);
}

// issue 18, point 2: "A key never creates a key"
#[tokio::test]
async fn keys_never_create_keys() {
    let server = TestServer::start().await;
    let callers = [server.caller(Scope::Read), server.caller(Scope::Write), legacy(&server).await];
    let of_keys = methods().iter().filter(|method| method.service.starts_with("api_key."));
    let of_keys: Vec<&str> = of_keys.map(|method| method.name.as_str()).collect();
    assert_eq!(of_keys, ["ListApiKeys", "RevokeApiKey"]);
    let store = &server.running().app().store;
    let before = store.keys().active_ids().await.unwrap();
    let wanted = json!({ "name": "mine", "scope": "write" });
    let requests =
        [json!({}), wanted.clone(), json!({ "apiKey": wanted }), json!({ "key": wanted })];
    for caller in &callers {
        for method in methods().iter().filter(|method| !is_open(&method.service)) {
            for request in &requests {
                let reply = caller.call(&method.service, &method.name, request.clone()).await;
                assert!(!has_key(&reply), "{} returns a key: {reply}", method.path);
            }
        }
    }
    let writer = &callers[1];
    for path in ::server::paths().map(|path| in_workspace(&path)) {
        for method in [http::Method::POST, http::Method::PUT, http::Method::PATCH] {
            for (kind, body) in [
                ("application/json", wanted.to_string()),
                ("application/x-www-form-urlencoded", "name=mine&scope=write&days=0".to_owned()),
            ] {
                let reply = writer.send(method.clone(), &path, kind, body).await;
                assert!(!has_key(&reply), "{method} {path} returns a key: {reply}");
            }
        }
    }
    assert_eq!(store.keys().active_ids().await.unwrap(), before);
}

/// Returns whether a response has a whole key.
fn has_key(reply: &Reply) -> bool {
    let text = String::from_utf8_lossy(&reply.body);
    let mut words = text.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_');
    words.any(|word| key::read(word.as_bytes()).is_some())
}

/// Returns a path of the workspace `acme`, with other parameters replaced.
fn in_workspace(path: &str) -> String {
    let value = |part: &str| match part {
        "{workspace}" => "acme".to_owned(),
        part if part.starts_with('{') => "none".to_owned(),
        part => part.to_owned(),
    };
    path.split('/').map(value).collect::<Vec<_>>().join("/")
}

/// Returns whether a service needs no key.
fn is_open(service: &str) -> bool {
    service.starts_with("grpc.")
}

async fn list(caller: &Caller) -> Reply {
    caller.rpc("ListMonitors", json!({})).await
}
