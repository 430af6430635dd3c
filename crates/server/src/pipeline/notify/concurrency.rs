//! Concurrency limits of sending: per receiver, per workspace and in total. A receiver that hangs
//! uses up only its own permits, as does a workspace whose receivers all hang.

use std::borrow::Borrow;
use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use rules::WorkspaceId;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Maximum number of messages in progress to one receiver: a host with its port, or the mail
/// server.
const AT_ONE_RECEIVER: usize = 16;
/// Maximum number of messages in progress for one workspace.
const OF_ONE_WORKSPACE: usize = 128;
/// Maximum number of messages in progress in total.
const IN_ALL: usize = 512;
/// Number of receivers or workspaces from which idle ones are removed.
const TIDIED_FROM: usize = 1_024;
/// Reason that acquiring a permit cannot fail.
const OPEN: &str = "nobody closes these semaphores";

/// Concurrency limits of sending.
#[derive(Debug)]
pub(super) struct ConcurrencyLimits {
    all: Arc<Semaphore>,
    workspaces: Shares<WorkspaceId>,
    receivers: Shares<String>,
}

/// Permit of one message, released on drop.
#[derive(Debug)]
pub(super) struct Permit {
    _of_workspace: OwnedSemaphorePermit,
    _at_receiver: OwnedSemaphorePermit,
    _in_all: OwnedSemaphorePermit,
}

/// Semaphores of the same size, one for each key.
#[derive(Debug)]
struct Shares<Of> {
    each: usize,
    known: Mutex<HashMap<Of, Weak<Semaphore>>>,
}

impl ConcurrencyLimits {
    pub(super) fn new() -> Self {
        Self {
            all: Arc::new(Semaphore::new(IN_ALL)),
            workspaces: Shares::new(OF_ONE_WORKSPACE),
            receivers: Shares::new(AT_ONE_RECEIVER),
        }
    }

    /// Returns a permit for a message of `workspace` to `receiver` if one is free.
    pub(super) fn take_now(&self, workspace: WorkspaceId, receiver: &str) -> Option<Permit> {
        let of_workspace = self.workspaces.of(&workspace).try_acquire_owned().ok()?;
        let at_receiver = self.receivers.of(receiver).try_acquire_owned().ok()?;
        let in_all = Arc::clone(&self.all).try_acquire_owned().ok()?;
        Some(Permit { _of_workspace: of_workspace, _at_receiver: at_receiver, _in_all: in_all })
    }

    /// Waits in turn for a permit for a message of `workspace` to `receiver`. Holds no permit that
    /// another message could use meanwhile.
    pub(super) async fn take(&self, workspace: WorkspaceId, receiver: &str) -> Permit {
        let (workspace, receiver) = (self.workspaces.of(&workspace), self.receivers.of(receiver));
        let (of_workspace, at_receiver) = both(&workspace, &receiver).await;
        let in_all = Arc::clone(&self.all).acquire_owned().await.expect(OPEN);
        Permit { _of_workspace: of_workspace, _at_receiver: at_receiver, _in_all: in_all }
    }
}

impl<Of: Eq + Hash> Shares<Of> {
    fn new(each: usize) -> Self {
        Self { each, known: Mutex::default() }
    }

    fn of<Name>(&self, whose: &Name) -> Arc<Semaphore>
    where
        Of: Borrow<Name>,
        Name: Eq + Hash + ToOwned<Owned = Of> + ?Sized,
    {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(places) = known.get(whose).and_then(Weak::upgrade) {
            return places;
        }
        if known.len() >= TIDIED_FROM {
            known.retain(|_, places| places.strong_count() > 0);
        }
        let places = Arc::new(Semaphore::new(self.each));
        known.insert(whose.to_owned(), Arc::downgrade(&places));
        places
    }
}

/// Acquires a permit of each semaphore. Holds none of one while waiting for the other.
async fn both(
    one: &Arc<Semaphore>,
    other: &Arc<Semaphore>,
) -> (OwnedSemaphorePermit, OwnedSemaphorePermit) {
    loop {
        let of_one = Arc::clone(one).acquire_owned().await.expect(OPEN);
        if let Ok(of_other) = Arc::clone(other).try_acquire_owned() {
            return (of_one, of_other);
        }
        drop(of_one);
        let of_other = Arc::clone(other).acquire_owned().await.expect(OPEN);
        if let Ok(of_one) = Arc::clone(one).try_acquire_owned() {
            return (of_one, of_other);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::future::poll_fn;
    use std::pin::pin;
    use std::task::Poll;

    use super::*;

    const OURS: WorkspaceId = WorkspaceId::from_bits(1);
    const THEIRS: WorkspaceId = WorkspaceId::from_bits(2);

    #[test]
    fn a_receiver_that_hangs_holds_its_own_places_and_nobody_else_s() {
        let places = ConcurrencyLimits::new();
        let held: Vec<_> = std::iter::from_fn(|| places.take_now(OURS, "hangs:443")).collect();
        assert_eq!(held.len(), AT_ONE_RECEIVER);
        assert!(places.take_now(OURS, "answers:443").is_some());
        drop(held);
        assert!(places.take_now(OURS, "hangs:443").is_some());
    }

    #[test]
    fn a_workspace_whose_receivers_all_hang_leaves_the_others_their_places() {
        let places = ConcurrencyLimits::new();
        let hangs = |number: usize| places.take_now(OURS, &format!("hangs-{}:443", number % 64));
        let held: Vec<_> = (0..2 * IN_ALL).filter_map(hangs).collect();
        assert_eq!(held.len(), OF_ONE_WORKSPACE);
        assert!(places.take_now(OURS, "answers:443").is_none());
        assert!(places.take_now(THEIRS, "answers:443").is_some());
        drop(held);
        assert!(places.take_now(OURS, "answers:443").is_some());
    }

    #[tokio::test]
    async fn who_waits_for_a_place_of_the_workspace_holds_none_at_the_receiver() {
        let places = ConcurrencyLimits::new();
        let hangs = |number: usize| places.take_now(OURS, &format!("hangs-{}:443", number % 64));
        let held: Vec<_> = (0..2 * IN_ALL).filter_map(hangs).collect();
        let mut waiting = pin!(places.take(OURS, "shared:443"));
        poll_fn(|cx| {
            assert!(waiting.as_mut().poll(cx).is_pending());
            Poll::Ready(())
        })
        .await;
        let others = std::iter::from_fn(|| places.take_now(THEIRS, "shared:443"));
        assert_eq!(others.collect::<Vec<_>>().len(), AT_ONE_RECEIVER);
        drop(held);
        waiting.await;
    }

    #[test]
    fn there_is_an_end_to_what_is_sent_at_once() {
        let places = ConcurrencyLimits::new();
        let take = |number: usize| {
            let workspace = WorkspaceId::from_bits(number as u64 % 8);
            places.take_now(workspace, &format!("receiver-{}", number % 64))
        };
        let held: Vec<_> = (0..2 * IN_ALL).filter_map(take).collect();
        assert_eq!(held.len(), IN_ALL);
    }

    #[test]
    fn receivers_that_nothing_is_sent_to_are_forgotten() {
        let places = ConcurrencyLimits::new();
        let _held = places.take_now(OURS, "kept");
        for number in 0..3 * TIDIED_FROM {
            places.take_now(OURS, &format!("receiver-{number}"));
        }
        let known = places.receivers.known.lock().unwrap();
        assert!(known.len() <= TIDIED_FROM && known.contains_key("kept"));
    }
}
