//! observe: metrics, traces and logs of the server. Events of monitors are not logged:
//! they are results, incidents and audit entries.

pub mod log;
pub mod metrics;
mod process;
pub mod traces;

pub use metrics::Metrics;
pub use traces::Traces;
