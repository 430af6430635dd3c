//! `/v1`: the identity endpoints of the specification (§4.1, §4.2). Errors are
//! `application/problem+json` with the same reasons as the RPC. `docs::openapi` describes both.

mod key;
mod problem;
mod whoami;

use axum::Router;
use axum::extract::Request;
use axum::middleware::from_fn_with_state;
use axum::routing::{any, delete, get};
use http::StatusCode;
use rules::Reason;

pub(crate) use self::problem::Problem;
use crate::app::App;
use crate::auth::AuthLayer;

/// Returns the routes of `/v1`.
pub(crate) fn routes(app: &App) -> Router {
    Router::new()
        .route("/v1/whoami", get(whoami::whoami))
        .route("/v1/api-key/{id}", delete(key::revoke))
        .route_layer(from_fn_with_state(app.auth_layer(), AuthLayer::before_v1))
        .method_not_allowed_fallback(wrong_method)
        .route("/v1", any(unknown_path))
        .route("/v1/", any(unknown_path))
        .route("/v1/{*rest}", any(unknown_path))
        .with_state(app.clone())
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
