//! State that all pages of a cache share.

use std::sync::atomic::{AtomicUsize, Ordering};

use web::cache::CacheCounters;

use super::detail_bodies::DetailBodies;
use super::renderer::Renderer;
use crate::metrics::PageMetrics;

/// State shared by all pages of a cache.
#[derive(Debug)]
pub(super) struct SharedState {
    /// Public URL of the server.
    pub(super) origin: Option<String>,
    /// URL of the listener, used if the public URL is not configured.
    pub(super) listener_url: String,
    pub(super) metrics: PageMetrics,
    pub(super) renderer: Renderer,
    pub(super) detail_bodies: DetailBodies,
    /// Size of all pages in bytes, without their detail pages and badges.
    pub(super) bytes: AtomicUsize,
}

impl SharedState {
    pub(super) fn new(
        origin: Option<String>,
        listener_url: String,
        metrics: PageMetrics,
        detail_counters: CacheCounters,
    ) -> Self {
        Self {
            origin,
            listener_url,
            metrics,
            renderer: Renderer::default(),
            detail_bodies: DetailBodies::new(detail_counters),
            bytes: AtomicUsize::new(0),
        }
    }

    /// Returns the public URL of the server, or that of its listener without one.
    pub(super) fn url(&self) -> &str {
        self.origin.as_deref().unwrap_or(&self.listener_url)
    }

    #[cfg(test)]
    pub(super) fn for_test() -> std::sync::Arc<Self> {
        use prometheus_client::metrics::gauge::Gauge;
        use prometheus_client::metrics::histogram::Histogram;

        let metrics = PageMetrics {
            build_seconds: Histogram::new([1.0]),
            render_seconds: Histogram::new([1.0]),
            streams: Gauge::default(),
        };
        std::sync::Arc::new(Self::new(None, String::new(), metrics, CacheCounters::default()))
    }

    pub(super) fn bytes(&self) -> usize {
        self.bytes.load(Ordering::Relaxed)
    }
}
