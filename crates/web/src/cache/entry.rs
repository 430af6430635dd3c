//! Entries of a cache, and the exclusive right to read a value.

use std::hash::Hash;
use std::sync::Arc;

use quick_cache::Weighter;
use rules::Timestamp;
use tokio::sync::{Mutex, OwnedMutexGuard};

use super::Cache;

/// Entry of a key. It is replaced as a whole, because its size must not change in place.
#[derive(Debug)]
pub(super) struct Entry<V, G> {
    /// Held by the request that reads the value.
    pub(super) read_lock: Arc<Mutex<()>>,
    pub(super) reading: Option<Reading<V, G>>,
    pub(super) bytes: usize,
}

#[derive(Debug)]
pub(super) struct Reading<V, G> {
    pub(super) value: V,
    pub(super) at: Timestamp,
    pub(super) generation: G,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct EntryWeighter;

/// Exclusive right to read a value. If the read ends without one, also because its request was
/// cancelled, the entry is removed, so that it evicts no values.
pub(super) struct ReadGuard<'c, K, V, G>
where
    K: Clone + Eq + Hash,
    V: Clone,
    G: Clone + PartialEq,
{
    cache: &'c Cache<K, V, G>,
    pub(super) key: K,
    /// `None` only while it is dropped.
    guard: Option<OwnedMutexGuard<()>>,
}

impl<K, V, G> Weighter<K, Arc<Entry<V, G>>> for EntryWeighter {
    fn weight(&self, _: &K, entry: &Arc<Entry<V, G>>) -> u64 {
        entry.bytes as u64
    }
}

impl<V, G> Entry<V, G> {
    /// Returns whether a request reads the value or waits for it.
    pub(super) fn is_being_read(&self) -> bool {
        Arc::strong_count(&self.read_lock) > 1
    }
}

impl<'c, K, V, G> ReadGuard<'c, K, V, G>
where
    K: Clone + Eq + Hash,
    V: Clone,
    G: Clone + PartialEq,
{
    pub(super) fn new(cache: &'c Cache<K, V, G>, key: K, guard: OwnedMutexGuard<()>) -> Self {
        Self { cache, key, guard: Some(guard) }
    }

    pub(super) fn lock(&self) -> Arc<Mutex<()>> {
        self.guard.as_ref().map(|it| Arc::clone(OwnedMutexGuard::mutex(it))).unwrap_or_default()
    }
}

impl<K, V, G> Drop for ReadGuard<'_, K, V, G>
where
    K: Clone + Eq + Hash,
    V: Clone,
    G: Clone + PartialEq,
{
    fn drop(&mut self) {
        drop(self.guard.take());
        let is_unused =
            |entry: &Arc<Entry<V, G>>| entry.reading.is_none() && !entry.is_being_read();
        self.cache.entries.remove_if(&self.key, is_unused);
    }
}
