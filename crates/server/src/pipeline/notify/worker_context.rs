//! State that all delivery workers share: the sender, the database, the signals to stop, and the
//! wake signals of the running ones.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use store::{Recipient, Store};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use super::send::Sender;
use crate::observe::Metrics;

/// State that all delivery workers share.
#[derive(Debug)]
pub(super) struct WorkerContext {
    pub(super) sender: Sender,
    pub(super) store: Store,
    pub(super) metrics: Metrics,
    /// Starts nothing new once cancelled.
    pub(super) stop: CancellationToken,
    /// Aborts attempts and recording once cancelled.
    pub(super) abandon: CancellationToken,
    wake_signals: Mutex<HashMap<Recipient, Arc<WakeSignal>>>,
}

/// Wake signal of a worker that may be busy. Wakeups before it looks are merged; later ones are not
/// lost.
#[derive(Debug, Default)]
pub(super) struct WakeSignal {
    is_set: AtomicBool,
    notify: Notify,
}

impl WakeSignal {
    /// Signals that there may be something new.
    fn set(&self) {
        self.is_set.store(true, Ordering::SeqCst);
        self.notify.notify_one();
    }

    /// Clears the signal. The caller then looks at everything signalled so far.
    pub(super) fn clear(&self) {
        self.is_set.store(false, Ordering::SeqCst);
    }

    /// Waits until the signal is set.
    pub(super) async fn wait(&self) {
        while !self.is_set.load(Ordering::SeqCst) {
            self.notify.notified().await;
        }
    }
}

impl WorkerContext {
    pub(super) fn new(sender: Sender, store: Store, metrics: Metrics) -> Self {
        Self {
            sender,
            store,
            metrics,
            stop: CancellationToken::new(),
            abandon: CancellationToken::new(),
            wake_signals: Mutex::default(),
        }
    }

    /// Returns whether the recipient has a worker.
    pub(super) fn has_worker(&self, recipient: Recipient) -> bool {
        self.wake_signals().contains_key(&recipient)
    }

    /// Wakes the recipient's worker. Without one, returns the wake signal for a new worker.
    pub(super) fn wake_or_add(&self, recipient: Recipient) -> Option<Arc<WakeSignal>> {
        let mut signals = self.wake_signals();
        if let Some(wake_signal) = signals.get(&recipient) {
            wake_signal.set();
            return None;
        }
        let wake_signal = Arc::new(WakeSignal::default());
        signals.insert(recipient, Arc::clone(&wake_signal));
        Some(wake_signal)
    }

    /// Removes the recipient's worker, unless it was woken meanwhile.
    pub(super) fn remove_if_idle(&self, recipient: Recipient, wake_signal: &WakeSignal) -> bool {
        let mut signals = self.wake_signals();
        let is_idle = !wake_signal.is_set.load(Ordering::SeqCst);
        if is_idle {
            signals.remove(&recipient);
        }
        is_idle
    }

    /// Removes the recipient's worker, which failed.
    pub(super) fn remove(&self, recipient: Recipient) {
        self.wake_signals().remove(&recipient);
    }

    fn wake_signals(&self) -> MutexGuard<'_, HashMap<Recipient, Arc<WakeSignal>>> {
        self.wake_signals.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
