//! Times that people type.

use anyhow::{Context as _, Result};
use contract::monitor::{decode_instant, wire};
use rules::Timestamp;
use serde_json::json;

/// Parses a time such as `2026-12-01T22:00:00Z`. `written` is shown in the error, such as the flag with its value.
pub(crate) fn parse(written: &str, given: &str) -> Result<wire::Timestamp> {
    serde_json::from_value(json!(given))
        .with_context(|| format!("`{written}` is not a time; write it as 2026-12-01T22:00:00Z"))
}

/// Parses the value of a flag, for clap, which names the flag.
pub(crate) fn instant(given: &str) -> Result<Timestamp> {
    let at = decode_instant(&parse(given, given)?);
    at.with_context(|| format!("`{given}` is out of range"))
}
