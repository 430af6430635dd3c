//! Caches values that are expensive to read. A value is valid for one generation of its source and
//! for a time. Concurrent requests for the same value share one read, and the last value remains at
//! hand if a read fails. `quick_cache` bounds the memory and decides what to evict.

mod metrics;

use std::fmt;
use std::hash::Hash;
use std::sync::Arc;
use std::time::Duration;

use quick_cache::sync::{Cache as Entries, DefaultLifecycle};
use quick_cache::{DefaultHashBuilder, OptionsBuilder, UnitWeighter, Weighter};
use rules::Timestamp;
use tokio::sync::{Mutex, Semaphore};

pub use self::metrics::{CacheCounters, CacheMetrics};

/// Number of independently locked parts. The largest value must fit into one of them.
const SHARDS: usize = 8;
/// Maximum number of absent keys. They are stored apart, so that requests for them evict no value.
const ABSENT_MAX: usize = 4_096;
/// Time for which an absent key is not looked up again.
const ABSENT_FOR: Duration = Duration::from_secs(5);
/// Size of an entry besides its value, in bytes.
const ENTRY_BYTES: usize = 512;

/// Limits of a cache.
#[derive(Clone, Copy, Debug)]
pub struct CachePolicy {
    /// Age from which a value is read again.
    pub fresh_for: Duration,
    /// Maximum size of all values, in bytes.
    pub bytes_max: usize,
    /// Maximum number of concurrent reads, so that other users of the source keep their share.
    pub reads_max: usize,
    /// Maximum time that a request waits for the read of another one, and for its own.
    pub read_within: Duration,
}

/// Cache of values by key. `G` is the generation of the source, for example a change count.
pub struct Cache<K, V, G = ()> {
    entries: Entries<K, Arc<Entry<V, G>>, EntryWeighter>,
    absent: Entries<K, (Timestamp, G), UnitWeighter>,
    policy: CachePolicy,
    /// Returns the size of a key and its value, in bytes.
    size: fn(&K, &V) -> usize,
    reads: Semaphore,
    counters: CacheCounters,
}

/// Failed read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadError<V> {
    pub why: String,
    /// The last value, if there is one.
    pub last: Option<V>,
}

/// Entry of a key. It is replaced as a whole, because its size must not change in place.
#[derive(Debug)]
struct Entry<V, G> {
    /// Held by the request that reads the value.
    turn: Arc<Mutex<()>>,
    reading: Option<Reading<V, G>>,
    bytes: usize,
}

#[derive(Debug)]
struct Reading<V, G> {
    value: V,
    at: Timestamp,
    generation: G,
}

#[derive(Clone, Copy, Debug)]
struct EntryWeighter;

impl<K, V, G> Weighter<K, Arc<Entry<V, G>>> for EntryWeighter {
    fn weight(&self, _: &K, entry: &Arc<Entry<V, G>>) -> u64 {
        entry.bytes as u64
    }
}

impl<K, V, G> Cache<K, V, G>
where
    K: Clone + Eq + Hash,
    V: Clone,
    G: Clone + PartialEq,
{
    /// Creates an empty cache. `size` returns the size of a key and its value, in bytes.
    pub fn new(policy: CachePolicy, size: fn(&K, &V) -> usize, counters: CacheCounters) -> Self {
        Self {
            entries: entries(policy.bytes_max, EntryWeighter),
            absent: entries(ABSENT_MAX, UnitWeighter),
            policy,
            size,
            reads: Semaphore::new(policy.reads_max),
            counters,
        }
    }

    /// Returns the value if it is fresh at this generation.
    pub fn get(&self, key: &K, generation: &G, now: Timestamp) -> Option<V> {
        let value = self.fresh(key, generation, now);
        self.counters.count(value.is_some());
        value
    }

    /// Returns the last value, however old, of any generation.
    pub fn last(&self, key: &K) -> Option<V> {
        let entry = self.entries.peek(key)?;
        entry.reading.as_ref().map(|reading| reading.value.clone())
    }

    /// Stores a value that was read at `now`. The generation must have been taken before the read.
    pub fn put(&self, key: K, value: V, generation: G, now: Timestamp) {
        let turn = self.entries.peek(&key).map(|entry| Arc::clone(&entry.turn));
        self.insert(key, turn.unwrap_or_default(), Reading { value, at: now, generation });
    }

    /// Returns the value, from the cache while it is fresh. `generation` returns the generation of
    /// the source, or `None` while it changes, when nothing can be cached. `read` returns `None` if
    /// the key does not exist.
    pub async fn get_or_read<E: fmt::Display>(
        &self,
        key: K,
        generation: impl Fn() -> Option<G> + Send,
        now: Timestamp,
        read: impl Future<Output = Result<Option<V>, E>> + Send,
    ) -> Result<Option<V>, ReadError<V>> {
        if let Some(value) = generation().and_then(|generation| self.get(&key, &generation, now)) {
            return Ok(Some(value));
        }
        if generation().is_some_and(|generation| self.is_absent(&key, &generation, now)) {
            return Ok(None);
        }
        let turn = self.turn(&key);
        let Ok(_turn) = tokio::time::timeout(self.policy.read_within, turn.lock()).await else {
            return Err(self.read_error(&key, self.too_slow()));
        };
        // Another request may have read the value meanwhile. Take the generation before reading, so
        // that a later change makes the value stale.
        let generation = generation();
        if let Some(value) = generation.as_ref().and_then(|it| self.fresh(&key, it, now)) {
            return Ok(Some(value));
        }
        let permitted = async {
            let _permit = self.reads.acquire().await;
            read.await.map_err(|error| error.to_string())
        };
        match tokio::time::timeout(self.policy.read_within, permitted).await {
            Ok(Ok(Some(value))) => {
                if let Some(generation) = generation {
                    let reading = Reading { value: value.clone(), at: now, generation };
                    self.insert(key, Arc::clone(&turn), reading);
                }
                Ok(Some(value))
            }
            Ok(Ok(None)) => {
                self.entries.remove(&key);
                if let Some(generation) = generation {
                    self.mark_absent(key, generation, now);
                }
                Ok(None)
            }
            Ok(Err(why)) => Err(self.read_error(&key, why)),
            Err(_) => Err(self.read_error(&key, self.too_slow())),
        }
    }

    /// Returns whether the key is known to be absent at this generation.
    pub fn is_absent(&self, key: &K, generation: &G, now: Timestamp) -> bool {
        let known = self.absent.get(key);
        known.is_some_and(|(at, of)| of == *generation && is_within(at, now, ABSENT_FOR))
    }

    /// Records that the key does not exist. The generation must have been taken before the lookup.
    pub fn mark_absent(&self, key: K, generation: G, now: Timestamp) {
        self.absent.insert(key, (now, generation));
    }

    /// Removes the values for which `keeps` returns false. It gets the time of the read.
    pub fn retain(&self, keeps: impl Fn(&K, &V, Timestamp) -> bool) {
        self.entries.retain(|key, entry| {
            entry.reading.as_ref().is_some_and(|it| keeps(key, &it.value, it.at))
        });
        self.counters.set_bytes(self.entries.weight());
    }

    /// Removes the values that are not fresh any more.
    pub fn evict_expired(&self, now: Timestamp) {
        self.retain(|_, _, at| is_within(at, now, self.policy.fresh_for));
        self.absent.retain(|_, (at, _)| is_within(*at, now, ABSENT_FOR));
    }

    fn fresh(&self, key: &K, generation: &G, now: Timestamp) -> Option<V> {
        let entry = self.entries.get(key)?;
        let reading = entry.reading.as_ref().filter(|it| it.generation == *generation)?;
        is_within(reading.at, now, self.policy.fresh_for).then(|| reading.value.clone())
    }

    fn turn(&self, key: &K) -> Arc<Mutex<()>> {
        let empty = || Entry { turn: Arc::default(), reading: None, bytes: ENTRY_BYTES };
        let made = self.entries.get_or_insert_with(key, || Ok::<_, ()>(Arc::new(empty())));
        made.map_or_else(|()| Arc::default(), |entry| Arc::clone(&entry.turn))
    }

    fn insert(&self, key: K, turn: Arc<Mutex<()>>, reading: Reading<V, G>) {
        let bytes = (self.size)(&key, &reading.value) + ENTRY_BYTES;
        self.entries.insert(key, Arc::new(Entry { turn, reading: Some(reading), bytes }));
        self.counters.set_bytes(self.entries.weight());
    }

    fn read_error(&self, key: &K, why: String) -> ReadError<V> {
        ReadError { why, last: self.last(key) }
    }

    fn too_slow(&self) -> String {
        format!("the database did not respond within {:?}", self.policy.read_within)
    }
}

fn entries<K: Eq + Hash, V: Clone, W: Weighter<K, V> + Clone>(
    weight_max: usize,
    weighter: W,
) -> Entries<K, V, W> {
    let options = OptionsBuilder::new()
        .shards(SHARDS)
        .estimated_items_capacity(SHARDS * 32)
        .weight_capacity(weight_max as u64)
        .build()
        .expect("both capacities are given");
    let (hashes, lifecycle) = (DefaultHashBuilder::default(), DefaultLifecycle::default());
    Entries::with_options(options, weighter, hashes, lifecycle)
}

/// Returns whether `at` is less than `limit` ago. A time in the future, after the clock was set
/// back, is not.
fn is_within(at: Timestamp, now: Timestamp, limit: Duration) -> bool {
    at <= now && now.since(at) < limit
}

impl<K, V, G> fmt::Debug for Cache<K, V, G> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a cache with {:?}", self.policy)
    }
}

#[cfg(test)]
mod tests;
