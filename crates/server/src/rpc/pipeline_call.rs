//! Calls of the pipeline from the services of monitors and incidents, and their errors.

use contract::rpc::{self, Error};
use rules::MonitorId;
use tracing::Instrument as _;

use crate::pipeline::PipelineError;
use crate::rpc::Services;

/// Completes a change of a monitor even if the caller disconnects. See `Pipeline::change`.
pub(super) async fn run_to_end<T: Send + 'static>(
    services: &Services,
    monitor: MonitorId,
    work: impl Future<Output = Result<T, Error>> + Send + 'static,
) -> Result<T, Error> {
    let done = services.pipeline.change(monitor, work.in_current_span()).await;
    done.map_err(|error| unavailable(&error, &monitor.to_string()))?
}

/// Logs a failure to notify the pipeline of a committed change. The pipeline loads the change at
/// its next start.
pub(super) fn log_failure(
    result: Result<(), PipelineError>,
    monitor: MonitorId,
    name: Option<&str>,
) {
    if let Err(error) = result {
        let shown = name.unwrap_or("deleted");
        tracing::warn!(
            monitor.id = %monitor,
            "failed to apply the change of monitor `{shown}` ({monitor}) to its checks: {error}"
        );
    }
}

pub(super) fn unavailable(error: &PipelineError, id: &str) -> Error {
    match error {
        PipelineError::NotFound(_) => rpc::not_found("monitor", id),
        PipelineError::Unplannable(_) | PipelineError::Store(_) | PipelineError::Threads(_) => {
            tracing::error!(monitor.id = id, "the pipeline failed on monitor `{id}`: {error}");
            rpc::internal()
        }
        // Nothing was done. In the other cases, part of the work may be done.
        PipelineError::Busy | PipelineError::TooManyChecks => rpc::deferred(error.to_string()),
        PipelineError::Stopping
        | PipelineError::Unfinished
        | PipelineError::NotRun(_)
        | PipelineError::Disconnected(_) => rpc::unavailable(error.to_string()),
    }
}
