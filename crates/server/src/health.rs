//! `/healthz`, `/readyz` and `/metrics`, for machines and without a key. They reveal nothing about
//! workspaces. Operators who want them private block the paths in a proxy.

use std::borrow::Cow;

use axum::Json;
use axum::Router;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodRouter, get};
use http::StatusCode;
use http::header::CONTENT_TYPE;
use rules::MonitorId;
use serde::Serialize;
use store::{Store, StoreError};

use crate::observe::Metrics;
use crate::pipeline::{Pipeline, PipelineError};

/// Status of stages whose results the database does not accept.
const STUCK: &str = "nothing can be stored";

/// All paths. The routes are built from this list.
const ROUTES: &[(&str, HealthRoute)] = &[
    ("/healthz", HealthRoute::Alive),
    ("/readyz", HealthRoute::Ready),
    ("/metrics", HealthRoute::Metrics),
];

/// State of the endpoints: the parts that they report on.
#[derive(Clone, Debug)]
pub(crate) struct HealthState {
    pub(crate) store: Store,
    pub(crate) pipeline: Pipeline,
    pub(crate) metrics: Metrics,
}

#[derive(Clone, Copy, Debug)]
enum HealthRoute {
    Alive,
    Ready,
    Metrics,
}

/// Body of `/readyz`: `ok` for each part, or the reason why it is not ready.
#[derive(Debug, Serialize)]
struct Readiness {
    ready: bool,
    store: Cow<'static, str>,
    pipeline: &'static str,
    /// Number of unreadable database rows. They do not affect readiness.
    unreadable_rows: u64,
}

/// Returns the routes.
pub(crate) fn routes(state: HealthState) -> Router {
    let all = ROUTES.iter().map(|(path, route)| (path, route.handler()));
    all.fold(Router::new(), |router, (path, route)| router.route(path, route)).with_state(state)
}

/// Returns all paths.
pub(crate) fn paths() -> impl Iterator<Item = &'static str> {
    ROUTES.iter().map(|route| route.0)
}

impl HealthRoute {
    fn handler(self) -> MethodRouter<HealthState> {
        match self {
            Self::Alive => get(alive),
            Self::Ready => get(ready),
            Self::Metrics => get(metrics),
        }
    }
}

/// Returns `ok` if the process responds.
async fn alive() -> &'static str {
    "ok\n"
}

/// Returns 200 if the server can answer calls and run checks. Otherwise returns 503 with the cause.
async fn ready(State(health): State<HealthState>) -> Response {
    let store = health.store.ready().await;
    let pipeline = if health.pipeline.is_stuck() { STUCK } else { pipeline(&health).await };
    let ready = store.is_ok() && pipeline == "ok";
    let unreadable_rows = health.store.quarantine().count();
    let readiness = Readiness { ready, store: store_status(&store), pipeline, unreadable_rows };
    let status = if ready { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
    (status, Json(readiness)).into_response()
}

/// Returns the status of the pipeline's stages.
async fn pipeline(health: &HealthState) -> &'static str {
    // The judge finds no monitor with this ID, which proves that it responds.
    match health.pipeline.view(MonitorId::from_bits(0)).await {
        Err(PipelineError::Stopping) => "stopped",
        Err(PipelineError::Busy) => STUCK,
        Ok(_)
        | Err(
            PipelineError::NotFound(_)
            | PipelineError::Unplannable(_)
            | PipelineError::Store(_)
            | PipelineError::Threads(_)
            | PipelineError::Unfinished
            | PipelineError::TooManyChecks,
        ) => "ok",
    }
}

/// Returns the public status of the store. Details of an error are only logged.
fn store_status(store: &Result<(), StoreError>) -> Cow<'static, str> {
    match store {
        Ok(()) => "ok".into(),
        Err(StoreError::Closed) => "the database is closed".into(),
        Err(StoreError::NoSpace { disk }) => {
            tracing::error!("the server is not ready: no space left on {disk}");
            format!("no space left on {disk}").into()
        }
        Err(error) => {
            tracing::error!(%error, "the server is not ready: {error}");
            "the database does not respond; see the log for the cause".into()
        }
    }
}

/// Returns the metrics.
async fn metrics(State(health): State<HealthState>) -> Response {
    const OPEN_METRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";
    let unreadable = i64::try_from(health.store.quarantine().count()).unwrap_or(i64::MAX);
    health.metrics.unreadable_rows.set(unreadable);
    ([(CONTENT_TYPE, OPEN_METRICS)], health.metrics.page()).into_response()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn store_error_details_are_not_public() {
        let why = "hunter2".to_owned();
        assert!(
            !store_status(&Err(StoreError::Corrupt { what: why.clone(), why })).contains("hunter2")
        );
        assert_eq!(store_status(&Err(StoreError::Closed)), "the database is closed");
        assert_eq!(store_status(&Ok(())), "ok");
        let full = StoreError::NoSpace { disk: "the data folder's disk" };
        assert_eq!(store_status(&Err(full)), "no space left on the data folder's disk");
    }
}
