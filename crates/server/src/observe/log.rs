//! Log lines, on the standard error: for people, or one JSON object each. Never bodies, headers,
//! keys.

use std::io::{IsTerminal as _, stderr};

use tracing_subscriber::EnvFilter;

use crate::config::{LogFormat, Settings};

/// A log level that is no filter.
#[derive(Debug, thiserror::Error)]
#[error(
    "`log_level` must be error, warn, info, debug, trace, or a filter such as info,aloft_store=debug: {0}"
)]
pub struct UnreadableFilter(String);

/// Starts logging for the process. Where something logs already, that goes on.
pub fn start(settings: &Settings) -> Result<(), UnreadableFilter> {
    let filter = EnvFilter::builder()
        .parse(&settings.log_level)
        .map_err(|error| UnreadableFilter(error.to_string()))?;
    let lines = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(stderr)
        .with_ansi(stderr().is_terminal());
    // An error says that there is a logger; tests start several servers in one process.
    let _ = match settings.log_format {
        LogFormat::Text => lines.try_init(),
        LogFormat::Json => lines.json().flatten_event(true).try_init(),
    };
    Ok(())
}
