//! The writer's connection to a database on another machine: detects its loss and schedules
//! reconnects. SQLite is a local file, so that connection is never lost.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::Poll;
use std::time::Duration;

use domain::backoff::{Backoff, BackoffState};
use tokio::sync::watch;
use tokio::time::Instant;

use crate::StoreError;
use crate::db::Connection;
use crate::engine::Owner;

/// Idle time after which the connection is checked.
const IDLE_CHECK_AFTER: Duration = Duration::from_secs(10);
/// Time without progress after which work is aborted. Single statements get longer, so a statement
/// that hangs ends its whole transaction.
const STALL_TIMEOUT: Duration = Duration::from_secs(50);
/// Delays between two reconnects.
const RECONNECTS: Backoff =
    Backoff { first: Duration::from_millis(100), max: Duration::from_secs(5) };

/// Connection of one writer.
pub(crate) struct WriterConnection {
    /// `None` if the connection cannot be lost.
    owner: Option<Owner>,
    lost: Option<Lost>,
    state: ConnectionState,
}

/// State of the connection, as others see it: the reason while it is lost, and whether it is lost
/// for good, because another server owns the database.
#[derive(Clone, Debug, Default)]
pub(crate) struct ConnectionState {
    lost: Arc<Mutex<Option<String>>>,
    taken_over: Arc<watch::Sender<bool>>,
}

/// Limit on the time without progress. The total time is unlimited: a transaction that alerts many
/// channels about many monitors runs thousands of statements. If it were aborted, every retry would
/// be aborted too.
#[derive(Clone, Copy)]
pub(crate) struct StallTimeout(Option<Duration>);

struct Lost {
    reason: String,
    delays: BackoffState,
    retry_at: Instant,
}

impl WriterConnection {
    /// Creates the state of a connected writer. `owner` is set for a database on another machine.
    pub(crate) fn new(owner: Option<Owner>) -> Self {
        Self { owner, lost: None, state: ConnectionState::default() }
    }

    pub(crate) fn state(&self) -> ConnectionState {
        self.state.clone()
    }

    /// Returns when to check or restore the connection unless there is work before. `None` if it
    /// cannot be lost.
    pub(crate) fn next_check(&self) -> Option<Instant> {
        self.owner.as_ref()?;
        Some(self.lost.as_ref().map_or_else(|| Instant::now() + IDLE_CHECK_AFTER, |it| it.retry_at))
    }

    /// Returns the limit on the time without progress. Unlimited for the embedded database.
    pub(crate) fn stall_timeout(&self) -> StallTimeout {
        StallTimeout(self.owner.is_some().then_some(STALL_TIMEOUT))
    }

    /// Marks the connection as lost.
    pub(crate) fn mark_lost(&mut self, why: &str) {
        if self.owner.is_none() {
            tracing::debug!("nothing to roll back after a failed commit: {why}");
            return;
        }
        tracing::error!("the connection to the database was lost: {why}");
        let again_at = Instant::now();
        self.lost =
            Some(Lost { reason: why.to_owned(), delays: RECONNECTS.pauses(), retry_at: again_at });
        self.state.set(Some(why.to_owned()));
    }

    /// Tells standbys that this server ends, so that one takes over at once.
    pub(crate) async fn release(&self, db: &mut Connection) {
        let Some(owner) = self.owner.as_ref().filter(|_| self.lost.is_none()) else { return };
        if let Err(error) = owner.release(db).await {
            tracing::debug!(%error, "failed to release the database: {error}");
        }
    }

    /// Returns whether the connection is lost and not yet restored.
    pub(crate) fn is_lost(&self) -> bool {
        self.lost.is_some()
    }

    /// Returns a new connection if the lost one could be restored, or `None` if none was lost.
    /// Fails with the reason if the database is unreachable. Connects at most once per delay.
    pub(crate) async fn restore(&mut self) -> Result<Option<Connection>, String> {
        let (Some(owner), Some(lost)) = (&mut self.owner, &mut self.lost) else { return Ok(None) };
        if Instant::now() < lost.retry_at {
            return Err(lost.reason.clone());
        }
        match owner.reconnect().await {
            Ok(db) => {
                tracing::info!("restored the connection to the database");
                self.lost = None;
                self.state.set(None);
                Ok(Some(db))
            }
            Err(error) => {
                if matches!(error, StoreError::TakenOver) {
                    self.state.taken_over.send_replace(true);
                }
                lost.reason = error.to_string();
                lost.retry_at = Instant::now() + lost.delays.next_pause();
                self.state.set(Some(lost.reason.clone()));
                Err(lost.reason.clone())
            }
        }
    }
}

impl ConnectionState {
    /// Returns the reason while the connection is lost.
    pub(crate) fn lost(&self) -> Option<String> {
        self.lost.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Returns whether another server owns the database.
    pub(crate) fn is_taken_over(&self) -> bool {
        *self.taken_over.borrow()
    }

    /// Returns the flag whether another server owns the database.
    pub(crate) fn taken_over(&self) -> Arc<watch::Sender<bool>> {
        Arc::clone(&self.taken_over)
    }

    /// Waits until another server owns the database, which may never happen.
    pub(crate) async fn wait_for_takeover(&self) {
        let mut taken_over = self.taken_over.subscribe();
        taken_over.wait_for(|it| *it).await.expect("`self` holds the sender");
    }

    fn set(&self, why: Option<String>) {
        *self.lost.lock().unwrap_or_else(PoisonError::into_inner) = why;
    }
}

impl StallTimeout {
    /// Waits for a response. Fails if there is no progress within the limit.
    pub(crate) async fn wait<T>(self, response: impl Future<Output = T>) -> Result<T, String> {
        match self.0 {
            None => Ok(response.await),
            Some(limit) => with_stall_timeout(response, || tokio::time::sleep(limit))
                .await
                .ok_or_else(|| format!("the database did not respond in {} s", limit.as_secs())),
        }
    }
}

/// Waits for `work`, or returns `None` at the time to check the connection.
pub(crate) async fn until_check<T>(
    until: Option<Instant>,
    work: impl Future<Output = T>,
) -> Option<T> {
    match until {
        None => Some(work.await),
        Some(until) => tokio::time::timeout_at(until, work).await.ok(),
    }
}

/// Waits for `work`, or returns `None` after a `delay` without progress.
async fn with_stall_timeout<T, P: Future<Output = ()>>(
    work: impl Future<Output = T>,
    pause: impl Fn() -> P,
) -> Option<T> {
    let mut work = pin!(work);
    let mut still = pin!(pause());
    poll_fn(|cx| {
        let is_over = still.as_mut().poll(cx).is_ready();
        if let Poll::Ready(done) = work.as_mut().poll(cx) {
            return Poll::Ready(Some(done));
        }
        if is_over {
            return Poll::Ready(None);
        }
        // The pause did not cause this wake-up, so `work` made progress. Restart the pause.
        still.set(pause());
        still.as_mut().poll(cx).map(|()| None)
    })
    .await
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    /// Ends when it is polled the second time, or never.
    async fn a_pause(ends: bool) {
        tokio::task::yield_now().await;
        if !ends {
            std::future::pending::<()>().await;
        }
    }

    #[tokio::test]
    async fn progressing_work_is_never_aborted() {
        let begun = Cell::new(0);
        // The first pause would end at the second step. Each step starts another pause.
        let pause = || {
            begun.set(begun.get() + 1);
            a_pause(begun.get() == 1)
        };
        let work = async {
            for _ in 0..10 {
                tokio::task::yield_now().await;
            }
            "done"
        };
        assert_eq!(with_stall_timeout(work, pause).await, Some("done"));
    }

    #[tokio::test]
    async fn stalled_work_is_aborted() {
        let (stands, at_once) = (std::future::pending::<()>(), || std::future::ready(()));
        assert_eq!(with_stall_timeout(stands, at_once).await, None);
    }
}
