//! Authentication layer in front of the protocols, so that neither streams nor GET bypass it.
//! Errors are sent in the caller's protocol; accepted requests carry a [`Caller`].

use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;

use axum::Extension;
use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::Response;
use contract::rpc::{self, Method};
use http::HeaderValue;
use http::header::CACHE_CONTROL;
use rules::{Role, person_role};
use store::StoreError;
use web::peer::Peer;

use crate::auth::{Auth, AuthenticatedCaller, Caller, Principal, has_well_formed_key};
use crate::connection::Connection;
use crate::edge::{Intake, Protocol, is_public, looks_like_a_method};
use crate::observe::metrics::Metrics;
use crate::rpc::rpc_error;

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
            Some(it) => match refuse_key(it, admitted.caller) {
                Some(refusal) => refusal,
                None => return admitted.run(request, next).await,
            },
        };
        let mut response = refused(error, &request);
        admitted.rate_limit.add_headers(response.headers_mut());
        response
    }

    /// Authenticates requests to `/v1` and `/mcp` before anything reads their bodies. The routes decide
    /// what a read key may do.
    pub(crate) async fn before_routes(
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

/// Rejects RPC requests that the caller's key or role does not allow. The caller is an extension of the
/// request, which another surface of this server has authenticated.
pub(crate) async fn before_inner_rpc(
    Extension(caller): Extension<Caller>,
    request: Request,
    next: Next,
) -> Response {
    let path = request.uri().path();
    let path = path.strip_prefix("/rpc").unwrap_or(path);
    let error = match rpc::method(path) {
        None => Some(rpc::unknown_method(path)),
        Some(method) => match caller.principal {
            Principal::Key(_) => refuse_key(method, caller),
            Principal::Member { .. } => refuse_member(method, caller),
        },
    };
    match error {
        Some(error) => Protocol::Rpc.refuse(error, &request),
        None => next.run(request).await,
    }
}

/// Returns the reason that a key may not call a method.
fn refuse_key(method: &Method, caller: Caller) -> Option<rpc::Error> {
    if !method.reads_only && !caller.scope.may_write() {
        return Some(rpc::permission_denied("this key is read-only"));
    }
    let role = person_role(&method.path)?;
    Some(rpc_error(StoreError::RoleRequired { role }))
}

/// Returns the reason that a member may not call a method. Editors may call what write keys may call;
/// some services need a higher role.
fn refuse_member(method: &Method, caller: Caller) -> Option<rpc::Error> {
    let least = if method.reads_only { Role::Viewer } else { Role::Editor };
    let role = person_role(&method.path).unwrap_or(least);
    let is_allowed = match caller.principal {
        Principal::Member { role: own, .. } => own.includes(role),
        Principal::Key(_) => false,
    };
    (!is_allowed).then(|| rpc_error(StoreError::RoleRequired { role }))
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
        request.extensions_mut().insert(self.key);
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
