//! The filter of log lines: levels, for all modules or for single ones.

use tracing_subscriber::filter::{LevelFilter, ParseError, Targets};

use super::{ConfigError, Value};

/// Parses the value of the setting.
pub(super) fn log_filter(value: &Value) -> Result<Targets, ConfigError> {
    parse(&value.text).map_err(|why| {
        let why = format!(
            "must be error, warn, info, debug, trace, or a filter such as \
             info,aloft_store=debug: {why}"
        );
        ConfigError::Invalid { name: value.setting.name, why, origin: value.origin.clone() }
    })
}

/// Parses levels separated by commas, each for one module (`aloft_store=debug`) or for all others.
/// A word that is neither a level nor one of our modules is an error, because it would silence the
/// log.
fn parse(text: &str) -> Result<Targets, String> {
    let parts: Vec<&str> = text.split(',').map(str::trim).filter(|part| !part.is_empty()).collect();
    let is_known = |part: &&str| {
        part.contains('=') || part.starts_with("aloft") || part.parse::<LevelFilter>().is_ok()
    };
    if let Some(unknown) = parts.iter().find(|part| !is_known(part)) {
        return Err(format!("`{unknown}` is not a level"));
    }
    if parts.is_empty() {
        return Err("it is empty".to_owned());
    }
    // The library of MCP logs texts of callers, and at `debug` whole requests.
    let own = ["rmcp=off"];
    [&parts[..], &own].concat().join(",").parse().map_err(|error: ParseError| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn filter_has_levels_for_all_or_for_modules() {
        let enabled = |text: &str, target: &str| {
            let filter = parse(text).unwrap();
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
            assert_eq!(enabled(&format!("{text},rmcp=debug"), "rmcp::service"), 0, "{text}");
        }
    }

    #[test]
    fn unknown_level_is_rejected() {
        for text in ["", " , ", "inof", "verbose", "info,loud", "aloft_store=loud"] {
            assert!(parse(text).is_err(), "{text}");
        }
        let error = parse("inof").unwrap_err();
        assert!(error.contains("`inof` is not a level"), "{error}");
    }
}
