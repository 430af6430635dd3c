//! Log lines on standard error, as text or as one JSON object each. Bodies, headers and keys are
//! never logged.

use std::io::{IsTerminal as _, stderr};

use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;
use tracing_subscriber::{fmt, registry};

use crate::config::{LogFormat, Settings};

/// Starts logging for the process. Keeps an existing logger.
pub fn start(settings: &Settings) {
    let lines = fmt::layer().with_writer(stderr).with_ansi(stderr().is_terminal());
    let filtered = registry().with(settings.log_filter.clone());
    // An error means that a logger exists. Tests start several servers in one process.
    let _ = match settings.log_format {
        LogFormat::Text => filtered.with(lines).try_init(),
        LogFormat::Json => filtered.with(lines.json().flatten_event(true)).try_init(),
    };
}

/// Returns the lines that `work` logs on this thread.
#[cfg(test)]
pub(crate) fn captured(work: impl FnOnce()) -> String {
    use std::io::Write;
    use std::sync::{Arc, Mutex, PoisonError};

    #[derive(Clone, Default)]
    struct Lines(Arc<Mutex<Vec<u8>>>);

    impl Write for Lines {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.lock().unwrap_or_else(PoisonError::into_inner).write(bytes)
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    let lines = Lines::default();
    let written = lines.clone();
    let subscriber = tracing_subscriber::fmt()
        .without_time()
        .with_target(false)
        .with_ansi(false)
        .with_writer(move || written.clone())
        .finish();
    tracing::subscriber::with_default(subscriber, work);
    let lines = lines.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
    String::from_utf8(lines).expect("log lines are UTF-8")
}
