//! Decides which limits count for a request: those of callers with a key, of people who signed in, or
//! of everybody else. `connection` counts.

use axum::body::HttpBody as _;
use axum::extract::Request;
use axum::response::Response;
use contract::rpc;
use http::{HeaderValue, Version, header};

use super::Protocol;
use super::paths::{is_for_keys, is_public_stream};
use crate::auth;
use crate::connection::{Connection, Open, RequestKind, Unverified};

/// Admission of a request.
#[derive(Debug)]
pub(super) enum Admission {
    /// No limit applies: it calls a method that needs a key on a connection that has shown one, or it
    /// has no connection.
    Exempt,
    WithoutKey(Open),
    /// Its key is not verified yet.
    Unverified(#[expect(dead_code, reason = "the request counts until it is dropped")] Unverified),
}

/// Rejection of a request without a key, because there are too many.
#[derive(Clone, Copy, Debug)]
pub(super) struct RequestLimitReached;

/// Counts a request until the result is dropped, unless it calls a method that needs a key, on a
/// connection that has shown a valid one. Fails if there are too many, or if its connection is one of
/// those reserved for callers with a key and for people who signed in.
pub(super) fn admit(
    connection: Option<&Connection>,
    request: &Request,
    is_person: bool,
) -> Result<Admission, RequestLimitReached> {
    let Some(connection) = connection else { return Ok(Admission::Exempt) };
    let path = request.uri().path();
    let client = connection.client(request.headers());
    let has_key = !connection.is_without_key();
    if is_for_keys(path) {
        if has_key {
            return Ok(Admission::Exempt);
        }
        if connection.may_show_key() && auth::has_well_formed_key(request.headers()) {
            return connection.verify().map(Admission::Unverified).ok_or(RequestLimitReached);
        }
    }
    // A key lifts no limits of pages, documentation and metrics, which need none.
    let kind = kind(request);
    // Another client of a proxy may have shown the key.
    let is_stream_with_key = has_key && kind == RequestKind::Stream && !connection.is_of_proxy();
    let kind = if is_stream_with_key { RequestKind::StreamWithKey } else { kind };
    if is_for_load_balancers(path)
        && kind == RequestKind::WithoutBody
        && let Some(open) = connection.open(RequestKind::Alone, client)
    {
        return Ok(Admission::WithoutKey(open));
    }
    if is_person && let Some(open) = connection.open(RequestKind::WithSession, client) {
        return Ok(Admission::WithoutKey(open));
    }
    if connection.is_on_probation() && !is_about_health(path) {
        return Err(RequestLimitReached);
    }
    connection.open(kind, client).map(Admission::WithoutKey).ok_or(RequestLimitReached)
}

/// Returns the kind of a request for the limits of callers without a key.
fn kind(request: &Request) -> RequestKind {
    if is_public_stream(request.uri().path()) {
        RequestKind::Stream
    } else if request.body().is_end_stream() {
        RequestKind::WithoutBody
    } else {
        RequestKind::WithBody
    }
}

/// Returns whether the path is for load balancers. One of these requests at a time is answered on a
/// connection even under overload.
fn is_for_load_balancers(path: &str) -> bool {
    matches!(path, "/readyz" | "/healthz")
}

/// Returns whether the path is for load balancers and operators. A connection on probation may use
/// it, but unread pages of metrics count as requests.
fn is_about_health(path: &str) -> bool {
    is_for_load_balancers(path) || path == "/metrics"
}

/// Rejects a request that needs no verified key, because there are too many.
pub(super) fn too_many_requests(request: &Request) -> Response {
    let why = "too many requests without a verified key are in progress; retry later";
    let mut response =
        Protocol::from_path(request.uri().path()).refuse(rpc::deferred(why), request);
    if request.version() < Version::HTTP_2 {
        response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
    }
    response
}

#[cfg(test)]
mod tests {
    use axum::body::Body;
    use ipnet::IpNet;
    use rules::limits;
    use web::proxies::TrustedProxies;

    use super::*;
    use crate::connection::{AdmitResult, ConnectionLimits, Served};

    // issue 16, point 1: "limit connections and streams per address and per network"
    #[test]
    fn forwarded_requests_count_for_their_client() {
        let proxy = "10.0.0.1".parse().unwrap();
        let limits = ConnectionLimits::new(4, TrustedProxies::new(&[IpNet::from(proxy)]));
        let AdmitResult::Admitted(permit) = limits.admit(proxy) else {
            panic!("the listener has a permit")
        };
        let connection = permit.connection();
        connection.set_has_key();
        let admit_for = |client: &str, path: &str| {
            let request = Request::get(path).header("x-forwarded-for", client);
            admit(Some(connection), &request.body(Body::empty()).unwrap(), false)
        };
        for (path, of_address) in [
            ("/status/acme", limits::WITHOUT_KEY_OF_ADDRESS_MAX),
            ("/grpc.health.v1.Health/Watch", limits::WITHOUT_KEY_STREAMS_OF_ADDRESS_MAX),
        ] {
            let greedy: Vec<Admission> =
                (0..of_address).map(|_| admit_for("2001:db8::7", path).unwrap()).collect();
            assert!(admit_for("2001:db8::8", path).is_err(), "{path}: the same /64");
            assert!(admit_for("203.0.113.9", path).is_ok(), "{path}");
            drop(greedy);
            assert!(admit_for("2001:db8::7", path).is_ok(), "{path}");
        }
    }

    // issue 16, point 1: capacity is reserved for callers with a key
    #[test]
    fn signed_in_person_gets_a_reserved_connection() {
        let limits = ConnectionLimits::new(4, TrustedProxies::default());
        let permits = ["192.0.2.1", "192.0.2.2", "192.0.2.3", "192.0.2.4"].map(|peer| {
            let AdmitResult::Admitted(permit) = limits.admit(peer.parse().unwrap()) else {
                panic!("the listener has a permit")
            };
            let served: Served = permit.connection().serve();
            (permit, served)
        });
        let newcomer = permits[3].0.connection();
        assert!(newcomer.is_on_probation());
        let get = |path: &str| Request::get(path).body(Body::empty()).unwrap();
        assert!(admit(Some(newcomer), &get("/account"), false).is_err());
        assert!(admit(Some(newcomer), &get("/account"), true).is_ok());
        assert!(admit(Some(newcomer), &get("/readyz"), false).is_ok());
    }
}
