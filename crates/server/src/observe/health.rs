//! `/healthz`, `/readyz` and `/metrics`: asked by machines, without a key. They tell nothing of
//! workspaces; who must not see even that keeps the paths behind a proxy.

use axum::Json;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use http::StatusCode;
use http::header::CONTENT_TYPE;
use rules::MonitorId;
use serde::Serialize;
use store::StoreError;

use crate::app::App;
use crate::pipeline::PipelineError;

/// What is said of stages whose results the database does not take.
const STUCK: &str = "nothing can be stored";

/// What `/readyz` says: `ok` of each part, or why it is not.
#[derive(Debug, Serialize)]
struct Readiness {
    ready: bool,
    store: &'static str,
    pipeline: &'static str,
    /// Rows of the database that cannot be read: everything else runs without them.
    unreadable_rows: u64,
}

/// The process answers.
pub(crate) async fn alive() -> &'static str {
    "ok\n"
}

/// 200 where calls can be answered and checks run, else 503 with what is in the way.
pub(crate) async fn ready(State(app): State<App>) -> Response {
    let store = app.store.ready().await;
    let pipeline = if app.pipeline.is_stuck() { STUCK } else { pipeline(&app).await };
    let ready = store.is_ok() && pipeline == "ok";
    let unreadable_rows = app.store.quarantine().count();
    let readiness = Readiness { ready, store: told(&store), pipeline, unreadable_rows };
    let status = if ready { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
    (status, Json(readiness)).into_response()
}

/// Asks the stages whether they work.
async fn pipeline(app: &App) -> &'static str {
    // A monitor that there is not is not found by a judge that works.
    match app.pipeline.view(MonitorId::from_bits(0)).await {
        Err(PipelineError::Stopping) => "stopped",
        Err(PipelineError::Busy) => STUCK,
        Ok(_)
        | Err(
            PipelineError::NotFound(_)
            | PipelineError::Unplannable(_)
            | PipelineError::Store(_)
            | PipelineError::Threads(_)
            | PipelineError::Crowded,
        ) => "ok",
    }
}

/// What is told of the store to everybody; why it does not answer is for the log.
fn told(store: &Result<(), StoreError>) -> &'static str {
    match store {
        Ok(()) => "ok",
        Err(StoreError::Closed) => "the database is closed",
        Err(error) => {
            tracing::error!(%error, "the server is not ready: {error}");
            "the database does not respond; see the log for the cause"
        }
    }
}

/// The figures.
pub(crate) async fn metrics(State(app): State<App>) -> Response {
    const OPEN_METRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";
    let unreadable = i64::try_from(app.store.quarantine().count()).unwrap_or(i64::MAX);
    app.metrics.unreadable_rows.set(unreadable);
    ([(CONTENT_TYPE, OPEN_METRICS)], app.metrics.page()).into_response()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn why_the_store_does_not_answer_is_not_told_to_everybody() {
        let why = "hunter2".to_owned();
        assert!(!told(&Err(StoreError::Corrupt { what: why.clone(), why })).contains("hunter2"));
        assert_eq!(told(&Err(StoreError::Closed)), "the database is closed");
        assert_eq!(told(&Ok(())), "ok");
    }
}
