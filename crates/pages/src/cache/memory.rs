//! Memory accounting of pages: the bytes of one page, added to those of all. Also holds the other
//! state that all pages of a cache share.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::sync::Semaphore;

use crate::PageMetrics;

/// Maximum number of bodies that are rendered and compressed concurrently, over all pages. It
/// limits the CPU that a flood of requests can use.
const CONCURRENT_RENDERS_MAX: usize = 4;

/// State shared by all pages of a cache.
#[derive(Debug)]
pub(super) struct SharedState {
    /// Public URL of the server.
    pub(super) origin: Option<String>,
    /// URL of the listener, used if the public URL is not configured.
    pub(super) listener_url: String,
    pub(super) metrics: PageMetrics,
    /// Limit of concurrent rendering.
    pub(super) render_permits: Arc<Semaphore>,
    /// Size of all pages in bytes.
    bytes: AtomicUsize,
}

/// Size of one page in bytes.
#[derive(Debug)]
pub(super) struct Weight {
    own: AtomicUsize,
    pub(super) shared: Arc<SharedState>,
}

impl SharedState {
    pub(super) fn new(origin: Option<String>, listener_url: String, metrics: PageMetrics) -> Self {
        let render_permits = Arc::new(Semaphore::new(CONCURRENT_RENDERS_MAX));
        Self { origin, listener_url, metrics, render_permits, bytes: AtomicUsize::new(0) }
    }

    pub(super) fn bytes(&self) -> usize {
        self.bytes.load(Ordering::Relaxed)
    }
}

impl Weight {
    pub(super) fn new(shared: &Arc<SharedState>) -> Self {
        Self { own: AtomicUsize::new(0), shared: Arc::clone(shared) }
    }

    pub(super) fn add(&self, bytes: usize) {
        self.own.fetch_add(bytes, Ordering::Relaxed);
        self.shared.bytes.fetch_add(bytes, Ordering::Relaxed);
    }

    /// Subtracts bytes that were added.
    pub(super) fn subtract(&self, bytes: usize) {
        self.own.fetch_sub(bytes, Ordering::Relaxed);
        self.shared.bytes.fetch_sub(bytes, Ordering::Relaxed);
    }
}

impl Drop for Weight {
    fn drop(&mut self) {
        self.shared.bytes.fetch_sub(*self.own.get_mut(), Ordering::Relaxed);
    }
}
