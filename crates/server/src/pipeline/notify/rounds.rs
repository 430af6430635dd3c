//! The couriers' common ground: who is out for which channel, what they work with, and how they are
//! called and sent home.

use std::collections::HashMap;
use std::panic::AssertUnwindSafe;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures_util::FutureExt as _;
use rules::ChannelId;
use store::Store;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tracing::error;

use super::courier::Courier;
use super::send::Sender;
use crate::observe::Metrics;

/// What all couriers share.
#[derive(Debug)]
pub(super) struct Rounds {
    pub(super) sender: Sender,
    pub(super) store: Store,
    pub(super) metrics: Metrics,
    /// Nothing is begun any more.
    pub(super) stop: CancellationToken,
    /// What is on its way or waits to be written down is given up.
    pub(super) abandon: CancellationToken,
    pub(super) couriers: TaskTracker,
    out: Mutex<HashMap<ChannelId, Arc<Bell>>>,
}

/// Calls a courier that may be busy: what was rung before it looks is not heard twice, what is rung
/// after is not missed.
#[derive(Debug, Default)]
pub(super) struct Bell {
    is_rung: AtomicBool,
    notify: Notify,
}

impl Bell {
    /// There may be something new.
    fn ring(&self) {
        self.is_rung.store(true, Ordering::SeqCst);
        self.notify.notify_one();
    }

    /// Whoever looks now sees all that was rung for.
    pub(super) fn hush(&self) {
        self.is_rung.store(false, Ordering::SeqCst);
    }

    /// Ends when it was rung since.
    pub(super) async fn heard(&self) {
        while !self.is_rung.load(Ordering::SeqCst) {
            self.notify.notified().await;
        }
    }
}

impl Rounds {
    pub(super) fn new(sender: Sender, store: Store, metrics: Metrics) -> Self {
        Self {
            sender,
            store,
            metrics,
            stop: CancellationToken::new(),
            abandon: CancellationToken::new(),
            couriers: TaskTracker::new(),
            out: Mutex::default(),
        }
    }

    /// Something may be due on this channel: its courier looks, or a new one goes out.
    pub(super) fn call(self: &Arc<Self>, channel: ChannelId) {
        if self.stop.is_cancelled() {
            return;
        }
        let mut out = self.out();
        if let Some(bell) = out.get(&channel) {
            bell.ring();
            return;
        }
        let bell = Arc::new(Bell::default());
        out.insert(channel, Arc::clone(&bell));
        let courier = Courier { rounds: Arc::clone(self), channel, bell };
        let rounds = Arc::clone(self);
        self.couriers.spawn(async move {
            // One that waits for the database is given up too.
            let run = rounds.abandon.run_until_cancelled(courier.run());
            if AssertUnwindSafe(run).catch_unwind().await.is_err() {
                error!(channel.id = %channel, "a courier failed: this is a mistake of ours");
                rounds.out().remove(&channel);
            }
        });
    }

    /// Like [`Self::call`], where nobody is out.
    pub(super) fn call_new(self: &Arc<Self>, channel: ChannelId) {
        if !self.out().contains_key(&channel) {
            self.call(channel);
        }
    }

    /// The courier of this channel goes home, unless it was called meanwhile.
    pub(super) fn retire(&self, channel: ChannelId, bell: &Bell) -> bool {
        let mut out = self.out();
        let may = !bell.is_rung.load(Ordering::SeqCst);
        if may {
            out.remove(&channel);
        }
        may
    }

    fn out(&self) -> MutexGuard<'_, HashMap<ChannelId, Arc<Bell>>> {
        self.out.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
