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
const OPEN: &str = "the semaphores are never closed";

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
    semaphores: Mutex<HashMap<Of, Weak<Semaphore>>>,
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
    pub(super) fn try_acquire(&self, workspace: WorkspaceId, receiver: &str) -> Option<Permit> {
        let of_workspace = self.workspaces.semaphore(&workspace).try_acquire_owned().ok()?;
        let at_receiver = self.receivers.semaphore(receiver).try_acquire_owned().ok()?;
        let in_all = Arc::clone(&self.all).try_acquire_owned().ok()?;
        Some(Permit { _of_workspace: of_workspace, _at_receiver: at_receiver, _in_all: in_all })
    }

    /// Waits in turn for a permit for a message of `workspace` to `receiver`. Holds no permit that
    /// another message could use meanwhile.
    pub(super) async fn acquire(&self, workspace: WorkspaceId, receiver: &str) -> Permit {
        let (workspace, receiver) =
            (self.workspaces.semaphore(&workspace), self.receivers.semaphore(receiver));
        let (of_workspace, at_receiver) = acquire_both(&workspace, &receiver).await;
        let in_all = Arc::clone(&self.all).acquire_owned().await.expect(OPEN);
        Permit { _of_workspace: of_workspace, _at_receiver: at_receiver, _in_all: in_all }
    }
}

impl<Of: Eq + Hash> Shares<Of> {
    fn new(each: usize) -> Self {
        Self { each, semaphores: Mutex::default() }
    }

    fn semaphore<Name>(&self, whose: &Name) -> Arc<Semaphore>
    where
        Of: Borrow<Name>,
        Name: Eq + Hash + ToOwned<Owned = Of> + ?Sized,
    {
        let mut known = self.semaphores.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(permits) = known.get(whose).and_then(Weak::upgrade) {
            return permits;
        }
        if known.len() >= TIDIED_FROM {
            known.retain(|_, permits| permits.strong_count() > 0);
        }
        let permits = Arc::new(Semaphore::new(self.each));
        known.insert(whose.to_owned(), Arc::downgrade(&permits));
        permits
    }
}

/// Acquires a permit of each semaphore. Holds none of one while waiting for the other.
async fn acquire_both(
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
    fn hanging_receiver_uses_only_its_own_permits() {
        let limits = ConcurrencyLimits::new();
        let held: Vec<_> = std::iter::from_fn(|| limits.try_acquire(OURS, "hangs:443")).collect();
        assert_eq!(held.len(), AT_ONE_RECEIVER);
        assert!(limits.try_acquire(OURS, "answers:443").is_some());
        drop(held);
        assert!(limits.try_acquire(OURS, "hangs:443").is_some());
    }

    #[test]
    fn hanging_workspace_leaves_permits_to_others() {
        let limits = ConcurrencyLimits::new();
        let hangs = |number: usize| limits.try_acquire(OURS, &format!("hangs-{}:443", number % 64));
        let held: Vec<_> = (0..2 * IN_ALL).filter_map(hangs).collect();
        assert_eq!(held.len(), OF_ONE_WORKSPACE);
        assert!(limits.try_acquire(OURS, "answers:443").is_none());
        assert!(limits.try_acquire(THEIRS, "answers:443").is_some());
        drop(held);
        assert!(limits.try_acquire(OURS, "answers:443").is_some());
    }

    #[tokio::test]
    async fn waiting_for_workspace_holds_no_receiver_permit() {
        let limits = ConcurrencyLimits::new();
        let hangs = |number: usize| limits.try_acquire(OURS, &format!("hangs-{}:443", number % 64));
        let held: Vec<_> = (0..2 * IN_ALL).filter_map(hangs).collect();
        let mut waiting = pin!(limits.acquire(OURS, "shared:443"));
        poll_fn(|cx| {
            assert!(waiting.as_mut().poll(cx).is_pending());
            Poll::Ready(())
        })
        .await;
        let others = std::iter::from_fn(|| limits.try_acquire(THEIRS, "shared:443"));
        assert_eq!(others.collect::<Vec<_>>().len(), AT_ONE_RECEIVER);
        drop(held);
        waiting.await;
    }

    #[test]
    fn total_concurrency_is_limited() {
        let limits = ConcurrencyLimits::new();
        let take = |number: usize| {
            let workspace = WorkspaceId::from_bits(number as u64 % 8);
            limits.try_acquire(workspace, &format!("receiver-{}", number % 64))
        };
        let held: Vec<_> = (0..2 * IN_ALL).filter_map(take).collect();
        assert_eq!(held.len(), IN_ALL);
    }

    #[test]
    fn idle_receivers_are_evicted() {
        let limits = ConcurrencyLimits::new();
        let _held = limits.try_acquire(OURS, "kept");
        for number in 0..3 * TIDIED_FROM {
            limits.try_acquire(OURS, &format!("receiver-{number}"));
        }
        let known = limits.receivers.semaphores.lock().unwrap();
        assert!(known.len() <= TIDIED_FROM && known.contains_key("kept"));
    }
}
