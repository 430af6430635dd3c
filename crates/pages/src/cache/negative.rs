//! Negative cache: keys that were not found. An entry is valid for a few seconds, as long as the
//! store has not changed.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rules::Timestamp;

/// Lifetime of an entry.
const LIFETIME: Duration = Duration::from_secs(5);
/// Maximum number of entries. When it is reached, expired entries are removed, or else all.
const ENTRIES_MAX: usize = 4_096;

/// Keys that were not found, each with the time of the lookup and the generation of the store.
#[derive(Debug)]
pub(crate) struct NegativeCache<K, G>(Mutex<HashMap<K, (Timestamp, G)>>);

impl<K, G> Default for NegativeCache<K, G> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<K: Eq + Hash, G: PartialEq> NegativeCache<K, G> {
    /// Returns whether the key is known to be absent at this generation.
    pub(crate) fn contains(&self, key: &K, generation: &G, now: Timestamp) -> bool {
        let entries = self.lock();
        entries.get(key).is_some_and(|(at, seen)| seen == generation && is_fresh(*at, now))
    }

    /// Records that the key was not found. `generation` must have been taken before the lookup.
    pub(crate) fn record(&self, key: K, generation: G, now: Timestamp) {
        let mut entries = self.lock();
        if entries.len() >= ENTRIES_MAX {
            entries.retain(|_, (at, _)| is_fresh(*at, now));
        }
        if entries.len() >= ENTRIES_MAX {
            entries.clear();
        }
        entries.insert(key, (now, generation));
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<K, (Timestamp, G)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn is_fresh(at: Timestamp, now: Timestamp) -> bool {
    at <= now && now.since(at) < LIFETIME
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn at(seconds: i64) -> Timestamp {
        Timestamp::from_millis(seconds * 1_000)
    }

    #[test]
    fn absent_key_is_cached_briefly_while_unchanged() {
        let absent = NegativeCache::default();
        absent.record("acme", 1, at(10));
        assert!(absent.contains(&"acme", &1, at(14)) && !absent.contains(&"other", &1, at(10)));
        assert!(!absent.contains(&"acme", &1, at(15)), "its moment is over");
        assert!(!absent.contains(&"acme", &2, at(10)), "something changed");
        assert!(!absent.contains(&"acme", &1, at(9)), "the clock went back");
    }

    #[test]
    fn however_much_is_looked_for_little_is_remembered() {
        let absent = NegativeCache::default();
        for number in 0..3 * ENTRIES_MAX {
            absent.record(number, (), at(1));
            assert!(absent.lock().len() <= ENTRIES_MAX);
        }
    }
}
