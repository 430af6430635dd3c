//! Where one monitor's newest results are: `recent_results` is in the order of time, so that finding them
//! there would read everybody's. Memory holds the keys of the rows in which each monitor has some. It only
//! says where to look; what is there says the database, which is why a key too many does no harm.

use std::ops::RangeInclusive;
use std::sync::{Mutex, MutexGuard};

use rules::{ById, MonitorId};

use super::Kept;
use crate::StoreError;
use crate::db::Connection;
use crate::results::{self, Entry, Pages, Placed};

/// The keys of rows by monitor.
#[derive(Debug)]
pub(crate) struct Tail {
    known: Mutex<Known>,
    /// Held by the one who gathers.
    gathering: tokio::sync::Mutex<()>,
}

#[derive(Debug)]
struct Known {
    /// Rows up to here may be of the process before, and are not in memory.
    before: i64,
    keys: ById<MonitorId, Vec<i64>>,
}

impl Tail {
    /// What the process before left behind has keys up to `last`.
    pub(crate) fn after(last: Option<i64>) -> Self {
        let known = Known { before: last.unwrap_or(i64::MIN), keys: ById::default() };
        Self { known: Mutex::new(known), gathering: tokio::sync::Mutex::default() }
    }

    /// These results were committed.
    pub(crate) fn note(&self, placed: &[Placed]) {
        let mut known = self.known();
        for (monitor, key) in placed {
            let keys = known.keys.entry(*monitor).or_default();
            if keys.last() != Some(key) {
                keys.push(*key);
            }
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
    pub(super) async fn gathering(&self) -> tokio::sync::MutexGuard<'_, ()> {
        self.gathering.lock().await
    }

    /// Up to which key to look everywhere, and the keys after it.
    fn of(&self, monitor: MonitorId) -> (i64, Vec<i64>) {
        let known = self.known();
        let before = known.before;
        let keys = known.keys.get(&monitor).map(Vec::as_slice).unwrap_or_default();
        (before, keys.iter().copied().filter(|key| *key > before).collect())
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().expect("nothing panics while it holds this")
    }
}

/// A monitor's results that are not gathered, of two with one identity the first one first.
pub(super) async fn rows(
    tail: &Tail,
    db: &mut Connection,
    monitor: MonitorId,
    number: i64,
) -> Result<Vec<Kept>, StoreError> {
    let (before, keys) = tail.of(monitor);
    let mut kept = Vec::new();
    let mut left_behind = Pages::between(i64::MIN, before);
    loop {
        let entries = left_behind.next(db).await?;
        if entries.is_empty() {
            break;
        }
        add(&mut kept, number, &entries)?;
    }
    add(&mut kept, number, &results::with_keys(db, &keys).await?)?;
    Ok(kept)
}

/// Adds what of these rows belongs to a monitor.
fn add(kept: &mut Vec<Kept>, monitor: i64, entries: &[Entry]) -> Result<(), StoreError> {
    for (_, body) in entries {
        for result in results::of_body(body) {
            let (of, row) = result?;
            if of == monitor {
                kept.push(row);
            }
        }
    }
    Ok(())
}
