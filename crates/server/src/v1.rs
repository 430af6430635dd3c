//! `/v1`: the identity endpoints of the specification (§4.1, §4.2) and their description. Errors
//! are `application/problem+json` with the reasons of the RPC.

mod key;
mod openapi;
mod problem;
mod whoami;

use axum::Router;
use axum::extract::Request;
use axum::middleware::from_fn_with_state;
use axum::response::{IntoResponse as _, Response};
use axum::routing::{delete, get};
use http::StatusCode;

pub(crate) use self::problem::Problem;
use crate::app::App;
use crate::auth::Gate;

/// Every route with its methods, for the test that holds the description against them.
#[cfg(test)]
const ROUTES: &[(&str, &str)] =
    &[("get", "/v1/whoami"), ("delete", "/v1/api-key/{id}"), ("get", "/v1/openapi.json")];

/// The routes below `/v1`.
pub(crate) fn routes(app: &App) -> Router {
    Router::new()
        .route("/whoami", get(whoami::whoami))
        .route("/api-key/{id}", delete(key::revoke))
        .route_layer(from_fn_with_state(app.gate(), Gate::before_v1))
        // What the endpoints are is no secret, as with reflection.
        .route("/openapi.json", get(openapi::description))
        .method_not_allowed_fallback(wrong_method)
        .fallback(unknown_path)
        .with_state(app.clone())
}

async fn unknown_path(request: Request) -> Response {
    let detail = format!("there is no `{}`; see /v1/openapi.json", request.uri().path());
    Problem::new(StatusCode::NOT_FOUND, "NOT_FOUND", detail).into_response()
}

async fn wrong_method(request: Request) -> Response {
    let detail = format!("{} is not for this path; see /v1/openapi.json", request.method());
    Problem::new(StatusCode::METHOD_NOT_ALLOWED, "METHOD_NOT_ALLOWED", detail).into_response()
}
