//! How much is sent at a time: to one receiver, and in all. A receiver that hangs holds its own places
//! and nobody else's.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Messages on their way to one receiver: one host with its port, or the mail server.
const AT_ONE_RECEIVER: usize = 16;
/// Messages on their way in all.
const IN_ALL: usize = 512;
/// Receivers that are remembered before those that nothing is sent to are forgotten.
const RECEIVERS_TIDIED_FROM: usize = 1_024;

/// The places that there are.
#[derive(Debug)]
pub(super) struct Places {
    all: Arc<Semaphore>,
    receivers: Mutex<HashMap<String, Weak<Semaphore>>>,
}

/// The place of one message. It is free again when this is dropped.
#[derive(Debug)]
pub(super) struct Place {
    _at_receiver: OwnedSemaphorePermit,
    _in_all: OwnedSemaphorePermit,
}

impl Places {
    pub(super) fn new() -> Self {
        Self { all: Arc::new(Semaphore::new(IN_ALL)), receivers: Mutex::default() }
    }

    /// A place on the way to `receiver` where one is free.
    pub(super) fn take_now(&self, receiver: &str) -> Option<Place> {
        let at_receiver = self.of(receiver).try_acquire_owned().ok()?;
        let in_all = Arc::clone(&self.all).try_acquire_owned().ok()?;
        Some(Place { _at_receiver: at_receiver, _in_all: in_all })
    }

    /// A place on the way to `receiver`, in turn. Who waits for a receiver holds no place that another
    /// one could use.
    pub(super) async fn take(&self, receiver: &str) -> Place {
        const OPEN: &str = "nobody closes these semaphores";
        let at_receiver = self.of(receiver).acquire_owned().await.expect(OPEN);
        let in_all = Arc::clone(&self.all).acquire_owned().await.expect(OPEN);
        Place { _at_receiver: at_receiver, _in_all: in_all }
    }

    fn of(&self, receiver: &str) -> Arc<Semaphore> {
        let mut receivers = self.receivers.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = receivers.get(receiver).and_then(Weak::upgrade) {
            return known;
        }
        if receivers.len() >= RECEIVERS_TIDIED_FROM {
            receivers.retain(|_, places| places.strong_count() > 0);
        }
        let places = Arc::new(Semaphore::new(AT_ONE_RECEIVER));
        receivers.insert(receiver.to_owned(), Arc::downgrade(&places));
        places
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_receiver_that_hangs_holds_its_own_places_and_nobody_else_s() {
        let places = Places::new();
        let held: Vec<_> = std::iter::from_fn(|| places.take_now("hangs:443")).collect();
        assert_eq!(held.len(), AT_ONE_RECEIVER);
        assert!(places.take_now("answers:443").is_some());
        drop(held);
        assert!(places.take_now("hangs:443").is_some());
    }

    #[test]
    fn there_is_an_end_to_what_is_sent_at_once() {
        let places = Places::new();
        let held: Vec<_> = (0..2 * IN_ALL)
            .filter_map(|number| places.take_now(&format!("receiver-{}", number % 64)))
            .collect();
        assert_eq!(held.len(), IN_ALL);
    }

    #[test]
    fn receivers_that_nothing_is_sent_to_are_forgotten() {
        let places = Places::new();
        let _held = places.take_now("kept");
        for number in 0..3 * RECEIVERS_TIDIED_FROM {
            places.take_now(&format!("receiver-{number}"));
        }
        let known = places.receivers.lock().unwrap();
        assert!(known.len() <= RECEIVERS_TIDIED_FROM && known.contains_key("kept"));
    }
}
