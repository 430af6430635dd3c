//! Values that were read of the store, each with whoever reads it anew: others who ask for the same wait
//! for them. Where reading fails, the last value is given again.

use std::collections::HashMap;
use std::fmt;
use std::hash::Hash;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rules::{Timestamp, WorkspaceId};
use store::{Generation, StoreError};

use super::super::shelf::READ_WITHIN;
use crate::app::App;

/// Values that are kept at most; the one that was first asked for longest ago goes first.
const KEPT_MAX: usize = 1_000;

/// How long a value is given again without looking.
#[derive(Clone, Copy, Debug)]
pub(super) enum Holds {
    /// As long as nothing changed that callers of its workspace read, and so long at most.
    Unchanged(Duration),
    /// So long.
    For(Duration),
}

/// Values by what they are of.
pub(super) struct Kept<K, V> {
    holds: Holds,
    places: Mutex<HashMap<K, Arc<Place<V>>>>,
}

struct Place<V> {
    since: Timestamp,
    value: tokio::sync::Mutex<Option<Read<V>>>,
}

struct Read<V> {
    value: V,
    at: Timestamp,
    generation: Option<Generation>,
}

impl<K: Clone + Eq + Hash, V: Clone> Kept<K, V> {
    pub(super) fn new(holds: Holds) -> Self {
        Self { holds, places: Mutex::default() }
    }

    /// The value of `key`, which belongs to a workspace; read now where what is kept holds no longer.
    pub(super) async fn get(
        &self,
        app: &App,
        workspace: WorkspaceId,
        key: K,
        read: impl Future<Output = Result<V, StoreError>> + Send,
    ) -> Result<V, String> {
        let now = app.ctx.now();
        let place = self.place(key, now);
        let mut kept = place.value.lock().await;
        // Asked before anything is read: what changes from here on makes it another one.
        let generation = app.store.generation(workspace);
        if let Some(last) = kept.as_ref()
            && self.is_held(last, generation, now)
        {
            return Ok(last.value.clone());
        }
        let why = match tokio::time::timeout(READ_WITHIN, read).await {
            Ok(Ok(value)) => {
                *kept = Some(Read { value: value.clone(), at: now, generation });
                return Ok(value);
            }
            Ok(Err(error)) => error.to_string(),
            Err(_) => format!("the database did not answer within {READ_WITHIN:?}"),
        };
        let last = kept.as_ref().map(|last| last.value.clone());
        last.inspect(|_| tracing::warn!("what lies behind a page is shown as it was: {why}"))
            .ok_or(why)
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
        let mut places = self.places.lock().unwrap_or_else(PoisonError::into_inner);
        if places.len() >= KEPT_MAX && !places.contains_key(&key) {
            let oldest = places.iter().min_by_key(|(_, place)| place.since);
            let oldest = oldest.map(|(key, _)| key.clone());
            oldest.and_then(|key| places.remove(&key));
        }
        let place = || Arc::new(Place { since: now, value: tokio::sync::Mutex::new(None) });
        Arc::clone(places.entry(key).or_insert_with(place))
    }
}

impl<K, V> fmt::Debug for Kept<K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let places = self.places.lock().unwrap_or_else(PoisonError::into_inner);
        write!(f, "{} values, each held {:?}", places.len(), self.holds)
    }
}
