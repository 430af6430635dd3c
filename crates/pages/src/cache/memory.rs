//! Memory accounting of pages: the bytes of one page, added to those of all.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::shared::SharedState;

/// Size of one page in bytes.
#[derive(Debug)]
pub(super) struct Weight {
    own: AtomicUsize,
    pub(super) shared: Arc<SharedState>,
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
