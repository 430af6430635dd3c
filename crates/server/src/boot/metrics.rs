//! Creates the metrics of a server, with its traces, and starts their export.

use web::context::Context;

use super::BootError;
use crate::config::Settings;
use crate::observe::traces::{RunningExporter, TraceReceiver};
use crate::observe::{Metrics, Traces};

/// Returns the metrics, and the exporter of traces if there is a receiver.
pub(super) fn start(
    settings: &Settings,
    ctx: &Context,
) -> Result<(Metrics, Option<RunningExporter>), BootError> {
    let (traces, exporter) = match &settings.traces {
        None => (Traces::default(), None),
        Some(settings) => {
            let receiver = TraceReceiver::new(settings).map_err(BootError::Traces)?;
            let (traces, exporter) = Traces::to(receiver, ctx);
            (traces, Some(exporter.start()))
        }
    };
    Ok((Metrics::with_traces(settings.monitors_in_metrics, traces), exporter))
}
