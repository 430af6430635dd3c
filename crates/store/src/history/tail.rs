//! Where one monitor's newest results are: `results` is in the order of time, so that finding them
//! there would read everybody's. Memory holds the slots that each monitor has there. It only says
//! where to look; what is there says the database, which is why a slot too many does no harm.

use std::sync::{Mutex, MutexGuard};

use domain::check::CheckResult;
use rules::{ById, MonitorId};
use sqlx::AssertSqlSafe;

use super::Kept;
use super::row::COLUMNS;
use crate::StoreError;
use crate::db::{Connection, query};

/// Slots of one statement.
const SLOTS: usize = 32;

/// The slots in `results` by monitor.
#[derive(Debug)]
pub(crate) struct Tail {
    known: Mutex<Known>,
    /// Held by the one who gathers.
    gathering: tokio::sync::Mutex<()>,
}

#[derive(Debug)]
struct Known {
    /// Results up to here may be of the process before, and are not in memory.
    before: i64,
    slots: ById<MonitorId, Vec<i64>>,
}

impl Tail {
    /// What the process before left behind has slots up to `latest`.
    pub(crate) fn after(latest: Option<i64>) -> Self {
        let known = Known { before: latest.unwrap_or(i64::MIN), slots: ById::default() };
        Self { known: Mutex::new(known), gathering: tokio::sync::Mutex::default() }
    }

    /// These results were committed.
    pub(crate) fn note(&self, results: &[CheckResult]) {
        let mut known = self.known();
        for result in results {
            let slots = known.slots.entry(result.identity.monitor).or_default();
            slots.push(result.identity.slot.as_millis());
        }
    }

    /// There is nothing in `results` any more before this slot.
    pub(super) fn trim(&self, first: i64) {
        let mut known = self.known();
        known.slots.retain(|_, slots| {
            slots.retain(|slot| *slot >= first);
            if slots.capacity() > 4 * slots.len() {
                slots.shrink_to(2 * slots.len());
            }
            !slots.is_empty()
        });
    }

    /// Waits until nobody else gathers.
    pub(super) async fn gathering(&self) -> tokio::sync::MutexGuard<'_, ()> {
        self.gathering.lock().await
    }

    /// Up to where to look everywhere, and the slots after it, newest first and each once.
    fn of(&self, monitor: MonitorId) -> (i64, Vec<i64>) {
        let known = self.known();
        let before = known.before;
        let slots = known.slots.get(&monitor).map(Vec::as_slice).unwrap_or_default();
        let mut slots: Vec<i64> = slots.iter().copied().filter(|slot| *slot > before).collect();
        drop(known);
        slots.sort_unstable_by(|a, b| b.cmp(a));
        slots.dedup();
        (before, slots)
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().expect("nothing panics while it holds this")
    }
}

/// A monitor's rows of `results`, in any order.
pub(super) async fn rows(
    tail: &Tail,
    db: &mut Connection,
    monitor: MonitorId,
    number: i64,
) -> Result<Vec<Kept>, StoreError> {
    let (before, slots) = tail.of(monitor);
    let statement = format!("SELECT {COLUMNS} FROM results WHERE slot <= $1 AND monitor = $2");
    let rows = query(AssertSqlSafe(statement)).bind(before).bind(number).fetch_all(db).await?;
    let mut kept = rows.iter().map(|row| Kept::read(row, 0)).collect::<Result<Vec<_>, _>>()?;
    for chunk in slots.chunks(SLOTS) {
        let list: Vec<String> = (2..SLOTS + 2).map(|place| format!("${place}")).collect();
        let statement = format!(
            "SELECT {COLUMNS} FROM results WHERE monitor = $1 AND slot IN ({})",
            list.join(",")
        );
        let mut query = query(AssertSqlSafe(statement)).bind(number);
        // A list that is too short is filled with what it has.
        for place in 0..SLOTS {
            query = query.bind(chunk[place.min(chunk.len() - 1)]);
        }
        for row in query.fetch_all(db).await? {
            kept.push(Kept::read(&row, 0)?);
        }
    }
    Ok(kept)
}
