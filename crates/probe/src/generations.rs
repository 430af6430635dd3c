//! A cache of results by a hash of their input, bounded without tracking the order of use.

use std::collections::HashMap;

/// Hash of an input.
pub(crate) type Key = [u8; 32];

/// Two generations: accessed entries move to the young one. When it is full, it replaces the old
/// one. This approximates least-recently-used eviction without tracking the order of use.
#[derive(Debug)]
pub(crate) struct Generations<T> {
    young: HashMap<Key, T>,
    old: HashMap<Key, T>,
    /// Maximum number of entries in each of the two.
    max: usize,
}

impl<T: Clone> Generations<T> {
    /// Creates an empty cache whose generations have at most `max` entries.
    pub(crate) fn new(max: usize) -> Self {
        Self { young: HashMap::new(), old: HashMap::new(), max }
    }

    /// Returns the entry of this key.
    pub(crate) fn find(&mut self, key: Key) -> Option<T> {
        if let Some(known) = self.young.get(&key) {
            return Some(known.clone());
        }
        let known = self.old.remove(&key)?;
        self.store(key, known.clone());
        Some(known)
    }

    /// Adds an entry.
    pub(crate) fn store(&mut self, key: Key, entry: T) {
        if self.young.len() >= self.max {
            self.old = std::mem::take(&mut self.young);
        }
        self.young.insert(key, entry);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MAX: usize = 100;

    fn key(number: usize) -> Key {
        let mut key = [0; 32];
        key[..8].copy_from_slice(&number.to_be_bytes());
        key
    }

    #[test]
    fn used_entries_outlive_unused_ones() {
        let mut kept = Generations::new(MAX);
        for number in 0..10 * MAX {
            kept.store(key(number), number);
            assert!(kept.find(key(0)).is_some(), "used again after {number} others");
        }
        assert!(kept.find(key(1)).is_none());
        assert!(kept.young.len() + kept.old.len() <= 2 * MAX);
    }
}
