//! observe: what the server says about itself: figures, logs, and whether it lives and is ready.
//! What happened to a monitor is no log line but a result, an incident, an audit row.

pub(crate) mod health;
pub mod log;
pub mod metrics;
mod process;

pub use metrics::Metrics;
