//! Values that were read of the store, each with whoever reads it anew: others who ask for the same wait
//! for them. Where reading fails, the last value is given again. What is not there is remembered apart, so
//! that who asks for much that is not there pushes out nothing that is.

use std::collections::HashMap;
use std::fmt;
use std::hash::Hash;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rules::{Timestamp, WorkspaceId};
use store::{Generation, StoreError};
use tokio::sync::Semaphore;

use super::super::shelf::{Absent, READ_WITHIN, too_slow};
use crate::app::App;

/// Values that are kept at most; the one that was first asked for longest ago goes first.
const KEPT_MAX: usize = 1_000;
/// Values of a kind that are read at a time: others wait, and the database has time for the rest.
const READS: usize = 8;

/// How long a value is given again without looking.
#[derive(Clone, Copy, Debug)]
pub(super) enum Holds {
    /// As long as nothing changed that callers of its workspace read, and so long at most.
    Unchanged(Duration),
    /// So long.
    For(Duration),
}

/// Values by what they are of.
pub(in crate::status_page) struct Kept<K, V> {
    holds: Holds,
    places: Mutex<HashMap<K, Arc<Place<V>>>>,
    absent: Absent<K, Option<Generation>>,
    reads: Semaphore,
}

struct Place<V> {
    since: Timestamp,
    /// Whether it was ever read.
    is_read: AtomicBool,
    value: tokio::sync::Mutex<Option<Read<V>>>,
}

struct Read<V> {
    value: V,
    at: Timestamp,
    generation: Option<Generation>,
}

impl<K: Clone + Eq + Hash, V: Clone> Kept<K, V> {
    pub(super) fn new(holds: Holds) -> Self {
        let (absent, reads) = (Absent::default(), Semaphore::new(READS));
        Self { holds, places: Mutex::default(), absent, reads }
    }

    /// The value of `key`, which belongs to a workspace; read now where what is kept holds no longer.
    /// `None` where there is no such thing.
    pub(in crate::status_page) async fn get(
        &self,
        app: &App,
        workspace: WorkspaceId,
        key: K,
        read: impl Future<Output = Result<Option<V>, StoreError>> + Send,
    ) -> Result<Option<V>, String> {
        let now = app.ctx.now();
        // Asked before anything is read: what changes from here on makes it another one.
        let generation = app.store.generation(workspace);
        if generation.is_some() && self.absent.has(&key, &generation, now) {
            return Ok(None);
        }
        let place = self.place(key.clone(), now);
        let turn = tokio::time::timeout(READ_WITHIN, place.value.lock()).await;
        let mut kept = turn.map_err(|_| too_slow())?;
        let generation = app.store.generation(workspace);
        if let Some(last) = kept.as_ref()
            && self.is_held(last, generation, now)
        {
            return Ok(Some(last.value.clone()));
        }
        let read = async {
            let _read = self.reads.acquire().await;
            read.await
        };
        let why = match tokio::time::timeout(READ_WITHIN, read).await {
            Ok(Ok(Some(value))) => {
                *kept = Some(Read { value: value.clone(), at: now, generation });
                place.is_read.store(true, Ordering::Relaxed);
                return Ok(Some(value));
            }
            Ok(Ok(None)) => {
                self.lock().remove(&key);
                self.absent.note(key, generation, now);
                return Ok(None);
            }
            Ok(Err(error)) => error.to_string(),
            Err(_) => too_slow(),
        };
        match &*kept {
            Some(last) => {
                tracing::warn!("what lies behind a page is shown from the cache: {why}");
                Ok(Some(last.value.clone()))
            }
            None => Err(why),
        }
    }

    fn is_held(&self, last: &Read<V>, generation: Option<Generation>, now: Timestamp) -> bool {
        let (long, is_same) = match self.holds {
            Holds::Unchanged(long) => {
                (long, last.generation.is_some() && last.generation == generation)
            }
            Holds::For(long) => (long, true),
        };
        is_same && last.at <= now && now.since(last.at) < long
    }

    fn place(&self, key: K, now: Timestamp) -> Arc<Place<V>> {
        let mut places = self.lock();
        if places.len() >= KEPT_MAX && !places.contains_key(&key) {
            let is_read = |place: &Place<V>| place.is_read.load(Ordering::Relaxed);
            let oldest = places.iter().min_by_key(|(_, place)| (is_read(place), place.since));
            let oldest = oldest.map(|(key, _)| key.clone());
            oldest.and_then(|key| places.remove(&key));
        }
        let place = || {
            let (is_read, value) = (AtomicBool::new(false), tokio::sync::Mutex::new(None));
            Arc::new(Place { since: now, is_read, value })
        };
        Arc::clone(places.entry(key).or_insert_with(place))
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<K, Arc<Place<V>>>> {
        self.places.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<K, V> fmt::Debug for Kept<K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let places = self.places.lock().unwrap_or_else(PoisonError::into_inner);
        write!(f, "{} values, each held {:?}", places.len(), self.holds)
    }
}
