//! history: what is remembered of checks when nobody looks at each of them any more. Sums of an
//! hour or a day ([`Sum`]) with the distribution of latencies ([`Sketch`]), and the share of time
//! that a monitor was up ([`uptime`]). Keeping them belongs to the store.

mod phases;
mod sketch;
mod sum;
mod uptime;
pub mod varint;

pub use phases::{PHASES, PhaseSum};
pub use sketch::{LATENCY_MAX_US, LATENCY_MIN_US, RELATIVE_ERROR, Sketch};
pub use sum::Sum;
pub(crate) use uptime::joined;
pub use uptime::{Span, StatusFrom, Uptime, uptime};

/// Bytes that are no history, or one of a newer program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("what is kept of the past cannot be read: {0}")]
pub struct Unreadable(pub &'static str);
