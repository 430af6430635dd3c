//! observe: metrics, logs, liveness and readiness of the server. Events of monitors are not logged:
//! they are results, incidents and audit entries.

pub(crate) mod health;
pub mod log;
pub mod metrics;
mod process;

pub use metrics::Metrics;
