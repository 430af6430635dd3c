//! The writer's line to a database on another machine: whether it still is, when it was lost, and
//! when it is tried again. SQLite's is a file of ours and is never lost.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::Poll;
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::Instant;

use crate::StoreError;
use crate::db::Connection;
use crate::engine::Owner;

/// After so long without work the database is asked whether it still is there.
const QUIET: Duration = Duration::from_secs(10);
/// Work that has not moved for so long does not any more. Less than one statement is given, so that
/// one that hangs ends all of its transaction.
const PATIENCE: Duration = Duration::from_secs(50);
/// The first pause between two tries, which doubles each time.
const PAUSE_FIRST: Duration = Duration::from_millis(100);
/// The longest pause between two tries.
const PAUSE_MAX: Duration = Duration::from_secs(5);

/// The line of one writer.
pub(crate) struct Line {
    /// `None` where the line cannot be lost.
    owner: Option<Owner>,
    lost: Option<Lost>,
    state: State,
}

/// What others see of the line: why it is lost, while it is; and whether it is so for good, because
/// another server owns the database.
#[derive(Clone, Default)]
pub(crate) struct State {
    lost: Arc<Mutex<Option<String>>>,
    taken_over: Arc<watch::Sender<bool>>,
}

/// How long work may stand still. How long it takes in all has no bound: a transaction that tells many
/// channels of many monitors is thousands of errands, and one that was given up would be tried for good.
#[derive(Clone, Copy)]
pub(crate) struct Patience(Option<Duration>);

struct Lost {
    why: String,
    pause: Duration,
    again_at: Instant,
}

impl Line {
    /// The line of a writer that is connected, as the owner of a database on another machine.
    pub(crate) fn new(owner: Option<Owner>) -> Self {
        Self { owner, lost: None, state: State::default() }
    }

    pub(crate) fn state(&self) -> State {
        self.state.clone()
    }

    /// When it is time to look after the line, unless there is work before; never where it cannot be
    /// lost.
    pub(crate) fn quiet(&self) -> Option<Instant> {
        self.owner.as_ref()?;
        Some(self.lost.as_ref().map_or_else(|| Instant::now() + QUIET, |it| it.again_at))
    }

    /// How long work may stand still: on another machine not for ever.
    pub(crate) fn patience(&self) -> Patience {
        Patience(self.owner.is_some().then_some(PATIENCE))
    }

    /// The line does not answer any more.
    pub(crate) fn lose(&mut self, why: &str) {
        if self.owner.is_none() {
            tracing::debug!("after a failed commit there was nothing to undo: {why}");
            return;
        }
        tracing::error!("the connection to the database was lost: {why}");
        let again_at = Instant::now();
        self.lost = Some(Lost { why: why.to_owned(), pause: PAUSE_FIRST, again_at });
        self.state.set(Some(why.to_owned()));
    }

    /// Whether the line is lost and not back yet.
    pub(crate) fn is_lost(&self) -> bool {
        self.lost.is_some()
    }

    /// A new connection where the line was lost and is back; `None` where it was not lost; or why
    /// there is none now. Tries at most once in each pause.
    pub(crate) async fn restore(&mut self) -> Result<Option<Connection>, String> {
        let (Some(owner), Some(lost)) = (&self.owner, &mut self.lost) else { return Ok(None) };
        if Instant::now() < lost.again_at {
            return Err(lost.why.clone());
        }
        match owner.reconnect().await {
            Ok(db) => {
                tracing::info!("the connection to the database is back");
                self.lost = None;
                self.state.set(None);
                Ok(Some(db))
            }
            Err(error) => {
                if matches!(error, StoreError::TakenOver) {
                    self.state.taken_over.send_replace(true);
                }
                lost.why = error.to_string();
                lost.again_at = Instant::now() + lost.pause;
                lost.pause = PAUSE_MAX.min(lost.pause * 2);
                self.state.set(Some(lost.why.clone()));
                Err(lost.why.clone())
            }
        }
    }
}

impl State {
    /// Why the line is lost, while it is.
    pub(crate) fn lost(&self) -> Option<String> {
        self.lost.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Whether another server owns the database.
    pub(crate) fn is_taken_over(&self) -> bool {
        *self.taken_over.borrow()
    }

    /// Ends when another server owns the database, which need never be.
    pub(crate) async fn taken_over(&self) {
        let mut taken_over = self.taken_over.subscribe();
        taken_over.wait_for(|it| *it).await.expect("this holds the other end");
    }

    fn set(&self, why: Option<String>) {
        *self.lost.lock().unwrap_or_else(PoisonError::into_inner) = why;
    }
}

impl Patience {
    /// Waits for an answer, or says that nothing moved any more.
    pub(crate) async fn wait<T>(self, answer: impl Future<Output = T>) -> Result<T, String> {
        match self.0 {
            None => Ok(answer.await),
            Some(limit) => while_moving(answer, || tokio::time::sleep(limit))
                .await
                .ok_or_else(|| format!("the database did not respond in {} s", limit.as_secs())),
        }
    }
}

/// Waits for `work`; `None` where the time comes before to look after the line.
pub(crate) async fn while_quiet<T>(
    until: Option<Instant>,
    work: impl Future<Output = T>,
) -> Option<T> {
    match until {
        None => Some(work.await),
        Some(until) => tokio::time::timeout_at(until, work).await.ok(),
    }
}

/// What `work` comes to; `None` where a `pause` passes without a step of it.
async fn while_moving<T, P: Future<Output = ()>>(
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
        // Whatever woke this was not the pause: a step was made, and the pause begins anew.
        still.set(pause());
        still.as_mut().poll(cx).map(|()| None)
    })
    .await
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    /// Ends at its second look, or never.
    async fn a_pause(ends: bool) {
        tokio::task::yield_now().await;
        if !ends {
            std::future::pending::<()>().await;
        }
    }

    #[tokio::test]
    async fn work_that_moves_is_waited_for_however_long_it_takes() {
        let begun = Cell::new(0);
        // The first pause would end at the second step; each step begins another one.
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
        assert_eq!(while_moving(work, pause).await, Some("done"));
    }

    #[tokio::test]
    async fn work_that_stands_still_is_given_up() {
        let (stands, at_once) = (std::future::pending::<()>(), || std::future::ready(()));
        assert_eq!(while_moving(stands, at_once).await, None);
    }
}
