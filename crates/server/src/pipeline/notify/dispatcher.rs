//! Dispatcher of the delivery workers: starts the worker of a recipient that has something due, or
//! wakes it.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use futures_util::FutureExt as _;
use store::Recipient;
use tokio_util::task::TaskTracker;
use tracing::error;

use super::fan_out_worker::FanOutWorker;
use super::worker::DeliveryWorker;
use super::worker_context::{WakeSignal, WorkerContext};

/// The running delivery workers, with the state that they share.
#[derive(Debug)]
pub(super) struct Dispatcher {
    pub(super) context: Arc<WorkerContext>,
    pub(super) workers: TaskTracker,
}

impl Dispatcher {
    pub(super) fn new(context: WorkerContext) -> Self {
        Self { context: Arc::new(context), workers: TaskTracker::new() }
    }

    /// Wakes the recipient's worker because something may be due, or starts one.
    pub(super) fn wake(&self, recipient: Recipient) {
        if self.context.stop.is_cancelled() {
            return;
        }
        let Some(wake_signal) = self.context.wake_or_add(recipient) else { return };
        let context = Arc::clone(&self.context);
        self.workers.spawn(async move {
            let work = work(Arc::clone(&context), recipient, wake_signal);
            // Cancels a worker that waits for the database, too.
            let run = context.abandon.run_until_cancelled(work);
            if AssertUnwindSafe(run).catch_unwind().await.is_err() {
                error!(%recipient, "a delivery task failed: this is a bug");
                context.remove(recipient);
            }
        });
    }

    /// Starts a worker as in [`Self::wake`], unless one is running.
    pub(super) fn wake_new(&self, recipient: Recipient) {
        if !self.context.has_worker(recipient) {
            self.wake(recipient);
        }
    }
}

/// Sends due deliveries to a channel or subscriber, or fans out the events of a page.
async fn work(context: Arc<WorkerContext>, recipient: Recipient, wake_signal: Arc<WakeSignal>) {
    match recipient {
        Recipient::Channel(_) | Recipient::Subscriber(_) => {
            DeliveryWorker { context, recipient, wake_signal }.run().await;
        }
        Recipient::Page(page) => {
            FanOutWorker { context, page, wake_signal }.run().await;
        }
    }
}
