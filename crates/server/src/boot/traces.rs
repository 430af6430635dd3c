//! Starts the export of traces.

use web::context::Context;

use super::BootError;
use crate::config::Settings;
use crate::observe::Traces;
use crate::observe::traces::{RunningExporter, TraceReceiver};

/// Returns the traces of this server, and their exporter if there is a receiver.
pub(super) fn start(
    settings: &Settings,
    ctx: &Context,
) -> Result<(Traces, Option<RunningExporter>), BootError> {
    let Some(settings) = &settings.traces else { return Ok((Traces::default(), None)) };
    let receiver = TraceReceiver::new(settings).map_err(BootError::Traces)?;
    let (traces, exporter) = Traces::to(receiver, ctx);
    Ok((traces, Some(exporter.start())))
}
