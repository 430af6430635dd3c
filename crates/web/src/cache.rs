//! Caches values that are expensive to read. A value is valid for one generation of its source and
//! for a time. Concurrent requests for the same value share one read. If a read fails, its error
//! has the last value, and a task can renew a value while the old one is served. `quick_cache`
//! bounds the memory and decides what to evict.

mod entry;
mod metrics;
mod policy;

use std::fmt;
use std::hash::Hash;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use quick_cache::sync::{Cache as Entries, DefaultLifecycle};
use quick_cache::{DefaultHashBuilder, OptionsBuilder, UnitWeighter, Weighter};
use rules::Timestamp;
use tokio::sync::{Mutex, Semaphore};

use self::entry::{Entry, EntryWeighter, ReadGuard, Reading};
pub use self::metrics::{CacheCounters, CacheMetrics};
pub use self::policy::CachePolicy;

/// Number of independently locked parts.
const SHARDS: usize = 8;
/// Maximum number of absent keys. They are stored apart, so that requests for them evict no value.
const ABSENT_MAX: usize = 4_096;
/// Size of an entry besides its key and its value, in bytes.
const ENTRY_BYTES: usize = 512;
/// Cache of values by key. `G` is the generation of the source, for example a change count.
pub struct Cache<K, V, G = ()> {
    entries: Entries<K, Arc<Entry<V, G>>, EntryWeighter>,
    absent: Entries<K, (Timestamp, G), UnitWeighter>,
    policy: CachePolicy,
    /// Returns the size of a key and its value, in bytes.
    size: fn(&K, &V) -> usize,
    /// Returns the age from which a value is read again, if it depends on the value.
    fresh_for: Option<fn(&V) -> Duration>,
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

/// Result of a lookup without a read.
enum Lookup<V> {
    Fresh(V),
    /// The key does not exist.
    Absent,
    /// The value must be read.
    Unknown,
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
            fresh_for: None,
            reads: Semaphore::new(policy.reads_max),
            counters,
        }
    }

    /// Makes the age from which a value is read again depend on the value.
    #[must_use]
    pub fn with_fresh_for(mut self, fresh_for: fn(&V) -> Duration) -> Self {
        self.fresh_for = Some(fresh_for);
        self
    }

    /// Returns the value if it is fresh at this generation.
    pub fn get(&self, key: &K, generation: &G, now: Timestamp) -> Option<V> {
        let value = self.fresh(key, generation, now);
        self.counters.count(value.is_some());
        value
    }

    /// Returns the last value, however old, of any generation, and counts a hit if there is one.
    pub fn get_last(&self, key: &K) -> Option<V> {
        let last = self.last(key);
        if last.is_some() {
            self.counters.count(true);
        }
        last
    }

    /// Returns the last value, however old, of any generation, without counting a lookup.
    pub fn last(&self, key: &K) -> Option<V> {
        let entry = self.entries.get(key)?;
        entry.reading.as_ref().map(|reading| reading.value.clone())
    }

    /// Stores a value that was read at `now`. The generation must have been taken before the read.
    pub fn put(&self, key: K, value: V, generation: G, now: Timestamp) {
        let lock = self.entries.peek(&key).map(|entry| Arc::clone(&entry.read_lock));
        self.insert(key, lock.unwrap_or_default(), Reading { value, at: now, generation });
    }

    /// Removes the value of a key.
    pub fn remove(&self, key: &K) {
        self.entries.remove(key);
        self.counters.set_bytes(self.entries.weight());
    }

    /// Returns the value, from the cache while it is fresh. `generation` returns the generation of
    /// the source, or `None` while it changes, when nothing can be cached. `read` returns `None` if
    /// the key does not exist.
    pub async fn get_or_read<E: fmt::Display, R>(
        &self,
        key: K,
        generation: impl Fn() -> Option<G> + Send,
        now: Timestamp,
        read: impl FnOnce() -> R + Send,
    ) -> Result<Option<V>, ReadError<V>>
    where
        R: Future<Output = Result<Option<V>, E>> + Send,
    {
        match self.lookup(&key, generation(), now) {
            Lookup::Fresh(value) => Ok(Some(value)),
            Lookup::Absent => Ok(None),
            // Boxed, because a read is large and most requests need none.
            Lookup::Unknown => Box::pin(self.wait_and_read(key, generation, now, read)).await,
        }
    }

    /// Returns the value like [`Self::get_or_read`], but does not wait if there is an old one: it
    /// returns the old value at once, and one task at a time renews it. If that fails, the next
    /// request tries again.
    pub async fn get_or_renew<E: fmt::Display, R>(
        self: &Arc<Self>,
        key: K,
        generation: impl Fn() -> Option<G> + Send + 'static,
        now: Timestamp,
        read: impl FnOnce() -> R + Send,
    ) -> Result<Option<V>, ReadError<V>>
    where
        K: Send + Sync + 'static,
        V: Send + Sync + 'static,
        G: Send + Sync + 'static,
        R: Future<Output = Result<Option<V>, E>> + Send + 'static,
    {
        let old = match self.lookup(&key, generation(), now) {
            Lookup::Fresh(value) => return Ok(Some(value)),
            Lookup::Absent => return Ok(None),
            Lookup::Unknown => self.last(&key),
        };
        let Some(old) = old else {
            return Box::pin(self.wait_and_read(key, generation, now, read)).await;
        };
        if let Ok(guard) = self.read_lock(&key).try_lock_owned() {
            let (cache, read) = (Arc::clone(self), Box::pin(read()));
            tokio::spawn(async move {
                cache.read(ReadGuard::new(&cache, key, guard), generation, now, read).await
            });
        }
        Ok(Some(old))
    }

    /// Returns whether the key is known to be absent at this generation.
    fn is_absent(&self, key: &K, generation: &G, now: Timestamp) -> bool {
        let known = self.absent.get(key);
        known
            .is_some_and(|(at, of)| of == *generation && is_within(at, now, self.policy.absent_for))
    }

    /// Records that the key does not exist. The generation must have been taken before the lookup.
    fn mark_absent(&self, key: K, generation: G, now: Timestamp) {
        if !self.policy.absent_for.is_zero() {
            self.absent.insert(key, (now, generation));
        }
    }

    /// Removes the values for which `keeps` returns false, except those that are being read. `keeps`
    /// gets the time of the read.
    pub fn retain(&self, keeps: impl Fn(&K, &V, Timestamp) -> bool) {
        self.entries.retain(|key, entry| {
            let kept = entry.reading.as_ref().is_some_and(|it| keeps(key, &it.value, it.at));
            kept || entry.is_being_read()
        });
        self.counters.set_bytes(self.entries.weight());
    }

    /// Removes the values that are not fresh any more.
    pub fn evict_expired(&self, now: Timestamp) {
        self.retain(|_, value, at| is_within(at, now, self.fresh_for(value)));
        self.absent.retain(|_, (at, _)| is_within(*at, now, self.policy.absent_for));
    }

    /// Removes the values that were read at least this long ago. Younger ones remain for requests
    /// whose read fails.
    pub fn evict_older_than(&self, age: Duration, now: Timestamp) {
        self.retain(|_, _, at| is_within(at, now, age));
        self.absent.retain(|_, (at, _)| is_within(*at, now, self.policy.absent_for));
    }

    fn lookup(&self, key: &K, generation: Option<G>, now: Timestamp) -> Lookup<V> {
        let Some(generation) = generation else { return Lookup::Unknown };
        match self.get(key, &generation, now) {
            Some(value) => Lookup::Fresh(value),
            None if self.is_absent(key, &generation, now) => Lookup::Absent,
            None => Lookup::Unknown,
        }
    }

    async fn wait_and_read<E: fmt::Display, R>(
        &self,
        key: K,
        generation: impl Fn() -> Option<G> + Send,
        now: Timestamp,
        read: impl FnOnce() -> R + Send,
    ) -> Result<Option<V>, ReadError<V>>
    where
        R: Future<Output = Result<Option<V>, E>> + Send,
    {
        let lock = self.read_lock(&key).lock_owned();
        match tokio::time::timeout(self.policy.wait_within, lock).await {
            Ok(guard) => {
                let guard = ReadGuard::new(self, key, guard);
                self.read(guard, generation, now, Box::pin(read())).await
            }
            Err(_) => Err(self.read_error(&key, too_slow(self.policy.wait_within))),
        }
    }

    /// Reads the value, unless another request did so before this one got its turn.
    async fn read<E: fmt::Display>(
        &self,
        guard: ReadGuard<'_, K, V, G>,
        generation: impl Fn() -> Option<G> + Send,
        now: Timestamp,
        read: Pin<Box<impl Future<Output = Result<Option<V>, E>> + Send>>,
    ) -> Result<Option<V>, ReadError<V>> {
        let key = &guard.key;
        // Take the generation before reading, so that a later change makes the value stale.
        let generation = generation();
        if let Some(generation) = &generation {
            if let Some(value) = self.fresh(key, generation, now) {
                return Ok(Some(value));
            }
            if self.is_absent(key, generation, now) {
                return Ok(None);
            }
        }
        let permitted = async {
            let _permit = self.reads.acquire().await;
            read.await.map_err(|error| error.to_string())
        };
        match tokio::time::timeout(self.policy.read_within, permitted).await {
            Ok(Ok(Some(value))) => {
                if let Some(generation) = generation {
                    let reading = Reading { value: value.clone(), at: now, generation };
                    self.insert(key.clone(), guard.lock(), reading);
                }
                Ok(Some(value))
            }
            Ok(Ok(None)) => {
                self.remove(key);
                if let Some(generation) = generation {
                    self.mark_absent(key.clone(), generation, now);
                }
                Ok(None)
            }
            Ok(Err(why)) => Err(self.read_error(key, why)),
            Err(_) => Err(self.read_error(key, too_slow(self.policy.read_within))),
        }
    }

    fn fresh(&self, key: &K, generation: &G, now: Timestamp) -> Option<V> {
        let entry = self.entries.get(key)?;
        let reading = entry.reading.as_ref().filter(|it| it.generation == *generation)?;
        let fresh_for = self.fresh_for(&reading.value);
        is_within(reading.at, now, fresh_for).then(|| reading.value.clone())
    }

    fn fresh_for(&self, value: &V) -> Duration {
        self.fresh_for.map_or(self.policy.fresh_for, |fresh_for| fresh_for(value))
    }

    fn read_lock(&self, key: &K) -> Arc<Mutex<()>> {
        let empty = || Entry { read_lock: Arc::default(), reading: None, bytes: ENTRY_BYTES };
        let made = self.entries.get_or_insert_with(key, || Ok::<_, ()>(Arc::new(empty())));
        made.map_or_else(|()| Arc::default(), |entry| Arc::clone(&entry.read_lock))
    }

    fn insert(&self, key: K, read_lock: Arc<Mutex<()>>, reading: Reading<V, G>) {
        let bytes = (self.size)(&key, &reading.value) + ENTRY_BYTES;
        self.entries.insert(key, Arc::new(Entry { read_lock, reading: Some(reading), bytes }));
        self.counters.set_bytes(self.entries.weight());
    }

    fn read_error(&self, key: &K, why: String) -> ReadError<V> {
        ReadError { why, last: self.last(key) }
    }
}

fn too_slow(limit: Duration) -> String {
    format!("it could not be read within {limit:?}")
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
