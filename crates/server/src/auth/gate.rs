//! Authentication layer in front of the protocols, so that neither streams nor GET bypass it.
//! Errors are sent in the caller's protocol; accepted requests carry a [`Caller`].

use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;

use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::Response;
use contract::rpc;
use http::HeaderValue;
use http::header::CACHE_CONTROL;

use super::{Auth, AuthenticatedCaller, has_well_formed_key};
use crate::connection::Connection;
use crate::edge::{Intake, Protocol};
use crate::observe::metrics::Metrics;

/// Remote address of a connection; the listener adds it to the requests.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Peer(pub(crate) IpAddr);

/// Dependencies of the layer: the authenticator, and the metrics of rejections.
#[derive(Clone, Debug)]
pub(crate) struct AuthLayer {
    pub(crate) auth: Arc<Auth>,
    pub(crate) metrics: Metrics,
}

impl AuthLayer {
    /// Authenticates RPC requests. Health and reflection need no key; a read key may call only
    /// methods without side effects (spec §5.5).
    ///
    /// Only callers with a key learn that a method is unknown.
    pub(crate) async fn before_rpc(
        State(gate): State<Self>,
        request: Request,
        next: Next,
    ) -> Response {
        let path = request.uri().path();
        let path = path.strip_prefix("/rpc").unwrap_or(path);
        if is_public(path) {
            return next.run(request).await;
        }
        if !looks_like_a_method(path) {
            let error = rpc::unknown_method(request.uri().path());
            return Protocol::Rpc.refuse(error, &request);
        }
        let method = rpc::method(path);
        let refused = |error: rpc::Error, request: &Request| {
            gate.metrics.count_call(method.map_or("other", |it| &it.name), error.code.as_str());
            Protocol::Rpc.refuse(error, request)
        };
        let admitted = match gate.auth.admit(request.headers(), peer(&request)).await {
            Ok(admitted) => admitted,
            Err(error) => {
                note(&error, &request);
                return refused(error, &request);
            }
        };
        let error = match method {
            // Methods that are not in the contract have no handler.
            None => rpc::unknown_method(path),
            Some(it) if it.reads_only || admitted.caller.scope.may_write() => {
                return admitted.run(request, next).await;
            }
            Some(_) => rpc::permission_denied("this key is read-only"),
        };
        let mut response = refused(error, &request);
        admitted.rate_limit.add_headers(response.headers_mut());
        response
    }

    /// Authenticates `/v1` requests. The routes decide what a read key may do.
    pub(crate) async fn before_v1(
        State(gate): State<Self>,
        request: Request,
        next: Next,
    ) -> Response {
        match gate.auth.admit(request.headers(), peer(&request)).await {
            Ok(admitted) => admitted.run(request, next).await,
            Err(error) => {
                note(&error, &request);
                Protocol::V1.refuse(error, &request)
            }
        }
    }
}

impl AuthenticatedCaller {
    async fn run(self, mut request: Request, next: Next) -> Response {
        if let Some(intake) = request.extensions().get::<Intake>() {
            intake.set_has_key(self.caller.workspace);
        }
        if let Some(connection) = request.extensions().get::<Connection>() {
            connection.set_has_key();
        }
        request.extensions_mut().insert(self.caller);
        request.extensions_mut().insert(self.workspace);
        let mut response = next.run(request).await;
        self.rate_limit.add_headers(response.headers_mut());
        // The key is in a custom header, which caches do not use to separate callers.
        response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
        response
    }
}

fn peer(request: &Request) -> IpAddr {
    let peer = request.extensions().get::<Peer>();
    peer.map_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED), |peer| peer.0)
}

/// Records a wrong key for the limits of its connection.
fn note(error: &rpc::Error, request: &Request) {
    if let Some(connection) = request.extensions().get::<Connection>()
        && error.code == rpc::Code::Unauthenticated
        && has_well_formed_key(request.headers())
    {
        connection.set_has_wrong_key();
    }
}

/// Returns whether a key in a request to this path is verified.
pub(crate) fn is_for_keys(path: &str) -> bool {
    let method = path.strip_prefix("/rpc").unwrap_or(path);
    path.starts_with("/v1/") || (looks_like_a_method(method) && !is_public(method))
}

/// Returns whether the method at this path needs no key and lasts as long as its client likes.
pub(crate) fn is_public_stream(path: &str) -> bool {
    let path = path.strip_prefix("/rpc").unwrap_or(path);
    is_public(path) && path != "/grpc.health.v1.Health/Check"
}

/// Returns whether the method at this path needs no key. Load balancers query health, and
/// reflection reveals only public data.
fn is_public(path: &str) -> bool {
    [
        "/grpc.health.v1.Health/",
        "/grpc.reflection.v1.ServerReflection/",
        "/grpc.reflection.v1alpha.ServerReflection/",
    ]
    .iter()
    .any(|service| path.starts_with(service))
}

/// Returns whether a path has the form `/package.Service/Method`.
fn looks_like_a_method(path: &str) -> bool {
    let Some((service, method)) = path.get(1..).and_then(|path| path.split_once('/')) else {
        return false;
    };
    service.contains('.') && !method.is_empty() && !method.contains('/')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_count_only_if_they_are_verified() {
        for (path, expected) in [
            ("/monitor.v1.MonitorService/GetMonitor", true),
            ("/rpc/monitor.v1.MonitorService/GetMonitor", true),
            ("/v1/whoami", true),
            ("/rpc/grpc.health.v1.Health/Watch", false),
            ("/grpc.reflection.v1.ServerReflection/ServerReflectionInfo", false),
            ("/status/page", false),
            ("/docs", false),
            ("/metrics", false),
        ] {
            assert_eq!(is_for_keys(path), expected, "{path}");
        }
    }

    #[test]
    fn health_watches_and_reflection_are_streams() {
        for (path, expected) in [
            ("/grpc.health.v1.Health/Watch", true),
            ("/rpc/grpc.health.v1.Health/Watch", true),
            ("/grpc.reflection.v1.ServerReflection/ServerReflectionInfo", true),
            ("/rpc/grpc.health.v1.Health/Check", false),
            ("/monitor.v1.MonitorService/GetMonitor", false),
            ("/status/page", false),
        ] {
            assert_eq!(is_public_stream(path), expected, "{path}");
        }
    }

    #[test]
    fn only_paths_of_methods_are_taken_for_methods() {
        for (path, expected) in [
            ("/monitor.v1.MonitorService/GetMonitor", true),
            ("/monitor.v1.MonitorService/Nonsense", true),
            ("/", false),
            ("", false),
            ("/favicon.ico", false),
            ("/monitor.v1.MonitorService", false),
            ("/monitor.v1.MonitorService/", false),
            ("/monitor.v1.MonitorService/Get/Monitor", false),
        ] {
            assert_eq!(looks_like_a_method(path), expected, "{path}");
        }
    }
}
