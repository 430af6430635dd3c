//! Bytes that pages take in memory: those of one, counted among those of all. And what else all pages of
//! a shelf have in common.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::sync::Semaphore;

use crate::observe::Metrics;

/// Things that are said and compressed at a time, of all pages together: a flood of addresses takes no
/// more of the machine than these.
const MAKERS: usize = 4;

/// What all pages of a shelf have in common.
#[derive(Debug)]
pub(super) struct Shared {
    /// Where the server is reached from outside.
    pub(super) origin: Option<String>,
    /// Where it listens: all that is known where nobody said the other.
    pub(super) own: String,
    pub(super) metrics: Metrics,
    /// Who says something holds one.
    pub(super) makers: Arc<Semaphore>,
    /// Bytes of all pages together.
    bytes: AtomicUsize,
}

/// Bytes of one page.
#[derive(Debug)]
pub(super) struct Weight {
    own: AtomicUsize,
    pub(super) shared: Arc<Shared>,
}

impl Shared {
    pub(super) fn new(origin: Option<String>, own: String, metrics: Metrics) -> Self {
        let makers = Arc::new(Semaphore::new(MAKERS));
        Self { origin, own, metrics, makers, bytes: AtomicUsize::new(0) }
    }

    pub(super) fn bytes(&self) -> usize {
        self.bytes.load(Ordering::Relaxed)
    }
}

impl Weight {
    pub(super) fn new(shared: &Arc<Shared>) -> Self {
        Self { own: AtomicUsize::new(0), shared: Arc::clone(shared) }
    }

    pub(super) fn add(&self, bytes: usize) {
        self.own.fetch_add(bytes, Ordering::Relaxed);
        self.shared.bytes.fetch_add(bytes, Ordering::Relaxed);
    }

    /// Takes away what was added.
    pub(super) fn take(&self, bytes: usize) {
        self.own.fetch_sub(bytes, Ordering::Relaxed);
        self.shared.bytes.fetch_sub(bytes, Ordering::Relaxed);
    }
}

impl Drop for Weight {
    fn drop(&mut self) {
        self.shared.bytes.fetch_sub(*self.own.get_mut(), Ordering::Relaxed);
    }
}
