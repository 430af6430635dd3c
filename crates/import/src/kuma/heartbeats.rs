//! Streams the heartbeats of a database into a history, one row at a time.

use std::collections::HashMap;
use std::io::Write;
use std::path::Path;

use rusqlite::types::ValueRef;

use super::database;
use crate::ImportError;
use crate::history::{HistoryTotals, Line, push};

/// All results, sorted so that one monitor follows the other.
const HEARTBEATS: &str =
    "SELECT monitor_id, time, status, ping, msg FROM heartbeat ORDER BY monitor_id, time";

/// Writes a line per heartbeat of the monitors in `keys`.
pub(crate) fn write_heartbeats(
    path: &Path,
    keys: &HashMap<String, String>,
    out: &mut dyn Write,
    totals: &mut HistoryTotals,
) -> Result<(), ImportError> {
    let refused = |error: rusqlite::Error| database::refused(path, &error);
    let connection = database::open(path)?;
    let mut statement = connection.prepare(HEARTBEATS).map_err(refused)?;
    let mut rows = statement.query([]).map_err(refused)?;
    while let Some(row) = rows.next().map_err(refused)? {
        let cell = |index: usize| row.get_ref(index).unwrap_or(ValueRef::Null);
        let monitor = cell(0).as_i64().map(|id| id.to_string()).unwrap_or_default();
        let at = cell(1).as_str().ok().and_then(moment);
        let (Some(monitor), Some(at), Some(status)) =
            (keys.get(&monitor), at, status(cell(2).as_i64().unwrap_or(-1)))
        else {
            totals.skipped += 1;
            continue;
        };
        let message = cell(4).as_str().ok().filter(|message| !message.is_empty());
        let latency_ms =
            cell(3).as_f64().ok().or_else(|| cell(3).as_i64().ok().map(|ms| ms as f64));
        let message = message.map(str::to_owned);
        push(out, &Line::Result { monitor, at, status, latency_ms, message })
            .map_err(ImportError::History)?;
        totals.results += 1;
    }
    Ok(())
}

/// Returns the word of a status (`server/model/monitor.js`).
const fn status(number: i64) -> Option<&'static str> {
    match number {
        0 => Some("down"),
        1 => Some("up"),
        2 => Some("pending"),
        3 => Some("maintenance"),
        _ => None,
    }
}

/// Returns a time of the database, which is in UTC, in the format of RFC 3339.
pub(super) fn moment(text: &str) -> Option<String> {
    let time: jiff::civil::DateTime = text.trim_end_matches('Z').parse().ok()?;
    let at = time.to_zoned(jiff::tz::TimeZone::UTC).ok()?.timestamp();
    Some(at.to_string())
}
