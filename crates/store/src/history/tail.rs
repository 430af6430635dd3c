//! Where one monitor's newest results are: `recent_results` is in the order of time, so that finding them
//! there would read everybody's. Memory holds the keys of the rows in which each monitor has some. It only
//! says where to look; what is there says the database, which is why a key too many does no harm.

use std::collections::HashMap;
use std::ops::RangeInclusive;
use std::sync::{Arc, Mutex, MutexGuard};

use rules::{ById, MonitorId};

use super::Kept;
use crate::StoreError;
use crate::db::Connection;
use crate::quarantine::Quarantine;
use crate::results::{self, Placed, RowsBetween};

/// The keys of rows by monitor.
#[derive(Debug)]
pub(crate) struct Tail {
    known: Mutex<Known>,
    quarantine: Arc<Quarantine>,
    /// Held by the one who gathers, or learns what there is.
    gathering: tokio::sync::Mutex<()>,
}

#[derive(Debug)]
struct Known {
    /// Rows up to here are of the process before, until it is learned whose they are.
    left_behind: Option<i64>,
    keys: ById<MonitorId, Vec<i64>>,
}

/// What shows that nobody else gathers.
pub(super) struct Alone<'t> {
    tail: &'t Tail,
    _gathering: tokio::sync::MutexGuard<'t, ()>,
}

impl Tail {
    /// What the process before left behind has keys up to `last`.
    pub(crate) fn after(last: Option<i64>, quarantine: Arc<Quarantine>) -> Self {
        let known = Known { left_behind: last, keys: ById::default() };
        Self { known: Mutex::new(known), quarantine, gathering: tokio::sync::Mutex::default() }
    }

    /// These results were committed.
    pub(crate) fn note(&self, placed: &[Placed]) {
        let mut known = self.known();
        for (monitor, key) in placed {
            add(known.keys.entry(*monitor).or_default(), *key);
        }
    }

    /// What lies in these rows stands in blocks now.
    pub(super) fn trim(&self, gathered: &RangeInclusive<i64>) {
        let mut known = self.known();
        known.keys.retain(|_, keys| {
            keys.retain(|key| !gathered.contains(key));
            if keys.capacity() > 4 * keys.len() {
                keys.shrink_to(2 * keys.len());
            }
            !keys.is_empty()
        });
    }

    /// Waits until nobody else gathers.
    pub(super) async fn alone(&self) -> Alone<'_> {
        Alone { tail: self, _gathering: self.gathering.lock().await }
    }

    /// The keys of a monitor's rows, once those that were left behind are known.
    async fn of(&self, db: &mut Connection, monitor: MonitorId) -> Result<Vec<i64>, StoreError> {
        if self.known().left_behind.is_some() {
            self.alone().await.learn(db).await?;
        }
        Ok(self.known().keys.get(&monitor).cloned().unwrap_or_default())
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().expect("nothing panics while it holds this")
    }
}

impl Alone<'_> {
    /// Reads through what the process before left behind, once.
    pub(super) async fn learn(&self, db: &mut Connection) -> Result<(), StoreError> {
        let Some(last) = self.tail.known().left_behind else { return Ok(()) };
        let mut keys: HashMap<i64, Vec<i64>> = HashMap::new();
        let mut rows = RowsBetween::keys(i64::MIN, last);
        loop {
            let entries = rows.next(db).await?;
            if entries.is_empty() {
                break;
            }
            for (key, body) in entries {
                let damaged = results::each_of(key, &body, |monitor, _| {
                    add(keys.entry(monitor).or_default(), key);
                });
                self.tail.quarantine.note_all(damaged.as_slice());
            }
        }
        let numbered = super::monitors(&self.tail.quarantine, db).await?;
        let mut known = self.tail.known();
        for (number, monitor) in numbered {
            if let Some(mut all) = keys.remove(&number) {
                let since = known.keys.entry(monitor).or_default();
                all.append(since);
                *since = all;
            }
        }
        known.left_behind = None;
        Ok(())
    }
}

/// Adds the key of a row, of which there may be several results in a row.
fn add(keys: &mut Vec<i64>, key: i64) {
    if keys.last() != Some(&key) {
        keys.push(key);
    }
}

/// A monitor's results that are not gathered, of two with one identity the first one first.
pub(super) async fn rows(
    tail: &Tail,
    db: &mut Connection,
    monitor: MonitorId,
    number: i64,
) -> Result<Vec<Kept>, StoreError> {
    let keys = tail.of(db, monitor).await?;
    let mut kept = Vec::new();
    for (key, body) in results::with_keys(db, &keys).await? {
        let damaged = results::each_of(key, &body, |of, row| {
            if of == number {
                kept.push(row);
            }
        });
        tail.quarantine.note_all(damaged.as_slice());
    }
    Ok(kept)
}
