//! The couriers' common ground: who is out for whom, what they work with, and how they are
//! called and sent home.

use std::collections::HashMap;
use std::panic::AssertUnwindSafe;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures_util::FutureExt as _;
use store::{Addressee, Store};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tracing::error;

use super::courier::Courier;
use super::messenger::Messenger;
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
    out: Mutex<HashMap<Addressee, Arc<Bell>>>,
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

    /// Something may be due for them: their courier looks, or a new one goes out.
    pub(super) fn call(self: &Arc<Self>, addressee: Addressee) {
        if self.stop.is_cancelled() {
            return;
        }
        let mut out = self.out();
        if let Some(bell) = out.get(&addressee) {
            bell.ring();
            return;
        }
        let bell = Arc::new(Bell::default());
        out.insert(addressee, Arc::clone(&bell));
        let rounds = Arc::clone(self);
        self.couriers.spawn(async move {
            let work = work(Arc::clone(&rounds), addressee, bell);
            // One that waits for the database is given up too.
            let run = rounds.abandon.run_until_cancelled(work);
            if AssertUnwindSafe(run).catch_unwind().await.is_err() {
                error!(%addressee, "a delivery task failed: this is a bug");
                rounds.out().remove(&addressee);
            }
        });
    }

    /// Like [`Self::call`], where nobody is out.
    pub(super) fn call_new(self: &Arc<Self>, addressee: Addressee) {
        if !self.out().contains_key(&addressee) {
            self.call(addressee);
        }
    }

    /// Their courier goes home, unless it was called meanwhile.
    pub(super) fn retire(&self, addressee: Addressee, bell: &Bell) -> bool {
        let mut out = self.out();
        let may = !bell.is_rung.load(Ordering::SeqCst);
        if may {
            out.remove(&addressee);
        }
        may
    }

    fn out(&self) -> MutexGuard<'_, HashMap<Addressee, Arc<Bell>>> {
        self.out.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Sends what is due to a channel or a subscriber, or passes on what a page was told.
async fn work(rounds: Arc<Rounds>, addressee: Addressee, bell: Arc<Bell>) {
    match addressee {
        Addressee::Channel(_) | Addressee::Subscriber(_) => {
            Courier { rounds, addressee, bell }.run().await;
        }
        Addressee::Page(page) => Messenger { rounds, page, bell }.run().await,
    }
}
