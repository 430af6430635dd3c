//! `/v1`: the identity endpoints of the specification (§4.1, §4.2). Errors are
//! `application/problem+json` with the same reasons as the RPC. `documentation::openapi` describes
//! both.

mod key;
mod whoami;

use std::sync::Arc;

use axum::Router;
use axum::extract::Request;
use axum::middleware::from_fn_with_state;
use axum::routing::{MethodRouter, any, delete, get};
use http::StatusCode;
use rules::Reason;
use store::Store;
use web::context::Context;

use crate::auth::Auth;
use crate::edge::Problem;
use crate::gate::AuthLayer;

/// All endpoints. The routes are built from this list.
const ENDPOINTS: &[(&str, Endpoint)] =
    &[("/v1/whoami", Endpoint::Whoami), ("/v1/api-key/{id}", Endpoint::RevokeKey)];
/// All other paths of `/v1`, which return 404.
const UNKNOWN: &[&str] = &["/v1", "/v1/", "/v1/{*rest}"];

/// State of the endpoints.
#[derive(Clone, Debug)]
pub(crate) struct V1State {
    pub(crate) ctx: Context,
    pub(crate) store: Store,
    pub(crate) auth: Arc<Auth>,
}

#[derive(Clone, Copy, Debug)]
enum Endpoint {
    Whoami,
    RevokeKey,
}

/// Returns the routes of `/v1`.
pub(crate) fn routes(state: V1State, layer: AuthLayer) -> Router {
    let endpoints = ENDPOINTS
        .iter()
        .fold(Router::new(), |router, (path, endpoint)| router.route(path, endpoint.handler()))
        .route_layer(from_fn_with_state(layer, AuthLayer::before_routes))
        .method_not_allowed_fallback(wrong_method);
    UNKNOWN
        .iter()
        .fold(endpoints, |router, path| router.route(path, any(unknown_path)))
        .with_state(state)
}

/// Returns all paths, with `{…}` for parameters.
pub(crate) fn paths() -> impl Iterator<Item = &'static str> {
    ENDPOINTS.iter().map(|endpoint| endpoint.0).chain(UNKNOWN.iter().copied())
}

impl Endpoint {
    fn handler(self) -> MethodRouter<V1State> {
        match self {
            Self::Whoami => get(whoami::whoami),
            Self::RevokeKey => delete(key::revoke),
        }
    }
}

async fn unknown_path(request: Request) -> Problem {
    let detail = format!("`{}` not found; see /openapi.json", request.uri().path());
    Problem::new(StatusCode::NOT_FOUND, Reason::NotFound, detail)
}

async fn wrong_method(request: Request) -> Problem {
    let (method, path) = (request.method(), request.uri().path());
    let detail = format!("{method} is not for `{path}`; see /openapi.json");
    Problem::new(StatusCode::METHOD_NOT_ALLOWED, Reason::Verb, detail)
}
