//! Negative cache: keys that were not found. An entry is valid for a few seconds, as long as the
//! store has not changed.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rules::Timestamp;

/// Lifetime of an entry.
const HOLDS: Duration = Duration::from_secs(5);
/// Maximum number of entries. When it is reached, expired entries are removed, or else all.
const KEPT_MAX: usize = 4_096;

/// Keys that were not found, each with the time of the lookup and the generation of the store.
#[derive(Debug)]
pub(in crate::status_page) struct Absent<K, G>(Mutex<HashMap<K, (Timestamp, G)>>);

impl<K, G> Default for Absent<K, G> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<K: Eq + Hash, G: PartialEq> Absent<K, G> {
    /// Returns whether the key is known to be absent at this generation.
    pub(in crate::status_page) fn has(&self, key: &K, generation: &G, now: Timestamp) -> bool {
        let kept = self.lock();
        kept.get(key).is_some_and(|(at, of)| of == generation && holds(*at, now))
    }

    /// Records that the key was not found. `generation` must have been taken before the lookup.
    pub(in crate::status_page) fn note(&self, key: K, generation: G, now: Timestamp) {
        let mut kept = self.lock();
        if kept.len() >= KEPT_MAX {
            kept.retain(|_, (at, _)| holds(*at, now));
        }
        if kept.len() >= KEPT_MAX {
            kept.clear();
        }
        kept.insert(key, (now, generation));
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<K, (Timestamp, G)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn holds(at: Timestamp, now: Timestamp) -> bool {
    at <= now && now.since(at) < HOLDS
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn at(seconds: i64) -> Timestamp {
        Timestamp::from_millis(seconds * 1_000)
    }

    #[test]
    fn what_is_not_there_is_remembered_for_a_moment_while_nothing_changes() {
        let absent = Absent::default();
        absent.note("acme", 1, at(10));
        assert!(absent.has(&"acme", &1, at(14)) && !absent.has(&"other", &1, at(10)));
        assert!(!absent.has(&"acme", &1, at(15)), "its moment is over");
        assert!(!absent.has(&"acme", &2, at(10)), "something changed");
        assert!(!absent.has(&"acme", &1, at(9)), "the clock went back");
    }

    #[test]
    fn however_much_is_looked_for_little_is_remembered() {
        let absent = Absent::default();
        for number in 0..3 * KEPT_MAX {
            absent.note(number, (), at(1));
            assert!(absent.lock().len() <= KEPT_MAX);
        }
    }
}
