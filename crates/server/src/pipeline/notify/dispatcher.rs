//! Dispatcher of the delivery workers: which workers run, what they share, and how they are woken
//! and stopped.

use std::collections::HashMap;
use std::panic::AssertUnwindSafe;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures_util::FutureExt as _;
use store::{Recipient, Store};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tracing::error;

use super::fan_out_worker::FanOutWorker;
use super::send::Sender;
use super::worker::DeliveryWorker;
use crate::observe::Metrics;

/// State that all delivery workers share.
#[derive(Debug)]
pub(super) struct Dispatcher {
    pub(super) sender: Sender,
    pub(super) store: Store,
    pub(super) metrics: Metrics,
    /// Starts nothing new once cancelled.
    pub(super) stop: CancellationToken,
    /// Aborts attempts and recording once cancelled.
    pub(super) abandon: CancellationToken,
    pub(super) workers: TaskTracker,
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

impl Dispatcher {
    pub(super) fn new(sender: Sender, store: Store, metrics: Metrics) -> Self {
        Self {
            sender,
            store,
            metrics,
            stop: CancellationToken::new(),
            abandon: CancellationToken::new(),
            workers: TaskTracker::new(),
            wake_signals: Mutex::default(),
        }
    }

    /// Wakes the recipient's worker because something may be due, or starts one.
    pub(super) fn wake(self: &Arc<Self>, recipient: Recipient) {
        if self.stop.is_cancelled() {
            return;
        }
        let mut out = self.wake_signals();
        if let Some(wake_signal) = out.get(&recipient) {
            wake_signal.set();
            return;
        }
        let wake_signal = Arc::new(WakeSignal::default());
        out.insert(recipient, Arc::clone(&wake_signal));
        let dispatcher = Arc::clone(self);
        self.workers.spawn(async move {
            let work = work(Arc::clone(&dispatcher), recipient, wake_signal);
            // Cancels a worker that waits for the database, too.
            let run = dispatcher.abandon.run_until_cancelled(work);
            if AssertUnwindSafe(run).catch_unwind().await.is_err() {
                error!(%recipient, "a delivery task failed: this is a bug");
                dispatcher.wake_signals().remove(&recipient);
            }
        });
    }

    /// Starts a worker as in [`Self::wake`], unless one is running.
    pub(super) fn wake_new(self: &Arc<Self>, recipient: Recipient) {
        if !self.wake_signals().contains_key(&recipient) {
            self.wake(recipient);
        }
    }

    /// Removes the recipient's worker, unless it was woken meanwhile.
    pub(super) fn stop_if_idle(&self, recipient: Recipient, wake_signal: &WakeSignal) -> bool {
        let mut out = self.wake_signals();
        let may = !wake_signal.is_set.load(Ordering::SeqCst);
        if may {
            out.remove(&recipient);
        }
        may
    }

    fn wake_signals(&self) -> MutexGuard<'_, HashMap<Recipient, Arc<WakeSignal>>> {
        self.wake_signals.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Sends due deliveries to a channel or subscriber, or fans out the events of a page.
async fn work(dispatcher: Arc<Dispatcher>, recipient: Recipient, wake_signal: Arc<WakeSignal>) {
    match recipient {
        Recipient::Channel(_) | Recipient::Subscriber(_) => {
            DeliveryWorker { dispatcher, recipient, wake_signal }.run().await;
        }
        Recipient::Page(page) => {
            FanOutWorker { dispatcher, page, wake_signal }.run().await;
        }
    }
}
