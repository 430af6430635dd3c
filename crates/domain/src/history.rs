//! history: compact records of past checks. Rollups of an hour or a day ([`Rollup`]) with their
//! latency distribution ([`Sketch`]), the uptime of a monitor ([`uptime`]), and its error budget
//! ([`ErrorBudget`]). The store persists the rollups.

mod error_budget;
mod phases;
mod rollup;
mod sketch;
mod uptime;
pub mod varint;

pub use error_budget::{ErrorBudget, UptimeTarget};
pub use phases::{PHASES, PhaseSum};
pub use rollup::Rollup;
pub use sketch::{LATENCY_MAX_US, LATENCY_MIN_US, RELATIVE_ERROR, Sketch};
pub(crate) use uptime::joined;
pub use uptime::{Span, StatusFrom, Uptime, uptime};

/// Error for bytes that are not a valid history, or that a newer version wrote.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("failed to decode history: {0}")]
pub struct Unreadable(pub &'static str);
