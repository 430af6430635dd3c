//! State of the connection to NATS, for `/readyz`.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

/// Not tried yet.
const NEW: u8 = 0;
const CONNECTED: u8 = 1;
const UNAVAILABLE: u8 = 2;

/// State of the connection to NATS. Clones share it.
#[derive(Clone, Debug, Default)]
pub(crate) struct NatsStatus(Arc<AtomicU8>);

impl NatsStatus {
    /// Returns the state for people.
    pub(crate) fn words(&self) -> &'static str {
        match self.0.load(Ordering::Relaxed) {
            CONNECTED => "ok",
            NEW => "connecting",
            _ => "not connected: regions of its probes are not checked; see the log for the cause",
        }
    }

    pub(super) fn set(&self, is_connected: bool) {
        let state = if is_connected { CONNECTED } else { UNAVAILABLE };
        self.0.store(state, Ordering::Relaxed);
    }
}
