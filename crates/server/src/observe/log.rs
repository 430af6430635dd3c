//! Log lines on standard error, as text or as one JSON object each. Bodies, headers and keys are
//! never logged.

use std::io::{IsTerminal as _, stderr};

use tracing_subscriber::filter::{LevelFilter, ParseError, Targets};
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;
use tracing_subscriber::{fmt, registry};

use crate::config::{LogFormat, Settings};

/// Log level that is not a valid filter.
#[derive(Debug, thiserror::Error)]
#[error(
    "`log_level` must be error, warn, info, debug, trace, or a filter such as info,aloft_store=debug: {0}"
)]
pub struct UnreadableFilter(String);

/// Starts logging for the process. Keeps an existing logger.
pub fn start(settings: &Settings) -> Result<(), UnreadableFilter> {
    let filter = parse_filter(&settings.log_level)?;
    let lines = fmt::layer().with_writer(stderr).with_ansi(stderr().is_terminal());
    let filtered = registry().with(filter);
    // An error means that a logger exists. Tests start several servers in one process.
    let _ = match settings.log_format {
        LogFormat::Text => filtered.with(lines).try_init(),
        LogFormat::Json => filtered.with(lines.json().flatten_event(true)).try_init(),
    };
    Ok(())
}

/// Parses levels separated by commas, each for one module (`aloft_store=debug`) or for all others.
/// A word that is neither a level nor one of our modules is an error, because it would silence the
/// log.
fn parse_filter(text: &str) -> Result<Targets, UnreadableFilter> {
    let parts: Vec<&str> = text.split(',').map(str::trim).filter(|part| !part.is_empty()).collect();
    let is_known = |part: &&str| {
        part.contains('=') || part.starts_with("aloft") || part.parse::<LevelFilter>().is_ok()
    };
    if let Some(unknown) = parts.iter().find(|part| !is_known(part)) {
        return Err(UnreadableFilter(format!("`{unknown}` is no level")));
    }
    if parts.is_empty() {
        return Err(UnreadableFilter("it is empty".to_owned()));
    }
    parts.join(",").parse().map_err(|error: ParseError| UnreadableFilter(error.to_string()))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn filter_has_levels_for_all_or_for_modules() {
        let enabled = |text: &str, target: &str| {
            let filter = parse_filter(text).unwrap();
            let levels = [tracing::Level::ERROR, tracing::Level::INFO, tracing::Level::DEBUG];
            levels.into_iter().filter(|level| filter.would_enable(target, level)).count()
        };
        for (text, store, other) in [
            ("info", 2, 2),
            (" debug ", 3, 3),
            ("info,", 2, 2),
            ("info, aloft_store=debug", 3, 2),
            ("aloft_store=error,info", 1, 2),
            ("off", 0, 0),
        ] {
            let found = (enabled(text, "aloft_store::writer"), enabled(text, "hyper"));
            assert_eq!(found, (store, other), "{text}");
        }
    }

    #[test]
    fn unknown_level_is_rejected() {
        for text in ["", " , ", "inof", "verbose", "info,loud", "aloft_store=loud"] {
            assert!(parse_filter(text).is_err(), "{text}");
        }
        let error = parse_filter("inof").unwrap_err().to_string();
        assert!(error.contains("`inof` is no level"), "{error}");
    }
}
