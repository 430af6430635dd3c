//! Read-through cache. Concurrent requests for the same value share one read. If reading fails, the
//! last value is returned again. Absent keys are remembered separately, so that requests for them
//! do not evict existing values.

use std::collections::HashMap;
use std::fmt;
use std::hash::Hash;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rules::{Timestamp, WorkspaceId};
use store::{Generation, StoreError};
use tokio::sync::Semaphore;

use super::super::cache::{NegativeCache, READ_TIMEOUT, too_slow};
use crate::Pages;

/// Maximum number of values. The one that was first requested the longest ago is evicted first.
const VALUES_MAX: usize = 1_000;
/// Maximum number of concurrent reads of one kind, which leaves capacity of the database for other
/// requests.
const READS: usize = 8;

/// Condition under which a value is returned without reading it again.
#[derive(Clone, Copy, Debug)]
pub(super) enum FreshnessRule {
    /// The workspace has not changed for API callers, and the value is younger than this.
    Unchanged(Duration),
    /// The value is younger than this.
    MaxAge(Duration),
}

/// Values by key.
pub(crate) struct ReadThroughCache<K, V> {
    freshness: FreshnessRule,
    slots: Mutex<HashMap<K, Arc<CacheSlot<V>>>>,
    absent: NegativeCache<K, Option<Generation>>,
    reads: Semaphore,
}

struct CacheSlot<V> {
    since: Timestamp,
    /// Whether the value was read at least once.
    is_read: AtomicBool,
    value: tokio::sync::Mutex<Option<Read<V>>>,
}

struct Read<V> {
    value: V,
    at: Timestamp,
    generation: Option<Generation>,
}

impl<K: Clone + Eq + Hash, V: Clone> ReadThroughCache<K, V> {
    pub(super) fn new(freshness: FreshnessRule) -> Self {
        let (absent, reads) = (NegativeCache::default(), Semaphore::new(READS));
        Self { freshness, slots: Mutex::default(), absent, reads }
    }

    /// Returns the value of `key`, which belongs to a workspace. Reads it if the cached value is
    /// stale. Returns `None` if the key does not exist.
    pub(crate) async fn get(
        &self,
        pages: &Pages,
        workspace: WorkspaceId,
        key: K,
        read: impl Future<Output = Result<Option<V>, StoreError>> + Send,
    ) -> Result<Option<V>, String> {
        let now = pages.ctx.now();
        // Take the generation before reading, so that a later change invalidates the value.
        let generation = pages.store.generation(workspace);
        if generation.is_some() && self.absent.contains(&key, &generation, now) {
            return Ok(None);
        }
        let slot = self.slot(key.clone(), now);
        let lock = tokio::time::timeout(READ_TIMEOUT, slot.value.lock()).await;
        let mut cached = lock.map_err(|_| too_slow())?;
        let generation = pages.store.generation(workspace);
        if let Some(last) = cached.as_ref()
            && self.is_fresh(last, generation, now)
        {
            return Ok(Some(last.value.clone()));
        }
        let read = async {
            let _read = self.reads.acquire().await;
            read.await
        };
        let why = match tokio::time::timeout(READ_TIMEOUT, read).await {
            Ok(Ok(Some(value))) => {
                *cached = Some(Read { value: value.clone(), at: now, generation });
                slot.is_read.store(true, Ordering::Relaxed);
                return Ok(Some(value));
            }
            Ok(Ok(None)) => {
                self.lock().remove(&key);
                self.absent.record(key, generation, now);
                return Ok(None);
            }
            Ok(Err(error)) => error.to_string(),
            Err(_) => too_slow(),
        };
        match &*cached {
            Some(last) => {
                tracing::warn!("failed to read a detail page, serving it from the cache: {why}");
                Ok(Some(last.value.clone()))
            }
            None => Err(why),
        }
    }

    fn is_fresh(&self, last: &Read<V>, generation: Option<Generation>, now: Timestamp) -> bool {
        let (long, is_same) = match self.freshness {
            FreshnessRule::Unchanged(long) => {
                (long, last.generation.is_some() && last.generation == generation)
            }
            FreshnessRule::MaxAge(long) => (long, true),
        };
        is_same && last.at <= now && now.since(last.at) < long
    }

    fn slot(&self, key: K, now: Timestamp) -> Arc<CacheSlot<V>> {
        let mut slots = self.lock();
        if slots.len() >= VALUES_MAX && !slots.contains_key(&key) {
            let is_read = |slot: &CacheSlot<V>| slot.is_read.load(Ordering::Relaxed);
            let oldest = slots.iter().min_by_key(|(_, slot)| (is_read(slot), slot.since));
            let oldest = oldest.map(|(key, _)| key.clone());
            oldest.and_then(|key| slots.remove(&key));
        }
        let slot = || {
            let (is_read, value) = (AtomicBool::new(false), tokio::sync::Mutex::new(None));
            Arc::new(CacheSlot { since: now, is_read, value })
        };
        Arc::clone(slots.entry(key).or_insert_with(slot))
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<K, Arc<CacheSlot<V>>>> {
        self.slots.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<K, V> fmt::Debug for ReadThroughCache<K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let slots = self.slots.lock().unwrap_or_else(PoisonError::into_inner);
        write!(f, "{} values, each held {:?}", slots.len(), self.freshness)
    }
}
