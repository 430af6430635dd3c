//! Metrics of status pages. The server registers them.

use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;

/// Metrics of status pages.
#[derive(Clone, Debug)]
pub struct PageMetrics {
    /// Time to build a page after its data was read, in seconds.
    pub build_seconds: Histogram,
    /// Time to render a page in one representation, in seconds.
    pub render_seconds: Histogram,
    /// Browsers that wait for live updates.
    pub streams: Gauge,
}
