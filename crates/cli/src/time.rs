//! Times that people type.

use anyhow::{Context as _, Result};
use contract::monitor::{decode_instant, wire};
use rules::Timestamp;
use serde_json::json;

use crate::output;

/// Parses a time such as `2026-12-01T22:00:00Z`. `written` is shown in the error, such as the flag with its value.
pub(crate) fn parse(written: &str, given: &str) -> Result<wire::Timestamp> {
    serde_json::from_value(json!(given))
        .with_context(|| format!("`{written}` is not a time; write it as 2026-12-01T22:00:00Z"))
}

/// Formats a time of the contract's JSON to the minute.
pub(crate) fn shown(text: &str) -> String {
    let at = serde_json::from_value::<wire::Timestamp>(json!(text)).ok();
    let at = at.and_then(|at| decode_instant(&at));
    at.map_or_else(|| text.to_owned(), output::moment)
}

/// Parses the value of a flag, for clap, which names the flag.
pub(crate) fn instant(given: &str) -> Result<Timestamp> {
    let at = decode_instant(&parse(given, given)?);
    at.with_context(|| format!("`{given}` is out of range"))
}
