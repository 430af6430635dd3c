//! Past results and incidents as JSON Lines: a header, then one object a line. The shape is documented in
//! docs/decisions/0077-importers.md.

use std::io::{self, Write};
use std::path::PathBuf;

use serde::Serialize;

/// Version of the shape. It grows if a program that reads it must change.
pub const HISTORY_VERSION: u32 = 1;

/// Numbers of exported lines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct HistoryTotals {
    pub results: u64,
    pub incidents: u64,
    /// Rows of monitors that are not in the configuration, and rows without a valid time.
    pub skipped: u64,
}

/// Past data of a source.
#[derive(Debug)]
pub(crate) enum History {
    /// The heartbeats of a database of Uptime Kuma, read only when they are written.
    Heartbeats { database: PathBuf, incidents: Vec<PastIncident> },
    /// Incidents only, if any.
    Incidents(Vec<PastIncident>),
}

/// One line of the history.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub(crate) enum Line<'a> {
    Header {
        format: &'a str,
        version: u32,
        source: &'a str,
    },
    Result {
        /// Key of the monitor in the configuration.
        monitor: &'a str,
        at: String,
        /// `up`, `down`, `pending` or `maintenance`.
        status: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        latency_ms: Option<f64>,
        #[serde(skip_serializing_if = "Option::is_none")]
        message: Option<String>,
    },
    Incident(&'a PastIncident),
}

/// An incident that the source published.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PastIncident {
    /// Identifier of the page in the source.
    pub(crate) page: String,
    pub(crate) title: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) started_at: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) resolved_at: Option<String>,
    /// From the first to the last.
    pub(crate) updates: Vec<PastUpdate>,
}

impl PastIncident {
    /// Creates an incident that lasted from its first update to the one that resolved it.
    pub(crate) fn new(page: &str, title: String, mut updates: Vec<PastUpdate>) -> Self {
        for update in &mut updates {
            update.at = update.at.take().map(in_utc);
        }
        updates.sort_by_key(|update| update.at.as_deref().and_then(parsed));
        let ends = ["resolved", "completed", "postmortem"];
        let is_end = |update: &&PastUpdate| {
            update.status.as_deref().is_some_and(|word| ends.contains(&word))
        };
        Self {
            page: page.to_owned(),
            title,
            started_at: updates.first().and_then(|update| update.at.clone()),
            resolved_at: updates.iter().find(is_end).and_then(|update| update.at.clone()),
            updates,
        }
    }
}

/// Returns a time as RFC 3339 in UTC. A text that is not a time stays as it is.
pub(crate) fn in_utc(text: String) -> String {
    parsed(&text).map_or(text, |at| at.to_string())
}

/// Returns the moment of a time with an offset.
pub(crate) fn parsed(text: &str) -> Option<jiff::Timestamp> {
    text.parse().ok()
}

/// An update of an incident.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct PastUpdate {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) at: Option<String>,
    /// Status in the words of the source.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) status: Option<String>,
    pub(crate) text: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) components: Vec<PastImpact>,
}

/// Impact of an incident on a component, in the words of the source.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct PastImpact {
    pub(crate) component: String,
    pub(crate) impact: String,
}

impl Line<'static> {
    /// Creates the first line.
    pub(crate) const fn header(source: &'static str) -> Self {
        Self::Header { format: "aloft-history", version: HISTORY_VERSION, source }
    }
}

/// Writes a line.
pub(crate) fn push(out: &mut dyn Write, line: &Line<'_>) -> io::Result<()> {
    serde_json::to_writer(&mut *out, line)?;
    out.write_all(b"\n")
}
