//! Caches values that are expensive to read. A value is valid for one generation of its source and
//! for a time. Concurrent requests for the same value share one read, and the last value remains at
//! hand if a read fails or while a task renews it. `quick_cache` bounds the memory and decides what
//! to evict.

mod metrics;

use std::fmt;
use std::hash::Hash;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use quick_cache::sync::{Cache as Entries, DefaultLifecycle};
use quick_cache::{DefaultHashBuilder, OptionsBuilder, UnitWeighter, Weighter};
use rules::Timestamp;
use tokio::sync::{Mutex, OwnedMutexGuard, Semaphore};

pub use self::metrics::{CacheCounters, CacheMetrics};

/// Number of independently locked parts. The largest value must fit into one of them.
const SHARDS: usize = 8;
/// Maximum number of absent keys. They are stored apart, so that requests for them evict no value.
const ABSENT_MAX: usize = 4_096;
/// Size of an entry besides its value, in bytes.
const ENTRY_BYTES: usize = 512;

/// Limits of a cache.
#[derive(Clone, Copy, Debug)]
pub struct CachePolicy {
    /// Age from which a value is read again.
    pub fresh_for: Duration,
    /// Time for which an absent key is not looked up again.
    pub absent_for: Duration,
    /// Maximum size of all values, in bytes. A value may use an eighth of it.
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

/// Result of a lookup without a read.
enum Lookup<V> {
    Fresh(V),
    /// The key does not exist.
    Absent,
    /// The value must be read.
    Unknown,
}

#[derive(Clone, Copy, Debug)]
struct EntryWeighter;

impl CachePolicy {
    /// Creates limits that suit values from the database.
    pub const fn new(fresh_for: Duration, bytes_max: usize) -> Self {
        let five_seconds = Duration::from_secs(5);
        let (absent_for, read_within) = (five_seconds, five_seconds);
        Self { fresh_for, absent_for, bytes_max, reads_max: 8, read_within }
    }
}

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

    /// Returns the last value, however old, of any generation.
    pub fn last(&self, key: &K) -> Option<V> {
        let entry = self.entries.get(key)?;
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
        if let Ok(turn) = self.turn(&key).try_lock_owned() {
            let (cache, read) = (Arc::clone(self), Box::pin(read()));
            tokio::spawn(async move { cache.read(key, turn, generation, now, read).await });
        }
        Ok(Some(old))
    }

    /// Returns whether the key is known to be absent at this generation.
    pub fn is_absent(&self, key: &K, generation: &G, now: Timestamp) -> bool {
        let known = self.absent.get(key);
        known
            .is_some_and(|(at, of)| of == *generation && is_within(at, now, self.policy.absent_for))
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
        self.retain(|_, value, at| is_within(at, now, self.fresh_for(value)));
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
        let turn = self.turn(&key).lock_owned();
        match tokio::time::timeout(self.policy.read_within, turn).await {
            Ok(turn) => self.read(key, turn, generation, now, Box::pin(read())).await,
            Err(_) => Err(self.read_error(&key, self.too_slow())),
        }
    }

    /// Reads the value, unless another request did so before this one got its turn.
    async fn read<E: fmt::Display>(
        &self,
        key: K,
        turn: OwnedMutexGuard<()>,
        generation: impl Fn() -> Option<G> + Send,
        now: Timestamp,
        read: Pin<Box<impl Future<Output = Result<Option<V>, E>> + Send>>,
    ) -> Result<Option<V>, ReadError<V>> {
        // Take the generation before reading, so that a later change makes the value stale.
        let generation = generation();
        if let Some(generation) = &generation {
            if let Some(value) = self.fresh(&key, generation, now) {
                return Ok(Some(value));
            }
            if self.is_absent(&key, generation, now) {
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
                    let turn = Arc::clone(OwnedMutexGuard::mutex(&turn));
                    let reading = Reading { value: value.clone(), at: now, generation };
                    self.insert(key, turn, reading);
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
            Ok(Err(why)) => Err(self.failed(&key, why)),
            Err(_) => Err(self.failed(&key, self.too_slow())),
        }
    }

    /// Removes the entry if it has no value, so that failed reads evict no values.
    fn failed(&self, key: &K, why: String) -> ReadError<V> {
        self.entries.remove_if(key, |entry| entry.reading.is_none());
        self.read_error(key, why)
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
        format!("it could not be read within {:?}", self.policy.read_within)
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
