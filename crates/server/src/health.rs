//! `/healthz`, `/readyz` and `/metrics`, for machines and without a key. They reveal nothing about
//! workspaces, unless the setting `monitors_in_metrics` lets `/metrics` name monitors. Operators who want them private block the paths in a proxy.

use std::borrow::Cow;
use std::sync::{Arc, Mutex, PoisonError};

use axum::Json;
use axum::Router;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodRouter, get};
use futures_util::FutureExt as _;
use futures_util::future::{BoxFuture, Shared};
use http::StatusCode;
use http::header::CONTENT_TYPE;
use rules::MonitorId;
use serde::Serialize;
use store::{Store, StoreError};
use web::context::Context;

use crate::observe::Metrics;
use crate::pipeline::{Pipeline, PipelineError};
use crate::probes::NatsStatus;

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
    pub(crate) ctx: Context,
    pub(crate) store: Store,
    pub(crate) pipeline: Pipeline,
    pub(crate) metrics: Metrics,
    /// State of the connection to NATS, if the server uses it.
    pub(crate) nats: Option<NatsStatus>,
    pub(crate) running: RunningCheck,
}

/// Check of the readiness that is running. All requests during a check share its result, so that
/// many of them do not keep each other waiting for the database.
#[derive(Clone, Default)]
pub(crate) struct RunningCheck(Arc<Mutex<Option<Shared<BoxFuture<'static, Readiness>>>>>);

#[derive(Clone, Copy, Debug)]
enum HealthRoute {
    Alive,
    Ready,
    Metrics,
}

/// Body of `/readyz`: `ok` for each part, or the reason why it is not ready.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Readiness {
    ready: bool,
    store: Cow<'static, str>,
    pipeline: &'static str,
    /// State of the connection to NATS. It does not affect readiness, because everything else works without.
    #[serde(skip_serializing_if = "Option::is_none")]
    nats: Option<&'static str>,
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
    let running = health.running.clone();
    let readiness = running.join(|| async move { health.check().await }.boxed()).await;
    let status = if readiness.ready { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
    (status, Json(readiness)).into_response()
}

impl HealthState {
    async fn check(&self) -> Readiness {
        let store = self.store.ready().await;
        let pipeline = if self.pipeline.is_stuck() { STUCK } else { pipeline(self).await };
        let ready = store.is_ok() && pipeline == "ok";
        let unreadable_rows = self.store.quarantine().count();
        let nats = self.nats.as_ref().map(NatsStatus::words);
        Readiness { ready, store: store_status(&store), pipeline, nats, unreadable_rows }
    }
}

impl RunningCheck {
    /// Waits for the running check, or begins one.
    async fn join(&self, begin: impl FnOnce() -> BoxFuture<'static, Readiness>) -> Readiness {
        let check = {
            let mut running = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            let current = running.take().filter(|check| check.peek().is_none());
            running.insert(current.unwrap_or_else(|| begin().shared())).clone()
        };
        // A task of its own ends the check even if its requests are cancelled.
        let ended = tokio::spawn(check.clone()).await;
        match ended {
            Ok(readiness) => readiness,
            Err(_) => check.await,
        }
    }
}

impl std::fmt::Debug for RunningCheck {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RunningCheck").finish_non_exhaustive()
    }
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
            | PipelineError::TooManyChecks
            | PipelineError::NotRun(_)
            | PipelineError::Disconnected(_),
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
    health.metrics.standbys.set(i64::from(health.store.standbys()));
    if let Some(limit) = health.metrics.monitors.limit() {
        match health.store.fleets().active_of_all(limit, health.ctx.now()).await {
            Ok(monitors) => health.metrics.monitors.show(monitors),
            Err(error) => tracing::warn!("failed to read the monitors for /metrics: {error}"),
        }
    }
    ([(CONTENT_TYPE, OPEN_METRICS)], health.metrics.page()).into_response()
}

#[cfg(test)]
mod tests {
    use super::*;

    // 12,000 concurrent requests of `/readyz` waited 3 s for the database, and some reported a fault
    #[tokio::test]
    async fn concurrent_requests_share_one_check() {
        let running = RunningCheck::default();
        let began = Arc::new(Mutex::new(0));
        let (open, gate) = tokio::sync::watch::channel(false);
        let check = || {
            let (began, mut gate) = (Arc::clone(&began), gate.clone());
            async move {
                *began.lock().unwrap() += 1;
                gate.wait_for(|is_open| *is_open).await.unwrap();
                let ok = Cow::Borrowed("ok");
                Readiness { ready: true, store: ok, pipeline: "ok", nats: None, unreadable_rows: 0 }
            }
        };
        let ask = || {
            let (running, check) = (running.clone(), check());
            tokio::spawn(async move { running.join(|| check.boxed()).await.ready })
        };
        let cancelled = ask();
        tokio::task::yield_now().await;
        cancelled.abort();
        let asked: Vec<_> = (0..100).map(|_| ask()).collect();
        while *began.lock().unwrap() == 0 {
            tokio::task::yield_now().await;
        }
        open.send(true).unwrap();
        for answer in asked {
            assert!(answer.await.unwrap());
        }
        assert_eq!(*began.lock().unwrap(), 1);
        assert!(ask().await.unwrap());
        assert_eq!(*began.lock().unwrap(), 2, "a later request begins another check");
    }

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
